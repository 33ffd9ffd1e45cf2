#include "runtime/collect/watch/stall_watch.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <format>
#include <sstream>

#include "model/waits.h"
#include "runtime/collect/files/process_folder.h"
#include "runtime/collect/snap/process_reader.h"
#include "runtime/format/ring.h"

namespace traceback::collect {

namespace {

std::string textAt(const std::string& path) {
  const auto bytes = readWhole(path);
  if (!bytes) return {};
  std::string text = textOf(*bytes);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool takesDescriptor(long call) { return call == SYS_read || call == SYS_readv; }

// The words that were ever written to the thread's ring, over all its segments.
std::optional<std::uint64_t> positionOf(pid_t tid, const std::string& folder) {
  std::error_code error;
  std::optional<std::uint64_t> position;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".ring") continue;
    const SystemFile file(::open(it->path().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    RingFile ring;
    ring.bytes.resize(sizeof(format::RingHeader));
    if (!file.isOpen() || ::pread(file.descriptor(), ring.bytes.data(), ring.bytes.size(), 0) !=
                              static_cast<ssize_t>(ring.bytes.size()))
      continue;
    const auto header = ring.header();
    if (!header || header->tid != static_cast<std::uint32_t>(tid)) continue;
    std::uint64_t words = header->signalSequence;
    for (const format::SegmentHeader& segment : header->segments)
      words += segment.ordinal * segment.subBufferWords + segment.cursor / sizeof(format::Word);
    if (!position || words > *position) position = words;
  }
  return position;
}

// Whom a thread that joins others waits for in the end, as long as that is one of the process's.
pid_t joinedBy(pid_t pid, pid_t tid) {
  const std::vector<pid_t> threads = threadsOf(pid);
  for (std::size_t steps = 0; steps < threads.size(); ++steps) {
    const auto call = systemCallOf(pid, tid);
    const auto wait = call ? waitOf(pid, *call, threads) : std::nullopt;
    if (!wait || !wait->forEnd) break;
    tid = wait->tid;
  }
  return tid;
}

std::vector<pid_t> threadsMeant(pid_t pid, const std::string& name) {
  if (name.empty()) return {joinedBy(pid, pid)};
  std::vector<pid_t> threads = threadsOf(pid);
  std::erase_if(threads, [&](pid_t tid) { return threadName(pid, tid) != name; });
  return threads;
}

std::string occasionOf(pid_t tid, const ThreadLife& life, bool traceMoved, std::int64_t seconds) {
  const std::string who = std::format("stalls: thread {}", tid);
  if (life.call && !life.call->running && life.call->number >= 0) {
    const std::string_view name = model::systemCallName(static_cast<std::uint32_t>(life.call->number));
    return std::format("{} has been in one call of {} for {} s", who,
                       name.empty() ? std::format("system call {}", life.call->number) : std::string(name),
                       seconds);
  }
  if (life.state == 'D')
    return std::format("{} has waited for a device or for memory for {} s", who, seconds);
  return std::format("{} has run for {} s without waiting for anything, {}", who, seconds,
                     traceMoved ? "and its trace went on" : "where nothing of it is recorded");
}

}  // namespace

std::string threadName(pid_t pid, pid_t tid) {
  return textAt(std::format("/proc/{}/task/{}/comm", pid, tid));
}

bool waitsForWork(long systemCall, const std::string& descriptorPath) {
  if (takesDescriptor(systemCall))
    return !descriptorPath.starts_with('/') || descriptorPath.starts_with("/dev/");
  constexpr std::array kCalls = {
      SYS_poll,           SYS_ppoll,          SYS_select,          SYS_pselect6,
      SYS_epoll_wait,     SYS_epoll_pwait,    SYS_epoll_pwait2,    SYS_accept,
      SYS_accept4,        SYS_recvfrom,       SYS_recvmsg,         SYS_recvmmsg,
      SYS_pause,          SYS_rt_sigsuspend,  SYS_nanosleep,       SYS_clock_nanosleep,
      SYS_wait4,          SYS_waitid,         SYS_msgrcv,          SYS_io_getevents,
      SYS_io_pgetevents,  SYS_io_uring_enter, SYS_rt_sigtimedwait, SYS_mq_timedreceive,
      SYS_restart_syscall};  // poll, a sleep, or a wait for a lock that has an end
  return std::ranges::contains(kCalls, systemCall);
}

std::optional<ThreadLife> lifeOf(pid_t pid, pid_t tid, const std::string& processFolder) {
  const std::string task = std::format("/proc/{}/task/{}/", pid, tid);
  const std::string stat = textAt(task + "stat");
  const std::size_t name = stat.rfind(')');
  if (name == std::string::npos || name + 2 >= stat.size()) return std::nullopt;
  ThreadLife life;
  life.state = stat[name + 2];
  if (life.state == 'Z' || life.state == 'X') return std::nullopt;
  constexpr std::string_view kWaits = "\nvoluntary_ctxt_switches:";
  const std::string status = textAt(task + "status");
  if (const auto at = status.find(kWaits); at != std::string::npos)
    std::istringstream(status.substr(at + kWaits.size())) >> life.waits;
  life.call = systemCallOf(pid, tid);
  life.position = positionOf(tid, processFolder);
  if (life.call && !life.call->running &&
      (takesDescriptor(life.call->number) || life.call->number == SYS_write ||
       life.call->number == SYS_writev)) {
    std::error_code error;
    life.descriptorPath =
        std::filesystem::read_symlink(std::format("/proc/{}/fd/{}", pid, life.call->arguments[0]), error)
            .string();
  }
  return life;
}

void ThreadLife::continues(const ThreadLife& before) {
  if (call && before.call) call = asItBegan(*before.call, *call);
}

bool showsLife(const ThreadLife& before, const ThreadLife& now) {
  if (now.isStopped() || !now.call) return true;
  if (before.waits != now.waits) return true;
  return !now.call->running && now.call->number >= 0 && waitsForWork(now.call->number, now.descriptorPath);
}

StallDetector::Watched StallDetector::afterLook(const Watched& known, ThreadLife&& life,
                                                Clock::time_point now) {
  life.continues(known.life);
  Watched watched = known;
  watched.returns = std::max(0, known.returns - 1);
  bool alive = false;
  if (known.returns == 0) {
    alive = showsLife(known.life, life);
  } else if (life.isStopped() || !life.call || life.call->running) {
    life.call = known.life.call;  // still on its way, or it runs on and on
  } else {
    alive = life.call != known.life.call;
    watched.returns = 0;
  }
  if (!alive) {
    watched.life = std::move(life);
    return watched;
  }
  const std::uint64_t position = life.position.value_or(0);
  return {.life = std::move(life), .start = position, .alive = now};
}

std::optional<Finding> StallDetector::look(const Request& request, Clock::time_point now) {
  std::map<pid_t, Watched> threads;
  std::optional<Finding> finding;
  for (const pid_t tid : threadsMeant(request.pid, request.threadName)) {
    auto life = lifeOf(request.pid, tid, request.processFolder);
    if (!life) continue;
    const std::uint64_t position = life->position.value_or(0);
    const auto known = m_threads.find(tid);
    Watched watched = known == m_threads.end()
                          ? Watched{.life = std::move(*life), .start = position, .alive = now}
                          : afterLook(known->second, std::move(*life), now);
    if (!watched.told && now - watched.alive >= request.patience && !finding) {
      watched.told = true;
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - watched.alive).count();
      finding = Finding{tid, occasionOf(tid, watched.life, position != watched.start, seconds)};
    }
    threads.emplace(tid, std::move(watched));
  }
  // Whom the first thread joins is not seen before that is back in its call.
  for (auto& [tid, watched] : m_threads)
    if (watched.returns-- > 0) threads.try_emplace(tid, std::move(watched));
  m_threads = std::move(threads);
  return finding;
}

void StallDetector::wereStopped() {
  for (auto& [tid, watched] : m_threads) watched.returns = kLooksToReturn;
}

StallDetector::Clock::duration StallDetector::silence(Clock::time_point now) const {
  Clock::duration longest{};
  for (const auto& [tid, watched] : m_threads) longest = std::max(longest, now - watched.alive);
  return longest;
}

}  // namespace traceback::collect
