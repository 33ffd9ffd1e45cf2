#include "loader/symbols/dwarf_line_source.h"

#include <dwarf.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "loader/symbols/debug_files.h"
#include "loader/symbols/dwarf_functions.h"
#include "loader/symbols/dwarf_lines.h"
#include "loader/symbols/file_checksums.h"
#include "loader/symbols/stub_table.h"
#include "loader/symbols/symbol_table.h"

namespace traceback::loader {

using model::VirtAddr;

namespace {

// Of all units of a file; a large program has some ten thousand of each.
constexpr std::size_t kMostUnitRanges = 16'000'000;

// What one compilation unit says. Immutable once read.
struct Unit {
  std::uint32_t index = 0;
  std::vector<LineRow> rows;
  FunctionTree functions;
};

struct UnitRange {
  VirtAddr start, end;
  std::uint32_t unit = 0;
};

template <typename Range>
auto firstEndingAfter(const std::vector<Range>& ranges, VirtAddr address) {
  return std::ranges::partition_point(ranges, [address](const Range& range) { return range.end <= address; });
}

class DwarfLineSource : public LineSource {
 public:
  explicit DwarfLineSource(std::vector<ObjectFile> files) : m_files(std::move(files)) {
    for (ObjectFile& file : m_files) {
      m_symbols.add(file.elf());
      m_stubs.add(file.elf());
      if (m_dwarf || !file.has(".debug_info")) continue;
      m_dwarf = file.dwarf();
      m_lineSections = {file.contents(".debug_line"), file.contents(".debug_line_str"),
                        file.contents(".debug_str")};
    }
    m_symbols.finish();
    if (m_dwarf) indexUnits();
  }

  bool knowsAnything() const { return !m_unitRanges.empty() || !m_symbols.empty(); }
  bool hasLines() const override { return !m_unitRanges.empty(); }

  std::vector<LineRange> rangesIn(VirtAddr start, VirtAddr end) const override;
  std::optional<FunctionInfo> functionAt(VirtAddr address) const override;
  std::string_view stubAt(VirtAddr address) const override { return m_stubs.at(address); }
  std::vector<std::pair<std::string_view, model::Md5>> checksums() const override {
    const std::lock_guard lock(m_mutex);
    return {m_checksums.begin(), m_checksums.end()};
  }

 private:
  void indexUnits();
  void addUnitRanges(Dwarf_Die* die, std::uint32_t unit);
  const Unit& unit(std::uint32_t index) const;
  void readChecksums(Dwarf_Die* unit) const;
  void rangesOfUnit(const Unit& unit, VirtAddr start, VirtAddr end, std::vector<LineRange>& ranges) const;
  std::vector<LineFrame> framesOf(const Unit& unit, std::uint32_t node, const LineRow* row,
                                  VirtAddr at) const;
  std::string_view nameOf(const FunctionNode& node) const;

  std::vector<ObjectFile> m_files;
  Dwarf* m_dwarf = nullptr;
  SymbolTable m_symbols;
  StubTable m_stubs;
  std::vector<UnitRange> m_unitRanges;  // by address, without overlap
  std::vector<Dwarf_Die> m_unitDies;    // with the line table
  std::vector<Dwarf_Die> m_codeDies;    // with the functions: the same, or that of the split file

  LineSections m_lineSections;          // of the file that m_dwarf is of

