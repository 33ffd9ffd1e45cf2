// The section headers of a file that is being written: the original's, and new ones behind them, so that no
// index changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loader/elf/elf_image.h"

namespace traceback::instrument {

struct SectionEntry {
  std::string name;
  Elf64_Shdr header{};
};

class SectionTable {
 public:
  explicit SectionTable(const loader::ElfImage& image);

  std::size_t size() const { return m_entries.size(); }
  SectionEntry& operator[](std::size_t index) { return m_entries[index]; }
  std::optional<std::size_t> find(std::string_view name) const;
  std::optional<std::size_t> findType(std::uint32_t type) const;
  // Index of the one that holds the address in its memory.
  std::optional<std::size_t> findAddress(std::uint64_t address) const;
  std::vector<SectionEntry>& entries() { return m_entries; }

  // Makes way for a new section of this name.
  void retire(std::string_view name);
  std::size_t add(std::string name, const Elf64_Shdr& header);

  // Puts the header of a section that moved behind the others, for patchelf takes them to be in the order of
  // the file. An empty section, at the offset where it was, keeps its index taken.
  void moveBehind(std::size_t index, std::uint64_t formerOffset);

  // Appends the table of names and the headers to the file, and leads the file's header to them.
  void appendTo(std::vector<std::byte>& file, Elf64_Ehdr& header);

 private:
  std::vector<SectionEntry> m_entries;
  std::size_t m_names;  // index of the section of names
};

}  // namespace traceback::instrument
