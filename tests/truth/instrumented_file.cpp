#include "tests/truth/instrumented_file.h"

#include <cstring>
#include <fstream>
#include <iterator>

namespace traceback::truth {

namespace {

template <typename T>
bool readAt(std::span<const unsigned char> bytes, std::uint64_t offset, T& value) {
  if (sizeof(T) > bytes.size() || offset > bytes.size() - sizeof(T)) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return true;
}

template <typename T>
bool readTable(std::span<const unsigned char> bytes, std::uint64_t& offset, std::uint64_t count,
               std::vector<T>& out) {
  if (offset > bytes.size() || count > (bytes.size() - offset) / sizeof(T)) return false;
  out.resize(count);
  if (count != 0) std::memcpy(out.data(), bytes.data() + offset, count * sizeof(T));
  offset += count * sizeof(T);
  return true;
}

template <typename T>
bool slice(const std::vector<T>& all, std::uint64_t first, std::uint64_t count, std::vector<T>& out) {
  if (first > all.size() || count > all.size() - first) return false;
  out.assign(all.begin() + std::ptrdiff_t(first), all.begin() + std::ptrdiff_t(first + count));
  return true;
}

std::string textAt(std::span<const unsigned char> bytes, std::uint64_t offset) {
  std::string text;
  while (offset < bytes.size() && bytes[offset] != 0) text += char(bytes[offset++]);
  return text;
}

}  // namespace

std::expected<ElfFile, std::string> ElfFile::open(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::unexpected(path + ": cannot be opened");
  ElfFile elf;
  elf.m_bytes.assign(std::istreambuf_iterator<char>(file), {});
  if (!readAt<Elf64_Ehdr>(elf.m_bytes, 0, elf.m_header) ||
      std::memcmp(elf.m_header.e_ident, ELFMAG, SELFMAG) != 0)
    return std::unexpected(path + ": not an ELF file");
  std::uint64_t at = elf.m_header.e_phoff;
  if (!readTable(std::span<const unsigned char>(elf.m_bytes), at, elf.m_header.e_phnum, elf.m_segments))
    return std::unexpected(path + ": segments cut short");
  at = elf.m_header.e_shoff;
  if (!readTable(std::span<const unsigned char>(elf.m_bytes), at, elf.m_header.e_shnum, elf.m_sections))
    return std::unexpected(path + ": sections cut short");
  for (const Elf64_Shdr& section : elf.m_sections)
    elf.m_names.push_back(
        elf.m_header.e_shstrndx < elf.m_sections.size()
            ? textAt(elf.m_bytes, elf.m_sections[elf.m_header.e_shstrndx].sh_offset + section.sh_name)
            : std::string());
  return elf;
}

std::optional<std::span<const unsigned char>> ElfFile::at(std::uint64_t address, std::uint64_t size) const {
  for (const Elf64_Phdr& segment : m_segments) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
        address - segment.p_vaddr > segment.p_filesz || size > segment.p_filesz - (address - segment.p_vaddr))
      continue;
    const std::uint64_t offset = segment.p_offset + (address - segment.p_vaddr);
    if (size > m_bytes.size() || offset > m_bytes.size() - size) return std::nullopt;
    return std::span(m_bytes).subspan(offset, size);
  }
  return std::nullopt;
}

std::optional<std::span<const unsigned char>> ElfFile::section(const std::string& name) const {
  for (std::size_t i = 0; i < m_sections.size(); ++i) {
    const Elf64_Shdr& section = m_sections[i];
    if (m_names[i] != name || section.sh_type == SHT_NOBITS) continue;
    if (section.sh_size > m_bytes.size() || section.sh_offset > m_bytes.size() - section.sh_size)
      return std::nullopt;
    return std::span(m_bytes).subspan(section.sh_offset, section.sh_size);
  }
  return std::nullopt;
}

std::string ElfFile::sectionAt(std::uint64_t address) const {
  for (std::size_t i = 0; i < m_sections.size(); ++i)
    if ((m_sections[i].sh_flags & SHF_ALLOC) != 0 && address >= m_sections[i].sh_addr &&
        address - m_sections[i].sh_addr < m_sections[i].sh_size)
      return m_names[i];
  return "no section";
}

std::uint64_t ElfFile::sizeOfSectionAt(std::uint64_t start) const {
  for (const Elf64_Shdr& section : m_sections)
    if ((section.sh_flags & SHF_ALLOC) != 0 && section.sh_addr == start && section.sh_size != 0)
      return section.sh_size;
  return 0;
}

std::vector<ElfFile::Section> ElfFile::loadedSections() const {
  std::vector<Section> loaded;
  for (std::size_t i = 0; i < m_sections.size(); ++i)
    if ((m_sections[i].sh_flags & SHF_ALLOC) != 0 && m_sections[i].sh_type != SHT_NOBITS &&
        m_sections[i].sh_size != 0)
      loaded.push_back({m_names[i], m_sections[i].sh_addr, m_sections[i].sh_size});
  return loaded;
}

std::expected<InstrumentedFile, std::string> InstrumentedFile::open(const std::string& path) {
  auto elf = ElfFile::open(path);
  if (!elf) return std::unexpected(elf.error());
  InstrumentedFile file;
  file.elf = std::move(*elf);
  for (const Elf64_Phdr& segment : file.elf.segments()) {
    const auto bytes = file.elf.at(segment.p_vaddr, sizeof file.module);
    if (segment.p_type != PT_LOAD || !bytes || !readAt(*bytes, 0, file.module)) continue;
    file.headerAddress = segment.p_vaddr;
    if (file.module.magic == format::kModuleMagic) break;
  }
  if (file.module.magic != format::kModuleMagic)
    return std::unexpected(path + ": no module table: not instrumented");
  const auto map = file.elf.section(format::kMapSection);
  if (!map || !readAt(*map, 0, file.map) || file.map.magic != format::kMapMagic)
    return std::unexpected(path + ": no map");

  std::vector<format::FunctionEntry> functions;
  std::vector<format::DagEntry> dags;
  std::vector<format::BlockEntry> blocks;
  std::vector<format::AddressEntry> addresses;
  std::uint64_t at = file.map.headerSize;
  if (!readTable(*map, at, file.map.functionCount, functions) ||
      !readTable(*map, at, file.map.dagCount, dags) || !readTable(*map, at, file.map.blockCount, blocks) ||
      !readTable(*map, at, file.map.addressCount, addresses))
    return std::unexpected(path + ": the map is cut short");
  for (const format::FunctionEntry& entry : functions) {
    InstrumentedFunction& function = file.functions.emplace_back();
    function.entry = entry;
    function.name = textAt(*map, at + entry.name);
    if (!slice(dags, entry.firstDag, entry.dagCount, function.dags) ||
        !slice(blocks, entry.firstBlock, entry.blockCount, function.blocks) ||
        !slice(addresses, entry.firstAddress, entry.addressCount, function.addresses))
      return std::unexpected(path + ": the map's tables do not hold what " + function.name + " needs");
  }
  return file;
}

}  // namespace traceback::truth
