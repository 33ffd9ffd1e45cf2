#include "app/traceback/diagnosis.h"

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <linux/magic.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <format>
#include <fstream>
#include <optional>

#include "app/traceback/installation.h"
#include "app/traceback/on_demand.h"
#include "app/traceback/output.h"
#include "app/traceback/profile_files.h"
#include "app/traceback/self_test.h"
#include "runtime/collect/files/default_folders.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

using State = Finding::State;

constexpr std::uint64_t kLittleSpace = std::uint64_t{64} << 20;

std::string lineOf(const char* path, std::string_view prefix = {}) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(prefix)) return line.substr(prefix.size());
  }
  return {};
}

Finding system() {
  utsname names{};
  uname(&names);
  std::string distribution = lineOf("/etc/os-release", "PRETTY_NAME=");
  std::erase(distribution, '"');
  return {.subject = "system",
          .text = std::format("{}, Linux {}, glibc {}",
                              distribution.empty() ? "unknown distribution" : distribution, names.release,
                              gnu_get_libc_version())};
}

std::vector<Finding> parts(const Installation& installation) {
  std::vector<Finding> found;
  found.push_back({.subject = "program", .text = installation.program.string()});
  if (access(installation.program.c_str(), X_OK) != 0) {
    found.back().state = State::Bad;
    found.back().remedy = "the runtime starts it to write snaps: install it where it can be executed";
  }
  if (installation.runtime.empty()) {
    found.push_back({State::Bad, "runtime", "libtraceback.so is not found",
                     "install it into ../lib beside the program's folder"});
  } else {
    found.push_back({.subject = "runtime", .text = installation.runtime.string()});
    if (installation.runtime.native().find_first_of(" :") != std::string::npos) {
      found.back().state = State::Bad;
      found.back().remedy = "the dynamic linker splits a path with a space or a colon: install it elsewhere";
    }
  }
  if (installation.audit.empty()) {
    found.push_back({State::Bad, "redirection", "libtraceback-audit.so is not found",
                     "install it beside libtraceback.so: `traceback run` needs it"});
  }
  if (installation.viewer.empty()) {
    found.push_back({State::Note, "viewer", "traceback-viewer is not installed",
                     "snaps open on any machine that has it"});
  } else {
    found.push_back({.subject = "viewer", .text = installation.viewer.string()});
  }
  return found;
}

// The nearest folder above (or at) `folder` that exists.
fs::path existing(fs::path folder) {
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

std::optional<std::uint64_t> freeSpace(const fs::path& folder) {
  struct statvfs status{};
  if (statvfs(folder.c_str(), &status) != 0) return std::nullopt;
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

Finding folderForWriting(const char* subject, const fs::path& folder, const char* remedy) {
  const fs::path there = existing(folder);
  Finding finding{.subject = subject, .text = folder.string()};
  if (access(there.c_str(), W_OK | X_OK) != 0) {
    finding.state = State::Bad;
    finding.text += std::format(": {} cannot be written to: {}", there.string(), std::strerror(errno));
    finding.remedy = remedy;
  } else if (const auto space = freeSpace(there)) {
    finding.text += std::format(", {} free", humanSize(*space));
    if (*space < kLittleSpace) {
      finding.state = State::Bad;
      finding.remedy = std::string("make room, or ") + remedy;
    }
  }
  return finding;
}

Finding ringFolder() {
  const fs::path folder = collect::defaultRingFolder();
  Finding finding = folderForWriting("ring folder", folder,
                                     "set XDG_RUNTIME_DIR to a folder of yours on a memory file system");
  struct stat status{};
  if (lstat(folder.c_str(), &status) == 0) {
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid()) {
      return {State::Bad, finding.subject, folder.string() + ": is not a folder of this user",
              "remove it, or set XDG_RUNTIME_DIR to a folder of yours"};
    }
  }
  struct statfs system{};
  if (statfs(existing(folder).c_str(), &system) == 0 && system.f_type != TMPFS_MAGIC &&
      system.f_type != RAMFS_MAGIC) {
    finding.state = State::Bad;
    finding.text += ", not on a memory file system";
    finding.remedy = "unset XDG_RUNTIME_DIR or point it to a tmpfs, and see that /dev/shm is one";
  }
  return finding;
}

std::vector<Finding> diskFolders() {
  std::vector<Finding> found;
  found.push_back(
      folderForWriting("snap folder", collect::defaultSnapFolder(), "set XDG_STATE_HOME, or use --snap-dir"));
  const auto cache = cacheFolder();
  if (!cache) {
    found.push_back({State::Bad, "cache folder", "there is none", "set HOME or XDG_CACHE_HOME"});
    return found;
  }
  found.push_back(folderForWriting("cache folder", *cache / "instrumented", "set XDG_CACHE_HOME"));
  struct statvfs status{};
  if (statvfs(existing(*cache).c_str(), &status) == 0 && (status.f_flag & ST_NOEXEC) != 0) {
    found.back().state = State::Bad;
    found.back().text += ", mounted noexec";
    found.back().remedy =
        "programs are run from there: set XDG_CACHE_HOME to a folder on another file system";
  }
  return found;
}

// Whether a child may trace its parent, as the collector does at a fault, once the parent names it.
Finding tracing() {
  const std::string scope = lineOf("/proc/sys/kernel/yama/ptrace_scope");
  Finding finding{.subject = "tracing", .text = scope.empty() ? "no Yama" : "Yama ptrace_scope " + scope};
  int gate[2];
  if (pipe2(gate, O_CLOEXEC) != 0) return finding;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    if (read(gate[0], &byte, 1) != 1) _exit(errno);
    _exit(ptrace(PTRACE_SEIZE, parent, nullptr, nullptr) == 0 ? 0 : errno);
  }
  int status = 0;
  if (child > 0) {
    prctl(PR_SET_PTRACER, child, 0, 0, 0);
    const bool told = write(gate[1], "x", 1) == 1;
    if (waitpid(child, &status, 0) != child || !told) status = -1;
    prctl(PR_SET_PTRACER, 0, 0, 0, 0);
  }
  close(gate[0]);
  close(gate[1]);
  if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    finding.text += "; the collector may stop and read the process that faulted";
  } else {
    finding.state = State::Note;
    finding.text += std::format("; the collector may not trace: {}", child > 0 && WIFEXITED(status)
                                                                         ? std::strerror(WEXITSTATUS(status))
                                                                         : "it could not be tried");
    finding.remedy =
        "snaps then come from the rings alone, by `traceback recover`; lower ptrace_scope, or allow ptrace "
        "in the container";
  }
  return finding;
}

