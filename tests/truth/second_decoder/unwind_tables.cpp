#include "tests/truth/second_decoder/unwind_tables.h"

#include <algorithm>
#include <cstring>
#include <format>

namespace traceback::truth {

namespace {

using Bytes = std::span<const unsigned char>;

constexpr std::uint8_t kOmitted = 0xFF, kIndirect = 0x80;

// Reads what is at an address. Running off the end is remembered, and reads zeros.
class Cursor {
 public:
  Cursor(Bytes bytes, std::uint64_t address) : m_bytes(bytes), m_address(address) {}

  bool bad() const { return m_bad; }
  bool atEnd() const { return m_at >= m_bytes.size(); }
  std::uint64_t address() const { return m_address + m_at; }
  void skip(std::uint64_t count) {
    if (count > m_bytes.size() - m_at)
      m_bad = true;
    else
      m_at += count;
  }
  std::uint64_t fixed(unsigned size) {
    if (size > m_bytes.size() - m_at) {
      m_bad = true;
      m_at = m_bytes.size();
      return 0;
    }
    std::uint64_t value = 0;
    std::memcpy(&value, m_bytes.data() + m_at, size);
    m_at += size;
    return value;
  }
  std::int64_t fixedSigned(unsigned size) {
    const unsigned shift = 64 - 8 * size;
    return std::int64_t(fixed(size) << shift) >> shift;
  }
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint64_t byte = fixed(1);
      if (shift < 64) value |= (byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  std::int64_t sleb() {
    std::uint64_t value = 0, byte = 0;
    unsigned shift = 0;
    do {
      byte = fixed(1);
      if (shift < 64) value |= (byte & 0x7F) << shift;
      shift += 7;
    } while ((byte & 0x80) != 0);
    if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
    return std::int64_t(value);
  }
  // An encoded pointer: zero stays zero. Where it is indirect, the address of the pointer that is meant.
  std::uint64_t pointer(std::uint8_t encoding, std::uint64_t dataBase = 0) {
    const std::uint64_t here = address();
    std::uint64_t value = 0;
    switch (encoding & 0x0F) {
      case 0x00:
      case 0x04:
      case 0x0C:
        value = fixed(8);
        break;
      case 0x01:
        value = uleb();
        break;
      case 0x02:
        value = fixed(2);
        break;
      case 0x03:
        value = fixed(4);
        break;
      case 0x09:
        value = std::uint64_t(sleb());
        break;
      case 0x0A:
        value = std::uint64_t(fixedSigned(2));
        break;
      case 0x0B:
        value = std::uint64_t(fixedSigned(4));
        break;
      default:
        m_bad = true;
    }
    if (value == 0) return 0;
    switch (encoding & 0x70) {
      case 0x00:
        return value;
      case 0x10:
        return value + here;
      case 0x30:
        return value + dataBase;
      default:
        m_bad = true;
        return 0;
    }
  }
  Bytes take(std::uint64_t count) {
    const std::size_t at = m_at;
    skip(count);
    return m_bad ? Bytes{} : m_bytes.subspan(at, count);
  }
  Bytes rest() const { return m_bytes.subspan(m_at); }
  std::string text() {
    std::string out;
    while (const auto c = char(fixed(1))) out += c;
    return out;
  }

 private:
  Bytes m_bytes;
  std::uint64_t m_address;
  std::size_t m_at = 0;
  bool m_bad = false;
};

std::expected<Cie, std::string> readCie(Cursor in, std::uint64_t at) {
  const auto bad = [at](const char* what) {
    return std::unexpected(std::format("the CIE at {:#x}: {}", at, what));
  };
  Cie cie;
  const auto version = in.fixed(1);
  if (version != 1 && version != 3) return bad("unknown version");
  cie.augmentation = in.text();
  cie.codeAlign = in.uleb();
  cie.dataAlign = in.sleb();
  cie.returnRegister = version == 1 ? in.fixed(1) : in.uleb();
  if (!cie.augmentation.empty()) {
    if (cie.augmentation[0] != 'z') return bad("unknown augmentation");
    cie.augmented = true;
    const std::uint64_t size = in.uleb();
    Cursor data = in;
    in.skip(size);
    for (const char c : cie.augmentation.substr(1)) {
      if (c == 'R')
        cie.fdeEncoding = std::uint8_t(data.fixed(1));
      else if (c == 'L')
        cie.lsdaEncoding = std::uint8_t(data.fixed(1));
      else if (c == 'S')
        cie.signalFrame = true;
      else if (c == 'P') {
        cie.personalityEncoding = std::uint8_t(data.fixed(1));
        cie.personality = data.pointer(cie.personalityEncoding & ~kIndirect);
      } else if (c != 'B') {
        return bad("unknown augmentation");
      }
    }
    if (data.bad()) return bad("cut short");
  }
  cie.program = in.rest();
  return in.bad() ? bad("cut short") : std::expected<Cie, std::string>(std::move(cie));
}

// Runs call frame instructions, and keeps a row for each place at which rules change.
class Machine {
 public:
  Machine(const Fde& fde, std::vector<UnwindRow>& rows) : m_fde(fde), m_rows(rows) {}

