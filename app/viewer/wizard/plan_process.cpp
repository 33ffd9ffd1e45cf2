#include "app/viewer/wizard/plan_process.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <utility>

namespace traceback::app {
namespace {

constexpr int kEndsWithinMs = 2000;

QMap<QString, qint64> countsIn(const QJsonValue& value) {
  QMap<QString, qint64> counts;
  const QJsonObject object = value.toObject();
  for (auto it = object.begin(); it != object.end(); ++it) counts.insert(it.key(), it->toInteger());
  return counts;
}

PlannedFile fileIn(const QJsonObject& object) {
  const QString state = object[QStringLiteral("state")].toString();
  PlannedFile file;
  file.path = object[QStringLiteral("file")].toString();
  file.state =
      object[QStringLiteral("traced")].toBool() ? PlannedFile::State::Traced : PlannedFile::State::AsItIs;
  file.hasCopy = state == QLatin1String("cached") || state == QLatin1String("instrumented");
  file.reason = object[QStringLiteral("reason")].toString();
  file.functions = object[QStringLiteral("functions")].toInteger();
  file.instrumented = object[QStringLiteral("instrumented")].toInteger();
  file.fileBytes = object[QStringLiteral("file_bytes")].toInteger();
  file.copyBytes = object[QStringLiteral("copy_bytes")].toInteger();
  file.skipped = countsIn(object[QStringLiteral("skipped")]);
  file.enteredDirectlyOnly = countsIn(object[QStringLiteral("entered_directly_only")]);
  return file;
}

}  // namespace

PlanProcess::PlanProcess(QString traceback, QObject* parent)
    : QObject(parent), m_traceback(std::move(traceback)) {}

PlanProcess::~PlanProcess() { cancel(); }

void PlanProcess::start(const QString& subject) {
  cancel();
  m_programKnown = false;
  m_process = new QProcess(this);
  connect(m_process, &QProcess::readyReadStandardOutput, this, &PlanProcess::readLines);
  connect(m_process, &QProcess::finished, this, &PlanProcess::ended);
  connect(m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) ended();
  });
  m_process->setStandardInputFile(QProcess::nullDevice());
  m_process->start(m_traceback, {QStringLiteral("plan"), QStringLiteral("--format"), QStringLiteral("json"),
                                 QStringLiteral("--"), subject});
}

void PlanProcess::cancel() {
  QProcess* process = std::exchange(m_process, nullptr);
  if (process == nullptr) return;
  process->disconnect(this);
  process->kill();  // it writes nothing, so nothing is left behind
  process->waitForFinished(kEndsWithinMs);
  process->deleteLater();
}

void PlanProcess::readLines() {
  while (m_process != nullptr && m_process->canReadLine()) readLine(m_process->readLine());
}

void PlanProcess::readLine(const QByteArray& line) {
  const QJsonObject object = QJsonDocument::fromJson(line).object();
  if (object.isEmpty()) return;
  if (m_programKnown) {
    emit fileKnown(fileIn(object));
    return;
  }
  m_programKnown = true;
  PlannedProgram program;
  program.program = object[QStringLiteral("program")].toString();
  program.recorded = object[QStringLiteral("recorded")].toBool();
  program.untraced = object[QStringLiteral("untraced")].toString();
  program.notListed = object[QStringLiteral("not_listed")].toString();
  for (const auto& file : object[QStringLiteral("files")].toArray()) program.files << file.toString();
  emit programKnown(program);
}

void PlanProcess::ended() {
  readLines();
  QProcess* process = std::exchange(m_process, nullptr);
  if (process == nullptr) return;
  QString error;
  if (process->error() == QProcess::FailedToStart)
    error = tr("%1 could not be started: %2").arg(m_traceback, process->errorString());
  else if (process->exitStatus() == QProcess::CrashExit)
    error = tr("%1 ended by a signal.").arg(m_traceback);
  else if (!m_programKnown)
    error = QString::fromLocal8Bit(process->readAllStandardError()).trimmed();
  process->deleteLater();
  if (error.startsWith(QLatin1String("traceback: "))) error.remove(0, 11);
  emit finished(error);
}

}  // namespace traceback::app
