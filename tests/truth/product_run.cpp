#include "tests/truth/product_run.h"

#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <QDir>
#include <QFileInfo>
#include <csignal>
#include <memory>

namespace traceback::truth {

namespace {

Attempt<Ended> finish(QProcess& process, const QString& command, int timeoutMs) {
  if (!process.waitForStarted()) return std::unexpected(command + ": " + process.errorString());
  if (!process.waitForFinished(timeoutMs)) {
    process.kill();
    process.waitForFinished();
    return std::unexpected(command + ": " + kTooSlow);
  }
  Ended ended{process.readAllStandardOutput(), process.readAllStandardError(), process.exitCode(), 0};
  if (process.exitStatus() == QProcess::CrashExit) ended.signal = process.exitCode();
  return ended;
}

Attempt<Ended> start(const QString& command, const QStringList& arguments,
                     const QProcessEnvironment& environment, int timeoutMs, bool inPlace) {
  QProcess process;
  process.setProcessEnvironment(environment);
  process.setStandardInputFile(QProcess::nullDevice());
  process.setChildProcessModifier([inPlace] {
    if (inPlace) ::personality(ADDR_NO_RANDOMIZE);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit none{0, 0};  // no core files
    ::setrlimit(RLIMIT_CORE, &none);
  });
  process.start(command, arguments);
  return finish(process, command, timeoutMs);
}

}  // namespace

Attempt<Ended> runToEnd(const QString& command, const QStringList& arguments,
                        const QProcessEnvironment& environment, int timeoutMs) {
  return start(command, arguments, environment, timeoutMs, false);
}

Attempt<Ended> runInPlace(const QString& command, const QStringList& arguments,
                          const QProcessEnvironment& environment, int timeoutMs) {
  return start(command, arguments, environment, timeoutMs, true);
}

ProductRun::ProductRun(const QString& program)
    : m_folder("/dev/shm/traceback-truth-XXXXXX"),
      m_original(program),
      m_program(m_folder.filePath("bin/" + QFileInfo(program).fileName())) {}

Attempt<std::unique_ptr<ProductRun>> ProductRun::prepare(const QString& program, const QStringList& options) {
  std::unique_ptr<ProductRun> run(new ProductRun(program));
  QDir folder(run->m_folder.path());
  if (!run->m_folder.isValid() || !folder.mkpath("bin") || !folder.mkpath("snaps") || !folder.mkpath("run"))
    return std::unexpected(QString("no folder to work in: ") + run->m_folder.errorString());
  QFile::setPermissions(run->m_folder.filePath("run"),
                        QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
  const auto instrumented = runToEnd(
      TRUTH_TRACEBACK, QStringList{"instrument"} + options + QStringList{program, "-o", run->m_program},
      QProcessEnvironment::systemEnvironment(), 120000);
  if (!instrumented) return std::unexpected(instrumented.error());
  if (instrumented->exitCode != 0 || instrumented->signal != 0)
    return std::unexpected("traceback instrument fails: " + QString::fromUtf8(instrumented->complaints));
  return run;
}

QProcessEnvironment ProductRun::plainEnvironment() const {
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert("XDG_RUNTIME_DIR", m_folder.filePath("run"));
  environment.insert("TRUTH_END", QFileInfo(m_program).fileName());
  environment.insert("TRACEBACK_SNAP_DIR", snapFolder());
  return environment;
}

QProcessEnvironment ProductRun::environment() const {
  QProcessEnvironment environment = plainEnvironment();
  environment.insert("LD_PRELOAD", TRUTH_RUNTIME);
  environment.insert("TRACEBACK_COLLECTOR", TRUTH_TRACEBACK);
  environment.insert("TRACEBACK_PROGRAM", m_original);
  environment.insert("TRACEBACK_BUFFER_SIZE", "4194304");
  return environment;
}

Attempt<Ended> ProductRun::run(const QStringList& arguments, bool killedAtItsEnd, int timeoutMs) const {
  QProcessEnvironment variables = environment();
  if (killedAtItsEnd) variables.insert("LD_PRELOAD", QString(TRUTH_END_BY_KILL) + ":" + TRUTH_RUNTIME);
  return runInPlace(m_program, arguments, variables, timeoutMs);
}

Attempt<void> ProductRun::recover() const {
  const auto recovered = runToEnd(TRUTH_TRACEBACK, {"recover", ringFolder(), "--snap-dir", snapFolder()},
                                  QProcessEnvironment::systemEnvironment(), 600000);
  if (!recovered) return std::unexpected(recovered.error());
  if (recovered->exitCode != 0)
    return std::unexpected("traceback recover fails: " + QString::fromUtf8(recovered->complaints));
  return {};
}

QStringList ProductRun::presentSnaps() const {
  QStringList paths;
  for (const QFileInfo& file : QDir(snapFolder()).entryInfoList({"*.tbsnap"}, QDir::Files))
    paths.append(file.filePath());
  return paths;
}

Attempt<QString> ProductRun::snap() const {
  if (presentSnaps().isEmpty())
    if (const auto recovered = recover(); !recovered) return std::unexpected(recovered.error());
  const QStringList snaps = presentSnaps();
  if (snaps.size() != 1) return std::unexpected(QString("%1 snaps instead of one").arg(snaps.size()));
  return snaps.first();
}

Attempt<QStringList> ProductRun::allSnaps() const {
  if (const auto recovered = recover(); !recovered) return std::unexpected(recovered.error());
  return presentSnaps();
}

Attempt<QString> ProductRun::snapOf(qint64 pid) const {
  QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
  variables.insert("XDG_RUNTIME_DIR", m_folder.filePath("run"));
  const QDir folder(snapFolder());
  const QStringList before = folder.entryList({"*.tbsnap"}, QDir::Files);
  const auto made =
      runToEnd(TRUTH_TRACEBACK, {"snap", QString::number(pid), "--snap-dir", snapFolder()}, variables);
  if (!made) return std::unexpected(made.error());
  if (made->exitCode != 0)
    return std::unexpected("traceback snap fails: " + QString::fromUtf8(made->complaints));
  for (const QString& name : QDir(snapFolder()).entryList({"*.tbsnap"}, QDir::Files))
    if (!before.contains(name)) return folder.filePath(name);
  return std::unexpected(QString("traceback snap left no snap"));
}

}  // namespace traceback::truth
