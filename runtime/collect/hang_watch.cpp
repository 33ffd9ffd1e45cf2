#include "runtime/collect/hang_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <format>
#include <optional>
#include <sstream>
#include <string>

#include "runtime/collect/process_reader.h"
#include "runtime/collect/system_file.h"

namespace traceback::collect {

namespace {

std::optional<std::uint64_t> readWord(pid_t pid, std::uint64_t address) {
  std::uint64_t word = 0;
  const struct iovec to{&word, sizeof word};
  const struct iovec from{reinterpret_cast<void*>(address), sizeof word};
  return ::process_vm_readv(pid, &to, 1, &from, 1, 0) == sizeof word ? std::optional(word) : std::nullopt;
}

// The line of /proc/PID/task/TID/syscall: number, six arguments, stack pointer, program counter; "running",
// or -1 and the last two, where it is in none.
std::optional<user_regs_struct> systemCallOf(pid_t pid, pid_t tid) {
  const auto bytes = readWhole(std::format("/proc/{}/task/{}/syscall", pid, tid));
  if (!bytes) return std::nullopt;
  std::istringstream line(textOf(*bytes));
  long number = -1;
  std::uint64_t values[8] = {};
  if (!(line >> number) || number < 0) return std::nullopt;
  for (auto& value : values)
    if (!(line >> std::hex >> value)) return std::nullopt;
  user_regs_struct registers{};
  registers.orig_rax = static_cast<unsigned long long>(number);
  registers.rdi = values[0];
  registers.rsi = values[1];
  registers.rdx = values[2];
  registers.rsp = values[6];
  registers.rip = values[7];
  return registers;
}

// What execve(2) changes: where the code and the stack begin.
std::string imageOf(pid_t pid) {
  const auto bytes = readWhole(std::format("/proc/{}/stat", pid));
  if (!bytes) return {};
  const std::string text = textOf(*bytes);
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string image, field;
  constexpr int kFirst = 3, kCode = 26, kStack = 28;
  for (int i = kFirst; i <= kStack && fields >> field; ++i)
    if (i == kCode || i == kStack) image += field + ' ';
  return image;
}

std::string occasionOf(const std::vector<WaitingThread>& threads) {
  std::string text = threads.size() == 1 ? "hangs: thread" : "hangs: threads";
  for (std::size_t i = 0; i < threads.size(); ++i)
    text += std::format("{} {}", i == 0 ? "" : i + 1 == threads.size() ? " and" : ",", threads[i].tid);
  return text + (threads.size() == 1 ? " waits for itself" : " wait for each other");
}

}  // namespace

std::vector<WaitingThread> waitingThreads(pid_t pid) {
  const std::vector<pid_t> all = threadsOf(pid);
  std::vector<WaitingThread> waiting;
  for (const pid_t tid : all) {
    const auto registers = systemCallOf(pid, tid);
    if (!registers) continue;
    const auto wait = waitOf(
        *registers, [pid](std::uint64_t address) { return readWord(pid, address); },
        [&all](pid_t each) { return std::ranges::contains(all, each); });
    if (wait) waiting.push_back({tid, *wait, registers->rdi, registers->rsp});
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

void detachFromProgram() {
  ::setsid();
  const SystemFile null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int each : {STDIN_FILENO, STDOUT_FILENO})
    if (null.isOpen()) ::dup2(null.descriptor(), each);
  [[maybe_unused]] const int moved = ::chdir("/");
}

void watchForHangs(pid_t pid, const WatchOptions& options) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kLeast{50}, kMost{5000};
  const SystemFile process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.isOpen()) return;
  const std::string image = imageOf(pid);
  const auto pause = std::clamp(options.patience / 4, kLeast, kMost);
  std::vector<WaitingThread> last, told;
  Clock::time_point since{};
  for (;;) {
    struct pollfd end{process.descriptor(), POLLIN, 0};
    if (::poll(&end, 1, static_cast<int>(pause.count())) != 0) return;
    if (imageOf(pid) != image) return;
    const std::vector<WaitingThread> now = deadlocked(waitingThreads(pid));
    if (now != last) {
      last = now;
      since = Clock::now();
    }
    if (last.empty() || last == told || Clock::now() - since < options.patience) continue;
    told = last;
    SnapOptions snap = options.snap;
    snap.reason = format::SnapReason::Hang;
    snap.occasionTid = last.front().tid;
    snap.occasion = occasionOf(last);
    const auto made = snapProcess(pid, snap);
    if (options.onSnap) options.onSnap(made);
  }
}

}  // namespace traceback::collect
