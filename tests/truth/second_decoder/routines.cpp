#include "tests/truth/second_decoder/routines.h"

#include <cstddef>
#include <format>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/format/record.h"
#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

namespace {

constexpr unsigned kScratch = 11;
constexpr unsigned char kPadding = 0xCC;

// Reads the bytes of one routine from its front on.
class Reader {
 public:
  Reader(std::span<const unsigned char> bytes, std::uint64_t address) : m_bytes(bytes), m_start(address) {}

  // `hex` without blanks.
  bool is(std::string_view hex) {
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2, ++m_at)
      if (m_at >= m_bytes.size() || std::format("{:02x}", m_bytes[m_at]) != hex.substr(i, 2)) return false;
    return true;
  }
  std::uint8_t byte() { return m_at < m_bytes.size() ? m_bytes[m_at++] : std::uint8_t{0}; }
  // Where a displacement leads.
  std::uint64_t target(unsigned size) {
    std::uint64_t distance = 0;
    for (unsigned i = 0; i < size; ++i) distance |= std::uint64_t{byte()} << (8 * i);
    const std::uint64_t sign = std::uint64_t{1} << (8 * size - 1);
    return address() + (distance ^ sign) - sign;
  }
  std::uint64_t address() const { return m_start + m_at; }
  std::size_t offset() const { return m_at; }

 private:
  std::span<const unsigned char> m_bytes;
  std::uint64_t m_start;
  std::size_t m_at = 0;
};

// The cursor is in %s, stepped, and in xmm15, which is not, where it was found there. Else it is stored by
// way of %r, and in xmm15 if it is kept there:
//   mov %fs:slot, %s; paddq 48(%s), %xmm15; movlps %xmm15, (%s)
//   mov %fs:slot, %r; (movq %s, %xmm15;) mov %s, (%r)
bool isClaim(Reader& code, const RecordRoutine& routine) {
  const unsigned s = routine.scratch & 7, high = routine.scratch >> 3;
  if (routine.brought)
    return code.is(std::format("64{:02x}8b{:02x}2500f0ffff", 0x48 | high << 2, s << 3 | 4)) &&
           code.is(std::format("66{0:02x}0fd4{1:02x}30{0:02x}0f13{2:02x}", 0x44 | high, 0x78 | s, 0x38 | s));
  const unsigned r = routine.record & 7, upper = routine.record >> 3;
  if (!code.is(std::format("64{:02x}8b{:02x}2500f0ffff", 0x48 | upper << 2, r << 3 | 4))) return false;
  if (routine.keeps && !code.is(std::format("66{:02x}0f6e{:02x}", 0x4C | high, 0xF8 | s))) return false;
  const unsigned rex = 0x48 | high << 2 | upper;
  if (r == 4) return code.is(std::format("{:02x}89{:02x}24", rex, s << 3 | r));
  if (r == 5) return code.is(std::format("{:02x}89{:02x}00", rex, 0x40 | s << 3 | r));
  return code.is(std::format("{:02x}89{:02x}", rex, s << 3 | r));
}

