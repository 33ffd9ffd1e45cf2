#include "loader/reconstruct/thread_history.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "loader/reconstruct/path.h"

namespace traceback::loader {

namespace {

using model::HistoryFunction;
using model::HistoryPlace;
using model::HistoryStretch;

struct Resolved {
  model::ModuleId module;
  model::FunctionId function;  // none: of a module without a map
  HistoryPlace place;
};

class Resolver {
 public:
  Resolver(const ModuleTable& modules, TraceNames& names) : m_modules(modules), m_names(names) {}

  HistoryStretch stretchOf(const format::HistoryEntry& entry, std::uint32_t subBufferWords) {
    HistoryStretch stretch;
    stretch.begin = {entry.firstTime};
    stretch.end = {entry.lastTime};
    stretch.parts = entry.lastOrdinal - entry.firstOrdinal + 1;
    stretch.looked = entry.looked;
    stretch.words = stretch.parts > UINT64_MAX / subBufferWords ? UINT64_MAX : stretch.parts * subBufferWords;
    stretch.sampled = entry.sampled;
    stretch.unnamed = entry.others;
    for (const auto& count : entry.counts) {
      if (count.record == 0) break;
      const auto& resolved = resolve(count.record);
      for (const Resolved& place : resolved) add(stretch, place, count.times);
      if (resolved.empty()) stretch.unnamed += count.times;
    }
    const auto byTimes = [](const auto& a, const auto& b) { return a.times > b.times; };
    for (auto& function : stretch.functions) std::ranges::stable_sort(function.places, byTimes);
    std::ranges::stable_sort(stretch.functions, byTimes);
    return stretch;
  }

 private:
  // Where a DAG record began, and the entries that it went on through; nothing if nobody knows.
  const std::vector<Resolved>& resolve(format::Word record) {
    const auto [at, added] = m_known.try_emplace(record);
    if (added) at->second = lookUp(record);
    return at->second;
  }

  std::vector<Resolved> lookUp(format::Word record) {
    const auto dag = m_modules.resolve(record);
    if (!dag || isAlsoOfAnother(record, dag->module)) return {};
    if (dag->map == nullptr) return {{.module = {dag->module}, .function = {}, .place = {}}};
    std::vector<Resolved> result{placeOf(*dag, {dag->dag.function, dag->dag.entry.firstBlock})};
    decodePath(*dag->map, dag->dag, dag->path, m_path);
    for (std::size_t i = 1; i < m_path.blocks.size(); ++i)
      if (m_path.blocks[i].function != m_path.blocks[i - 1].function)
        result.push_back(placeOf(*dag, m_path.blocks[i]));
    return result;
  }

  Resolved placeOf(const ResolvedDag& dag, const PathBlock& at) {
    Resolved result{.module = {dag.module}, .function = {}, .place = {}};
    m_names.needFunction(dag.module, at.function);
    m_names.needBlock(dag.module, at.function, at.block);
    result.function = m_names.functionOf(dag.module, at.function);
    const auto& block = dag.map->block(at.function, at.block);
    if ((block.flags & format::kBlockEntry) != 0) {
      result.place.kind = HistoryPlace::Kind::Entry;
    } else if ((block.flags & format::kBlockLoopHead) != 0) {
      result.place.kind = HistoryPlace::Kind::Loop;
    }
    result.place.address = {block.start};
    for (const BlockLine& line : m_names.linesOf(dag.module, at.function, at.block)) {
      if (line.line == 0) continue;
      result.place.file = line.file;
      result.place.line = line.line;
      break;
    }
    return result;
  }

  // The runtime gives codes to one module only: where it did otherwise, nobody knows whose they were then.
  bool isAlsoOfAnother(format::Word record, std::uint32_t owner) const {
    const auto code = format::codeOf(record);
    for (std::size_t i = 0; i < m_modules.size(); ++i) {
      const auto& module = m_modules[i];
      if (code - module.codeBase < module.codeSpan && module.mapId != m_modules[owner].mapId) return true;
    }
    return false;
  }

  static void add(HistoryStretch& stretch, const Resolved& resolved, std::uint64_t times) {
    auto function = std::ranges::find_if(stretch.functions, [&](const HistoryFunction& known) {
      return known.module == resolved.module && known.function == resolved.function;
    });
    if (function == stretch.functions.end())
      function = stretch.functions.insert(
          function, {.module = resolved.module, .function = resolved.function, .times = 0, .places = {}});
    function->times += times;
    if (!resolved.function.valid()) return;
    const auto key = [](const HistoryPlace& place) { return std::tuple(place.kind, place.address.value); };
    auto place = std::ranges::find(function->places, key(resolved.place), key);
    if (place == function->places.end()) place = function->places.insert(place, resolved.place);
    place->times += times;
  }

  const ModuleTable& m_modules;
  TraceNames& m_names;
  std::unordered_map<format::Word, std::vector<Resolved>> m_known;
  DagPath m_path;  // kept for its memory
};

}  // namespace

std::shared_ptr<const model::ThreadHistory> resolveHistory(const HistoryView& view,
                                                           std::uint32_t subBufferWords,
                                                           const ModuleTable& modules, TraceNames& names) {
  if (view.entries.empty()) return nullptr;
  auto history = std::make_shared<model::ThreadHistory>();
  Resolver resolver(modules, names);
  for (const auto& entry : view.entries)
    history->stretches.push_back(resolver.stretchOf(entry, std::max(subBufferWords, 1u)));
  return history;
}

}  // namespace traceback::loader
