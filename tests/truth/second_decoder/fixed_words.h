// Words of a file's data that a running program finds as they were linked: where it cannot write, or where
// the dynamic linker relocates and then protects them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tests/truth/instrumented_file.h"

namespace traceback::truth {

class FixedWords {
 public:
  explicit FixedWords(const ElfFile& file);

  std::optional<std::int32_t> offset(std::uint64_t at) const;
  // A link-time address.
  std::optional<std::uint64_t> address(std::uint64_t at) const;

 private:
  void addRela(std::uint64_t at, std::uint64_t size);
  void addRelr(std::uint64_t at, std::uint64_t size);
  bool isFixed(std::uint64_t at, unsigned size) const;
  bool isRelocated(std::uint64_t at, unsigned size) const;

  const ElfFile& m_file;
  struct Relocation {
    unsigned type = 0;
    std::uint64_t value = 0;
  };
  std::map<std::uint64_t, Relocation> m_relocations;  // by where they write
  std::vector<std::pair<std::uint64_t, std::uint64_t>> m_fixed;  // start, end
};

}  // namespace traceback::truth
