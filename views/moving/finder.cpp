#include "views/moving/finder.h"

namespace traceback::views {

Finder::Finder(Navigator& navigator, QObject* parent) : QObject(parent), m_navigator(&navigator) {
  connect(m_navigator, &Navigator::traceChanged, this, &Finder::cancel);
}

void Finder::find(const model::Query& query, const QString& what, Direction direction,
                  std::optional<model::EntryIndex> start) {
  cancel();
  const auto from = start ? start : m_navigator->entryIndex();
  if (!from) return;
  const model::ThreadIndex thread = m_navigator->threadIndex();
  auto found = std::make_shared<model::Found>();
  m_job.start(
      // The trace is kept alive while it is read.
      [found, query, direction, from = *from, trace = m_navigator->trace(), thread](std::stop_token stop) {
        const model::ThreadTrace& entries = *trace->threads[thread.value];
        *found = direction == Direction::Backward ? model::findPrevious(entries, from, query, stop)
                                                  : model::findNext(entries, from, query, stop);
      },
      [this, found, query, thread, what, direction] { show(thread, query, *found, what, direction); });
  emit started(what);
}

void Finder::show(model::ThreadIndex thread, const model::Query& query, const model::Found& found,
                  const QString& what, Direction direction) {
  const auto& hit = found.hit;
  if (hit && m_navigator->goTo(thread, hit->position.value_or(hit->match), Navigator::Remember::Yes)) {
    if (const auto* instruction = std::get_if<model::AddressQuery>(&query))
      m_navigator->standAt(hit->match, instruction->address);
    emit finished(direction == Direction::Backward ? tr("The last time before that: %1.").arg(what)
                                                   : tr("The next time: %1.").arg(what));
  } else {
    emit finished(direction == Direction::Backward
                      ? tr("Not before this in what the trace holds of this thread: %1.").arg(what)
                      : tr("Not after this in what the trace holds of this thread: %1.").arg(what));
  }
}

}  // namespace traceback::views
