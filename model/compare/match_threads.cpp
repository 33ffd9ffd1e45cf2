#include <map>
#include <string>
#include <utility>

#include "model/call_tree.h"
#include "model/compare/comparison.h"
#include "model/compare/entry_keys.h"
#include "model/trace.h"

namespace traceback::model {

namespace {

// The function that the thread began in, as far as its trace shows: that of its outermost call.
FunctionId startFunction(const ThreadTrace& thread) {
  constexpr std::size_t kLook = 64;
  EntryIndex at = 0;
  for (const Entry& entry : thread.entries(0, kLook)) {
    if (entry.kind == EntryKind::Line) {
      const auto calls = activeCalls(thread, at);
      return calls.empty() ? entry.function : calls.back().function;
    }
    ++at;
  }
  return {};
}

bool isMain(const Trace& trace, const ThreadTrace& thread) {
  return trace.summary.pid != 0 && thread.info().tid == trace.summary.pid;
}

}  // namespace

std::vector<ThreadPair> matchThreads(const Trace& left, const Trace& right) {
  const EntryKeys keys(left, right);
  struct Likeness {
    bool main;
    std::string name;
    std::uint64_t start;
  };
  const auto likenesses = [&keys](Side side, const Trace& trace) {
    std::vector<Likeness> all;
    for (const auto& thread : trace.threads)
      all.push_back(
          {isMain(trace, *thread), thread->info().name, keys.function(side, startFunction(*thread))});
    return all;
  };
  const auto mine = likenesses(Side::Left, left), other = likenesses(Side::Right, right);
  // In the order of their numbers, whichever is at fault.
  const auto byTid = [](const Trace& trace) {
    std::multimap<std::uint32_t, std::size_t> order;
    for (std::size_t i = 0; i < trace.threads.size(); ++i) order.emplace(trace.threads[i]->info().tid, i);
    return order;
  };
  const auto leftOrder = byTid(left), rightOrder = byTid(right);
  std::vector<std::optional<std::size_t>> matched(left.threads.size());
  std::vector<bool> taken(right.threads.size());
  for (const auto& [name, start] : {std::pair{true, true}, {false, true}, {true, false}})
    for (const auto& [leftTid, i] : leftOrder)
      for (const auto& [rightTid, j] : rightOrder) {
        if (matched[i] || taken[j]) continue;
        if (mine[i].main != other[j].main || (name && mine[i].name != other[j].name) ||
            (start && mine[i].start != other[j].start))
          continue;
        matched[i] = j;
        taken[j] = true;
      }
  const auto index = [](std::size_t i) { return ThreadIndex{static_cast<std::uint32_t>(i)}; };
  std::vector<ThreadPair> pairs;
  for (std::size_t i = 0; i < matched.size(); ++i)
    pairs.push_back({index(i), matched[i] ? std::optional(index(*matched[i])) : std::nullopt});
  for (std::size_t j = 0; j < taken.size(); ++j)
    if (!taken[j]) pairs.push_back({std::nullopt, index(j)});
  return pairs;
}

}  // namespace traceback::model
