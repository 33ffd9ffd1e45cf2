#include "views/common/background_job.h"

#include <atomic>
#include <utility>

namespace traceback::views {
namespace {

constexpr int kLookEveryMs = 10;

}  // namespace

struct BackgroundJob::State {
  std::stop_source stop;
  std::atomic<bool> ended = false;
};

BackgroundJob::BackgroundJob(QObject* parent) : QObject(parent) {
  m_timer.setInterval(kLookEveryMs);
  connect(&m_timer, &QTimer::timeout, this, &BackgroundJob::look);
}

BackgroundJob::~BackgroundJob() { cancel(); }

void BackgroundJob::cancel() {
  m_timer.stop();
  if (m_state) m_state->stop.request_stop();
  m_state.reset();
}

void BackgroundJob::start(std::function<void(std::stop_token)> work, std::function<void()> done) {
  cancel();
  auto state = std::make_shared<State>();
  m_state = state;
  m_done = std::move(done);
  std::erase_if(m_threads, [](const Thread& each) { return each.state->ended.load(); });
  m_threads.push_back({state, std::jthread([state, work = std::move(work)] {
                         work(state->stop.get_token());
                         state->ended = true;
                       })});
  m_timer.start();
}

void BackgroundJob::look() {
  if (!m_state->ended) return;
  m_timer.stop();
  m_state.reset();
  // It may start the next.
  const auto done = std::exchange(m_done, {});
  done();
}

}  // namespace traceback::views
