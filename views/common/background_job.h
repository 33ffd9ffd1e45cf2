// Runs one thing at a time on a thread of its own, for what reads through a trace of millions of entries. A
// new one cancels the last, and so does the end of this object, which waits for it.
#pragma once

#include <QObject>
#include <QTimer>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

namespace traceback::views {

class BackgroundJob : public QObject {
  Q_OBJECT

 public:
  explicit BackgroundJob(QObject* parent = nullptr);
  ~BackgroundJob() override;

  // `work` runs on the other thread and must heed its stop token; `done` follows here, if nothing cancelled
  // it.
  void start(std::function<void(std::stop_token)> work, std::function<void()> done);
  void cancel();
  bool running() const { return m_state != nullptr; }

 private:
  struct State;
  void look();

  std::shared_ptr<State> m_state;
  std::function<void()> m_done;
  struct Thread {
    std::shared_ptr<State> state;
    std::jthread thread;
  };
  std::vector<Thread> m_threads;  // the one that runs, and cancelled ones that may have not ended
  QTimer m_timer;
};

}  // namespace traceback::views
