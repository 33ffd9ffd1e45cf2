#include "model/waits.h"

#include <algorithm>
#include <utility>

#include "model/stepping.h"
#include "model/trace.h"

namespace traceback::model {

namespace {

std::optional<ThreadIndex> threadOf(const Trace& trace, std::uint32_t tid) {
  for (std::uint32_t i = 0; i < trace.threads.size(); ++i)
    if (trace.threads[i]->info().tid == tid && !trace.threads[i]->info().ended) return ThreadIndex{i};
  return std::nullopt;
}

// The last of its records is that of a wait, and it is in a system call.
std::optional<SyncCause> waitOf(const ThreadTrace& thread) {
  if (!thread.info().systemCall || thread.entryCount() == 0) return std::nullopt;
  const Entry last = thread.entry(thread.entryCount() - 1);
  const auto cause = static_cast<SyncCause>(last.detail);
  return last.kind == EntryKind::Sync && isWait(cause) ? std::optional(cause) : std::nullopt;
}

void findDeadlocks(std::vector<Standing>& all) {
  for (Standing& start : all) {
    const Standing* at = &start;
    for (std::size_t steps = 0; steps < all.size() && at->waitsFor && !start.deadlocked; ++steps) {
      at = &all[at->waitsFor->value];
      start.deadlocked = at == &start;
    }
  }
}

}  // namespace

std::vector<Standing> standings(const Trace& trace) {
  std::vector<Standing> all;
  for (std::uint32_t i = 0; i < trace.threads.size(); ++i) {
    const ThreadTrace& thread = *trace.threads[i];
    const ThreadTrace::Info& info = thread.info();
    Standing standing;
    standing.thread = {i};
    standing.at = finalPosition(thread);
    standing.systemCall = info.systemCall;
    standing.waitsIn = waitOf(thread);
    if (info.waitsFor) standing.waitsFor = threadOf(trace, info.waitsFor->tid);
    // A thread can take a lock twice, and so wait for itself, but not join itself.
    if (standing.waitsFor == standing.thread && info.waitsFor->forEnd) standing.waitsFor.reset();
    if (standing.waitsFor && !info.waitsFor->forEnd) standing.lock = info.waitsFor->lock;
    standing.waitsForEnd = info.waitsFor && info.waitsFor->forEnd;
    if (standing.at && !info.ended && !info.fault && trace.summary.reason != TraceReason::Recovered) {
      const auto from = thread.times().boundsOf(*standing.at).from;
      const auto began = from ? trace.wallClock(*from) : std::nullopt;
      const auto ended = thread.times().ended();
      const auto snap = ended ? trace.wallClock(*ended) : std::nullopt;
      if (began && snap && *snap >= *began) standing.atMost = Nanoseconds{snap->value - began->value};
    }
    all.push_back(standing);
  }
  findDeadlocks(all);
  return all;
}

std::string_view systemCallName(std::uint32_t number) {
  static constexpr std::pair<std::uint32_t, std::string_view> kNames[] = {{0, "read"},
                                                                          {1, "write"},
                                                                          {7, "poll"},
                                                                          {16, "ioctl"},
                                                                          {17, "pread64"},
                                                                          {18, "pwrite64"},
                                                                          {19, "readv"},
                                                                          {20, "writev"},
                                                                          {23, "select"},
                                                                          {34, "pause"},
                                                                          {35, "nanosleep"},
                                                                          {42, "connect"},
                                                                          {43, "accept"},
                                                                          {44, "sendto"},
                                                                          {45, "recvfrom"},
                                                                          {46, "sendmsg"},
                                                                          {47, "recvmsg"},
                                                                          {61, "wait4"},
                                                                          {65, "semop"},
                                                                          {69, "msgsnd"},
                                                                          {70, "msgrcv"},
                                                                          {72, "fcntl"},
                                                                          {73, "flock"},
                                                                          {74, "fsync"},
                                                                          {75, "fdatasync"},
                                                                          {127, "rt_sigpending"},
                                                                          {128, "rt_sigtimedwait"},
                                                                          {130, "rt_sigsuspend"},
                                                                          {202, "futex"},
                                                                          {208, "io_getevents"},
                                                                          {219, "restart_syscall"},
                                                                          {220, "semtimedop"},
                                                                          {230, "clock_nanosleep"},
                                                                          {232, "epoll_wait"},
                                                                          {247, "waitid"},
                                                                          {270, "pselect6"},
                                                                          {271, "ppoll"},
                                                                          {281, "epoll_pwait"},
                                                                          {288, "accept4"},
                                                                          {299, "recvmmsg"},
                                                                          {307, "sendmmsg"},
                                                                          {426, "io_uring_enter"},
                                                                          {441, "epoll_pwait2"},
                                                                          {449, "futex_waitv"}};
  const auto found = std::ranges::find(kNames, number, &std::pair<std::uint32_t, std::string_view>::first);
  return found == std::end(kNames) ? std::string_view() : found->second;
}

}  // namespace traceback::model
