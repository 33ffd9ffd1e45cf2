#include "views/source/line_survey.h"

namespace traceback::views {
namespace {

// A trace of more entries is counted only when what the user waits for is on the screen.
constexpr model::EntryIndex kSmall = 1'000'000;
constexpr int kLaterMs = 2000;

}  // namespace

LineSurvey::LineSurvey(Navigator& navigator, QObject* parent) : QObject(parent), m_navigator(&navigator) {
  m_later.setSingleShot(true);
  connect(&m_later, &QTimer::timeout, this, &LineSurvey::count);
  connect(m_navigator, &Navigator::traceChanged, this, &LineSurvey::restart);
}

void LineSurvey::setProvider(std::shared_ptr<CodeLinesProvider> provider) {
  m_provider = std::move(provider);
  m_lookUp.cancel();
  m_lookingUp.reset();
  m_lines.clear();
}

void LineSurvey::restart() {
  m_counting.cancel();
  m_lookUp.cancel();
  m_lookingUp.reset();
  m_counts.reset();
  m_lines.clear();
  m_later.stop();
  const auto& trace = m_navigator->trace();
  if (!trace) return;
  model::EntryIndex entries = 0;
  for (const auto& thread : trace->threads) entries += thread->entryCount();
  m_later.start(entries <= kSmall ? 0 : kLaterMs);
}

void LineSurvey::count() {
  auto counts = std::make_shared<model::LineCounts>();
  m_counting.start([counts, trace = m_navigator->trace()](
                       const std::stop_token& stop) { *counts = model::countLines(*trace, stop); },
                   [this, counts] {
                     if (!counts->complete()) return;
                     m_counts = counts;
                     emit changed();
                   });
}

const std::vector<std::uint32_t>* LineSurvey::linesWithCode(model::ModuleId module, model::FileId file) {
  const auto& trace = m_navigator->trace();
  if (!trace || !m_provider || trace->module(module) == nullptr || trace->file(file) == nullptr)
    return nullptr;
  const Key key{module.value, file.value};
  if (const auto known = m_lines.find(key); known != m_lines.end())
    return known->second ? &*known->second : nullptr;
  if (m_lookingUp == key) return nullptr;
  m_lookingUp = key;
  auto found = std::make_shared<std::optional<std::vector<std::uint32_t>>>();
  m_lookUp.start(
      [found, trace, module, file, provider = m_provider](std::stop_token stop) {
        *found = provider->linesWithCode(*trace->module(module), *trace->file(file), std::move(stop));
      },
      [this, found, key] {
        m_lookingUp.reset();
        m_lines[key] = std::move(*found);
        emit changed();
      });
  return nullptr;
}

}  // namespace traceback::views
