#include "views/source/executed_lines.h"

#include <algorithm>

#include "model/executions.h"
#include "model/stepping.h"

namespace traceback::views {

void ExecutedLines::clear() {
  m_thread = nullptr;
  m_call.reset();
  m_lines.clear();
  m_direct.clear();
  m_loops.clear();
  m_ranges.clear();
  m_rangesKnown = false;
  m_complete = true;
  m_last = {};
}

void ExecutedLines::lookAround(const model::ThreadTrace& thread, model::EntryIndex at) {
  const bool sameCall = m_thread == &thread && m_call && at >= m_call->first && at < m_call->end;
  if (sameCall && thread.entry(at).depth == m_call->depth && at >= m_from && at <= m_to) return;
  clear();
  m_thread = &thread;
  const std::vector<model::CallSpan> calls = model::activeCalls(thread, at);
  if (calls.empty()) return;
  m_call = calls.front();
  m_at = at;
  lookAtLines(thread, at);
}

const std::vector<ExecutedLines::Range>& ExecutedLines::ranges() {
  if (m_rangesKnown || !m_call) return m_ranges;
  m_rangesKnown = true;
  // The instructions of an inlined call are its caller's.
  const std::vector<model::CallSpan> calls = model::activeCalls(*m_thread, m_at);
  std::size_t body = 0;
  while (body + 1 < calls.size() && calls[body].call &&
         (m_thread->entry(*calls[body].call).flags & model::kEntryInlined) != 0)
    ++body;
  if (body < calls.size()) lookAtRanges(calls[body]);
  return m_ranges;
}

ExecutedLines::Round ExecutedLines::round(model::EntryIndex at) const {
  if (m_direct.empty()) return {};
  const auto after = std::ranges::upper_bound(m_direct, at, {}, &Direct::index);
  const auto here = after == m_direct.begin() ? after : after - 1;
  const auto begins = [this, &here](const Direct& line) {
    const auto loop = m_loops.find(line.address);
    return loop != m_loops.end() && line.address <= here->address && here->address <= loop->second;
  };
  Round found{m_direct.front().index, m_direct.back().index, true};
  for (auto line = here;; --line) {
    if (begins(*line)) {
      found.first = line->index;
      found.whole = false;
      break;
    }
    if (line == m_direct.begin()) break;
  }
  if (found.whole) return found;
  const auto next = std::find_if(here + 1, m_direct.end(), begins);
  if (next != m_direct.end()) found.last = (next - 1)->index;
  return found;
}

void ExecutedLines::add(const model::Entry& entry, model::EntryIndex index) {
  const bool runsLine = model::runsLine(entry);
  if ((entry.kind == model::EntryKind::Line || runsLine) && entry.address.value != 0) {
    // A way back makes a loop, from where it leads to as far as any way back to there begins.
    if (!m_direct.empty() && entry.address <= m_direct.back().address) {
      model::VirtAddr& end = m_loops[entry.address];
      end = std::max(end, std::max(m_direct.back().address, m_direct.back().last));
    }
    m_direct.push_back({index, entry.address, entry.last});
  }
  if (!runsLine) return;
  if (!model::goesOn(m_last, m_lastIndex, entry, index))
    m_lines[entry.file][entry.line].push_back(
        model::standingPlace(*m_thread, index, entry.kind).value_or(index));
  m_last = entry;
  m_lastIndex = index;
}

void ExecutedLines::lookAtLines(const model::ThreadTrace& thread, model::EntryIndex at) {
  const model::CallSpan& span = *m_call;
  std::vector<model::EntryIndex> before;
  std::optional<model::EntryIndex> place = at;
  for (std::size_t i = 0; i <= kReach; ++i) {
    place = thread.previousEdge(*place, span.depth);
    if (!place || *place < span.first) break;
    before.push_back(*place);
  }
  const bool fromStart = !place || *place < span.first;
  std::ranges::reverse(before);
  for (const model::EntryIndex index : before) add(thread.entry(index), index);
  const model::Entry here = thread.entry(at);
  if (model::isSteppable(here.kind) && here.depth <= span.depth) add(here, at);
  place = at;
  m_to = at;
  bool toEnd = false;
  for (std::size_t i = 0; i <= kReach; ++i) {
    place = thread.nextEdge(*place, span.depth);
    toEnd = !place || *place >= span.end;
    if (toEnd) break;
    add(thread.entry(*place), *place);
    m_to = *place;
  }
  m_complete = fromStart && toEnd;
  m_from = fromStart ? span.first : before.front();
  if (toEnd) m_to = span.end;
}

void ExecutedLines::lookAtRanges(const model::CallSpan& span) {
  const model::ThreadTrace& thread = *m_thread;
  model::EntryIndex index = std::max(span.first, m_at > kReach ? m_at - kReach : 0);
  const model::EntryIndex end = std::min(span.end, m_at + kReach);
  // If it begins in the middle, it may begin in a callee.
  if (index > span.first) index = thread.nextAtMost(index - 1, span.depth).value_or(end);
  while (index < end) {
    const model::Entry entry = thread.entry(index);
    if (entry.kind == model::EntryKind::Call && (entry.flags & model::kEntryInlined) == 0) {
      // Not inlined: past all of it.
      const auto after = thread.nextEdge(index, entry.depth - 1);
      if (!after) break;
      index = std::max(*after, index + 1);
      continue;
    }
    for (const model::CodeRange& code : thread.code(index))
      m_ranges.push_back({entry.module, code.first, code.last, index});
    ++index;
  }
}

const std::map<std::uint32_t, std::vector<model::EntryIndex>>& ExecutedLines::lines(
    model::FileId file) const {
  static const std::map<std::uint32_t, std::vector<model::EntryIndex>> kNone;
  const auto found = m_lines.find(file);
  return found == m_lines.end() ? kNone : found->second;
}

}  // namespace traceback::views
