#include "app/viewer/load_job.h"

#include <QFile>
#include <QPointer>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

namespace traceback::app {
namespace {

constexpr int kLookEveryMs = 10;

}  // namespace

struct LoadJob::State {
  std::stop_source stop;
  std::atomic<bool> ended = false;
  std::mutex mutex;  // for what follows
  double done = 0;
  std::string stage;
  bool changed = false;
  SharedTrace preview;  // the newest that was not shown yet
  std::optional<model::Result<SharedTrace>> outcome;
};

LoadJob::LoadJob(LoadFunction load, Previews previews, QObject* parent)
    : QObject(parent), m_load(std::move(load)), m_previews(previews) {
  m_timer.setInterval(kLookEveryMs);
  connect(&m_timer, &QTimer::timeout, this, &LoadJob::look);
}

LoadJob::~LoadJob() { cancel(); }

void LoadJob::start(const QString& file) {
  cancel();
  m_file = file;
  auto state = std::make_shared<State>();
  m_state = state;
  const std::filesystem::path path(QFile::encodeName(file).toStdString());
  m_threads.emplace_back([state, path, load = m_load, previews = m_previews] {
    LoadProgress progress;
    progress.progress = [&state](double done, const std::string& stage) {
      const std::lock_guard lock(state->mutex);
      state->done = done;
      state->stage = stage;
      state->changed = true;
    };
    if (previews == Previews::Yes) {
      progress.preview = [&state](SharedTrace trace) {
        const std::lock_guard lock(state->mutex);
        state->preview = std::move(trace);
      };
    }
    auto outcome = load(path, progress, state->stop.get_token());
    const std::lock_guard lock(state->mutex);
    state->outcome.emplace(std::move(outcome));
    state->ended = true;
  });
  m_timer.start();
}

void LoadJob::cancel() {
  m_timer.stop();
  if (m_state) m_state->stop.request_stop();
  m_state.reset();
}

void LoadJob::look() {
  const std::shared_ptr<State> state = m_state;
  std::optional<model::Result<SharedTrace>> outcome;
  SharedTrace preview;
  bool changed = false;
  double done = 0;
  QString stage;
  {
    const std::lock_guard lock(state->mutex);
    preview.swap(state->preview);
    changed = std::exchange(state->changed, false);
    done = state->done;
    stage = QString::fromStdString(state->stage);
    outcome.swap(state->outcome);
  }
  if (changed) {
    const QPointer<LoadJob> self = this;
    emit progress(done, stage);
    // Whoever was told may have cancelled it, begun another, or ended this.
    if (self.isNull() || m_state != state) return;
  }
  if (!outcome) {
    if (preview) emit partLoaded(preview);
    return;
  }
  m_timer.stop();
  m_state.reset();
  if (*outcome)
    emit loaded(**outcome);
  else
    emit failed(outcome->error());
}

}  // namespace traceback::app
