#include "instrument/elf/section_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace traceback::instrument {

SectionTable::SectionTable(const loader::ElfImage& image) {
  for (const auto& section : image.sections()) {
    m_entries.push_back({.name = std::string(image.sectionName(section)), .header = section});
  }
  if (m_entries.empty()) m_entries.emplace_back();
  m_names = image.header().e_shstrndx;
  if (m_names == SHN_XINDEX) m_names = m_entries[0].header.sh_link;
  if (m_names == 0 || m_names >= m_entries.size()) {
    Elf64_Shdr names{};
    names.sh_type = SHT_STRTAB;
    names.sh_addralign = 1;
    m_names = add(".shstrtab", names);
  }
}

std::optional<std::size_t> SectionTable::find(std::string_view name) const {
  for (std::size_t i = 1; i < m_entries.size(); ++i) {
    if (m_entries[i].name == name) return i;
  }
  return {};
}

std::optional<std::size_t> SectionTable::findType(std::uint32_t type) const {
  for (std::size_t i = 1; i < m_entries.size(); ++i) {
    if (m_entries[i].header.sh_type == type) return i;
  }
  return {};
}

std::optional<std::size_t> SectionTable::findAddress(std::uint64_t address) const {
  for (std::size_t i = 1; i < m_entries.size(); ++i) {
    const auto& header = m_entries[i].header;
    if ((header.sh_flags & SHF_ALLOC) != 0 && address >= header.sh_addr &&
        address - header.sh_addr < header.sh_size) {
      return i;
    }
  }
  return {};
}

void SectionTable::retire(std::string_view name) {
  for (auto& entry : m_entries) {
    if (entry.name == name) entry.name = ".traceback.orig" + entry.name;
  }
}

std::size_t SectionTable::add(std::string name, const Elf64_Shdr& header) {
  m_entries.push_back({.name = std::move(name), .header = header});
  return m_entries.size() - 1;
}

void SectionTable::moveBehind(std::size_t index, std::uint64_t formerOffset) {
  Elf64_Shdr empty{};
  empty.sh_type = SHT_PROGBITS;
  empty.sh_offset = formerOffset;
  empty.sh_addralign = 1;
  m_entries.push_back(std::exchange(m_entries[index], {.name = ".traceback.moved", .header = empty}));
  const auto now = static_cast<std::uint32_t>(m_entries.size() - 1);
  for (auto& entry : m_entries) {
    if (entry.header.sh_link == index) entry.header.sh_link = now;
    if ((entry.header.sh_flags & SHF_INFO_LINK) != 0 && entry.header.sh_info == index)
      entry.header.sh_info = now;
  }
}

void SectionTable::appendTo(std::vector<std::byte>& file, Elf64_Ehdr& header) {
  std::string names(1, '\0');
  for (auto& entry : m_entries) {
    entry.header.sh_name = 0;
    if (entry.name.empty()) continue;
    entry.header.sh_name = static_cast<std::uint32_t>(names.size());
    names += entry.name;
    names += '\0';
  }
  auto& section = m_entries[m_names].header;
  section.sh_offset = file.size();
  section.sh_size = names.size();
  const auto* text = reinterpret_cast<const std::byte*>(names.data());
  file.insert(file.end(), text, text + names.size());
  file.resize((file.size() + 7) & ~std::size_t{7});

  header.e_shoff = file.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<std::uint16_t>(m_entries.size());
  header.e_shstrndx = static_cast<std::uint16_t>(m_names);
  for (const auto& entry : m_entries) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&entry.header);
    file.insert(file.end(), bytes, bytes + sizeof(Elf64_Shdr));
  }
}

}  // namespace traceback::instrument
