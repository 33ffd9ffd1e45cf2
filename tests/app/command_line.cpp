#include "tests/app/command_line.h"

#include <unistd.h>

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QProcess>

namespace traceback::test {

Ran run(const QString& program, const QStringList& arguments, const QProcessEnvironment& environment,
        const std::function<void()>& before) {
  QProcess process;
  process.setProcessEnvironment(environment);
  if (before) process.setChildProcessModifier(before);
  process.start(program, arguments);
  process.closeWriteChannel();
  if (!process.waitForFinished(120'000)) {
    process.kill();
    process.waitForFinished();
    return {.status = -1, .out = process.readAllStandardOutput(), .err = "timed out"};
  }
  const bool crashed = process.exitStatus() == QProcess::CrashExit;
  return {.status = crashed ? 128 + process.exitCode() : process.exitCode(),
          .out = process.readAllStandardOutput(),
          .err = process.readAllStandardError()};
}

// Rings belong on a memory file system.
CommandLine::CommandLine()
    : m_rings("/dev/shm/traceback-test-XXXXXX"), m_environment(QProcessEnvironment::systemEnvironment()) {
  m_environment.insert("XDG_CACHE_HOME", path("cache"));
  m_environment.insert("XDG_STATE_HOME", path("state"));
  m_environment.insert("XDG_DATA_HOME", path("data"));
  m_environment.insert("XDG_RUNTIME_DIR", m_rings.path());
  for (const char* name : {"TRACEBACK", "TRACEBACK_SNAP_DIR", "TRACEBACK_BUFFER_SIZE", "TRACEBACK_MEMORY",
                           "TRACEBACK_INSTRUMENT", "TRACEBACK_CACHE_SIZE", "TRACEBACK_CACHE_DIR",
                           "LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES"}) {
    m_environment.remove(name);
  }
}

QString CommandLine::program() { return QStringLiteral(TRACEBACK_PROGRAM_PATH); }

Ran CommandLine::throughShell(const QString& script, const QStringList& arguments) const {
  return run("/bin/sh", QStringList{"-c", script, "sh", program()} + arguments, m_environment);
}

QStringList CommandLine::snaps() const {
  QStringList found;
  for (const QString& name : listing(folder())) {
    if (name.endsWith(".tbsnap")) found << path(name);
  }
  return found;
}

void giveErrorsToNobody() {
  int ends[2];
  if (::pipe(ends) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) ::_exit(99);
  ::close(ends[0]);
  ::close(ends[1]);
}

QByteArray readFile(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

bool writeFile(const QString& path, const QByteArray& bytes, bool executable) {
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()) return false;
  file.close();
  return !executable || file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
}

QStringList listing(const QString& folder) {
  QStringList names;
  QDirIterator items(folder, QDir::AllEntries | QDir::Hidden | QDir::System | QDir::NoDotAndDotDot,
                     QDirIterator::Subdirectories);
  while (items.hasNext()) names << QDir(folder).relativeFilePath(items.next());
  names.sort();
  return names;
}

bool timesAreKnown() {
  const QString folder = "/sys/devices/system/clocksource/clocksource0/";
  const QByteArray sources =
      readFile(folder + "current_clocksource") + readFile(folder + "available_clocksource");
  const auto words = sources.simplified().split(' ');
  return words.contains("tsc") || words.contains("hyperv_clocksource_tsc_page");
}

}  // namespace traceback::test
