#include "runtime/inject/snaps/collector.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <linux/prctl.h>
#include <sys/stat.h>
#include <time.h>

#include "runtime/inject/process/child.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/snaps/policy_file.h"

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

namespace {

// The process whose collector is at work: a forked child's is none of its parent's.
constinit std::uint32_t collecting = 0;

class Turn {
 public:
  Turn() {
    for (unsigned waited = 0; waited < kMostMilliseconds; ++waited) {
      std::uint32_t other = __atomic_load_n(&collecting, __ATOMIC_ACQUIRE);
      if (other != process.pid && __atomic_compare_exchange_n(&collecting, &other, process.pid, false,
                                                              __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
      const struct timespec pause{0, 1'000'000};
      systemCall(__NR_nanosleep, asLong(&pause), 0);
    }
  }
  ~Turn() { __atomic_store_n(&collecting, 0u, __ATOMIC_RELEASE); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
};

struct Variables {
  Variables() {
    unsigned used = 0;
    const Environment& environment = process.environment;
    all[used++] = "PATH=/usr/local/bin:/usr/bin:/bin";
    if (!environment.home.empty()) all[used++] = environment.home.c_str();
    if (!environment.stateHome.empty()) all[used++] = environment.stateHome.c_str();
  }
  const char* all[4] = {};
};

// Yama lets a process be traced by one other if it says so, and by that one's descendants.
void allowTracing(std::uint32_t pid) { systemCall(__NR_prctl, PR_SET_PTRACER, pid); }

bool collect(const Occasion* occasion, bool speak) {
  const Environment& environment = process.environment;
  Text<24> pid, tid, disk, keep;
  pid.add(std::uint64_t{process.pid});
  tid.add(std::uint64_t{rawTid()});
  const char* arguments[20] = {
      environment.collector.c_str(), "collect", "--pid", pid.c_str(), "--tid", tid.c_str(), "--folder",
      process.folder.c_str()};
  unsigned count = 8;
  const auto add = [&](const char* name, const char* value) {
    arguments[count++] = name;
    arguments[count++] = value;
  };
  if (occasion != nullptr) {
    add("--occasion", occasion->kind);
    static constinit Text<512> said;
    said.clear();
    said.add("--text=");
    said.add(occasion->text);
    arguments[count++] = said.c_str();
  }
  const Policy& rules = policy();
  if (rules.diskLimit != 0) add("--disk", disk.add(rules.diskLimit).c_str());
  if (rules.keepSeconds != 0) add("--keep", keep.add(rules.keepSeconds).c_str());
  const Variables variables;
  allowTracing(process.pid);
  const bool done =
      runChild({environment.collector.c_str(), arguments, variables.all, !speak, kMostMilliseconds}) == 0;
  if (process.watcher != 0) allowTracing(process.watcher);
  return done;
}

// Whether processes whose parents ended become this one's children: it would meet ours when it waits.
bool takesInChildren() {
  int subreaper = 0;
  return process.pid == 1 || failed(systemCall(__NR_prctl, PR_GET_CHILD_SUBREAPER, asLong(&subreaper))) ||
         subreaper != 0;
}

}  // namespace

bool runCollector(const Occasion& occasion) {
  const Turn turn;
  return collect(&occasion, mayTell());
}

void startWatcher() {
  const Policy& rules = policy();
  if ((rules.hangSeconds | rules.stallSeconds | rules.waitSeconds) == 0) return;
  if (process.watched || process.sandboxed || !inOwnProcess()) return;
  if (__atomic_exchange_n(&process.watched, true, __ATOMIC_SEQ_CST) || takesInChildren()) return;
  const Turn turn;
  const char* collector = process.environment.collector.c_str();
  Text<24> pid, hang, stall, wait, disk, keep;
  Text<48> stallThread, waitThread;  // in one word with their option, for they may begin with a '-'
  const char* arguments[] = {collector,
                             "watch",
                             "--pid",
                             pid.add(std::uint64_t{process.pid}).c_str(),
                             "--folder",
                             process.folder.c_str(),
                             "--hang",
                             hang.add(rules.hangSeconds).c_str(),
                             "--stall",
                             stall.add(rules.stallSeconds).c_str(),
                             stallThread.add("--stall-thread=").add(rules.stallThread).c_str(),
                             "--wait",
                             wait.add(rules.waitSeconds).c_str(),
                             waitThread.add("--wait-thread=").add(rules.waitThread).c_str(),
                             "--disk",
                             disk.add(rules.diskLimit).c_str(),
                             "--keep",
                             keep.add(rules.keepSeconds).c_str(),
                             nullptr};
  const Variables variables;
  const long watcher = startBeside({collector, arguments, variables.all, !mayTell(), 0});
  if (failed(watcher)) return;
  process.watcher = static_cast<std::uint32_t>(watcher);
  allowTracing(process.watcher);
}

void runCollectorAtFault() {
  const Turn turn;
  const bool speak = mayTell();
  if (collect(nullptr, speak) || !speak) return;
  static constinit Text<1200> message;
  message.clear();
  message
      .add("traceback: the snap could not be written; to make it from what was recorded: traceback recover ")
      .add(process.folder.c_str())
      .add("\n");
  systemCall(__NR_write, 2, asLong(message.c_str()), static_cast<long>(message.size()));
}

}  // namespace traceback::inject
