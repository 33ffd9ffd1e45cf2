#include "runtime/collect/hang_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <format>
#include <optional>
#include <sstream>
#include <string>

#include "runtime/collect/process_folder.h"
#include "runtime/collect/process_reader.h"
#include "runtime/collect/service_client.h"
#include "runtime/collect/site_rules.h"
#include "runtime/collect/snap_assembly.h"
#include "runtime/collect/system_file.h"

namespace traceback::collect {

namespace {

std::optional<std::uint64_t> readWord(pid_t pid, std::uint64_t address) {
  std::uint64_t word = 0;
  const struct iovec to{&word, sizeof word};
  const struct iovec from{reinterpret_cast<void*>(address), sizeof word};
  return ::process_vm_readv(pid, &to, 1, &from, 1, 0) == sizeof word ? std::optional(word) : std::nullopt;
}

// What execve(2) changes: where the code and the stack begin.
std::string imageOf(pid_t pid) {
  constexpr std::size_t kCode = 26, kStack = 28;
  const auto fields = statFields(pid);
  if (fields.size() <= kStack - kFirstStatField) return {};
  return fields[kCode - kFirstStatField] + ' ' + fields[kStack - kFirstStatField];
}

std::string occasionOf(const std::vector<WaitingThread>& threads) {
  std::string text = threads.size() == 1 ? "hangs: thread" : "hangs: threads";
  for (std::size_t i = 0; i < threads.size(); ++i)
    text += std::format("{} {}", i == 0 ? "" : i + 1 == threads.size() ? " and" : ",", threads[i].tid);
  return text + (threads.size() == 1 ? " waits for itself" : " wait for each other");
}

// So that its group is snapped, too.
std::optional<GroupEvent> announceHang(pid_t pid) {
  const auto start = startOfProcess(pid);
  const auto folder = defaultRingFolder() / std::format("{}-{}", pid, start.value_or(0));
  const auto header = readProcessHeader(folder);
  if (!start || !header) return std::nullopt;
  return announceBreakDown(folder, *header, snapFolderFor({}, *header), format::SnapReason::Hang,
                           siteRules());
}

}  // namespace

std::optional<SystemCall> systemCallOf(pid_t pid, pid_t tid) {
  const auto bytes = readWhole(std::format("/proc/{}/task/{}/syscall", pid, tid));
  if (!bytes || bytes->empty()) return std::nullopt;
  // Number, six arguments, stack pointer, program counter; or "running"; or -1 and the last two.
  const std::string text = textOf(*bytes);
  SystemCall call;
  if (text.starts_with("running")) {
    call.running = true;
    return call;
  }
  std::istringstream line(text);
  if (!(line >> call.number)) return std::nullopt;
  std::uint64_t values[8] = {};
  const std::size_t first = call.number < 0 ? 6 : 0;
  for (std::size_t i = first; i < std::size(values); ++i)
    if (!(line >> std::hex >> values[i])) return std::nullopt;
  std::copy_n(values, std::size(call.arguments), call.arguments);
  call.stackPointer = values[6];
  call.programCounter = values[7];
  return call;
}

std::optional<ThreadWait> waitOf(pid_t pid, const SystemCall& call, const std::vector<pid_t>& threads) {
  if (call.running || call.number < 0) return std::nullopt;
  user_regs_struct registers{};
  registers.orig_rax = static_cast<unsigned long long>(call.number);
  registers.rdi = call.arguments[0];
  registers.rsi = call.arguments[1];
  registers.rdx = call.arguments[2];
  registers.rsp = call.stackPointer;
  registers.rip = call.programCounter;
  return waitOf(
      registers, [pid](std::uint64_t address) { return readWord(pid, address); },
      [&threads](pid_t each) { return std::ranges::contains(threads, each); });
}

std::vector<WaitingThread> waitingThreads(pid_t pid) {
  const std::vector<pid_t> all = threadsOf(pid);
  std::vector<WaitingThread> waiting;
  for (const pid_t tid : all) {
    const auto call = systemCallOf(pid, tid);
    if (!call) continue;
    if (const auto wait = waitOf(pid, *call, all))
      waiting.push_back({tid, *wait, call->arguments[0], call->stackPointer});
  }
  return waiting;
}

std::vector<WaitingThread> deadlocked(const std::vector<WaitingThread>& waiting) {
  std::vector<WaitingThread> found;
  for (const WaitingThread& start : waiting) {
    auto at = waiting.end();
    pid_t next = start.wait.tid;
    for (std::size_t steps = 0; steps < waiting.size(); ++steps) {
      if (next == start.tid) break;
      at = std::ranges::find(waiting, next, &WaitingThread::tid);
      if (at == waiting.end()) break;
      next = at->wait.tid;
    }
    // A thread does not join itself: such a number is no thread's.
    if (next == start.tid && !(start.wait.forEnd && start.wait.tid == start.tid)) found.push_back(start);
  }
  return found;
}

std::optional<Finding> HangDetector::look(pid_t pid, Clock::time_point now, Clock::duration patience) {
  std::vector<WaitingThread> found = deadlocked(waitingThreads(pid));
  if (found != m_last) {
    m_last = std::move(found);
    m_since = now;
  }
  if (m_last.empty() || m_last == m_told || now - m_since < patience) return std::nullopt;
  m_told = m_last;
  return Finding{m_last.front().tid, occasionOf(m_last)};
}

void detachFromProgram() {
  ::setsid();
  const SystemFile null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int each : {STDIN_FILENO, STDOUT_FILENO})
    if (null.isOpen()) ::dup2(null.descriptor(), each);
  [[maybe_unused]] const int moved = ::chdir("/");
}

void watchForHangs(pid_t pid, const WatchOptions& options) {
  constexpr std::chrono::milliseconds kLeast{50}, kMost{5000};
  const SystemFile process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.isOpen()) return;
  const std::string image = imageOf(pid);
  const auto pause = std::clamp(options.patience / 4, kLeast, kMost);
  HangDetector hangs;
  for (;;) {
    struct pollfd end{process.descriptor(), POLLIN, 0};
    if (::poll(&end, 1, static_cast<int>(pause.count())) != 0) return;
    if (imageOf(pid) != image) return;
    const auto found = hangs.look(pid, HangDetector::Clock::now(), options.patience);
    if (!found) continue;
    SnapOptions snap = options.snap;
    snap.reason = format::SnapReason::Hang;
    snap.occasionTid = found->tid;
    snap.occasion = found->occasion;
    snap.group = announceHang(pid);
    const auto made = snapProcess(pid, snap);
    if (options.onSnap) options.onSnap(made);
  }
}

}  // namespace traceback::collect
