#include "loader/symbols/dwarf_functions.h"

#include <dwarf.h>

#include <algorithm>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

namespace traceback::loader {

namespace {

// Bounds for what a damaged or hostile file may make of us. The largest units of real programs (a browser's)
// have under a million ranges, nested under a hundred deep.
constexpr std::size_t kMostRanges = 4'000'000;
constexpr std::size_t kDeepest = 1024;

struct NodeRange {
  std::uint64_t start = 0, end = 0;
  std::uint32_t node = 0;
};

// DIEs below which there may be functions with code.
bool mayHoldCode(int tag) {
  switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
      return true;
    default:
      return false;
  }
}

std::string_view text(const char* value) { return value ? std::string_view(value) : std::string_view(); }

std::string_view textOf(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  return text(dwarf_formstring(dwarf_attr_integrate(die, name, &attribute)));
}

std::string_view linkageNameOf(Dwarf_Die* die) {
  const std::string_view name = textOf(die, DW_AT_linkage_name);
  return name.empty() ? textOf(die, DW_AT_MIPS_linkage_name) : name;
}

// The DIE that declares what this one is an instance or the definition of.
Dwarf_Off declarationOf(Dwarf_Die* die) {
  constexpr int kLongestChain = 16;  // origin, specification; more is damage
  Dwarf_Die at = *die;
  for (int i = 0; i < kLongestChain; ++i) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    const bool further = dwarf_formref_die(dwarf_attr(&at, DW_AT_abstract_origin, &attribute), &next) ||
                         dwarf_formref_die(dwarf_attr(&at, DW_AT_specification, &attribute), &next);
    if (!further) break;
    at = next;
  }
  return dwarf_dieoffset(&at);
}

// DWARF 5's language list as it went on after the standard; not yet in <dwarf.h>.
constexpr int kCPlusPlus17 = 0x2b, kCPlusPlus20 = 0x2c;

bool isCPlusPlus(Dwarf_Die* unit) {
  switch (dwarf_srclang(unit)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
      return true;
    default:
      return false;
  }
}

std::optional<Dwarf_Word> number(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0) return {};
  return value;
}

class Walk {
 public:
  Walk(Dwarf_Die* unit, PathTable& paths) : m_unit(*unit), m_paths(paths) {
    Dwarf_Attribute attribute;
    m_folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    std::size_t count = 0;
    if (dwarf_getsrcfiles(unit, &m_files, &count) != 0) m_files = nullptr;
    m_scoped = isCPlusPlus(unit);
  }

  FunctionTree run();

 private:
  struct Level {
    Dwarf_Die die;
    std::uint32_t node = FunctionNode::kNone;  // that encloses it
    std::uint32_t scope = kNoScope;
  };
  static constexpr std::uint32_t kNoScope = UINT32_MAX;
  struct Scope {
    std::uint32_t parent = kNoScope;
    std::string_view name;
  };

  std::uint32_t enter(Dwarf_Die* die, int tag, std::uint32_t parent);
  std::uint32_t enterScope(Dwarf_Die* die, int tag, std::uint32_t parent);
  void nameByScopes();
  void flatten();

  Dwarf_Die m_unit;
  PathTable& m_paths;
  const char* m_folder = nullptr;
  Dwarf_Files* m_files = nullptr;
  FunctionTree m_tree;
  std::vector<NodeRange> m_ranges;

  bool m_scoped = false;
  std::vector<Scope> m_scopes;
  std::unordered_map<Dwarf_Off, std::uint32_t> m_scopeOf;          // where a function is declared
  std::vector<std::pair<std::uint32_t, Dwarf_Off>> m_bareNames;    // nodes without a linkage name
};

