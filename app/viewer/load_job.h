// Opens a snap on a thread of its own. The user interface sees progress and one outcome; after cancel() or
// the job's end it sees nothing more, whatever the thread still does.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <cstdint>
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
// What a loading function may tell meanwhile, on the loading thread.
struct LoadProgress {
  // 0 to 1, and what is being done.
  std::function<void(double done, const std::string& stage)> progress;
  // The newest of a large snap. Empty if nobody wants to see a part.
  std::function<void(SharedTrace)> preview;

  void operator()(double done, const std::string& stage) const { progress(done, stage); }
};
using LoadFunction = std::function<model::Result<SharedTrace>(
    const std::filesystem::path& file, const LoadProgress& progress, std::stop_token stop)>;

class LoadJob : public QObject {
  Q_OBJECT

 public:
  enum class Previews : std::uint8_t { No, Yes };
  explicit LoadJob(LoadFunction load, Previews previews = Previews::Yes, QObject* parent = nullptr);
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
  // Any number of times before loaded(), with more each time.
  void partLoaded(const traceback::app::SharedTrace& trace);
  void loaded(const traceback::app::SharedTrace& trace);
  void failed(const traceback::model::Error& error);

 private:
  struct State;
  void look();

  LoadFunction m_load;
  Previews m_previews;
  QString m_file;
  std::shared_ptr<State> m_state;      // of the thread that is waited for; shared with it
  std::vector<std::jthread> m_threads;  // it, and cancelled ones that have not ended
  QTimer m_timer;
};

}  // namespace traceback::app
