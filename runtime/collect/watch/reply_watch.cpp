#include "runtime/collect/watch/reply_watch.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <format>

#include "model/waits.h"
#include "runtime/collect/snap/process_reader.h"

namespace traceback::collect {

bool waitsForReply(long systemCall, const std::string& descriptorPath) {
  constexpr std::array kDescriptorCalls = {SYS_read, SYS_readv, SYS_write, SYS_writev};
  if (std::ranges::contains(kDescriptorCalls, systemCall))
    return descriptorPath.starts_with("socket:") || descriptorPath.starts_with("pipe:");
  constexpr std::array kCalls = {
      SYS_poll,         SYS_ppoll,    SYS_select,   SYS_pselect6, SYS_epoll_wait, SYS_epoll_pwait,
      SYS_epoll_pwait2, SYS_connect,  SYS_recvfrom, SYS_recvmsg,  SYS_recvmmsg,   SYS_sendto,
      SYS_sendmsg,      SYS_sendmmsg, SYS_wait4,    SYS_waitid,   SYS_msgrcv,     SYS_mq_timedreceive};
  return std::ranges::contains(kCalls, systemCall);
}

std::optional<Finding> ReplyDetector::look(const StallDetector::Request& request, Clock::time_point now) {
  std::map<pid_t, Watched> threads;
  std::optional<Finding> finding;
  for (const pid_t tid : threadsOf(request.pid)) {
    if (!request.threadName.empty() && threadName(request.pid, tid) != request.threadName) continue;
    auto life = lifeOf(request.pid, tid, request.processFolder);
    if (!life || !life->call) continue;
    const auto known = m_threads.find(tid);
    Watched before = known != m_threads.end() ? std::move(known->second) : Watched();
    if (before.returns > 0 && life->call->running) {
      --before.returns;
      threads.emplace(tid, std::move(before));
      continue;
    }
    life->continues(before.life);
    if (life->call->running || !waitsForReply(life->call->number, life->descriptorPath)) continue;
    const bool goesOn =
        before.life.call == life->call && (before.life.waits == life->waits || before.returns > 0);
    Watched watched{
        .life = std::move(*life), .since = goesOn ? before.since : now, .told = goesOn && before.told};
    if (!watched.told && now - watched.since >= request.patience && !finding) {
      watched.told = true;
      const std::string_view name =
          model::systemCallName(static_cast<std::uint32_t>(watched.life.call->number));
      finding = Finding{
          tid, std::format("waits: thread {} has been in one call of {} for {} s", tid,
                           name.empty() ? std::format("system call {}", watched.life.call->number)
                                        : std::string(name),
                           std::chrono::duration_cast<std::chrono::seconds>(now - watched.since).count())};
    }
    threads.emplace(tid, std::move(watched));
  }
  m_threads = std::move(threads);
  return finding;
}

void ReplyDetector::wereStopped() {
  for (auto& [tid, watched] : m_threads) watched.returns = kLooksToReturn;
}

}  // namespace traceback::collect
