#include "app/traceback/ahead.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <format>
#include <fstream>
#include <map>
#include <vector>

#include "app/traceback/loaded_files.h"
#include "app/traceback/on_demand.h"
#include "app/traceback/output.h"
#include "app/traceback/program_search.h"
#include "app/traceback/thread_storage.h"
#include "model/utf8.h"
#include "runtime/inject/audit/pattern.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

// Of memory, to instrument a file: so many times its size, as measured with files of 6 to 87 MB.
constexpr std::uint64_t kMemoryOfBytes = 32;

struct Library {
  std::string path;
  std::uint64_t size = 0;
};

// The largest first: what is begun last should not take longest.
std::vector<Library> missingLibraries(const InstrumentedCache& cache, const fs::path& program,
                                      const instrument::Options& options,
                                      const std::function<bool(const std::string& path)>& isMeant) {
  const auto loaded = filesOfProgram(program);
  if (!loaded) return {};
  std::vector<Library> missing;
  const InstrumentedCache part = cache.forThreadSlot(options.threadSlot);
  for (const LoadedFile& file : loaded->files) {
    if (&file == &loaded->files.front() || file.contents.empty() || !isMeant(file.path) ||
        inject::audit::matchesAny(inject::audit::kCLibrary, file.path.c_str()) || !isElf(file.path) ||
        part.lookUp(file.path, InstrumentedCache::Use::Load))
      continue;
    std::error_code error;
    const std::uintmax_t size = fs::file_size(file.path, error);
    if (!error) missing.push_back({file.path, size});
  }
  std::ranges::stable_sort(missing, std::ranges::greater{}, &Library::size);
  return missing;
}

std::size_t processors() {
  cpu_set_t set;
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return static_cast<std::size_t>(std::max(count, 1));
}

// In bytes; 0 if it cannot be told.
std::uint64_t availableMemory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    unsigned long long kilobytes = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %llu", &kilobytes) == 1)
      return std::uint64_t{kilobytes} << 10;
  }
  return 0;
}

// Nobody is left to wait for it when its parent has ended. What it would say of itself the parent says.
void becomeWorker(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
}

void silence() {
  if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) dup2(nowhere, STDERR_FILENO);
}

void prepareAll(const InstrumentedCache& cache, const std::vector<Library>& libraries,
                const fs::path& program, const instrument::Options& options) {
  ProgressLine progress(std::format("traceback: instrumenting {} libraries of {}", libraries.size(),
                                    model::printable(program.string())));
  const std::size_t most = processors();
  const std::uint64_t room = availableMemory() / 2;
  std::uint64_t all = 0, done = 0, taken = 0;
  for (const Library& library : libraries) all += library.size;
  std::map<pid_t, std::uint64_t> running;
  std::size_t next = 0;
  while (next < libraries.size() || !running.empty()) {
    const bool fits = next < libraries.size() && running.size() < most &&
                      taken + libraries[next].size * kMemoryOfBytes <= room;
    if (next < libraries.size() && (fits || running.empty())) {
      const Library& library = libraries[next++];
      const pid_t self = getpid(), worker = fork();
      if (worker == 0) {
        becomeWorker(self);
        silence();
        const auto known = prepare(cache, library.path, InstrumentedCache::Use::Load, options);
        _exit(known ? 0 : 1);
      }
      if (worker < 0) return;  // then each is made as it is loaded
      running[worker] = library.size;
      taken += library.size * kMemoryOfBytes;
      continue;
    }
    const pid_t ended = waitpid(-1, nullptr, 0);
    if (ended < 0 && errno != EINTR) return;
    if (const auto it = running.find(ended); it != running.end()) {
      done += it->second;
      taken -= it->second * kMemoryOfBytes;
      running.erase(it);
      progress.show(static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(all, 1)));
    }
  }
}

}  // namespace

void prepareLibraries(const InstrumentedCache& cache, const fs::path& program,
                      const instrument::Options& options,
                      const std::function<bool(const std::string& path)>& isMeant) {
  instrument::Options forProcess = options;
  forProcess.threadSlot = threadSlotIn(program);
  const std::vector<Library> libraries = missingLibraries(cache, program, forProcess, isMeant);
  if (libraries.size() < 2) return;
  // In a process of its own: ours may have children that the program will wait for.
  const pid_t self = getpid(), child = fork();
  if (child == 0) {
    becomeWorker(self);
    prepareAll(cache, libraries, program, forProcess);
    _exit(0);
  }
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace traceback::app