bool readOne(const InstrumentedFile& file, const format::RecordRoutine& entry, RecordRoutine& out) {
  const auto bytes = file.elf.at(entry.start, entry.wrap + format::kRoutineWrapSize);
  if (!bytes) return false;
  Reader code(*bytes, entry.start);
  const bool keepsR11 = (entry.keeps & format::kRoutineKeepsR11) != 0;
  out.restores = (entry.keeps & format::kRoutineRestoresRcx) != 0;
  if (keepsR11 && !code.is("4c895c24f0")) return false;  // mov %r11, -16(%rsp)
  out.keeps = (entry.keeps & format::kRoutineKeepsCursor) != 0;
  out.brought = (*bytes)[code.offset()] == 0x66;
  if (out.brought != ((entry.keeps & format::kRoutineBroughtCursor) != 0) || (out.brought && !out.keeps))
    return false;
  // movq %xmm15, %s, or mov %fs:slot, %s
  const unsigned s = (*bytes)[code.offset() + (out.brought ? 4 : 3)] >> (out.brought ? 0 : 3) & 7;
  const unsigned high = keepsR11 ? 1 : 0;
  if (s != (keepsR11 ? kScratch & 7 : s) || s == 4 || s == 5) return false;
  out.scratch = s | high << 3;
  if (out.brought) {
    if (!code.is(std::format("66{:02x}0f7e{:02x}", 0x4C | high, 0xF8 | s))) return false;
  } else if (!code.is(std::format("64{:02x}8b{:02x}2500f0ffff", 0x48 | high << 2, s << 3 | 4)) ||
             !code.is(std::format("{:02x}8b{:02x}", 0x48 | high | high << 2, s << 3 | s))) {
    return false;
  }
  const std::uint64_t resume = code.address();
  // add $4, %s16; jc
  if (!code.is(std::format("66{}83{:02x}0472", high != 0 ? "41" : "", 0xC0 | s))) return false;
  const std::uint64_t wrap = code.target(1);
  unsigned prefix = code.byte();  // mov %r, (%s)
  if (prefix == 0x89)
    prefix = 0x40;
  else if (!code.is("89"))
    return false;
  const unsigned operands = code.byte();
  if ((prefix & 0xFB) != (0x40 | high) || (operands & 0xC7) != s || code.offset() != entry.written)
    return false;
  out.record = (operands >> 3 & 7) | ((prefix & 4) != 0 ? 8U : 0U);
  if (out.record == out.scratch || (out.restores && out.record != 1)) return false;
  if (!isClaim(code, out) || code.offset() != entry.claimed) return false;
  if ((keepsR11 && !code.is("4c8b5c24f0")) || (out.restores && !code.is("488b4c24f8")) || !code.is("c3"))
    return false;
  if (code.offset() != entry.wrap || wrap != code.address()) return false;
  if (!code.is(std::format("{:02x}8d{:02x}", 0x48 | high << 2, s << 3 | 5)) || code.target(4) != resume ||
      !code.is("ff25"))
    return false;
  const std::size_t entries =
      out.keeps ? offsetof(format::ModuleSlots, wrapKept) : offsetof(format::ModuleSlots, wrap);
  return code.target(4) == file.module.moduleSlots + entries + 8 * out.scratch &&
         code.offset() == entry.wrap + format::kRoutineWrapSize;
}

//   mov %rax, -8(%rsp); mov %rcx, -16(%rsp)
//   movq %xmm15, %rax, or mov %fs:slot, %rax; mov (%rax), %rax
//   movzbl byte(%rax), %ecx; lea mask(%rcx), %ecx; mov %cl, byte(%rax)
//   mov -16(%rsp), %rcx; mov -8(%rsp), %rax; ret
bool readOne(const InstrumentedFile& file, const format::BitRoutine& entry, BitRoutine& out) {
  const auto bytes = file.elf.at(entry.start, entry.size);
  if (!bytes || entry.bit >= 8 * sizeof(format::Word)) return false;
  Reader code(*bytes, entry.start);
  out = {entry.start + entry.size, 1U << entry.bit, (entry.flags & format::kBitRoutineFindsCursor) != 0};
  const unsigned byte = entry.bit / 8, mask = 1U << entry.bit % 8;
  return code.is("48894424f8") && code.offset() == format::kBitRoutineKeepsRax && code.is("48894c24f0") &&
         code.offset() == format::kBitRoutineKeepsRcx &&
         code.is(out.keeps ? "664c0f7ef8" : "64488b042500f0ffff488b00") &&
         code.is(std::format("0fb648{0:02x}8d49{1:02x}8848{0:02x}", byte, mask)) &&
         code.is("488b4c24f0488b4424f8c3") && code.offset() == entry.size;
}

