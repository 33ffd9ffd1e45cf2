// Looks for the next or previous execution of something in a thread, on a thread of its own: a trace of
// millions of entries takes a while to read through. One search at a time; a new one cancels the last.
#pragma once

#include <QObject>
#include <QTimer>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "model/queries.h"
#include "views/navigator.h"

namespace traceback::views {

class Finder : public QObject {
  Q_OBJECT

 public:
  enum class Direction : std::uint8_t { Backward, Forward };

  explicit Finder(Navigator& navigator, QObject* parent = nullptr);
  // Asks the searches to stop, and waits for them.
  ~Finder() override;

  // From the position. Goes to what is found, and remembers where it came from.
  void find(const model::Query& query, const QString& what, Direction direction);
  void cancel();
  bool running() const { return m_state != nullptr; }

 signals:
  void started(const QString& what);
  // A sentence on how it went.
  void finished(const QString& message);

 private:
  struct State;
  void look();

  Navigator* m_navigator;
  QString m_what;
  Direction m_direction = Direction::Backward;
  std::shared_ptr<State> m_state;
  std::vector<std::jthread> m_threads;
  QTimer m_timer;
};

}  // namespace traceback::views
