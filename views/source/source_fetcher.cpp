#include "views/source/source_fetcher.h"

#include <atomic>
#include <utility>

#include "views/common/formatting.h"

namespace traceback::views {
namespace {

constexpr int kLookEveryMs = 100;

}  // namespace

// Shared with the thread that fetches.
struct SourceFetcher::State {
  std::atomic<std::uint64_t> done = 0, total = 0;
  QString error;  // read when that thread has ended
};

SourceFetcher::SourceFetcher(SourceCache& sources, QObject* parent) : QObject(parent), m_sources(&sources) {
  m_look.setInterval(kLookEveryMs);
  connect(&m_look, &QTimer::timeout, this, &SourceFetcher::progressed);
}

bool SourceFetcher::want(const std::shared_ptr<const model::Trace>& trace, model::FileId file,
                         model::ModuleId module) {
  if (m_job.running() && m_file == file) return true;
  const auto provider = m_sources->provider();
  const model::SourceFile* source = trace->file(file);
  const model::Module* of = trace->module(module);
  if (!provider || source == nullptr || of == nullptr || m_tried.contains({file.value, module.value}) ||
      !provider->canFetch(*source, *of))
    return false;
  m_tried.insert({file.value, module.value});
  m_file = file;
  auto state = std::make_shared<State>();
  m_state = state;
  m_look.start();
  m_job.start(
      [state, provider, trace, source, of](const std::stop_token& stop) {
        const auto fetched = provider->fetch(*source, *of, [&](std::uint64_t done, std::uint64_t total) {
          state->done = done;
          state->total = total;
          return !stop.stop_requested();
        });
        if (!fetched) state->error = QString::fromStdString(fetched.error().text());
      },
      [this, state, file] {
        m_look.stop();
        m_sources->forget(file);
        emit ended(file, state->error);
      });
  return true;
}

void SourceFetcher::cancel() {
  m_look.stop();
  m_job.cancel();
}

void SourceFetcher::forget() {
  cancel();
  m_tried.clear();
}

QString SourceFetcher::progress() const {
  const std::uint64_t total = m_state ? m_state->total.load() : 0;
  if (total == 0) return {};
  constexpr std::uint64_t kKilobyte = 1000;
  return tr("%1 of %2 KB").arg(count(m_state->done / kKilobyte), count((total + kKilobyte - 1) / kKilobyte));
}

}  // namespace traceback::views
