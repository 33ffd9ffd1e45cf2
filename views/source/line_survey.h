// What is known of source lines beyond the call that is shown: how often they ran in all of the trace, and
// which of them have code at all. Both take a while, are looked up beside the user interface, and are not
// there until then.
#pragma once

#include <QObject>
#include <QTimer>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "model/line_counts.h"
#include "views/common/background_job.h"
#include "views/moving/navigator.h"
#include "views/source/code_provider.h"

namespace traceback::views {

class LineSurvey : public QObject {
  Q_OBJECT

 public:
  explicit LineSurvey(Navigator& navigator, QObject* parent = nullptr);
  void setProvider(std::shared_ptr<CodeLinesProvider> provider);

  // Null until all of the trace was read.
  const model::LineCounts* counts() const { return m_counts.get(); }
  // The lines of a file that have code in a module, ascending. Null if that is not known; if it was not
  // looked up before, that begins.
  const std::vector<std::uint32_t>* linesWithCode(model::ModuleId module, model::FileId file);

 signals:
  // More is known.
  void changed();

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  void restart();
  void count();

  Navigator* m_navigator;
  std::shared_ptr<CodeLinesProvider> m_provider;
  std::shared_ptr<const model::LineCounts> m_counts;
  std::map<Key, std::optional<std::vector<std::uint32_t>>> m_lines;
  std::optional<Key> m_lookingUp;
  BackgroundJob m_counting, m_lookUp;
  QTimer m_later;
};

}  // namespace traceback::views
