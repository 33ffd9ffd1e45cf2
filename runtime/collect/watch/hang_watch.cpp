#include "runtime/collect/watch/hang_watch.h"

#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <format>
#include <optional>
#include <sstream>
#include <string>

#include "runtime/collect/files/system_file.h"
#include "runtime/collect/snap/process_reader.h"

namespace traceback::collect {

namespace {

std::optional<std::uint64_t> readWord(pid_t pid, std::uint64_t address) {
  std::uint64_t word = 0;
  const struct iovec to{&word, sizeof word};
  const struct iovec from{reinterpret_cast<void*>(address), sizeof word};
  return ::process_vm_readv(pid, &to, 1, &from, 1, 0) == sizeof word ? std::optional(word) : std::nullopt;
}

std::string occasionOf(const std::vector<WaitingThread>& threads) {
  std::string text = threads.size() == 1 ? "hangs: thread" : "hangs: threads";
  for (std::size_t i = 0; i < threads.size(); ++i)
    text += std::format("{} {}", i == 0 ? "" : i + 1 == threads.size() ? " and" : ",", threads[i].tid);
  return text + (threads.size() == 1 ? " waits for itself" : " wait for each other");
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

SystemCall asItBegan(const SystemCall& before, SystemCall now) {
  if (now.running || now.number != SYS_restart_syscall) return now;
  SystemCall same = now;
  same.number = before.number;
  return same == before ? same : now;
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

}  // namespace traceback::collect
