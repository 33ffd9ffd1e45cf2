#include "runtime/inject/collector.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <linux/prctl.h>
#include <sys/stat.h>

#include "runtime/inject/child.h"
#include "runtime/inject/process.h"

namespace traceback::inject {

namespace {

constinit struct stat standardError{};
constinit bool hasStandardError = false;

// A daemon may have made descriptor 2 something else, where a message would do damage.
bool standardErrorIsTheSame() {
  struct stat now{};
  return hasStandardError && !failed(systemCall(__NR_fstat, 2, asLong(&now))) &&
         now.st_dev == standardError.st_dev && now.st_ino == standardError.st_ino;
}

bool mayTell() {
  if (!standardErrorIsTheSame()) return false;
  const Environment& environment = process.environment;
  switch (environment.telling) {
    case Telling::OnTerminal: {
      struct termios settings;
      return !failed(systemCall(__NR_ioctl, 2, TCGETS, asLong(&settings)));
    }
    case Telling::WhereRunDid:
      return standardError.st_dev == environment.runErrorDevice &&
             standardError.st_ino == environment.runErrorInode;
    case Telling::Always:
      return true;
    default:
      return false;
  }
}

// A collector that hangs does not hang the program for ever.
constexpr unsigned kMostMilliseconds = 120'000;

}  // namespace

void rememberStandardError() {
  hasStandardError = !failed(systemCall(__NR_fstat, 2, asLong(&standardError)));
}

void runCollector() {
  const Environment& environment = process.environment;
  Text<24> pid, tid;
  pid.add(std::uint64_t{process.pid});
  tid.add(std::uint64_t{rawTid()});
  const char* arguments[] = {
      environment.collector.c_str(), "collect", "--pid", pid.c_str(), "--tid", tid.c_str(), "--folder",
      process.folder.c_str(),        nullptr};
  const char* variables[4] = {};
  unsigned used = 0;
  variables[used++] = "PATH=/usr/local/bin:/usr/bin:/bin";
  if (!environment.home.empty()) variables[used++] = environment.home.c_str();
  if (!environment.stateHome.empty()) variables[used++] = environment.stateHome.c_str();
  const bool speak = mayTell();
  const ChildProgram child{environment.collector.c_str(), arguments, variables, !speak, kMostMilliseconds};

  // Yama lets a process be traced by its descendants if it says so.
  systemCall(__NR_prctl, PR_SET_PTRACER, process.pid);
  if (runChild(child) == 0) return;
  if (!speak) return;
  static constinit Text<1200> message;
  message.clear();
  message
      .add("traceback: the snap could not be written; to make it from what was recorded: traceback recover ")
      .add(process.folder.c_str())
      .add("\n");
  systemCall(__NR_write, 2, asLong(message.c_str()), static_cast<long>(message.size()));
}

}  // namespace traceback::inject