  bool run() {
    m_row.from = m_fde.start;
    if (!execute(m_fde.cie->program)) return false;
    m_initial = m_row;
    if (!execute(m_fde.program)) return false;
    m_rows.push_back(m_row);
    return true;
  }

 private:
  using Kind = UnwindRule::Kind;

  void advanceTo(std::uint64_t address) {
    if (address == m_row.from) return;
    m_rows.push_back(m_row);
    m_row.from = address;
  }
  void advance(std::uint64_t delta) { advanceTo(m_row.from + delta * m_fde.cie->codeAlign); }
  void set(std::uint64_t reg, Kind kind, std::int64_t value = 0, std::string expression = {}) {
    if (kind == Kind::Same)
      m_row.registers.erase(reg);
    else
      m_row.registers[reg] = {kind, value, std::move(expression)};
  }
  void restore(std::uint64_t reg) {
    const auto before = m_initial.registers.find(reg);
    if (before == m_initial.registers.end())
      m_row.registers.erase(reg);
    else
      m_row.registers[reg] = before->second;
  }
  void cfa(std::uint64_t reg, std::int64_t offset) {
    m_row.cfaIsExpression = false;
    m_row.cfaExpression.clear();
    m_row.cfaRegister = reg;
    m_row.cfaOffset = offset;
  }
  static std::string block(Cursor& in) {
    const Bytes bytes = in.take(in.uleb());
    return {bytes.begin(), bytes.end()};
  }

  bool execute(Bytes program) {
    Cursor in(program, 0);
    const std::int64_t align = m_fde.cie->dataAlign;
    while (!in.atEnd() && !in.bad()) {
      const auto op = std::uint8_t(in.fixed(1));
      const std::uint64_t low = op & 0x3F;
      std::uint64_t reg = 0;
      switch (op & 0xC0) {
        case 0x40:
          advance(low);
          continue;
        case 0x80:
          set(low, Kind::Offset, std::int64_t(in.uleb()) * align);
          continue;
        case 0xC0:
          restore(low);
          continue;
        default:
          break;
      }
      switch (op) {
        case 0x00:  // nop
          break;
        case 0x01:  // set_loc
          return false;
        case 0x02:
          advance(in.fixed(1));
          break;
        case 0x03:
          advance(in.fixed(2));
          break;
        case 0x04:
          advance(in.fixed(4));
          break;
        case 0x05:
          reg = in.uleb();
          set(reg, Kind::Offset, std::int64_t(in.uleb()) * align);
          break;
        case 0x06:
          restore(in.uleb());
          break;
        case 0x07:
          set(in.uleb(), Kind::Undefined);
          break;
        case 0x08:
          set(in.uleb(), Kind::Same);
          break;
        case 0x09:
          reg = in.uleb();
          set(reg, Kind::Register, std::int64_t(in.uleb()));
          break;
        case 0x0A:
          m_stack.push_back(m_row);
          break;
        case 0x0B: {
          if (m_stack.empty()) return false;
          const std::uint64_t from = m_row.from;
          m_row = m_stack.back();
          m_row.from = from;
          m_stack.pop_back();
          break;
        }
        case 0x0C:
          reg = in.uleb();
          cfa(reg, std::int64_t(in.uleb()));
          break;
        case 0x0D:
          m_row.cfaRegister = in.uleb();
          m_row.cfaIsExpression = false;
          break;
        case 0x0E:
          m_row.cfaOffset = std::int64_t(in.uleb());
          break;
        case 0x0F:
          m_row.cfaExpression = block(in);
          m_row.cfaIsExpression = true;
          break;
        case 0x10:
          reg = in.uleb();
          set(reg, Kind::Expression, 0, block(in));
          break;
        case 0x11:
          reg = in.uleb();
          set(reg, Kind::Offset, in.sleb() * align);
          break;
        case 0x12:
          reg = in.uleb();
          cfa(reg, in.sleb() * align);
          break;
        case 0x13:
          m_row.cfaOffset = in.sleb() * align;
          break;
        case 0x14:
          reg = in.uleb();
          set(reg, Kind::ValueOffset, std::int64_t(in.uleb()) * align);
          break;
        case 0x15:
          reg = in.uleb();
          set(reg, Kind::ValueOffset, in.sleb() * align);
          break;
        case 0x16:
          reg = in.uleb();
          set(reg, Kind::ValueExpression, 0, block(in));
          break;
        case 0x2E:
          m_row.argumentsSize = in.uleb();
          break;
        case 0x2F:
          reg = in.uleb();
          set(reg, Kind::Offset, -std::int64_t(in.uleb()) * align);
          break;
        default:
          return false;
      }
    }
    return !in.bad();
  }