  mutable std::mutex m_mutex;  // libdw, m_units, m_paths and m_checksums
  mutable std::vector<std::unique_ptr<const Unit>> m_units;
  mutable PathTable m_paths;
  mutable std::set<std::pair<std::string_view, model::Md5>> m_checksums;  // of the units that were read
};

void DwarfLineSource::indexUnits() {
  Dwarf_CU* cu = nullptr;
  Dwarf_Die die, split;
  std::uint8_t type = 0;
  while (dwarf_get_units(m_dwarf, cu, &cu, nullptr, &type, &die, &split) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    m_unitDies.push_back(die);
    m_codeDies.push_back(type == DW_UT_skeleton && split.addr ? split : die);
    addUnitRanges(&die, static_cast<std::uint32_t>(m_unitDies.size() - 1));
    if (m_unitRanges.size() >= kMostUnitRanges) break;
  }
  m_units.resize(m_unitDies.size());
  // Units do not overlap but in damaged files; there the one that begins earlier has the addresses.
  std::ranges::stable_sort(m_unitRanges, {}, &UnitRange::start);
  VirtAddr reached{};
  for (UnitRange& range : m_unitRanges) {
    range.start = std::max(range.start, reached);
    reached = std::max(reached, range.end);
  }
  std::erase_if(m_unitRanges, [](const UnitRange& range) { return range.end <= range.start; });
}

void DwarfLineSource::addUnitRanges(Dwarf_Die* die, std::uint32_t unit) {
  const std::size_t before = m_unitRanges.size();
  Dwarf_Addr base = 0, start = 0, end = 0;
  std::ptrdiff_t offset = 0;
  while (m_unitRanges.size() < kMostUnitRanges &&
         (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
    if (start < end && start != 0) m_unitRanges.push_back({{start}, {end}, unit});
  }
  if (m_unitRanges.size() > before) return;
  // A unit without ranges of its own: its lines say where it is.
  for (const LineRow& row : readLines(die, m_paths)) {
    const bool joins = m_unitRanges.size() > before && m_unitRanges.back().end == row.start;
    if (joins) {
      m_unitRanges.back().end = row.end;
    } else if (row.start.value != 0) {
      m_unitRanges.push_back({row.start, row.end, unit});
    }
  }
}

const Unit& DwarfLineSource::unit(std::uint32_t index) const {
  const std::lock_guard lock(m_mutex);
  std::unique_ptr<const Unit>& unit = m_units[index];
  if (!unit) {
    auto read = std::make_unique<Unit>();
    read->index = index;
    Dwarf_Die die = m_unitDies[index], code = m_codeDies[index];
    read->rows = readLines(&die, m_paths);
    read->functions = readFunctions(&code, m_paths);
    readChecksums(&die);
    unit = std::move(read);
  }
  return *unit;
}

void DwarfLineSource::readChecksums(Dwarf_Die* unit) const {
  Dwarf_Attribute attribute;
  Dwarf_Word offset = 0;
  if (dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &attribute), &offset) != 0) return;
  for (const FileChecksum& file : fileChecksums(m_lineSections, offset))
    m_checksums.emplace(m_paths.intern(file.path.c_str(), file.folder.c_str()), file.md5);
}

std::string_view DwarfLineSource::nameOf(const FunctionNode& node) const {
  if (node.parent != FunctionNode::kNone || node.name.starts_with("_Z")) return node.name;
  // Debug information may have but the bare name of a C++ function; the symbol table then has the whole.
  const SymbolTable::Symbol* symbol = m_symbols.at(node.start);
  const bool better =
      symbol && symbol->start == node.start && (symbol->name.starts_with("_Z") || node.name.empty());
  return better ? symbol->name : node.name;
}

std::vector<LineFrame> DwarfLineSource::framesOf(const Unit& unit, std::uint32_t node, const LineRow* row,
                                                 VirtAddr at) const {
  std::vector<LineFrame> frames;
  LineFrame frame;
  if (row) {
    frame.file = row->file;
    frame.line = row->line;
  }
  if (node == FunctionNode::kNone) {
    if (const SymbolTable::Symbol* symbol = m_symbols.at(at)) {
      frame.function = symbol->name;
      frame.functionStart = symbol->start;
    }
    frames.push_back(frame);
    return frames;
  }
  // Parents come before their children in the tree, so this ends.
  for (std::uint32_t index = node; index != FunctionNode::kNone;) {
    const FunctionNode& function = unit.functions.nodes[index];
    frame.function = nameOf(function);
    frame.functionStart = function.start;
    const bool isInlined = function.parent != FunctionNode::kNone;
    frame.instance = isInlined ? (std::uint64_t{unit.index} << 32 | index) + 1 : 0;
    frames.push_back(frame);
    frame.file = function.callFile;
    frame.line = function.callLine;
    index = function.parent;
  }
  return frames;
}

void DwarfLineSource::rangesOfUnit(const Unit& unit, VirtAddr start, VirtAddr end,
                                   std::vector<LineRange>& ranges) const {
  const auto& rows = unit.rows;
  const auto& stretches = unit.functions.stretches;
  auto row = firstEndingAfter(rows, start);
  auto stretch = firstEndingAfter(stretches, start);
  std::uint32_t lastNode = FunctionNode::kNone;
  const LineRow* lastRow = nullptr;
  for (VirtAddr at = start; at < end;) {
    while (row != rows.end() && row->end <= at) ++row;
    while (stretch != stretches.end() && stretch->end <= at) ++stretch;
    // Up to where either changes.
    VirtAddr until = end;
    const LineRow* here = nullptr;
    std::uint32_t node = FunctionNode::kNone;
    if (row != rows.end()) {
      if (row->start <= at) here = &*row;
      until = std::min(until, here ? row->end : row->start);
    }
    if (stretch != stretches.end()) {
      const bool inside = stretch->start <= at;
      if (inside) node = stretch->node;
      until = std::min(until, inside ? stretch->end : stretch->start);
    }
    if (here || node != FunctionNode::kNone) {
      const bool same = !ranges.empty() && ranges.back().end == at && node == lastNode && here && lastRow &&
                        here->file == lastRow->file && here->line == lastRow->line &&
                        here->isStatement == lastRow->isStatement && node != FunctionNode::kNone &&
                        at != start;
      if (same) {
        ranges.back().end = until;
      } else {
        ranges.push_back({at, until, here ? here->isStatement : false, framesOf(unit, node, here, at)});
      }
    }
    lastNode = node;
    lastRow = here;
    at = until;
  }
}

std::vector<LineRange> DwarfLineSource::rangesIn(VirtAddr start, VirtAddr end) const {
  std::vector<LineRange> ranges;
  for (auto at = firstEndingAfter(m_unitRanges, start); at != m_unitRanges.end() && at->start < end; ++at) {
    rangesOfUnit(unit(at->unit), std::max(start, at->start), std::min(end, at->end), ranges);
  }
  return ranges;
}

std::optional<FunctionInfo> DwarfLineSource::functionAt(VirtAddr address) const {
  const auto range = firstEndingAfter(m_unitRanges, address);
  if (range != m_unitRanges.end() && range->start <= address) {
    const Unit& holder = unit(range->unit);
    const auto& stretches = holder.functions.stretches;
    const auto stretch = firstEndingAfter(stretches, address);
    if (stretch != stretches.end() && stretch->start <= address) {
      std::uint32_t index = stretch->node;
      while (holder.functions.nodes[index].parent != FunctionNode::kNone)
        index = holder.functions.nodes[index].parent;
      const FunctionNode& node = holder.functions.nodes[index];
      return FunctionInfo{std::string(nameOf(node)), node.start, node.size, std::string(node.file),
                          node.line};
    }
  }
  const SymbolTable::Symbol* symbol = m_symbols.at(address);
  if (!symbol) return {};
  const std::uint64_t size = symbol->sized ? symbol->end.value - symbol->start.value : 0;
  return FunctionInfo{std::string(symbol->name), symbol->start, size, {}, 0};
}

}  // namespace

std::unique_ptr<LineSource> openLineSource(const ModuleFiles& files, std::string& note) {
  DebugFiles found = findDebugFiles(files);
  for (const std::string& text : found.notes) note += (note.empty() ? "" : "; ") + text;
  auto source = std::make_unique<DwarfLineSource>(std::move(found.files));
  if (!source->knowsAnything()) return nullptr;
  return source;
}

}  // namespace traceback::loader
