#include "model/compare/entry_keys.h"

#include <algorithm>
#include <filesystem>
#include <format>
#include <map>
#include <optional>

namespace traceback::model {

namespace {

constexpr std::uint64_t kNone = 1;

// Gives equal texts equal numbers.
class Names {
 public:
  std::uint64_t of(std::uint64_t scope, const std::string& text) {
    return m_numbers.try_emplace({scope, text}, m_numbers.size() + 2).first->second;
  }

 private:
  std::map<std::pair<std::uint64_t, std::string>, std::uint64_t> m_numbers;
};

std::string lastPart(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

bool isProgram(const Trace& trace, const Module& module) {
  return module.name == lastPart(trace.summary.program);
}

// Which module of the right trace is the left one's: by build id, by name, or as the program itself.
std::vector<std::optional<std::size_t>> matchModules(const Trace& left, const Trace& right) {
  std::vector<std::optional<std::size_t>> matched(left.modules.size());
  std::vector<bool> taken(right.modules.size());
  const auto match = [&](auto&& alike) {
    for (std::size_t i = 0; i < left.modules.size(); ++i)
      for (std::size_t j = 0; j < right.modules.size() && !matched[i]; ++j) {
        if (taken[j] || !alike(left.modules[i], right.modules[j])) continue;
        matched[i] = j;
        taken[j] = true;
      }
  };
  match([](const Module& a, const Module& b) {
    return !a.buildId.empty() && a.buildId == b.buildId && a.name == b.name;
  });
  match([](const Module& a, const Module& b) { return !a.buildId.empty() && a.buildId == b.buildId; });
  match([](const Module& a, const Module& b) { return a.name == b.name; });
  match([&](const Module& a, const Module& b) { return isProgram(left, a) && isProgram(right, b); });
  return matched;
}

}  // namespace

EntryKeys::EntryKeys(const Trace& left, const Trace& right) {
  Names names;
  const auto matched = matchModules(left, right);
  const Trace* traces[] = {&left, &right};
  for (int side = 0; side < 2; ++side) {
    Table& table = m_tables[side];
    const Trace& trace = *traces[side];
    table.modules.assign(trace.modules.size(), 0);
    table.oneBuild.assign(trace.modules.size(), false);
    for (const std::string& type : trace.exceptionTypes)
      table.exceptionTypes.push_back(names.of(kNone, type));
    for (const SourceFile& file : trace.files) table.files.push_back(names.of(kNone, lastPart(file.path)));
  }
  std::uint64_t number = kNone;
  for (std::size_t i = 0; i < matched.size(); ++i) {
    m_tables[0].modules[i] = ++number;
    if (!matched[i]) continue;
    const Module &mine = left.modules[i], &other = right.modules[*matched[i]];
    m_tables[1].modules[*matched[i]] = number;
    const bool same = !mine.buildId.empty() && mine.buildId == other.buildId;
    m_tables[0].oneBuild[i] = m_tables[1].oneBuild[*matched[i]] = same;
    if (!same)
      m_notes.push_back(std::format("{}: {}; its lines are told apart by function, file and line", mine.name,
                                    mine.buildId.empty() || other.buildId.empty()
                                        ? "whether it is the same build is not known"
                                        : "two different builds"));
  }
  for (std::uint64_t& key : m_tables[1].modules)
    if (key == 0) key = ++number;

  std::map<std::uint64_t, std::uint32_t> firstLines;  // of the left trace's functions
  for (int side = 0; side < 2; ++side) {
    Table& table = m_tables[side];
    for (const Function& each : traces[side]->functions) {
      const std::uint64_t module =
          each.module.value < table.modules.size() ? table.modules[each.module.value] : 0;
      const std::uint64_t key =
          names.of(module << 1, each.mangledName.empty() ? each.name : each.mangledName);
      table.functions.push_back(key);
      table.firstLines.push_back(each.line);
      table.starts.push_back(each.start);
      if (side == 0) firstLines.emplace(key, each.line);
    }
  }
  // Lines count from the function's first only where both sides know it.
  std::map<std::uint64_t, bool> known;
  for (std::size_t i = 0; i < m_tables[1].functions.size(); ++i) {
    const auto found = firstLines.find(m_tables[1].functions[i]);
    known[m_tables[1].functions[i]] =
        found != firstLines.end() && found->second != 0 && m_tables[1].firstLines[i] != 0;
  }
  for (Table& table : m_tables)
    for (std::size_t i = 0; i < table.functions.size(); ++i) {
      const auto found = known.find(table.functions[i]);
      if (found == known.end() || !found->second) table.firstLines[i] = 0;
    }
}

std::uint64_t EntryKeys::function(Side side, FunctionId id) const {
  const Table& table = m_tables[static_cast<int>(side)];
  return id.value < table.functions.size() ? table.functions[id.value] : 0;
}

std::uint64_t EntryKeys::placeKey(const Table& table, const Entry& entry) const {
  const bool hasModule = entry.module.value < table.modules.size();
  const std::uint64_t module = hasModule ? table.modules[entry.module.value] : 0;
  if (hasModule && table.oneBuild[entry.module.value]) return combine(module, entry.address.value);
  const bool hasFunction = entry.function.value < table.functions.size();
  const std::uint64_t function = combine(module, hasFunction ? table.functions[entry.function.value] : 0);
  if (entry.line != 0 && entry.file.value < table.files.size()) {
    const std::uint32_t first = hasFunction ? table.firstLines[entry.function.value] : 0;
    return combine(combine(function, table.files[entry.file.value]), std::uint64_t{entry.line} - first);
  }
  const std::uint64_t start = hasFunction ? table.starts[entry.function.value].value : 0;
  return combine(function, entry.address.value - start);
}

std::uint64_t EntryKeys::key(Side side, const Entry& entry) const {
  const Table& table = m_tables[static_cast<int>(side)];
  const auto kind = static_cast<std::uint64_t>(entry.kind);
  switch (entry.kind) {
    case EntryKind::Line:
      return combine(kind, placeKey(table, entry));
    case EntryKind::Call:
      return combine(kind, function(side, entry.function));
    case EntryKind::Return:
      // One that was unwound did something else than one that returned.
      return combine(kind | (entry.flags & kEntryInterrupted), function(side, entry.function));
    case EntryKind::Exception: {
      const bool known = entry.detail != 0 && entry.detail <= table.exceptionTypes.size();
      return combine(kind, known ? table.exceptionTypes[entry.detail - 1] : kNone);
    }
    case EntryKind::Signal:
    case EntryKind::Sync:
      return combine(kind, entry.detail);
    case EntryKind::Gap:
      // What is not known is like nothing; but where a path may only go on, nothing is missing before.
      if (entry.detail == static_cast<std::uint32_t>(GapCause::PathUnknown))
        return combine(kind, entry.detail);
      return combine(kind, combine(entry.detail, static_cast<std::uint64_t>(side) + 1));
  }
  return kNone;
}

}  // namespace traceback::model