  const Fde& m_fde;
  std::vector<UnwindRow>& m_rows;
  UnwindRow m_row, m_initial;
  std::vector<UnwindRow> m_stack;
};

}  // namespace

bool UnwindRow::sameRules(const UnwindRow& other) const {
  if (cfaIsExpression != other.cfaIsExpression || registers != other.registers ||
      argumentsSize != other.argumentsSize)
    return false;
  return cfaIsExpression ? cfaExpression == other.cfaExpression
                         : cfaRegister == other.cfaRegister && cfaOffset == other.cfaOffset;
}

std::string UnwindRow::text() const {
  std::string out =
      cfaIsExpression ? "CFA by expression" : std::format("CFA r{}{:+}", cfaRegister, cfaOffset);
  for (const auto& [reg, rule] : registers)
    out += std::format(", r{} {}:{}", reg, int(rule.kind), rule.value);
  return out;
}

std::expected<UnwindTables, std::string> UnwindTables::read(const ElfFile& file) {
  const auto bad = [](std::string what) { return std::unexpected(std::move(what)); };
  UnwindTables tables;
  tables.m_file = &file;
  const Elf64_Phdr* header = nullptr;
  for (const Elf64_Phdr& segment : file.segments())
    if (segment.p_type == PT_GNU_EH_FRAME) header = &segment;
  if (header == nullptr) return tables;
  const auto headerBytes = file.at(header->p_vaddr, header->p_filesz);
  if (!headerBytes) return bad("the search table of the unwind tables is not in the file");
  Cursor in(*headerBytes, header->p_vaddr);
  if (in.fixed(1) != 1) return bad("unknown version of the search table");
  const auto frameEncoding = std::uint8_t(in.fixed(1)), countEncoding = std::uint8_t(in.fixed(1)),
             tableEncoding = std::uint8_t(in.fixed(1));
  std::uint64_t at = in.pointer(frameEncoding, header->p_vaddr);
  if (countEncoding != kOmitted && tableEncoding != kOmitted) {
    if (tableEncoding != 0x3B) return bad("the search table cannot be searched");
    const std::uint64_t count = in.pointer(countEncoding, header->p_vaddr);
    for (std::uint64_t i = 0; i < count && !in.bad(); ++i) {
      const std::uint64_t start = header->p_vaddr + std::uint64_t(in.fixedSigned(4));
      tables.m_search.emplace_back(start, header->p_vaddr + std::uint64_t(in.fixedSigned(4)));
    }
  }
  if (in.bad()) return bad("the search table is cut short");

  // It ends with an empty entry, or with its section.
  const std::uint64_t end = at + file.sizeOfSectionAt(at);
  for (const std::uint64_t start = at; end == start || at < end;) {
    const auto length = file.at(at, 4);
    if (!length) return bad(std::format("no unwind table at {:#x}", at));
    std::uint32_t size = 0;
    std::memcpy(&size, length->data(), 4);
    if (size == 0) break;
    if (size == 0xFFFFFFFF) return bad("an entry of the unwind tables is too large");
    const auto bytes = file.at(at + 4, size);
    if (!bytes) return bad(std::format("the entry at {:#x} is cut short", at));
    Cursor entry(*bytes, at + 4);
    const std::uint64_t distance = entry.fixed(4);
    if (distance == 0) {
      auto cie = readCie(entry, at);
      if (!cie) return bad(cie.error());
      tables.m_cies[at] = std::move(*cie);
    } else {
      const auto cie = tables.m_cies.find(at + 4 - distance);
      if (cie == tables.m_cies.end()) return bad(std::format("the entry at {:#x} has no CIE", at));
      Fde fde;
      fde.address = at;
      fde.cie = &cie->second;
      fde.start = entry.pointer(fde.cie->fdeEncoding & ~kIndirect);
      fde.size = entry.pointer(fde.cie->fdeEncoding & 0x0F);
      if (fde.cie->augmented) {
        const std::uint64_t more = entry.uleb();
        Cursor data = entry;
        entry.skip(more);
        if (fde.cie->lsdaEncoding != kOmitted) fde.lsda = data.pointer(fde.cie->lsdaEncoding & ~kIndirect);
        if (data.bad()) return bad(std::format("the entry at {:#x} is cut short", at));
      }
      fde.program = entry.rest();
      if (entry.bad()) return bad(std::format("the entry at {:#x} is cut short", at));
      tables.m_fdes.push_back(fde);
    }
    at += 4 + size;
  }
  std::ranges::stable_sort(tables.m_fdes, {}, &Fde::start);
  return tables;
}

const Fde* UnwindTables::entryAt(std::uint64_t address) const {
  auto after = std::ranges::upper_bound(m_fdes, address, {}, &Fde::start);
  while (after != m_fdes.begin()) {
    --after;
    if (address - after->start < after->size) return &*after;
    if (after->size != 0) break;
  }
  return nullptr;
}

std::expected<std::vector<UnwindRow>, std::string> UnwindTables::rows(const Fde& fde) const {
  std::vector<UnwindRow> rows;
  if (!Machine(fde, rows).run())
    return std::unexpected(std::format("the rules of {:#x} cannot be read", fde.start));
  return rows;
}

std::expected<std::vector<CallSite>, std::string> UnwindTables::callSites(const Fde& fde) const {
  const auto bad = [&fde](const char* what) {
    return std::unexpected(std::format("the exception table of {:#x}: {}", fde.start, what));
  };
  // Up to the end of what is loaded there, for its own size is not said.
  std::optional<Bytes> bytes;
  for (const Elf64_Phdr& segment : m_file->segments())
    if (segment.p_type == PT_LOAD && fde.lsda >= segment.p_vaddr &&
        fde.lsda < segment.p_vaddr + segment.p_filesz)
      bytes = m_file->at(fde.lsda, segment.p_vaddr + segment.p_filesz - fde.lsda);
  if (!bytes) return bad("not in the file");
  Cursor in(*bytes, fde.lsda);
  const auto padEncoding = std::uint8_t(in.fixed(1));
  const std::uint64_t padBase = padEncoding == kOmitted ? fde.start : in.pointer(padEncoding);
  const auto typeEncoding = std::uint8_t(in.fixed(1));
  std::uint64_t types = 0;
  if (typeEncoding != kOmitted) {
    const std::uint64_t distance = in.uleb();
    types = in.address() + distance;
  }
  const auto siteEncoding = std::uint8_t(in.fixed(1));
  const std::uint64_t sitesSize = in.uleb();
  const std::uint64_t sitesEnd = in.address() + sitesSize;
  const auto from = [&](std::uint64_t address) {
    Cursor cursor(*bytes, fde.lsda);
    cursor.skip(address - fde.lsda);
    return cursor;
  };
  constexpr unsigned kSizes[16] = {8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8, 0, 0, 0};
  const unsigned typeSize = kSizes[typeEncoding & 0x0F];
  const auto typeOf = [&](std::uint64_t filter) {
    Cursor cursor = from(types - filter * typeSize);
    return cursor.pointer(typeEncoding & ~kIndirect);
  };

  std::vector<CallSite> sites;
  while (in.address() < sitesEnd && !in.bad()) {
    CallSite site;
    site.start = fde.start + in.pointer(siteEncoding & 0x0F);
    site.end = site.start + in.pointer(siteEncoding & 0x0F);
    const std::uint64_t pad = in.pointer(siteEncoding & 0x0F);
    site.pad = pad == 0 ? 0 : padBase + pad;
    std::uint64_t action = in.uleb();
    for (int links = 0; action != 0; ++links) {
      if (links == 1000) return bad("actions without end");
      Cursor link = from(sitesEnd + action - 1);
      CaughtAs caught;
      caught.filter = link.sleb();
      const std::uint64_t nextAt = link.address();
      const std::int64_t next = link.sleb();
      if (link.bad()) return bad("an action outside of it");
      if (caught.filter != 0 && types == 0) return bad("an action without types");
      if (caught.filter > 0) {
        caught.types.push_back(typeOf(std::uint64_t(caught.filter)));
      } else if (caught.filter < 0) {
        Cursor list = from(types + std::uint64_t(-caught.filter) - 1);
        while (const std::uint64_t type = list.uleb()) caught.types.push_back(typeOf(type));
      }
      site.actions.push_back(std::move(caught));
      action = next == 0 ? 0 : nextAt + std::uint64_t(next) - sitesEnd + 1;
    }
    sites.push_back(std::move(site));
  }
  if (in.bad()) return bad("cut short");
  return sites;
}

}  // namespace traceback::truth
