#include "views/moving/navigator.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/fuller.h"

namespace traceback::views {
namespace {

constexpr std::size_t kHistoryLimit = 1000;
constexpr std::int32_t kAnyDepth = std::numeric_limits<std::int32_t>::max() - 1;

// Where a cursor stands that was sent to `entry`.
std::optional<model::EntryIndex> standable(const model::ThreadTrace& thread, model::EntryIndex entry) {
  if (entry >= thread.entryCount()) return std::nullopt;
  const model::EntryKind kind = thread.entry(entry).kind;
  if (model::isSteppable(kind)) return entry;
  const auto next = thread.nextAtMost(entry, kAnyDepth);
  const auto previous = thread.previousAtMost(entry, kAnyDepth);
  if (kind == model::EntryKind::Call) return next ? next : previous;
  return previous ? previous : next;
}

}  // namespace

Navigator::Navigator(QObject* parent) : QObject(parent) {}

void Navigator::setTrace(std::shared_ptr<const model::Trace> trace) {
  m_trace = std::move(trace);
  m_past.clear();
  m_future.clear();
  m_entries.clear();
  m_thread = {};
  m_instruction.reset();
  if (m_trace && !m_trace->threads.empty()) {
    m_entries.resize(m_trace->threads.size());
    m_thread = {0};
    // The one at fault is the first; of a process that met none, one that handles a fault.
    const auto& handled = m_trace->summary.handledFault;
    for (std::uint32_t i = handled ? handled->thread.value : 0; i < m_entries.size(); ++i) {
      m_entries[i] = model::initialPosition(*m_trace->threads[i]);
      if (m_entries[i]) {
        m_thread = {i};
        break;
      }
    }
  }
  emit traceChanged();
  emit threadChanged();
  emit moved();
}

void Navigator::setFullerTrace(std::shared_ptr<const model::Trace> trace) {
  const auto part = std::exchange(m_trace, std::move(trace));
  if (!part || part->threads.size() != m_trace->threads.size()) return setTrace(m_trace);
  const auto moveOn = [&](std::uint32_t thread, model::EntryIndex& entry) {
    const auto& before = *part->threads[thread];
    const auto& now = *m_trace->threads[thread];
    if (&before == &now) return;
    // What is older may tell where it began.
    if (const auto opened = model::initialPosition(now); opened && entry == model::initialPosition(before)) {
      entry = *opened;
      return;
    }
    const auto same = model::sameEntry(before, entry, now);
    entry = standable(now, same).value_or(same);
  };
  for (std::uint32_t i = 0; i < m_entries.size(); ++i) {
    if (m_entries[i]) moveOn(i, *m_entries[i]);
  }
  for (auto* history : {&m_past, &m_future}) {
    for (Position& position : *history) moveOn(position.thread.value, position.entry);
  }
  emit traceChanged();
  emit threadChanged();
  emit moved();
}

const model::ThreadTrace* Navigator::threadAt(model::ThreadIndex index) const {
  return m_trace && index.value < m_trace->threads.size() ? m_trace->threads[index.value].get() : nullptr;
}

const model::ThreadTrace* Navigator::thread() const { return threadAt(m_thread); }

std::optional<model::EntryIndex> Navigator::entryIndex() const {
  return m_thread.value < m_entries.size() ? m_entries[m_thread.value] : std::nullopt;
}

std::optional<model::Entry> Navigator::entry() const {
  const auto index = entryIndex();
  return index ? std::optional(thread()->entry(*index)) : std::nullopt;
}

std::optional<Position> Navigator::position() const {
  const auto index = entryIndex();
  return index ? std::optional(Position{m_thread, *index}) : std::nullopt;
}

void Navigator::standAt(model::EntryIndex entry, std::optional<model::VirtAddr> instruction) {
  const model::ThreadTrace* at = thread();
  if (at == nullptr || entry >= at->entryCount() || !model::isSteppable(at->entry(entry).kind)) return;
  stand({m_thread, entry}, instruction);
}

void Navigator::stand(Position where, std::optional<model::VirtAddr> instruction) {
  m_instruction = instruction;
  const bool otherThread = where.thread != m_thread;
  m_thread = where.thread;
  m_entries[where.thread.value] = where.entry;
  if (otherThread) emit threadChanged();
  emit moved();
}

bool Navigator::canStep(model::Step how) const {
  const auto from = entryIndex();
  return from && model::step(*thread(), *from, how).has_value();
}

bool Navigator::step(model::Step how) {
  const auto from = entryIndex();
  if (!from) return false;
  const auto to = model::step(*thread(), *from, how);
  if (!to) return false;
  stand({m_thread, *to});
  return true;
}

bool Navigator::goTo(model::ThreadIndex index, model::EntryIndex entry, Remember remember) {
  const model::ThreadTrace* target = threadAt(index);
  if (target == nullptr) return false;
  const auto where = standable(*target, entry);
  if (!where) return false;
  const auto from = position();
  const Position to{index, *where};
  if (from == to) return true;
  if (remember == Remember::Yes && from) {
    m_past.push_back(*from);
    if (m_past.size() > kHistoryLimit) m_past.erase(m_past.begin());
    m_future.clear();
  }
  stand(to);
  return true;
}

bool Navigator::goToThread(model::ThreadIndex index) {
  const model::ThreadTrace* target = threadAt(index);
  if (target == nullptr) return false;
  if (!m_entries[index.value]) m_entries[index.value] = model::initialPosition(*target);
  if (const auto entry = m_entries[index.value]) return goTo(index, *entry, Remember::Yes);
  // A thread that recorded nothing is still shown, as empty.
  if (index != m_thread) {
    if (const auto from = position()) m_past.push_back(*from);
    m_future.clear();
    m_thread = index;
    m_instruction.reset();
    emit threadChanged();
    emit moved();
  }
  return true;
}

std::optional<model::ThreadIndex> Navigator::faultThread() const {
  if (!m_trace) return std::nullopt;
  for (std::uint32_t i = 0; i < m_trace->threads.size(); ++i) {
    const model::ThreadTrace& thread = *m_trace->threads[i];
    const bool faulted = thread.info().fault || thread.info().atFault;
    if (faulted && thread.leastLineDepth() != INT32_MAX) return model::ThreadIndex{i};
  }
  return std::nullopt;
}

bool Navigator::goToFault() {
  const auto thread = faultThread();
  const auto at = thread ? model::initialPosition(*threadAt(*thread)) : std::nullopt;
  return at && goTo(*thread, *at, Remember::Yes);
}

void Navigator::historyBack() {
  if (m_past.empty()) return;
  const Position to = m_past.back();
  m_past.pop_back();
  if (const auto from = position()) m_future.push_back(*from);
  stand(to);
}

void Navigator::historyForward() {
  if (m_future.empty()) return;
  const Position to = m_future.back();
  m_future.pop_back();
  if (const auto from = position()) m_past.push_back(*from);
  stand(to);
}

}  // namespace traceback::views
