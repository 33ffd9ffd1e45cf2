#include "loader/elf/elf_image.h"

#include <algorithm>
#include <cstring>
#include <format>

namespace traceback::loader {

namespace {

template <typename T>
std::vector<T> copyTable(Bytes bytes) {
  const PackedArray<T> table(bytes);
  return {table.begin(), table.end()};
}

}  // namespace

model::Result<ElfImage> ElfImage::parse(Bytes bytes, std::string path) {
  ElfImage image(bytes, std::move(path));
  if (auto done = image.readHeader(); !done) return std::unexpected(done.error());
  if (auto done = image.readTables(); !done) return std::unexpected(done.error());
  if (auto done = image.checkSegments(); !done) return std::unexpected(done.error());
  if (auto done = image.checkSections(); !done) return std::unexpected(done.error());
  if (auto done = image.readDynamic(); !done) return std::unexpected(done.error());
  return image;
}

model::Result<void> ElfImage::readHeader() {
  if (m_bytes.size() < SELFMAG || std::memcmp(m_bytes.data(), ELFMAG, SELFMAG) != 0)
    return error("not an ELF file", 0);
  if (m_bytes.size() < EI_NIDENT) return error("truncated ELF header", m_bytes.size());
  const auto ident = [&](int index) {
    return std::to_integer<unsigned>(m_bytes[static_cast<std::size_t>(index)]);
  };
  if (ident(EI_CLASS) != ELFCLASS64) return error("not a 64-bit ELF file", EI_CLASS);
  if (ident(EI_DATA) != ELFDATA2LSB) return error("not a little-endian ELF file", EI_DATA);
  const auto header = readAt<Elf64_Ehdr>(m_bytes, 0);
  if (!header) return error("truncated ELF header", m_bytes.size());
  m_header = *header;
  if (m_header.e_machine != EM_X86_64) {
    return error(std::format("not for x86-64 (machine {})", m_header.e_machine),
                 offsetof(Elf64_Ehdr, e_machine));
  }
  if (ident(EI_VERSION) != EV_CURRENT) return error("unknown ELF version", EI_VERSION);
  return {};
}

// The counts of large tables are in section 0 (gABI: e_phnum PN_XNUM, e_shnum 0, e_shstrndx SHN_XINDEX).
model::Result<void> ElfImage::readTables() {
  std::uint64_t segmentCount = m_header.e_phnum;
  std::uint64_t sectionCount = m_header.e_shnum;
  std::uint64_t nameIndex = m_header.e_shstrndx;
  if (m_header.e_shoff != 0) {
    if (m_header.e_shentsize != sizeof(Elf64_Shdr)) {
      return error("section headers of unknown size", offsetof(Elf64_Ehdr, e_shentsize));
    }
    const auto first = readAt<Elf64_Shdr>(m_bytes, m_header.e_shoff);
    if (!first) return error("truncated: the section headers lie beyond the end", m_header.e_shoff);
    if (sectionCount == 0) sectionCount = first->sh_size;
    if (nameIndex == SHN_XINDEX) nameIndex = first->sh_link;
    if (segmentCount == PN_XNUM) segmentCount = first->sh_info;
    const auto table = sliceOf(m_bytes, m_header.e_shoff, sectionCount, sizeof(Elf64_Shdr));
    if (!table) return error("truncated: the section headers lie beyond the end", m_header.e_shoff);
    m_sections = copyTable<Elf64_Shdr>(*table);
    if (nameIndex != SHN_UNDEF && nameIndex < m_sections.size()) {
      const auto& names = m_sections[nameIndex];
      if (names.sh_type != SHT_NOBITS) {
        m_sectionNames = slice(m_bytes, names.sh_offset, names.sh_size).value_or(Bytes{});
      }
    }
  }
  if (segmentCount != 0) {
    if (m_header.e_phentsize != sizeof(Elf64_Phdr)) {
      return error("program headers of unknown size", offsetof(Elf64_Ehdr, e_phentsize));
    }
    const auto table = sliceOf(m_bytes, m_header.e_phoff, segmentCount, sizeof(Elf64_Phdr));
    if (!table) return error("truncated: the program headers lie beyond the end", m_header.e_phoff);
    m_segments = copyTable<Elf64_Phdr>(*table);
  }
  return {};
}

model::Result<void> ElfImage::checkSegments() const {
  for (std::size_t i = 0; i < m_segments.size(); ++i) {
    const auto& segment = m_segments[i];
    const auto where = m_header.e_phoff + i * sizeof(Elf64_Phdr);
    if (segment.p_type == PT_NULL) continue;
    if (!slice(m_bytes, segment.p_offset, segment.p_filesz)) {
      return error(std::format("truncated: segment {} lies beyond the end", i), where);
    }
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_filesz > segment.p_memsz)
      return error(std::format("segment {} is larger in the file than in memory", i), where);
    if (segment.p_vaddr > UINT64_MAX - segment.p_memsz)
      return error(std::format("segment {} wraps around the address space", i), where);
  }
  return {};
}

model::Result<void> ElfImage::checkSections() const {
  for (std::size_t i = 1; i < m_sections.size(); ++i) {
    const auto& section = m_sections[i];
    if (section.sh_type == SHT_NULL || section.sh_type == SHT_NOBITS) continue;
    if (!slice(m_bytes, section.sh_offset, section.sh_size)) {
      return error(std::format("truncated: section {} lies beyond the end", i),
                   m_header.e_shoff + i * sizeof(Elf64_Shdr));
    }
  }
  return {};
}

const Elf64_Phdr* ElfImage::segment(std::uint32_t type) const {
  const auto found = std::ranges::find(m_segments, type, &Elf64_Phdr::p_type);
  return found == m_segments.end() ? nullptr : &*found;
}

const Elf64_Phdr* ElfImage::segmentAt(model::VirtAddr address) const {
  for (const auto& segment : m_segments) {
    if (segment.p_type == PT_LOAD && address.value >= segment.p_vaddr &&
        address.value - segment.p_vaddr < segment.p_memsz) {
      return &segment;
    }
  }
  return nullptr;
}

std::string_view ElfImage::sectionName(const Elf64_Shdr& section) const {
  return stringAt(m_sectionNames, section.sh_name).value_or(std::string_view{});
}

const Elf64_Shdr* ElfImage::section(std::string_view name) const {
  for (std::size_t i = 1; i < m_sections.size(); ++i) {
    if (m_sections[i].sh_type != SHT_NULL && sectionName(m_sections[i]) == name) return &m_sections[i];
  }
  return nullptr;
}

Bytes ElfImage::contents(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) return {};
  return slice(m_bytes, section.sh_offset, section.sh_size).value_or(Bytes{});
}

std::optional<Bytes> ElfImage::fromAddress(model::VirtAddr address) const {
  const auto* segment = segmentAt(address);
  if (segment == nullptr) return std::nullopt;
  const auto into = address.value - segment->p_vaddr;
  if (into >= segment->p_filesz) return std::nullopt;  // zero-filled memory
  return slice(m_bytes, segment->p_offset + into, segment->p_filesz - into);
}

std::optional<Bytes> ElfImage::bytesAt(model::VirtAddr address, std::uint64_t size) const {
  const auto rest = fromAddress(address);
  if (!rest) return std::nullopt;
  return slice(*rest, 0, size);
}

std::optional<std::uint64_t> ElfImage::fileOffset(model::VirtAddr address) const {
  const auto* segment = segmentAt(address);
  if (segment == nullptr || address.value - segment->p_vaddr >= segment->p_filesz) return std::nullopt;
  return segment->p_offset + (address.value - segment->p_vaddr);
}

}  // namespace traceback::loader
