// Looks for the next or previous execution of something in a thread, on a thread of its own: a trace of
// millions of entries takes a while to read through. One search at a time; a new one cancels the last.
#pragma once

#include <QObject>

#include "model/queries.h"
#include "views/common/background_job.h"
#include "views/moving/navigator.h"

namespace traceback::views {

class Finder : public QObject {
  Q_OBJECT

 public:
  enum class Direction : std::uint8_t { Backward, Forward };

  explicit Finder(Navigator& navigator, QObject* parent = nullptr);
  // From the position, or from another entry of the thread. Goes to what is found, and remembers where it
  // came from.
  void find(const model::Query& query, const QString& what, Direction direction,
            std::optional<model::EntryIndex> start = {});
  void cancel() { m_job.cancel(); }
  bool running() const { return m_job.running(); }

 signals:
  void started(const QString& what);
  // A sentence on how it went.
  void finished(const QString& message);

 private:
  void show(model::ThreadIndex thread, const model::Query& query, const model::Found& found,
            const QString& what, Direction direction);

  Navigator* m_navigator;
  BackgroundJob m_job;
};

}  // namespace traceback::views
