// Symbols, dynamic entries, relocations and notes of an ElfImage.
#include <algorithm>
#include <format>

#include "loader/elf/elf_image.h"

namespace traceback::loader {

model::Result<void> ElfImage::readDynamic() {
  const auto* segment = this->segment(PT_DYNAMIC);
  if (segment == nullptr) return {};
  ByteReader reader(*slice(m_bytes, segment->p_offset, segment->p_filesz));  // checked by checkSegments
  while (const auto entry = reader.read<Elf64_Dyn>()) {
    if (entry->d_tag == DT_NULL) break;
    m_dynamic.push_back(*entry);
  }
  return {};
}

std::optional<std::uint64_t> ElfImage::dynamicValue(std::int64_t tag) const {
  const auto found = std::ranges::find(m_dynamic, tag, &Elf64_Dyn::d_tag);
  if (found == m_dynamic.end()) return std::nullopt;
  return found->d_un.d_val;
}

std::optional<std::string_view> ElfImage::dynamicString(std::uint64_t offset) const {
  const auto table = dynamicValue(DT_STRTAB);
  const auto size = dynamicValue(DT_STRSZ);
  if (!table || !size) return std::nullopt;
  const auto strings = bytesAt({*table}, *size);
  if (!strings) return std::nullopt;
  return stringAt(*strings, offset);
}

std::vector<std::string_view> ElfImage::needed() const {
  std::vector<std::string_view> names;
  for (const auto& entry : m_dynamic) {
    if (entry.d_tag != DT_NEEDED) continue;
    if (const auto name = dynamicString(entry.d_un.d_val)) names.push_back(*name);
  }
  return names;
}

model::Result<std::vector<ElfSymbol>> ElfImage::symbolsOf(Bytes table, Bytes strings) const {
  std::vector<ElfSymbol> result;
  const PackedArray<Elf64_Sym> entries(table);
  result.reserve(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto entry = entries[i];
    const auto name = stringAt(strings, entry.st_name);
    if (!name && entry.st_name != 0) {
      const auto offset = static_cast<std::uint64_t>(table.data() - m_bytes.data()) + i * sizeof(Elf64_Sym);
      return error(std::format("the name of symbol {} lies outside the string table", i), offset);
    }
    result.push_back({.name = name.value_or(std::string_view{}),
                      .address = {entry.st_value},
                      .size = entry.st_size,
                      .index = static_cast<std::uint32_t>(i),
                      .section = entry.st_shndx,
                      .info = entry.st_info,
                      .other = entry.st_other});
  }
  return result;
}

model::Result<std::vector<ElfSymbol>> ElfImage::symbols() const {
  const auto table = std::ranges::find(m_sections, SHT_SYMTAB, &Elf64_Shdr::sh_type);
  if (table == m_sections.end()) return std::vector<ElfSymbol>{};
  if (table->sh_link >= m_sections.size())
    return error("the symbol table names no string table", table->sh_offset);
  return symbolsOf(contents(*table), contents(m_sections[table->sh_link]));
}

// Without sections the table's length is only implied: DT_HASH says it, DT_GNU_HASH ends it with the last
// chain (bit 0 of a chain's last hash is set).
std::optional<std::uint64_t> ElfImage::dynamicSymbolCount() const {
  if (const auto hash = dynamicValue(DT_HASH)) {
    const auto words = bytesAt({*hash}, 8);
    if (words) return readAt<std::uint32_t>(*words, 4);
  }
  const auto hash = dynamicValue(DT_GNU_HASH);
  const auto table = hash ? fromAddress({*hash}) : std::nullopt;
  if (!table) return std::nullopt;
  ByteReader reader(*table);
  const auto bucketCount = reader.read<std::uint32_t>();
  const auto firstSymbol = reader.read<std::uint32_t>();
  const auto bloomWords = reader.read<std::uint32_t>();
  if (!reader.read<std::uint32_t>()) return std::nullopt;  // bloom shift
  if (!reader.read(std::uint64_t{8} * *bloomWords)) return std::nullopt;
  const auto buckets = reader.read(std::uint64_t{4} * *bucketCount);
  if (!buckets) return std::nullopt;
  std::uint32_t last = 0;
  for (const auto bucket : PackedArray<std::uint32_t>(*buckets)) last = std::max(last, bucket);
  if (last < *firstSymbol) return *firstSymbol;
  const auto chains = reader.offset();
  for (std::uint64_t symbol = last;; ++symbol) {
    const auto value = readAt<std::uint32_t>(*table, chains + 4 * (symbol - *firstSymbol));
    if (!value) return std::nullopt;
    if ((*value & 1) != 0) return symbol + 1;
  }
}

model::Result<std::vector<ElfSymbol>> ElfImage::dynamicSymbols() const {
  const auto section = std::ranges::find(m_sections, SHT_DYNSYM, &Elf64_Shdr::sh_type);
  if (section != m_sections.end()) {
    if (section->sh_link >= m_sections.size())
      return error("the dynamic symbol table names no string table", section->sh_offset);
    return symbolsOf(contents(*section), contents(m_sections[section->sh_link]));
  }
  const auto table = dynamicValue(DT_SYMTAB);
  if (!table) return std::vector<ElfSymbol>{};
  const auto count = dynamicSymbolCount();
  const auto rest = fromAddress({*table});
  const auto entries = count && rest ? sliceOf(*rest, 0, *count, sizeof(Elf64_Sym)) : std::nullopt;
  if (!entries) return error("the dynamic symbols lie outside the file", fileOffset({*table}));
  const auto strings = dynamicValue(DT_STRTAB);
  const auto size = dynamicValue(DT_STRSZ);
  const auto names = strings && size ? bytesAt({*strings}, *size) : std::nullopt;
  if (!names) return error("the dynamic strings lie outside the file");
  return symbolsOf(*entries, *names);
}

model::Result<std::vector<ElfRelocation>> ElfImage::relocations() const {
  std::vector<ElfRelocation> result;
  // Of the table that `addressTag` and `sizeTag` name: its bytes, empty if there is none.
  const auto table = [&](std::int64_t addressTag, std::int64_t sizeTag,
                         std::string_view name) -> model::Result<Bytes> {
    const auto address = dynamicValue(addressTag);
    const auto size = dynamicValue(sizeTag);
    if (!address || !size || *size == 0) return Bytes{};
    const auto bytes = bytesAt({*address}, *size);
    if (!bytes) return error(std::format("the {} relocations at {:#x} lie outside the file", name, *address));
    return *bytes;
  };
  const auto addRela = [&](Bytes bytes, ElfRelocation::Table kind) {
    for (const auto entry : PackedArray<Elf64_Rela>(bytes)) {
      result.push_back({.address = {entry.r_offset},
                        .addend = entry.r_addend,
                        .type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info)),
                        .symbol = static_cast<std::uint32_t>(ELF64_R_SYM(entry.r_info)),
                        .table = kind});
    }
  };

  const auto rela = table(DT_RELA, DT_RELASZ, "RELA");
  if (!rela) return std::unexpected(rela.error());
  addRela(*rela, ElfRelocation::Table::Rela);

  // RELR (gABI): an even word is an address to relocate; an odd one is a bitmap of the 63 words after it.
  const auto relr = table(DT_RELR, DT_RELRSZ, "RELR");
  if (!relr) return std::unexpected(relr.error());
  const auto addRelr = [&](std::uint64_t address) -> bool {
    const auto stored = bytesAt({address}, 8);
    if (!stored) return false;
    result.push_back({.address = {address},
                      .addend = *readAt<std::int64_t>(*stored, 0),
                      .type = R_X86_64_RELATIVE,
                      .symbol = 0,
                      .table = ElfRelocation::Table::Relr});
    return true;
  };
  std::uint64_t next = 0;
  for (const auto word : PackedArray<std::uint64_t>(*relr)) {
    if ((word & 1) == 0) {
      if (!addRelr(word))
        return error(std::format("a RELR relocation points at {:#x}, outside the file", word));
      next = word + 8;
      continue;
    }
    for (unsigned bit = 0; bit < 63; ++bit) {
      if (((word >> (bit + 1)) & 1) == 0) continue;
      if (!addRelr(next + std::uint64_t{8} * bit)) {
        return error(std::format("a RELR relocation points at {:#x}, outside the file",
                                 next + std::uint64_t{8} * bit));
      }
    }
    next += std::uint64_t{63} * 8;
  }

  const auto jumps = table(DT_JMPREL, DT_PLTRELSZ, "JMPREL");
  if (!jumps) return std::unexpected(jumps.error());
  addRela(*jumps, ElfRelocation::Table::JmpRel);
  return result;
}

