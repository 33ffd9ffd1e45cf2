#include "app/traceback/renewal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "app/traceback/learning.h"
#include "runtime/collect/files/system_file.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

// Who waits for the end of a stream, or of a lock, of the program's must not wait for us.
void letGoOfCaller() {
  setsid();
  close_range(0, ~0U, 0);
  for (int stream = open("/dev/null", O_RDWR); stream >= 0 && stream < STDERR_FILENO; stream = dup(stream)) {
  }
  if (chdir("/") != 0) _exit(1);
}

void comeLast() {
  setpriority(PRIO_PROCESS, 0, 19);
  std::ofstream("/proc/self/oom_score_adj") << 1000;
}

// Whoever makes copies anew has it.
collect::SystemFile openLock(const InstrumentedCache& cache) {
  return collect::SystemFile(
      open((cache.folder() / "making/renewal").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
}

void learnAndRenewAll(const InstrumentedCache& cache, const instrument::Options& options) {
  learnFromEarlierRuns(options.profiles);
  renewOutdated(cache, options);
}

}  // namespace

void learnAndRenew(const fs::path& traceback, const InstrumentedCache& cache,
                   const instrument::Options& options) {
  if (getpid() == 1) return learnAndRenewAll(cache, options);
  if (!isSomethingToLearnFrom() && cache.outdated().empty()) return;
  const auto text = instrument::textOf(options);
  if (!text) return;
  const pid_t child = fork();
  if (child == 0) {
    if (fork() != 0) _exit(0);
    letGoOfCaller();
    comeLast();
    setenv("TRACEBACK_INSTRUMENT", text->c_str(), 1);
    execl(traceback.c_str(), "traceback", "renew", "--cache", cache.folder().c_str(),
          static_cast<char*>(nullptr));
    _exit(1);
  }
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void renewAlone(const InstrumentedCache& cache, const instrument::Options& options) {
  const collect::SystemFile lock = openLock(cache);
  if (lock.isOpen() && flock(lock.descriptor(), LOCK_EX | LOCK_NB) == 0) learnAndRenewAll(cache, options);
}

void renewNow(const InstrumentedCache& cache, const instrument::Options& options) {
  if (cache.outdated().empty()) return;
  comeLast();
  const collect::SystemFile lock = openLock(cache);
  if (lock.isOpen() && flock(lock.descriptor(), LOCK_EX) == 0) renewOutdated(cache, options);
}

}  // namespace traceback::app
