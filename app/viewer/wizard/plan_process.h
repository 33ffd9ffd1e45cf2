// What `traceback plan` says of a program or process, as it says it. It runs in a process of its own, so that
// it can be ended at any moment, and whatever a file does to it is no harm here.
#pragma once

#include <QList>
#include <QMap>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>

namespace traceback::app {

// A file that a program loads, and what would be done with it.
struct PlannedFile {
  enum class State : std::uint8_t { Waiting, Traced, AsItIs };
  State state = State::Waiting;
  QString path;
  bool hasCopy = false;  // already; instrumented files are their own
  QString reason;  // of AsItIs
  qint64 functions = 0, instrumented = 0;
  qint64 fileBytes = 0, copyBytes = 0;
  QMap<QString, qint64> skipped, enteredDirectlyOnly;  // by reason
};

struct PlannedProgram {
  QString program;
  bool recorded = false;  // the process is, now
  QString untraced;  // why nothing of it would be traced
  QString notListed;  // why libraries are missing
  QStringList files;
};

class PlanProcess : public QObject {
  Q_OBJECT

 public:
  explicit PlanProcess(QString traceback, QObject* parent = nullptr);
  ~PlanProcess() override;

  // A program by its name, or the number of a process. Cancels what ran.
  void start(const QString& subject);
  // Nothing more is said.
  void cancel();
  bool running() const { return m_process != nullptr; }

 signals:
  void programKnown(const traceback::app::PlannedProgram& program);
  void fileKnown(const traceback::app::PlannedFile& file);
  // With an empty message: all files are known.
  void finished(const QString& error);

 private:
  void readLines();
  void readLine(const QByteArray& line);
  void ended();

  QString m_traceback;
  QProcess* m_process = nullptr;
  bool m_programKnown = false;
};

}  // namespace traceback::app
