// Which functions of a program are meant, as a user says it: by name, by address or by number.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "instrument/flow/function.h"
#include "model/error.h"

namespace traceback::instrument {

class FunctionSelection {
 public:
  // Each item is one of
  //   0x1234        the function that has this link-time address
  //   17, 17-40     by number: functions are counted from 0 by rising address (as in the map)
  //   main, png_*   a glob pattern of the name in the symbol table (as linked, so mangled)
  //   @FILE         the items that a file lists, divided by white space or commas
  // An error names the item, or the file, that cannot be read.
  static model::Result<FunctionSelection> parse(std::span<const std::string> items);

  bool empty() const { return m_patterns.empty() && m_addresses.empty() && m_numbers.empty(); }
  bool contains(const Function& function, std::size_t number) const;
  // Fixed spelling of what is selected, files read: for the name of a cached output.
  std::string text() const;

 private:
  struct Numbers {
    std::uint64_t first, last;
  };

  model::Result<void> add(const std::string& item);
  model::Result<void> addFile(const std::string& path);

  std::vector<std::string> m_patterns;
  std::vector<VirtAddr> m_addresses;
  std::vector<Numbers> m_numbers;
};

}  // namespace traceback::instrument
