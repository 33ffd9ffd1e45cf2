#include "app/traceback/self_test.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <format>
#include <optional>
#include <thread>

#include "app/traceback/temporary_folder.h"
#include "loader/byte_reader.h"
#include "loader/mapped_file.h"
#include "runtime/collect/files/default_folders.h"
#include "runtime/collect/snap/recover.h"
#include "runtime/format/process.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

using State = Finding::State;

constexpr char kProgram[] = "sleep";
constexpr auto kPatience = std::chrono::seconds(10);

// `traceback run -- sleep`, in a process of its own that ends with this object.
class RecordedProcess {
 public:
  RecordedProcess(const Installation& installation, const fs::path& snapFolder) {
    const std::string program = installation.program.string();
    const std::string folder = snapFolder.string();
    const char* words[] = {program.c_str(), "run", "--snap-dir", folder.c_str(), "--",
                           kProgram,        "60",  nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&m_pid, program.c_str(), &actions, nullptr, const_cast<char**>(words), environ) != 0)
      m_pid = -1;
    posix_spawn_file_actions_destroy(&actions);
  }
  ~RecordedProcess() {
    if (m_pid <= 0) return;
    kill(m_pid, SIGKILL);
    waitpid(m_pid, nullptr, 0);
  }
  RecordedProcess(const RecordedProcess&) = delete;
  RecordedProcess& operator=(const RecordedProcess&) = delete;
  pid_t pid() const { return m_pid; }

 private:
  pid_t m_pid = -1;
};

std::optional<fs::path> processFolder(pid_t pid) {
  std::error_code error;
  for (const auto& item : fs::directory_iterator(collect::defaultRingFolder(), error)) {
    if (item.path().filename().string().starts_with(std::format("{}-", pid))) return item.path();
  }
  return std::nullopt;
}

// The first module that the process bound, or could not bind.
std::optional<format::BindState> firstBinding(pid_t pid) {
  const auto folder = processFolder(pid);
  if (!folder) return std::nullopt;
  const auto file = loader::MappedFile::open(*folder / "process", loader::MappedFile::Mode::Copy);
  if (!file) return std::nullopt;
  const auto header = loader::readAt<format::ProcessHeader>(file->bytes(), 0);
  if (!header || header->magic != format::kProcessMagic || header->moduleCount == 0) return std::nullopt;
  const auto module = loader::readAt<format::ProcessModule>(file->bytes(), header->headerSize);
  if (!module) return std::nullopt;
  return static_cast<format::BindState>(module->bindState);
}

Finding recording(const std::optional<format::BindState>& binding) {
  if (!binding) {
    return {State::Bad, "recording", std::format("`traceback run -- {}` records nothing", kProgram),
            "run it by hand: standard error says why"};
  }
  switch (*binding) {
    case format::BindState::Bound:
      return {.subject = "recording", .text = "a program was instrumented, ran and recorded"};
    case format::BindState::NoThreadSlot:
      return {State::Bad, "recording",
              "no place for the thread slot: too much thread-local storage is loaded before the runtime",
              "leave out other libraries in LD_PRELOAD, sanitizers above all"};
    default:
      return {State::Bad, "recording",
              std::format("the runtime did not bind the program (state {})", static_cast<unsigned>(*binding)),
              "remove $XDG_CACHE_HOME/traceback and install TraceBack again"};
  }
}

}  // namespace

std::vector<Finding> recordAndSnap(const Installation& installation) {
  std::error_code ignored;
  const auto folder = TemporaryFolder::make("traceback-doctor-");
  if (!folder) {
    return {{State::Note, "recording", "not tried: no temporary folder can be made",
             "set TMPDIR to a folder of yours"}};
  }
  std::vector<Finding> found;
  std::optional<fs::path> left;
  {
    const RecordedProcess process(installation, folder->path());
    std::optional<format::BindState> binding;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!binding && std::chrono::steady_clock::now() < end && kill(process.pid(), 0) == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      binding = firstBinding(process.pid());
    }
    found.push_back(recording(binding));
    left = processFolder(process.pid());
    if (binding == format::BindState::Bound) {
      const auto snap = collect::snapProcess(
          process.pid(), {.snapFolder = folder->path(), .ringFolder = {}, .keptMemory = {}});
      if (snap) {
        found.push_back({.subject = "snap", .text = "a running process was snapped"});
      } else {
        found.push_back({State::Note, "snap", snap.error().text(),
                         "`traceback snap` will not work; faults and `recover` may"});
      }
    }
  }
  if (left) fs::remove_all(*left, ignored);
  return found;
}

}  // namespace traceback::app