FunctionTree Walk::run() {
  std::vector<Level> levels;
  Dwarf_Die first;
  if (dwarf_child(&m_unit, &first) == 0) levels.push_back({first});
  // Every DIE takes a byte or more of the section, and siblings and children come after it: what claims
  // otherwise, or more of them than there are bytes, is damaged.
  const Dwarf_Off unitStart = dwarf_dieoffset(&m_unit) - dwarf_cuoffset(&m_unit);
  Dwarf_Off unitEnd = 0;
  if (dwarf_next_unit(dwarf_cu_getdwarf(m_unit.cu), unitStart, &unitEnd, nullptr, nullptr, nullptr, nullptr,
                      nullptr, nullptr, nullptr) != 0 ||
      unitEnd <= unitStart) {
    unitEnd = unitStart + UINT32_MAX;
  }
  std::uint64_t budget = unitEnd - unitStart;

  while (!levels.empty()) {
    Level& level = levels.back();
    Dwarf_Die die = level.die;
    if (budget-- == 0 || m_ranges.size() >= kMostRanges) {
      m_tree.complete = false;
      break;
    }
    std::uint32_t node = level.node;
    const int tag = dwarf_tag(&die);
    const bool descend = mayHoldCode(tag);
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) node = enter(&die, tag, node);
    const std::uint32_t scope = m_scoped && descend ? enterScope(&die, tag, level.scope) : kNoScope;

    // Replace this DIE by its sibling before its children are put on top.
    Dwarf_Die sibling;
    if (dwarf_siblingof(&die, &sibling) != 0) {
      levels.pop_back();
    } else if (dwarf_dieoffset(&sibling) <= dwarf_dieoffset(&die)) {
      m_tree.complete = false;
      levels.pop_back();
    } else {
      level.die = sibling;
    }
    Dwarf_Die child;
    if (descend && dwarf_haschildren(&die) && dwarf_child(&die, &child) == 0) {
      if (levels.size() < kDeepest && dwarf_dieoffset(&child) > dwarf_dieoffset(&die)) {
        levels.push_back({child, node, scope});
      } else {
        m_tree.complete = false;
      }
    }
  }
  nameByScopes();
  flatten();
  return std::move(m_tree);
}

// The scope of what is below a DIE. Of an instance of a function that is none: its declaration counts.
std::uint32_t Walk::enterScope(Dwarf_Die* die, int tag, std::uint32_t parent) {
  Dwarf_Attribute attribute;
  switch (tag) {
    case DW_TAG_subprogram:
      if (dwarf_hasattr(die, DW_AT_abstract_origin) || dwarf_hasattr(die, DW_AT_specification)) {
        // Classes within a member function are listed here, not where it is declared.
        const auto declared = m_scopeOf.find(declarationOf(die));
        parent = declared == m_scopeOf.end() ? kNoScope : declared->second;
      } else {
        m_scopeOf.emplace(dwarf_dieoffset(die), parent);
      }
      break;
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      break;
    default:
      return parent;
  }
  std::string_view name = text(dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute)));
  if (name.empty() && tag == DW_TAG_namespace) name = "(anonymous namespace)";
  m_scopes.push_back({parent, name});
  return static_cast<std::uint32_t>(m_scopes.size() - 1);
}

void Walk::nameByScopes() {
  for (const auto& [node, declaration] : m_bareNames) {
    const auto scope = m_scopeOf.find(declaration);
    if (scope == m_scopeOf.end()) continue;
    std::string name(m_tree.nodes[node].name);
    constexpr std::size_t kLongest = 4096;
    // Parents come before their children in the table, so this ends.
    for (std::uint32_t at = scope->second; at != kNoScope && name.size() < kLongest;
         at = m_scopes[at].parent) {
      std::string_view outer = m_scopes[at].name;
      // A lambda's class has no name of its own.
      if (outer.empty()) outer = name == "operator()" ? "(lambda)" : "(anonymous)";
      name = std::string(outer).append("::").append(name);
    }
    m_tree.nodes[node].name = m_paths.keep(std::move(name));
  }
}

