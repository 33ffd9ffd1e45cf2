#include "tests/truth/second_decoder/fixed_words.h"

#include <cstring>

namespace traceback::truth {

namespace {

constexpr std::uint64_t kPage = 0x1000;

template <typename T>
std::optional<T> read(const ElfFile& file, std::uint64_t at) {
  const auto bytes = file.at(at, sizeof(T));
  if (!bytes) return std::nullopt;
  T value;
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

}  // namespace

FixedWords::FixedWords(const ElfFile& file) : m_file(file) {
  std::map<std::int64_t, std::uint64_t> dynamic;
  for (const Elf64_Phdr& segment : file.segments()) {
    if (segment.p_type == PT_DYNAMIC)
      for (std::uint64_t at = segment.p_vaddr; at < segment.p_vaddr + segment.p_filesz; at += 16)
        if (const auto entry = read<Elf64_Dyn>(file, at))
          dynamic.try_emplace(entry->d_tag, entry->d_un.d_val);
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0)
      m_fixed.emplace_back(segment.p_vaddr, segment.p_vaddr + segment.p_filesz);
    if (segment.p_type == PT_GNU_RELRO)
      m_fixed.emplace_back(segment.p_vaddr, (segment.p_vaddr + segment.p_memsz) & ~(kPage - 1));
  }
  addRela(dynamic[DT_RELA], dynamic[DT_RELASZ]);
  addRela(dynamic[DT_JMPREL], dynamic[DT_PLTRELSZ]);
  addRelr(dynamic[DT_RELR], dynamic[DT_RELRSZ]);
}

void FixedWords::addRela(std::uint64_t at, std::uint64_t size) {
  for (std::uint64_t end = at + size; at < end; at += sizeof(Elf64_Rela))
    if (const auto rela = read<Elf64_Rela>(m_file, at))
      m_relocations[rela->r_offset] = {unsigned(ELF64_R_TYPE(rela->r_info)), std::uint64_t(rela->r_addend)};
}

// An even word is an address, an odd one tells by its other bits which of the next 63 words follow.
void FixedWords::addRelr(std::uint64_t at, std::uint64_t size) {
  std::uint64_t where = 0;
  const auto add = [&](std::uint64_t place) {
    if (const auto value = read<std::uint64_t>(m_file, place))
      m_relocations[place] = {R_X86_64_RELATIVE, *value};
  };
  for (std::uint64_t end = at + size; at < end; at += 8) {
    const auto word = read<std::uint64_t>(m_file, at);
    if (!word) return;
    if ((*word & 1) == 0) {
      add(*word);
      where = *word + 8;
      continue;
    }
    for (unsigned bit = 1; bit < 64; ++bit)
      if ((*word >> bit & 1) != 0) add(where + std::uint64_t{8} * (bit - 1));
    where += std::uint64_t{8} * 63;
  }
}

bool FixedWords::isFixed(std::uint64_t at, unsigned size) const {
  for (const auto& [start, end] : m_fixed)
    if (at >= start && at + size <= end && m_file.at(at, size)) return true;
  return false;
}

bool FixedWords::isRelocated(std::uint64_t at, unsigned size) const {
  for (auto it = m_relocations.lower_bound(at < 15 ? 0 : at - 15);
       it != m_relocations.end() && it->first < at + size; ++it)
    if (it->first + (it->second.type == R_X86_64_TLSDESC ? 16 : 8) > at) return true;
  return false;
}

std::optional<std::int32_t> FixedWords::offset(std::uint64_t at) const {
  if (!isFixed(at, 4) || isRelocated(at, 4)) return std::nullopt;
  return read<std::int32_t>(m_file, at);
}

std::optional<std::uint64_t> FixedWords::address(std::uint64_t at) const {
  if (!isFixed(at, 8)) return std::nullopt;
  if (!isRelocated(at, 8))
    return m_file.header().e_type == ET_EXEC ? read<std::uint64_t>(m_file, at) : std::nullopt;
  const auto itself = m_relocations.find(at);
  if (itself == m_relocations.end()) return std::nullopt;
  const bool only = (std::next(itself) == m_relocations.end() || std::next(itself)->first >= at + 8) &&
                    (itself == m_relocations.begin() || std::prev(itself)->first + 8 <= at);
  if (!only || itself->second.type != R_X86_64_RELATIVE) return std::nullopt;
  return itself->second.value;
}

}  // namespace traceback::truth
