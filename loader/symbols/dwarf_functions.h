// The functions of a compilation unit and what was inlined into them, from its tree of DIEs (DWARF 5, 3.3).
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "loader/symbols/dwarf_lines.h"
#include "model/ids.h"

namespace traceback::loader {

// A function with code, or an inlined instance of one.
struct FunctionNode {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t parent = kNone;  // what it is inlined into; none for a function of its own
  std::uint32_t depth = 0;       // of nesting among those with code
  // The linkage name, else the name; of C++ the latter is made whole by its scopes ("ns::Class::name"). Lives
  // as long as both the Dwarf and the PathTable.
  std::string_view name;
  model::VirtAddr start;  // its entry
  std::uint64_t size = 0;  // of the stretch that its entry is in
  std::string_view file;  // where it is defined, if known
  std::uint32_t line = 0;
  std::string_view callFile;  // of an inlined instance: where it was called
  std::uint32_t callLine = 0;
};

// [start, end) belongs to this node as the innermost.
struct FunctionStretch {
  model::VirtAddr start, end;
  std::uint32_t node = 0;
};

struct FunctionTree {
  std::vector<FunctionNode> nodes;
  std::vector<FunctionStretch> stretches;  // by address, without overlap
  bool complete = true;  // the tree contradicts itself, or is too large: a part was left out
};

// `unit` is the DIE of the unit; its children are walked without recursion and at most once each.
FunctionTree readFunctions(Dwarf_Die* unit, PathTable& paths);

}  // namespace traceback::loader