// The node for a DIE, if it has code; else the one that encloses it, which for a function's declaration or
// its abstract instance is none.
std::uint32_t Walk::enter(Dwarf_Die* die, int tag, std::uint32_t parent) {
  const bool inlined = tag == DW_TAG_inlined_subroutine;
  const std::uint32_t outer = inlined ? parent : FunctionNode::kNone;
  const std::size_t before = m_ranges.size();
  const auto index = static_cast<std::uint32_t>(m_tree.nodes.size());
  Dwarf_Addr base = 0, start = 0, end = 0;
  std::ptrdiff_t offset = 0;
  while (m_ranges.size() < kMostRanges && (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
    // Functions that the linker left out are at 0, or at the end of all addresses.
    if (start < end && start != 0) m_ranges.push_back({start, end, index});
  }
  if (m_ranges.size() == before) return outer;

  FunctionNode node;
  node.parent = outer;
  // A nested function, or one in a class in a function, is painted over what encloses it all the same.
  node.depth = parent == FunctionNode::kNone ? 0 : m_tree.nodes[parent].depth + 1;
  node.name = linkageNameOf(die);
  if (node.name.empty()) {
    node.name = textOf(die, DW_AT_name);
    if (m_scoped && !node.name.empty()) m_bareNames.emplace_back(index, declarationOf(die));
  }
  Dwarf_Addr entry = 0;
  if (dwarf_entrypc(die, &entry) != 0 || entry == 0) entry = m_ranges[before].start;
  node.start = {entry};
  for (std::size_t i = before; i < m_ranges.size(); ++i) {
    if (m_ranges[i].start <= entry && entry < m_ranges[i].end) node.size = m_ranges[i].end - entry;
  }
  node.file = m_paths.intern(dwarf_decl_file(die), m_folder);
  int line = 0;
  if (dwarf_decl_line(die, &line) == 0 && line > 0) node.line = static_cast<std::uint32_t>(line);
  if (inlined) {
    const auto file = number(die, DW_AT_call_file);
    const auto callLine = number(die, DW_AT_call_line);
    if (file && m_files) {
      node.callFile = m_paths.intern(dwarf_filesrc(m_files, *file, nullptr, nullptr), m_folder);
    }
    if (callLine && *callLine <= UINT32_MAX) node.callLine = static_cast<std::uint32_t>(*callLine);
  }
  m_tree.nodes.push_back(node);
  return index;
}

// Ranges nest: at every address the deepest of those that hold it counts, and the later one of equals.
void Walk::flatten() {
  std::ranges::sort(m_ranges, {}, &NodeRange::start);
  const auto shallower = [this](const NodeRange& a, const NodeRange& b) {
    const std::uint32_t depthA = m_tree.nodes[a.node].depth, depthB = m_tree.nodes[b.node].depth;
    return depthA != depthB ? depthA < depthB : a.node < b.node;
  };
  std::priority_queue<NodeRange, std::vector<NodeRange>, decltype(shallower)> open(shallower);
  std::vector<FunctionStretch>& out = m_tree.stretches;
  const auto emit = [&out](std::uint64_t start, std::uint64_t end, std::uint32_t node) {
    if (start >= end) return;
    if (!out.empty() && out.back().end.value == start && out.back().node == node) {
      out.back().end = {end};
    } else {
      out.push_back({{start}, {end}, node});
    }
  };
  std::uint64_t at = 0;
  const auto advanceTo = [&](std::uint64_t limit) {
    while (at < limit && !open.empty()) {
      const NodeRange top = open.top();
      if (top.end <= at) {
        open.pop();
        continue;
      }
      const std::uint64_t end = std::min(top.end, limit);
      emit(at, end, top.node);
      at = end;
    }
    at = std::max(at, limit);
  };
  for (const NodeRange& range : m_ranges) {
    advanceTo(range.start);
    open.push(range);
  }
  if (!m_ranges.empty()) advanceTo(UINT64_MAX);
  m_ranges = {};
}

}  // namespace

FunctionTree readFunctions(Dwarf_Die* unit, PathTable& paths) { return Walk(unit, paths).run(); }

}  // namespace traceback::loader
