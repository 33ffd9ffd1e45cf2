#include "runtime/collect/snap/process_reader.h"

#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <format>
#include <utility>

namespace traceback::collect {

namespace {

long request(int what, pid_t tid, void* data = nullptr) {
  return ::ptrace(static_cast<__ptrace_request>(what), tid, nullptr, data);
}

// As large as it is on this machine.
Bytes extendedRegistersOf(pid_t tid) {
  constexpr std::size_t kMost = std::size_t{64} << 10;
  Bytes bytes(kMost);
  struct iovec area{bytes.data(), bytes.size()};
  if (::ptrace(PTRACE_GETREGSET, tid, reinterpret_cast<void*>(NT_X86_XSTATE), &area) != 0) return {};
  bytes.resize(area.iov_len);
  bytes.shrink_to_fit();
  return bytes;
}

}  // namespace

std::vector<pid_t> threadsOf(pid_t pid) {
  std::vector<pid_t> result;
  std::error_code error;
  for (std::filesystem::directory_iterator it(std::format("/proc/{}/task", pid), error), end;
       !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    pid_t tid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), tid).ec == std::errc()) result.push_back(tid);
  }
  std::ranges::sort(result);
  return result;
}

StoppedProcess::StoppedProcess(StoppedProcess&& other) noexcept
    : m_pid(other.m_pid),
      m_attached(std::exchange(other.m_attached, {})),
      m_threads(std::move(other.m_threads)) {}

StoppedProcess::~StoppedProcess() {
  for (const Attached& thread : m_attached)
    if (thread.stopped)
      ::ptrace(PTRACE_DETACH, thread.tid, nullptr,
               reinterpret_cast<void*>(static_cast<std::intptr_t>(thread.signal)));
}

bool StoppedProcess::attachNewThreads(int& lastError) {
  bool any = false;
  for (const pid_t tid : threadsOf(m_pid)) {
    if (std::ranges::contains(m_attached, tid, &Attached::tid)) continue;
    if (request(PTRACE_SEIZE, tid) != 0) {
      lastError = errno;  // it may just have ended
      continue;
    }
    request(PTRACE_INTERRUPT, tid);
    m_attached.push_back({tid, false, 0});
    any = true;
  }
  return any;
}

void StoppedProcess::waitForStops() {
  // A thread in an uninterruptible sleep may take its time; it goes without registers then.
  constexpr int kMostMilliseconds = 3000;
  for (int waited = 0; waited < kMostMilliseconds; ++waited) {
    bool all = true;
    for (auto it = m_attached.begin(); it != m_attached.end();) {
      int status = 0;
      if (!it->stopped && ::waitpid(it->tid, &status, __WALL | WNOHANG) == it->tid) {
        if (!WIFSTOPPED(status)) {  // it ended
          it = m_attached.erase(it);
          continue;
        }
        it->stopped = true;
        if ((status >> 16) == 0) it->signal = WSTOPSIG(status);
      }
      all = all && it->stopped;
      ++it;
    }
    if (all) return;
    const struct timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

void StoppedProcess::readThread(const Attached& thread) {
  ThreadSnapshot snapshot;
  snapshot.tid = thread.tid;
  snapshot.hasRegisters = thread.stopped && request(PTRACE_GETREGS, thread.tid, &snapshot.registers) == 0;
  if (snapshot.hasRegisters) {
    snapshot.extendedRegisters = extendedRegistersOf(thread.tid);
    const auto read = [&thread](std::uint64_t address) -> std::optional<std::uint64_t> {
      errno = 0;
      const long bytes = ::ptrace(PTRACE_PEEKDATA, thread.tid, address, nullptr);
      return errno == 0 ? std::optional(static_cast<std::uint64_t>(bytes)) : std::nullopt;
    };
    snapshot.wait = waitOf(snapshot.registers, read, [this](pid_t tid) {
      return std::ranges::contains(m_attached, tid, &Attached::tid);
    });
  }
  if (const auto name = readWhole(std::format("/proc/{}/task/{}/comm", m_pid, thread.tid))) {
    snapshot.name = textOf(*name);
    while (!snapshot.name.empty() && snapshot.name.back() == '\n') snapshot.name.pop_back();
  }
  m_threads.push_back(std::move(snapshot));
}

model::Result<StoppedProcess> StoppedProcess::stop(pid_t pid) {
  StoppedProcess process(pid);
  int lastError = 0;
  // Until no thread is left that was born while others were being stopped.
  while (process.attachNewThreads(lastError)) process.waitForStops();
  if (process.m_attached.empty()) {
    errno = lastError != 0 ? lastError : ESRCH;
    return failWithErrno(std::format("process {} cannot be stopped", pid));
  }
  for (const Attached& thread : process.m_attached) process.readThread(thread);
  return process;
}

}  // namespace traceback::collect
