#include "model/queries.h"

#include <algorithm>
#include <map>

#include "model/executions.h"
#include "model/stepping.h"
#include "model/trace.h"

namespace traceback::model {

namespace {

// Between looks at the stop token; about a chunk.
constexpr std::size_t kBatch = 2048;

class Matcher {
 public:
  Matcher(const ThreadTrace& thread, const Query& query) : m_thread(thread), m_query(query) {
    const auto* functions = std::get_if<FunctionQuery>(&query);
    if (!functions || thread.entryCount() == 0) return;
    // A function that runs as the trace begins has no Call entry to be found by.
    const auto first =
        isSteppable(thread.entry(0).kind) ? std::optional<EntryIndex>(0) : thread.nextAtMost(0, INT32_MAX);
    if (!first || !contains(*functions, thread.entry(*first).function)) return;
    const auto calls = activeCalls(thread, *first);
    if (!calls.empty() && !calls.front().call) m_opening = first;
  }

  bool matches(EntryIndex index, const Entry& entry) const {
    if (const auto* line = std::get_if<LineQuery>(&m_query)) {
      const bool onlyStart = line->onlyStarts || entry.kind == EntryKind::Call;
      return runsLine(entry) && entry.line == line->line && entry.file == line->file &&
             !(onlyStart && continuesLine(m_thread, index, entry));
    }
    if (const auto* address = std::get_if<AddressQuery>(&m_query)) {
      return entry.kind == EntryKind::Line && entry.module == address->module &&
             m_thread.ranIn(index, entry, address->address);
    }
    if (const auto* functions = std::get_if<FunctionQuery>(&m_query)) {
      return (beginsCall(entry) && contains(*functions, entry.function)) || index == m_opening;
    }
    if (std::holds_alternative<AnyEventQuery>(m_query)) {
      return (isSteppable(entry.kind) && entry.kind != EntryKind::Line) || (entry.flags & kEntryFault) != 0;
    }
    if (std::holds_alternative<GapQuery>(m_query)) return entry.kind == EntryKind::Gap;
    const bool exception = std::holds_alternative<ExceptionQuery>(m_query);
    return entry.kind == (exception ? EntryKind::Exception : EntryKind::Signal);
  }

  Hit hit(EntryIndex index, const Entry& entry) const {
    return {index, standingPlace(m_thread, index, entry.kind)};
  }

 private:
  static bool contains(const FunctionQuery& query, FunctionId function) {
    return std::ranges::find(query.functions, function) != query.functions.end();
  }

  const ThreadTrace& m_thread;
  const Query& m_query;
  std::optional<EntryIndex> m_opening;
};

}  // namespace

AllFound findAll(const ThreadTrace& thread, const Query& query, std::size_t limit, EntryIndex from,
                 const std::stop_token& stop) {
  AllFound found;
  const Matcher matcher(thread, query);
  for (EntryIndex at = from; at < thread.entryCount();) {
    if (stop.stop_requested()) {
      found.cancelled = found.more = true;
      return found;
    }
    for (const Entry& entry : thread.entries(at, kBatch)) {
      if (matcher.matches(at, entry)) {
        if (found.hits.size() >= limit) {
          found.more = true;
          return found;
        }
        found.hits.push_back(matcher.hit(at, entry));
      }
      ++at;
    }
  }
  return found;
}

Found findNext(const ThreadTrace& thread, EntryIndex from, const Query& query, const std::stop_token& stop) {
  if (from >= thread.entryCount()) return {};
  const AllFound all = findAll(thread, query, 1, from + 1, stop);
  return {all.hits.empty() ? std::nullopt : std::optional(all.hits.front()),
          all.cancelled && all.hits.empty()};
}

Found findPrevious(const ThreadTrace& thread, EntryIndex from, const Query& query,
                   const std::stop_token& stop) {
  const Matcher matcher(thread, query);
  for (EntryIndex end = std::min(from, thread.entryCount()); end > 0;) {
    if (stop.stop_requested()) return {{}, true};
    const EntryIndex begin = end - std::min<EntryIndex>(end, kBatch);
    const auto batch = thread.entries(begin, static_cast<std::size_t>(end - begin));
    for (std::size_t i = batch.size(); i-- > 0;) {
      if (!matcher.matches(begin + i, batch[i])) continue;
      // The call that `from` is the first place of is where one is already.
      const Hit hit = matcher.hit(begin + i, batch[i]);
      if (hit.position && *hit.position < from) return {hit, false};
    }
    end = begin;
  }
  return {};
}

CallLines linesOfCall(const ThreadTrace& thread, const CallSpan& call, EntryIndex at, std::uint64_t limit,
                      const std::stop_token& stop) {
  CallLines result;
  std::map<std::pair<FileId, std::uint32_t>, LineHits> lines;
  const auto distance = [at](EntryIndex index) { return index > at ? index - at : at - index; };
  Entry last;  // the line of the call that ran before
  EntryIndex lastIndex = 0;
  bool anyLast = false;
  std::uint64_t read = 0;
  const EntryIndex end = std::min(call.end, thread.entryCount());
  for (EntryIndex index = call.first; index < end;) {
    if (stop.stop_requested() || read >= limit) {
      result.complete = false;
      break;
    }
    bool anyHere = false;
    for (const Entry& entry :
         thread.entries(index, static_cast<std::size_t>(std::min<EntryIndex>(end - index, kBatch)))) {
      const EntryIndex here = index++;
      ++read;
      if (executionDepth(entry) != call.depth) continue;
      anyHere = anyHere || isSteppable(entry.kind) || runsLine(entry);
      if (!runsLine(entry)) continue;
      LineHits& hits = lines[{entry.file, entry.line}];
      if (hits.count == 0 || distance(here) < distance(hits.nearest)) hits.nearest = here;
      if (!anyLast || !goesOn(last, lastIndex, entry, here)) ++hits.count;
      hits.file = entry.file;
      hits.line = entry.line;
      last = entry;
      lastIndex = here;
      anyLast = true;
    }
    // Deep in something it called: on to where it goes on itself.
    if (!anyHere && index < end) index = thread.nextEdge(index - 1, call.depth).value_or(end);
  }
  for (const auto& [place, hits] : lines) result.lines.push_back(hits);
  return result;
}

}  // namespace traceback::model
