#include "views/values/end_values.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace traceback::views {
namespace {

// One that was given up may still be at it when the next is asked.
class OneAtATime : public ValuesProvider {
 public:
  explicit OneAtATime(std::shared_ptr<ValuesProvider> provider) : m_provider(std::move(provider)) {}
  model::Result<model::Values> values(std::uint32_t tid, std::stop_token stop) override {
    const std::lock_guard lock(m_mutex);
    if (stop.stop_requested()) return model::fail("cancelled");
    return m_provider->values(tid, std::move(stop));
  }

 private:
  std::mutex m_mutex;
  std::shared_ptr<ValuesProvider> m_provider;
};

}  // namespace

void EndValues::setProvider(std::shared_ptr<ValuesProvider> provider) {
  m_job.cancel();
  m_answers.clear();
  m_provider = provider ? std::make_shared<OneAtATime>(std::move(provider)) : nullptr;
  emit changed();
}

const model::ThreadValues* EndValues::of(std::uint32_t tid) const {
  const auto found = m_answers.find(tid);
  return found != m_answers.end() && found->second.problem.isEmpty() ? &found->second.values : nullptr;
}

QString EndValues::problem(std::uint32_t tid) const {
  const auto found = m_answers.find(tid);
  return found != m_answers.end() ? found->second.problem : QString();
}

void EndValues::ask(std::uint32_t tid) {
  if (!m_provider || m_answers.contains(tid) || isLoading(tid)) return;
  m_loading = tid;
  auto result = std::make_shared<std::optional<model::Result<model::Values>>>();
  m_job.start(
      [provider = m_provider, tid, result](std::stop_token stop) {
        *result = provider->values(tid, std::move(stop));
      },
      [this, tid, result] {
        Answer answer;
        if (auto& values = **result; !values) {
          answer.problem = QString::fromStdString(values.error().message);
        } else if (const auto thread = std::ranges::find(values->threads, tid, &model::ThreadValues::tid);
                   thread == values->threads.end()) {
          answer.problem = tr("The snap has no registers of this thread.");
        } else {
          answer.values = std::move(*thread);
          for (auto& note : values->notes) answer.values.notes.push_back(std::move(note));
        }
        m_answers[tid] = std::move(answer);
        emit changed();
      });
  emit changed();
}

void EndValues::cancel() {
  if (!m_job.running()) return;
  m_job.cancel();
  emit changed();
}

}  // namespace traceback::views
