#include "views/finder.h"

#include <algorithm>
#include <atomic>

namespace traceback::views {
namespace {

constexpr int kLookEveryMs = 10;

}  // namespace

struct Finder::State {
  std::shared_ptr<const model::Trace> trace;  // keeps what is read alive
  model::ThreadIndex thread;
  std::stop_source stop;
  model::Found found;                // written before `ended`, read after it
  std::atomic<bool> ended = false;
};

Finder::Finder(Navigator& navigator, QObject* parent) : QObject(parent), m_navigator(&navigator) {
  m_timer.setInterval(kLookEveryMs);
  connect(&m_timer, &QTimer::timeout, this, &Finder::look);
  connect(m_navigator, &Navigator::traceChanged, this, &Finder::cancel);
}

Finder::~Finder() { cancel(); }

void Finder::cancel() {
  m_timer.stop();
  if (m_state) m_state->stop.request_stop();
  m_state.reset();
}

void Finder::find(const model::Query& query, const QString& what, Direction direction) {
  cancel();
  const auto from = m_navigator->entryIndex();
  if (!from) return;
  m_what = what;
  m_direction = direction;
  auto state = std::make_shared<State>();
  state->trace = m_navigator->trace();
  state->thread = m_navigator->threadIndex();
  m_state = state;
  m_threads.emplace_back([state, query, direction, from = *from] {
    const model::ThreadTrace& thread = *state->trace->threads[state->thread.value];
    const std::stop_token stop = state->stop.get_token();
    state->found = direction == Direction::Backward ? model::findPrevious(thread, from, query, stop)
                                                    : model::findNext(thread, from, query, stop);
    state->ended = true;
  });
  emit started(what);
  m_timer.start();
}

void Finder::look() {
  const std::shared_ptr<State> state = m_state;
  if (!state->ended) return;
  m_timer.stop();
  m_state.reset();
  const auto& hit = state->found.hit;
  if (hit && m_navigator->goTo(state->thread, hit->position.value_or(hit->match), Navigator::Remember::Yes)) {
    emit finished(m_direction == Direction::Backward ? tr("The last time before that %1 ran.").arg(m_what)
                                                     : tr("The next time that %1 ran.").arg(m_what));
  } else {
    emit finished(m_direction == Direction::Backward
                      ? tr("%1 did not run before this in this thread.").arg(m_what)
                      : tr("%1 did not run after this in this thread.").arg(m_what));
  }
}

}  // namespace traceback::views
