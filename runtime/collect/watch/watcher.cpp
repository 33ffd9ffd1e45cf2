#include "runtime/collect/watch/watcher.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "runtime/collect/files/process_folder.h"
#include "runtime/collect/files/system_file.h"
#include "runtime/collect/rules/site_rules.h"
#include "runtime/collect/service/service_client.h"
#include "runtime/collect/snap/snap_assembly.h"
#include "runtime/collect/watch/hang_watch.h"
#include "runtime/collect/watch/reply_watch.h"
#include "runtime/collect/watch/stall_watch.h"

namespace traceback::collect {

namespace {

using Clock = HangDetector::Clock;

// What execve(2) changes: where the code and the stack begin.
std::string imageOf(pid_t pid) {
  constexpr std::size_t kCode = 26, kStack = 28;
  const auto fields = statFields(pid);
  if (fields.size() <= kStack - kFirstStatField) return {};
  return fields[kCode - kFirstStatField] + ' ' + fields[kStack - kFirstStatField];
}

// So that its group is snapped, too.
std::optional<GroupEvent> announceHang(const std::filesystem::path& folder) {
  const auto header = readProcessHeader(folder);
  if (!header) return std::nullopt;
  return announceBreakDown(folder, *header, snapFolderFor({}, folder, *header), format::SnapReason::Hang,
                           siteRules());
}

// All that is watched for.
class Watch {
 public:
  Watch(pid_t pid, const WatchOptions& options)
      : m_options(options), m_stall(request(pid, options.stall)), m_wait(request(pid, options.wait)) {}

  std::optional<Finding> look() {
    const Clock::time_point now = Clock::now();
    std::optional<Finding> found;
    if (m_options.hang.count() != 0) found = m_hangs.look(m_stall.pid, now, m_options.hang);
    if (!found && m_options.stall.patience.count() != 0) found = m_stalls.look(m_stall, now);
    if (!found && m_options.wait.patience.count() != 0) found = m_waits.look(m_wait, now);
    return found;
  }
  void wasStopped() {
    m_stalls.wereStopped();
    m_waits.wereStopped();
  }
  std::chrono::milliseconds pause() const {
    constexpr std::chrono::milliseconds kLeast{50}, kMost{5000};
    std::chrono::milliseconds shortest = kMost * 4;
    for (const auto each : {m_options.hang, m_options.stall.patience, m_options.wait.patience})
      if (each.count() != 0) shortest = std::min(shortest, each);
    return std::clamp(shortest / 4, kLeast, kMost);
  }

 private:
  StallDetector::Request request(pid_t pid, const ThreadPatience& wanted) const {
    return {.pid = pid,
            .processFolder = m_options.processFolder.string(),
            .threadName = wanted.threadName,
            .patience = wanted.patience};
  }

  const WatchOptions& m_options;
  StallDetector::Request m_stall, m_wait;
  HangDetector m_hangs;
  StallDetector m_stalls;
  ReplyDetector m_waits;
};

}  // namespace

void detachFromProgram() {
  ::setsid();
  const SystemFile null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int each : {STDIN_FILENO, STDOUT_FILENO})
    if (null.isOpen()) ::dup2(null.descriptor(), each);
  [[maybe_unused]] const int moved = ::chdir("/");
}

void watchProcess(pid_t pid, const WatchOptions& options) {
  const SystemFile process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.isOpen()) return;
  const std::string image = imageOf(pid);
  Watch watch(pid, options);
  for (;;) {
    struct pollfd end{process.descriptor(), POLLIN, 0};
    if (::poll(&end, 1, static_cast<int>(watch.pause().count())) != 0) return;
    if (imageOf(pid) != image) return;
    const auto found = watch.look();
    if (!found) continue;
    SnapOptions snap = options.snap;
    snap.reason = format::SnapReason::Hang;
    snap.occasionTid = found->tid;
    snap.occasion = found->occasion;
    snap.group = announceHang(options.processFolder);
    const auto made = snapProcess(pid, snap);
    watch.wasStopped();
    if (options.onSnap) options.onSnap(found->occasion, made);
  }
}

}  // namespace traceback::collect
