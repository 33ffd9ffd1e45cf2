// Opens a snap on a thread of its own. The user interface sees progress and one outcome; after cancel() or
// the job's end it sees nothing more, whatever the thread still does.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "model/error.h"
#include "model/trace.h"

namespace traceback::app {

using SharedTrace = std::shared_ptr<const model::Trace>;
// 0 to 1, and what is being done. Called on the loading thread.
using LoadProgress = std::function<void(double done, const std::string& stage)>;
using LoadFunction = std::function<model::Result<SharedTrace>(
    const std::filesystem::path& file, const LoadProgress& progress, std::stop_token stop)>;

class LoadJob : public QObject {
  Q_OBJECT

 public:
  explicit LoadJob(LoadFunction load, QObject* parent = nullptr);
  // Asks all threads to stop, and waits for them: they hold nothing of this object, but must not outlive
  // the program.
  ~LoadJob() override;

  // Cancels what was loading.
  void start(const QString& file);
  void cancel();
  bool running() const { return m_state != nullptr; }
  QString file() const { return m_file; }

 signals:
  void progress(double done, const QString& stage);
  void loaded(const traceback::app::SharedTrace& trace);
  void failed(const traceback::model::Error& error);

 private:
  struct State;
  void look();

  LoadFunction m_load;
  QString m_file;
  std::shared_ptr<State> m_state;      // of the thread that is waited for; shared with it
  std::vector<std::jthread> m_threads;  // it, and cancelled ones that have not ended
  QTimer m_timer;
};

}  // namespace traceback::app
