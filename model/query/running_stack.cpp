#include "model/query/running_stack.h"

#include <algorithm>
#include <optional>

#include "model/call_tree.h"
#include "model/trace.h"

namespace traceback::model {

namespace {

constexpr EntryKind kNothing = EntryKind::Sync;

// As in call_tree.cpp: a Call lies in its caller, a Return in the call that it ends.
std::int64_t levelOf(const Entry& entry) {
  return std::int64_t{entry.depth} - (entry.kind == EntryKind::Call ? 1 : 0);
}

}  // namespace

void RunningStack::start(const ThreadTrace& thread) {
  m_thread = &thread;
  m_any = thread.leastEdgeDepth() != INT32_MAX;
  m_outermost = std::int64_t{wholeTrace(thread).depth} + 1;
  m_last.kind = kNothing;
  m_levels.clear();
  m_atBegin.clear();
  m_unknown = 0;
}

std::size_t RunningStack::sizeAt(std::int64_t depth) const {
  return m_any && depth >= m_outermost ? static_cast<std::size_t>(depth - m_outermost + 1) : 0;
}

void RunningStack::truncate(std::size_t size) {
  while (m_levels.size() > size) {
    if (!m_levels.back().looked) --m_unknown;
    m_levels.pop_back();
  }
}

void RunningStack::push(Level level) {
  level.serial = ++m_serial;
  if (!level.looked) ++m_unknown;
  m_levels.push_back(level);
}

void RunningStack::standAt(const Entry& entry) {
  const std::size_t size = sizeAt(levelOf(entry));
  truncate(size);
  while (m_levels.size() < size) push({});
}

void RunningStack::enter(const Entry& entry) {
  if (entry.kind == EntryKind::Sync) return;  // it belongs to no call in particular
  if (m_last.kind != kNothing) {
    truncate(sizeAt(std::int64_t{m_last.depth} - 1));
    if (m_last.kind == EntryKind::Call && sizeAt(m_last.depth) == m_levels.size() + 1)
      push({.function = m_last.function, .looked = m_last.function.valid(), .serial = 0});
  }
  standAt(entry);
  m_last.kind = kNothing;
  if (entry.kind == EntryKind::Call || entry.kind == EntryKind::Return) m_last = entry;
}

void RunningStack::goBackTo(EntryIndex begin, std::span<const Entry> entries) {
  m_levels = m_atBegin;
  m_unknown = 0;
  m_last.kind = kNothing;
  // A call that was there behind these entries was there before them if none of them lies outside of it.
  std::int32_t least = INT32_MAX;
  for (const Entry& entry : entries) least = std::min(least, edgeDepth(entry));
  truncate(sizeAt(least));
  const auto first =
      std::ranges::find_if_not(entries, [](const Entry& entry) { return entry.kind == EntryKind::Sync; });
  if (first != entries.end()) {
    standAt(*first);
    look(begin + static_cast<EntryIndex>(first - entries.begin()));
  }
  m_atBegin = m_levels;
}

std::span<const RunningStack::Level> RunningStack::levels(EntryIndex at) {
  look(at);
  return m_levels;
}

void RunningStack::look(EntryIndex at) {
  std::optional<EntryIndex> before = at;
  for (std::size_t i = m_levels.size(); i-- > 0 && m_unknown > 0;) {
    if (m_levels[i].looked) continue;
    const auto depth = static_cast<std::int32_t>(m_outermost + static_cast<std::int64_t>(i));
    if (before && (*before == at || edgeDepth(m_thread->entry(*before)) >= depth))
      before = m_thread->previousEdge(*before, depth - 1);
    const Entry bound = before ? m_thread->entry(*before) : Entry{};
    if (bound.kind == EntryKind::Call && bound.depth == depth && bound.function.valid()) {
      m_levels[i].function = bound.function;
      m_levels[i].looked = true;
      --m_unknown;
      continue;
    }
    // Its call was not seen. So may be those of the others be.
    for (const CallSpan& call : activeCalls(*m_thread, at)) {
      const std::size_t size = sizeAt(call.depth);
      if (size == 0 || size > m_levels.size() || m_levels[size - 1].looked) continue;
      m_levels[size - 1].function = call.function;
      m_levels[size - 1].looked = true;
    }
    for (Level& level : m_levels) level.looked = true;
    m_unknown = 0;
  }
}

}  // namespace traceback::model