namespace {

// Names and descriptions are padded to 4 bytes; in a segment aligned to 8 (.note.gnu.property) descriptions
// to 8.
void addNotes(Bytes bytes, std::uint64_t alignment, std::vector<ElfNote>& notes) {
  const std::uint64_t align = alignment == 8 ? 8 : 4;
  const auto padded = [align](std::uint64_t end) { return (end + align - 1) / align * align; };
  ByteReader reader(bytes);
  while (const auto header = reader.read<Elf64_Nhdr>()) {
    const auto name = reader.read(header->n_namesz);
    if (!name) return;
    reader.seek(padded(reader.offset()));
    const auto description = reader.read(header->n_descsz);
    if (!description) return;
    reader.seek(padded(reader.offset()));
    notes.push_back({.name = stringAt(*name, 0).value_or(std::string_view{}),
                     .type = header->n_type,
                     .description = *description});
  }
}

}  // namespace

std::vector<ElfNote> ElfImage::notes() const {
  std::vector<ElfNote> result;
  for (const auto& segment : m_segments) {
    if (segment.p_type == PT_NOTE)
      addNotes(*slice(m_bytes, segment.p_offset, segment.p_filesz), segment.p_align, result);
  }
  if (!result.empty()) return result;
  for (const auto& section : m_sections) {
    if (section.sh_type == SHT_NOTE) addNotes(contents(section), section.sh_addralign, result);
  }
  return result;
}

std::string ElfImage::buildId() const {
  std::string hex;
  for (const auto& note : notes()) {
    if (note.name != "GNU" || note.type != NT_GNU_BUILD_ID) continue;
    for (const auto byte : note.description) hex += std::format("{:02x}", std::to_integer<unsigned>(byte));
    break;
  }
  return hex;
}

}  // namespace traceback::loader
