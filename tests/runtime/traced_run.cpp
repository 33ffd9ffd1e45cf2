#include "traced_run.h"

#include <sys/stat.h>

#include <QDir>
#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace traceback::testing {

namespace fs = std::filesystem;

TracedRun::TracedRun(QString program)
    : m_folder(QDir(QStringLiteral("/dev/shm")).exists() ? QStringLiteral("/dev/shm/traceback-test-XXXXXX")
                                                         : QStringLiteral("/tmp/traceback-test-XXXXXX")),
      m_program(std::move(program)) {
  fs::create_directory(fs::path(m_folder.path().toStdString()) / "run");
}

QString TracedRun::programPath(const QString& name) { return QStringLiteral(PROGRAMS "/") + name; }

QString TracedRun::runtimePath() { return QStringLiteral(RUNTIME_LIBRARY); }

fs::path TracedRun::ringFolder() const {
  return fs::path(m_folder.path().toStdString()) / "run" / "traceback";
}
fs::path TracedRun::snapFolder() const { return fs::path(m_folder.path().toStdString()) / "snaps"; }

std::unique_ptr<QProcess> TracedRun::start(const QStringList& arguments) {
  auto process = std::make_unique<QProcess>();
  auto environment = QProcessEnvironment::systemEnvironment();
  const QString folder = m_folder.path();
  environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), folder + QStringLiteral("/run"));
  if (m_traced) {
    environment.insert(QStringLiteral("LD_PRELOAD"), runtimePath());
    environment.insert(QStringLiteral("TRACEBACK_SNAP_DIR"), folder + QStringLiteral("/snaps"));
    environment.insert(QStringLiteral("TRACEBACK_COLLECTOR"), programPath(QStringLiteral("collector")));
    environment.insert(QStringLiteral("TRACEBACK_PROGRAM"), m_program);
    environment.insert(QStringLiteral("TRACEBACK"), QStringLiteral("tell"));
  }
  for (const auto& [name, value] : m_variables) environment.insert(name, value);
  process->setProcessEnvironment(environment);
  process->setWorkingDirectory(folder);
  process->start(programPath(m_program), arguments);
  process->waitForStarted();
  return process;
}

Outcome TracedRun::finish(QProcess& process) {
  Outcome outcome;
  if (!process.waitForFinished(60'000)) {
    process.kill();
    process.waitForFinished();
    outcome.errors = "did not end in a minute";
  }
  outcome.killed = process.exitStatus() == QProcess::CrashExit;
  outcome.status = process.exitCode();
  outcome.output = process.readAllStandardOutput();
  outcome.errors += process.readAllStandardError();
  return outcome;
}

Outcome TracedRun::run(const QStringList& arguments) { return finish(*start(arguments)); }

namespace {
std::vector<fs::path> entriesOf(const fs::path& folder) {
  std::vector<fs::path> result;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) result.push_back(entry.path());
  std::ranges::sort(result);
  return result;
}
}  // namespace

std::vector<fs::path> TracedRun::processFolders() const { return entriesOf(ringFolder()); }
std::vector<fs::path> TracedRun::snaps() const { return entriesOf(snapFolder()); }

std::vector<RingDump> TracedRun::rings(const fs::path& processFolder) {
  std::vector<std::pair<int, RingDump>> found;
  for (const fs::path& file : entriesOf(processFolder)) {
    const std::string stem = file.stem().string();
    const std::size_t dash = stem.find('-');
    if (file.extension() != ".ring" || dash == std::string::npos) continue;
    if (auto dump = dumpRing(file)) found.emplace_back(std::atoi(stem.c_str() + dash + 1), std::move(*dump));
  }
  std::ranges::sort(found, {}, [](const auto& entry) { return entry.first; });
  std::vector<RingDump> result;
  for (auto& [number, dump] : found) result.push_back(std::move(dump));
  return result;
}

std::vector<std::uint64_t> TracedRun::ringMemory(const fs::path& processFolder) {
  std::vector<std::uint64_t> kilobytes;
  struct stat status{};
  for (const fs::path& file : entriesOf(processFolder))
    if (file.extension() == ".ring" && ::stat(file.c_str(), &status) == 0)
      kilobytes.push_back(static_cast<std::uint64_t>(status.st_blocks) / 2);
  return kilobytes;
}

format::ProcessHeader TracedRun::process(const fs::path& processFolder) {
  format::ProcessHeader header{};
  const auto bytes = readBytes(processFolder / "process");
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

}  // namespace traceback::testing
