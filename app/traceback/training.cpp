#include "app/traceback/training.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <format>
#include <fstream>
#include <map>
#include <thread>
#include <utility>

#include "app/traceback/installation.h"
#include "app/traceback/own_interrupts.h"
#include "app/traceback/temporary_folder.h"
#include "runtime/collect/files/default_folders.h"
#include "runtime/collect/files/ring_folder.h"
#include "runtime/collect/snap/recover.h"
#include "runtime/format/snap.h"

namespace traceback::app {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds kLook{50};  // how often somebody looks whether it is over
constexpr std::chrono::milliseconds kBetweenSnaps{1000};

std::vector<fs::path> snapsIn(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> snaps;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == format::kSnapSuffix) snaps.push_back(entry.path());
  return snaps;
}

model::Result<void> takeAll(const fs::path& folder, const TakeSnap& take) {
  std::error_code error;
  for (const fs::path& snap : snapsIn(folder)) {
    const auto taken = take(snap);
    fs::remove(snap, error);
    if (!taken) return taken;
  }
  return {};
}

// Signals that mean the end of a service, too; faults are snapped anyway.
constexpr char kPolicy[] =
    "history counts\n"
    "ignore call\n"
    "snap exit 0-255\n"
    "snap signal HUP INT PIPE ALRM TERM USR1 USR2\n"
    "repeat 0\n"
    "rate 100000/1s\n";

model::Result<pid_t> startRecorded(const std::vector<std::string>& words, const fs::path& folder) {
  const auto installation = findInstallation();
  if (!installation) return std::unexpected(installation.error());
  const fs::path policy = folder / "policy";
  if (!(std::ofstream(policy) << kPolicy).flush())
    return model::fail(std::format("cannot be written: {}", std::strerror(errno)), policy.string());
  std::vector<std::string> all{"traceback", "run",           "--quiet",    "--memory",      "none",
                               "--policy",  policy.string(), "--snap-dir", folder.string(), "--"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  std::fflush(nullptr);
  const int problem =
      posix_spawn(&pid, installation->program.c_str(), nullptr, nullptr, arguments.data(), environ);
  if (problem != 0)
    return model::fail(std::format("cannot be started: {}", std::strerror(problem)),
                       installation->program.string());
  return pid;
}

// All that a run has started, of which each process is counted once: as it ends, or as it was when it was
// last looked at, for one that filters its system calls, say, leaves nothing at its end.
class Members {
 public:
  explicit Members(fs::path folder) : m_folder(std::move(folder)), m_looks(m_folder / "looks") {
    std::error_code error;
    fs::create_directory(m_looks, error);
  }

  void look() {
    for (const auto& process : processes()) {
      const auto snap = collect::snapProcess(
          process.name.pid,
          {.snapFolder = m_looks, .ringFolder = {}, .keptMemory = format::KeptMemory::None});
      if (snap) keepLast(process.name.pid, *snap);
    }
  }

  model::Result<void> takeEnded(const TakeSnap& take) {
    for (const fs::path& snap : snapsIn(m_folder))
      for (const auto& [pid, look] : m_last)
        if (snap.filename().native().contains(std::format("-{}-", pid))) removeFile(look);
    return takeAll(m_folder, take);
  }

  // What was killed has its rings still.
  model::Result<void> takeRest(const TakeSnap& take) {
    look();
    for (const auto& process : processes()) {
      [[maybe_unused]] const auto snaps =
          collect::recover({.folder = process.path, .snapFolder = m_folder, .onProblem = {}});
    }
    if (auto taken = takeEnded(take); !taken) return taken;
    return takeAll(m_looks, take);
  }

 private:
  static void removeFile(const fs::path& file) {
    std::error_code error;
    fs::remove(file, error);
  }
  void keepLast(pid_t pid, const fs::path& look) {
    if (const auto last = m_last.find(pid); last != m_last.end()) removeFile(last->second);
    m_last[pid] = look;
  }
  // Also those that were killed.
  std::vector<collect::NamedFolder> processes() const {
    auto found = collect::processFoldersIn(collect::defaultRingFolder());
    std::erase_if(found, [this](const auto& process) {
      const auto header = collect::readProcessHeader(process.path);
      return !header ||
             collect::textField(header->snapFolder, sizeof header->snapFolder) != m_folder.native();
    });
    return found;
  }

  fs::path m_folder, m_looks;
  std::map<pid_t, fs::path> m_last;  // looks
};

}  // namespace

model::Result<int> trainByRun(const std::vector<std::string>& words, const TakeSnap& take) {
  // Before there is a folder, which would stay. A terminal's are the program's as well.
  OwnInterrupts interrupts(heeded({SIGTERM, SIGHUP}), heeded({SIGINT, SIGQUIT}));
  const auto folder = TemporaryFolder::make("traceback-profile-");
  if (!folder) return std::unexpected(folder.error());
  const auto pid = startRecorded(words, folder->path());
  if (!pid) return std::unexpected(pid.error());
  Members members(folder->path());
  model::Result<void> taken;
  for (auto last = Clock::now();;) {
    int status = 0;
    const pid_t ended = waitpid(*pid, &status, WNOHANG);
    const bool isOver = ended != 0 && (ended > 0 || errno != EINTR);
    // Once that fails, the program is only waited for.
    if (taken) taken = isOver ? members.takeRest(take) : members.takeEnded(take);
    if (isOver && !taken) return std::unexpected(taken.error());
    if (isOver) return status;
    if (const int signal = interrupts.takeNoted(); signal != 0) ::kill(*pid, signal);
    if (taken && Clock::now() - last >= kBetweenSnaps) {
      members.look();
      last = Clock::now();
    }
    std::this_thread::sleep_for(kLook);
  }
}

model::Result<void> trainByProcess(pid_t pid, std::chrono::seconds time, std::chrono::milliseconds every,
                                   const TakeSnap& take) {
  // Before there is a folder, which would stay.
  const OwnInterrupts interrupts({SIGINT, SIGTERM});
  const auto folder = TemporaryFolder::make("traceback-profile-");
  if (!folder) return std::unexpected(folder.error());
  const auto start = Clock::now();
  for (bool isFirst = true; isFirst || interrupts.noted() == 0; isFirst = false) {
    const auto snap = collect::snapProcess(
        pid, {.snapFolder = folder->path(), .ringFolder = {}, .keptMemory = format::KeptMemory::None});
    if (!snap && isFirst) return std::unexpected(snap.error());
    if (!snap) return {};  // it has ended
    if (auto taken = takeAll(folder->path(), take); !taken) return taken;
    const auto next = Clock::now() + every;
    while (interrupts.noted() == 0 && Clock::now() < next) {
      if (time.count() != 0 && Clock::now() - start >= time) return {};
      std::this_thread::sleep_for(kLook);
    }
  }
  return {};
}

}  // namespace traceback::app