//   mov %fs:slot, %r; mov (%r), %r; movq %r, %xmm15; ret
bool readOne(const InstrumentedFile& file, const format::LoadRoutine& entry, LoadRoutine& out) {
  const auto bytes = file.elf.at(entry.start, entry.size);
  const unsigned r = entry.reg & 7, high = entry.reg >> 3;
  if (!bytes || entry.reg > 15 || r == 4 || r == 5) return false;
  Reader code(*bytes, entry.start);
  out.reg = entry.reg;
  return code.is(std::format("64{:02x}8b{:02x}2500f0ffff", 0x48 | high << 2, r << 3 | 4)) &&
         code.is(std::format("{:02x}8b{:02x}", 0x48 | high | high << 2, r << 3 | r)) &&
         code.is(std::format("66{:02x}0f6e{:02x}c3", 0x4C | high, 0xF8 | r)) && code.offset() == entry.size;
}

class AllRoutines {
 public:
  AllRoutines(const InstrumentedFile& file, Findings& findings)
      : m_file(file), m_findings(findings), m_end(file.headerAddress + file.module.headerSize) {}

  Routines read() {
    const format::ModuleHeader& header = m_file.module;
    const auto records = m_file.table<format::RecordRoutine>(header.routineOffset, header.routineCount);
    const auto bits = m_file.table<format::BitRoutine>(header.bitRoutineOffset, header.bitRoutineCount);
    const auto loads = m_file.table<format::LoadRoutine>(header.loadRoutineOffset, header.loadRoutineCount);
    if (!records || !bits || !loads) {
      m_findings.add("a table of routines outside of the file");
      return {};
    }
    readRecords(*records);
    readEach(*bits, m_out.bits, "set a bit");
    readEach(*loads, m_out.loads, "load the cursor");
    if (m_end < header.copyStart || !records->empty() || !bits->empty() || !loads->empty())
      checkPadding(header.copyStart);
    return std::move(m_out);
  }

 private:
  void readRecords(const std::vector<format::RecordRoutine>& records) {
    std::optional<RecordRoutine> brought;  // the one before, if the cursor is there when it is called
    for (const format::RecordRoutine& entry : records) {
      checkPadding(entry.start);
      m_end = entry.start + entry.wrap + format::kRoutineWrapSize;
      RecordRoutine routine{.end = m_end};
      if (!readOne(m_file, entry, routine))
        m_findings.add(std::format("what is at {:#x} is no record routine", entry.start));
      else if (brought && (routine.brought || !routine.keeps || routine.record != brought->record ||
                           routine.scratch != brought->scratch || routine.restores != brought->restores))
        m_findings.add(
            std::format("in place of the one before, the routine at {:#x} would not do", entry.start));
      else
        m_out.records[entry.start] = routine;
      // A runtime may write a jump over its first five bytes, by a store of eight.
      if (routine.brought && entry.start % 8 != 0)
        m_findings.add(std::format("the routine at {:#x} cannot be replaced at once", entry.start));
      brought = routine.brought ? std::optional(routine) : std::nullopt;
    }
    if (brought) m_findings.add("the last record routine has nothing in its place");
  }

  template <typename Entry, typename Routine>
  void readEach(const std::vector<Entry>& entries, std::map<std::uint64_t, Routine>& out,
                std::string_view does) {
    for (const Entry& entry : entries) {
      checkPadding(entry.start);
      m_end = entry.start + entry.size;
      Routine routine;
      if (readOne(m_file, entry, routine))
        out[entry.start] = routine;
      else
        m_findings.add(std::format("what is at {:#x} does not {}", entry.start, does));
    }
  }

  // Between them, and before and behind, is what stops whoever comes there.
  void checkPadding(std::uint64_t to) {
    const auto bytes = to < m_end ? std::nullopt : m_file.elf.at(m_end, to - m_end);
    if (!bytes) return m_findings.add(std::format("no room for a routine at {:#x}", to));
    for (std::size_t i = 0; i < bytes->size(); ++i)
      if ((*bytes)[i] != kPadding)
        return m_findings.add(std::format("at {:#x} is something that nothing tells of", m_end + i));
  }

  const InstrumentedFile& m_file;
  Findings& m_findings;
  std::uint64_t m_end;  // of the one that was read last
  Routines m_out;
};

}  // namespace

Routines readRoutines(const InstrumentedFile& file, Findings& findings) {
  return AllRoutines(file, findings).read();
}

}  // namespace traceback::truth