std::vector<Finding> filters() {
  std::string mode = lineOf("/proc/self/status", "Seccomp:");
  std::erase_if(mode, [](char c) { return c < '0' || c > '9'; });
  if (mode.empty() || mode == "0") return {{.subject = "seccomp", .text = "no filter"}};
  return {{State::Note, "seccomp", "a filter is in force (a container?)",
           "if it forbids vfork, execve or ptrace, get snaps by `traceback recover`"}};
}

// By which `run` instruments.
std::vector<Finding> profiles() {
  const auto folder = profileFolder();
  const KeptProfiles kept = folder ? lookAtProfiles(*folder) : KeptProfiles();
  if (kept.modules == 0) return {};
  std::vector<Finding> found;
  found.push_back({.subject = "profiles",
                   .text = std::format("of {} modules, {}, in {}", kept.modules, humanSize(kept.bytes),
                                       folder->string())});
  for (const auto& file : kept.unreadable)
    found.push_back(
        {State::Note, "profiles", file.string() + " cannot be read, and says nothing", "remove it"});
  return found;
}

// What `run` has instrumented, what it could not, and what it cannot hide.
std::vector<Finding> copies(const Installation& installation) {
  const auto options = usualOptions();
  const auto cache = cacheFor(installation.program, options.value_or(instrument::Options()));
  if (!cache) return {};
  std::vector<Finding> found;
  found.push_back({.subject = "copies",
                   .text = std::format("{} of at most {} (TRACEBACK_CACHE_SIZE)", humanSize(cache->size()),
                                       humanSize(cacheLimit()))});
  if (const auto waiting = cache->outdated().size(); waiting != 0)
    found.push_back(
        {.subject = "copies",
         .text = std::format("{} wait to be made anew, in the background, by what was learned", waiting)});
  constexpr std::size_t kMost = 12;
  const auto left = cache->leftAlone();
  for (std::size_t i = 0; i < left.size() && i < kMost; ++i)
    found.push_back({.subject = "left as it is", .text = left[i].file + ": " + left[i].reason});
  if (left.size() > kMost)
    found.push_back(
        {.subject = "left as it is", .text = std::format("and {} more files", left.size() - kMost)});
  found.push_back(
      {.subject = "under run",
       .text = "/proc/PID/exe and /proc/PID/maps name a program's copy. libc's functions tell the program "
               "itself of the original; its own system calls and other processes see the copy"});
  return found;
}

}  // namespace

std::vector<Finding> diagnose() {
  std::vector<Finding> found{system()};
  const auto add = [&](std::vector<Finding> more) { found.insert(found.end(), more.begin(), more.end()); };
  const auto installation = findInstallation();
  if (!installation) {
    found.push_back({State::Bad, "program", installation.error().text(), ""});
    return found;
  }
  add(parts(*installation));
  found.push_back(ringFolder());
  add(diskFolders());
  add(copies(*installation));
  add(profiles());
  found.push_back(tracing());
  add(filters());
  // Only worth trying, and only understood, if all that it stands on is there.
  for (const auto& finding : found) {
    if (finding.state == State::Bad) return found;
  }
  add(recordAndSnap(*installation));
  return found;
}

}  // namespace traceback::app
