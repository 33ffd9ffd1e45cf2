// Which functions of other files a file's stubs lead to: .plt, .plt.sec and .plt.got (System V ABI, AMD64
// supplement, section 5.2).
#pragma once

#include <string_view>
#include <unordered_map>

#include "model/ids.h"

struct Elf;

namespace traceback::loader {

// By the stub's first address. Immutable once filled.
class StubTable {
 public:
  void add(Elf* elf);
  // The linkage name, without a version; empty if it is no stub, or not known whose. It lives as long as the
  // Elf.
  std::string_view at(model::VirtAddr address) const;

 private:
  std::unordered_map<std::uint64_t, std::string_view> m_names;
};

}  // namespace traceback::loader
