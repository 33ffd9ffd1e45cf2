#include "app/tracebackd/service.h"

#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <format>
#include <ranges>

#include "model/utf8.h"
#include "runtime/collect/files/ring_folder.h"
#include "runtime/collect/snap/recover.h"
#include "runtime/collect/snap/snap_assembly.h"

namespace traceback::app {

namespace {

using collect::textField;
using format::RefusalReason;

template <std::size_t N>
std::string textOf(const std::uint8_t (&field)[N]) {
  return textField(field, N);
}

std::uint32_t secondsBetween(std::chrono::steady_clock::time_point from,
                             std::chrono::steady_clock::time_point to) {
  return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(to - from).count());
}

// Not 0, and the same as nobody else's.
std::uint64_t newEventId() {
  std::uint64_t id = 0;
  while (id == 0)
    if (::getrandom(&id, sizeof id, 0) != sizeof id) id = static_cast<std::uint64_t>(::getpid());
  return id;
}

std::uint64_t realtimeNow() {
  struct timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

format::ServiceMember memberOf(const format::ServiceProcess& process, std::uint64_t realtimeNs) {
  format::ServiceMember member{};
  member.pid = process.pid;
  collect::setField(member.program, textOf(process.program));
  collect::setField(member.snap, textOf(process.snapFolder) + '/' +
                                     collect::snapBaseName(textOf(process.program), process.pid, realtimeNs) +
                                     format::kSnapSuffix);
  return member;
}

// One system call, where the kernel has such descriptors. Its number may be another's by now.
bool hasEnded(const std::pair<pid_t, std::uint64_t>& name, const collect::SystemFile& process) {
  if (process.isOpen()) {
    struct pollfd gone{process.descriptor(), POLLIN, 0};
    return ::poll(&gone, 1, 0) > 0;
  }
  const auto start = collect::startOfProcess(name.first);
  return !start || *start != name.second;
}

}  // namespace

Service::Service(Listener listener, ServiceOptions options)
    : m_listener(std::move(listener)), m_options(std::move(options)), m_profiling(m_options.command) {}

Service::~Service() {
  if (!m_listener.path.empty()) ::unlink(m_listener.path.c_str());
}

void Service::log(const std::string& text) const {
  if (m_options.log) m_options.log(text);
}

model::Result<void> Service::run() {
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int signal : {SIGTERM, SIGINT}) ::sigaddset(&ends, signal);
  const collect::SystemFile signals(::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.isOpen()) return collect::failWithErrno("signals cannot be waited for");
  for (;;) {
    look();
    std::vector<struct pollfd> waiting;
    waiting.push_back({signals.descriptor(), POLLIN, 0});
    waiting.push_back({m_listener.socket.descriptor(), POLLIN, 0});
    for (const auto& client : m_clients) {
      const int what = client->unsent.empty() ? POLLIN : POLLIN | POLLOUT;
      waiting.push_back({client->socket.descriptor(), static_cast<short>(what), 0});
    }
    if (::poll(waiting.data(), waiting.size(), static_cast<int>(kLookPause.count())) < 0 && errno != EINTR)
      return collect::failWithErrno("nothing can be waited for");
    if ((waiting[0].revents & POLLIN) != 0) return {};
    // New ones come behind those that were waited for.
    const std::size_t known = m_clients.size();
    for (std::size_t i = 0; i < known; ++i) {
      if ((waiting[i + 2].revents & ~POLLOUT) != 0) hear(*m_clients[i]);
      flush(*m_clients[i]);
    }
    if ((waiting[1].revents & POLLIN) != 0) acceptClients();
    removeGone();
  }
}

void Service::acceptClients() {
  for (;;) {
    collect::SystemFile socket(
        ::accept4(m_listener.socket.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.isOpen()) return;
    auto client = std::make_unique<Client>();
    client->socket = std::move(socket);
    client->heard = Clock::now();
    const auto peer = collect::peerOf(client->socket.descriptor());
    if (!peer || (peer->uid != ::geteuid() && peer->uid != 0)) {
      refuse(*client, RefusalReason::NotYours,
             peer ? std::format("process {} of user {}", peer->pid, peer->uid) : "somebody unknown");
      continue;
    }
    client->peer = *peer;
    if (m_clients.size() >= kMostClients) {
      refuse(*client, RefusalReason::TooMany, std::format("process {}: too many are there", peer->pid));
      continue;
    }
    m_clients.push_back(std::move(client));
  }
}

void Service::refuse(Client& client, RefusalReason reason, const std::string& why) {
  ++m_refused;
  log(std::format("refused {}", why));
  collect::sendPacket(client.socket.descriptor(),
                      format::ServiceRefusal{static_cast<std::uint32_t>(reason), format::kServiceVersion});
  client.gone = true;
}

void Service::hear(Client& client) {
  constexpr unsigned kMostAtOnce = 16;  // the others have their turn
  for (unsigned i = 0; i < kMostAtOnce && !client.gone; ++i) {
    const collect::Packet packet = collect::receivePacket(client.socket.descriptor());
    if (packet.closed) {
      client.gone = true;
      return;
    }
    if (packet.bytes.empty()) return;
    const auto message = collect::decode(packet.bytes);
    if (!message)
      return refuse(client, message.error().reason,
                    std::format("process {}: a message {}", client.peer.pid, message.error().text));
    client.heard = Clock::now();
    answer(client, *message);
  }
}

void Service::answer(Client& client, const collect::Message& message) {
  if (const auto* down = std::get_if<collect::BreakDown>(&message))
    return send(client, snapGroup(textOf(down->group), down));
  if (const auto* group = std::get_if<format::ServiceGroup>(&message))
    return send(client, snapGroup(textOf(group->group), nullptr));
  if (std::holds_alternative<collect::Question>(message)) return tellAll(client);
  refuse(client, RefusalReason::NoMessage,
         std::format("process {}: a message that nobody may send here", client.peer.pid));
}

collect::GroupEvent Service::snapGroup(const std::string& group, const format::ServiceProcess* cause) {
  collect::GroupEvent event;
  event.about.id = newEventId();
  event.about.realtimeNs = realtimeNow();
  event.about.cause = cause != nullptr ? cause->pid : 0;
  collect::setField(event.about.group, group);
  const auto now = Clock::now();
  const auto last = m_lastOfGroup.find(group);
  if (group.empty() || (last != m_lastOfGroup.end() && now - last->second < kGroupPause)) return event;
  findProcesses(true);
  std::vector<Recorded*> members;
  for (auto& [name, process] : m_processes)
    if (textOf(process.about.group) == group && process.about.pid != event.about.cause)
      members.push_back(&process);
  if (members.empty()) return event;
  m_lastOfGroup[group] = now;
  ++m_events;
  const std::size_t room = format::kMostGroupMembers - (cause != nullptr ? 1 : 0);
  event.about.leftOut = static_cast<std::uint32_t>(members.size() - std::min(members.size(), room));
  members.resize(std::min(members.size(), room));
  if (cause != nullptr) event.members.push_back(memberOf(*cause, event.about.realtimeNs));
  for (const Recorded* member : members)
    event.members.push_back(memberOf(member->about, event.about.realtimeNs));
  log(std::format("group {}: {} processes are snapped{}", group, event.members.size(),
                  cause == nullptr ? "" : std::format(", for process {} broke down", cause->pid)));
  const std::string why = cause == nullptr
                              ? std::format("is of the group {}, which was snapped by hand", group)
                              : std::format("is of the group {}, whose process {} ({}) broke down", group,
                                            cause->pid, textOf(cause->program));
  for (Recorded* member : members) snap(*member, {0, why}, format::SnapReason::Policy, event, false);
  return event;
}

void Service::tellAll(Client& client) {
  const auto now = Clock::now();
  for (const auto& [name, process] : m_processes) {
    const auto silent = std::chrono::duration_cast<std::chrono::seconds>(process.stalls.silence(now));
    send(client, format::ServiceState{.process = process.about,
                                      .watched = process.rule ? 1U : 0U,
                                      .silentSeconds = static_cast<std::uint32_t>(silent.count()),
                                      .snaps = process.snaps,
                                      .reserved = 0});
  }
  send(client, format::ServiceSummary{.upSeconds = secondsBetween(m_start, now),
                                      .events = m_events,
                                      .refused = m_refused,
                                      .pid = static_cast<std::uint32_t>(::getpid()),
                                      .reserved = 0});
}

void Service::send(Client& client, const collect::Message& message) {
  client.unsent.push_back(message);
  flush(client);
  if (client.unsent.size() > kMostUnsent) client.gone = true;
}

void Service::flush(Client& client) {
  while (!client.gone && !client.unsent.empty()) {
    if (!collect::sendPacket(client.socket.descriptor(), client.unsent.front())) {
      client.gone = errno != EAGAIN;
      return;
    }
    client.unsent.pop_front();
  }
}

void Service::removeGone() {
  const auto now = Clock::now();
  std::erase_if(m_clients,
                [&](const auto& client) { return client->gone || now - client->heard > kSilentPatience; });
}

void Service::look() {
  finishJobs();
  const auto now = Clock::now();
  if (now - m_looked < kLookPause) return;
  m_looked = now;
  findProcesses(false);
  // Snapping a group finds processes anew.
  for (const auto& name : std::views::keys(m_processes) | std::ranges::to<std::vector>()) lookAtThreads(name);
  lookWhomToProfile();
  if (now - m_tidied < kTidyPause) return;
  m_tidied = now;
  if (m_options.tidy) m_options.tidy(m_rules);
}

void Service::findProcesses(bool anew) {
  collect::SiteRules rules = collect::siteRules();
  anew = anew || rules != m_rules;
  m_rules = std::move(rules);
  std::vector<Recorded> ended;
  std::erase_if(m_processes, [&ended](auto& each) {
    if (!hasEnded(each.first, each.second.process)) return false;
    ended.push_back(std::move(each.second));
    return true;
  });
  const auto now = Clock::now();
  for (auto& [name, process] : m_processes)
    if (anew || now - process.described >= kDescribePause) describe(process);
  for (const auto& [path, name] : collect::processFoldersIn(m_options.ringFolder)) {
    if (find(name) != nullptr) continue;
    const auto start = collect::startOfProcess(name.pid);
    if (!start || *start != name.start || !collect::readProcessHeader(path)) continue;
    Recorded& found = m_processes[{name.pid, name.start}];
    found.folder = path;
    found.process = collect::SystemFile(static_cast<int>(::syscall(SYS_pidfd_open, name.pid, 0)));
    describe(found);
    found.snapFolder = textOf(found.about.snapFolder);
  }
  for (const Recorded& process : ended) snapFallen(process);
}

// Who gave up the rights, the root folder or the system calls that it takes cannot have itself snapped when
// it breaks down. What it left says so.
void Service::snapFallen(const Recorded& process) {
  const auto header = collect::readProcessHeader(process.folder);
  if (!header || header->state != static_cast<std::uint32_t>(format::ProcessState::Faulted) ||
      !collect::wantsFault(process.folder, process.snapFolder))
    return;
  log(std::format("process {} broke down and could not be snapped before it ended", process.about.pid));
  format::ServiceProcess cause = process.about;
  collect::setField(cause.snapFolder, process.snapFolder.string());
  const collect::GroupEvent event = snapGroup(textOf(cause.group), &cause);
  collect::RecoverOptions options{
      .folder = process.folder, .snapFolder = process.snapFolder, .onProblem = {}};
  options.countFaults = true;
  if (!event.members.empty()) options.group = event;
  auto job = std::make_unique<Job>();
  job->name = {static_cast<pid_t>(cause.pid), cause.start};
  startJob(std::move(job), [options] { return collect::recover(options).has_value(); });
}

void Service::describe(Recorded& process) const {
  const auto header = collect::readProcessHeader(process.folder);
  if (!header) return;
  process.about = collect::describeProcess(process.folder, *header,
                                           collect::snapFolderFor({}, process.folder, *header), m_rules);
  const auto rule =
      std::ranges::find(m_rules.stalls, textOf(process.about.program), &collect::StallRule::program);
  process.rule = rule == m_rules.stalls.end() ? std::nullopt : std::optional(*rule);
  // It has its name with its first module.
  if (header->executable[0] != 0 || header->moduleCount != 0) process.described = Clock::now();
}

bool Service::isBeingSnapped(const Recorded& process) const {
  return std::ranges::any_of(m_jobs, [&process](const auto& job) {
    return job->name.pid == static_cast<pid_t>(process.about.pid) && job->name.start == process.about.start;
  });
}

void Service::lookAtThreads(const std::pair<pid_t, std::uint64_t>& name) {
  const auto known = m_processes.find(name);
  if (known == m_processes.end()) return;
  Recorded& process = known->second;
  // Its threads are stopped then, and that is no life.
  if (!process.rule || isBeingSnapped(process)) return;
  const auto now = Clock::now();
  if (now - process.looked < process.rule->patience / kLooksInPatience) return;
  process.looked = now;
  const auto found = process.stalls.look({.pid = static_cast<pid_t>(process.about.pid),
                                          .processFolder = process.folder.string(),
                                          .threadName = process.rule->thread,
                                          .patience = process.rule->patience},
                                         now);
  if (!found) return;
  log(std::format("process {} {}", process.about.pid, found->occasion));
  const format::ServiceProcess cause = process.about;
  const collect::GroupEvent event = snapGroup(textOf(cause.group), &cause);
  if (Recorded* still = find({name.first, name.second}))
    snap(*still, *found, format::SnapReason::Hang,
         event.members.empty() ? std::nullopt : std::optional(event), true);
}

// By the processor's time, for those of a program that only wait would tell nothing of what runs.
void Service::lookWhomToProfile() {
  if (const auto well = m_profiling.ended(); well && !*well) log("a process could not be profiled");
  const auto now = Clock::now();
  if (m_profiling.isRunning() || now - m_lookedWhomToProfile < kDescribePause) return;
  m_lookedWhomToProfile = now;
  for (auto& [name, process] : m_processes) {
    if (process.wasProfiled) continue;
    const std::string program = textOf(process.about.program);
    const auto after = m_rules.profiledAfter(program);
    const auto time = after ? collect::processorTimeOf(name.first) : std::nullopt;
    if (!time || *time < *after) continue;
    process.wasProfiled = true;
    log(std::format("process {} ({}) is profiled", name.first, program));
    if (const auto started = m_profiling.start(name.first); !started) log(started.error().text());
    return;
  }
}

void Service::snap(Recorded& process, const collect::Finding& why, format::SnapReason reason,
                   const std::optional<collect::GroupEvent>& group, bool stalled) {
  auto job = std::make_unique<Job>();
  job->name = {static_cast<pid_t>(process.about.pid), process.about.start};
  job->stalled = stalled;
  collect::SnapOptions options;
  options.ringFolder = m_options.ringFolder;
  options.reason = reason;
  options.occasionTid = why.tid;
  options.occasion = why.occasion;
  options.group = group;
  options.evenRunning = true;
  const pid_t pid = job->name.pid;
  startJob(std::move(job), [pid, options] { return collect::snapProcess(pid, options).has_value(); });
}

void Service::startJob(std::unique_ptr<Job> job, std::function<bool()> makesSnap) {
  job->thread = std::jthread([job = job.get(), makesSnap = std::move(makesSnap)] {
    job->written = makesSnap();
    job->done = true;
  });
  m_jobs.push_back(std::move(job));
}

void Service::finishJobs() {
  std::erase_if(m_jobs, [this](const auto& job) {
    if (!job->done) return false;
    if (!job->written) log(std::format("process {} could not be snapped", job->name.pid));
    Recorded* process = find(job->name);
    if (process == nullptr) return true;
    if (job->written) ++process->snaps;
    if (process->rule) {
      process->stalls.wereStopped();
      if (job->stalled && process->rule->end) end(*process, job->written);
    }
    return true;
  });
}

// What was snapped need not be recovered.
void Service::end(Recorded& process, bool snapped) {
  if (snapped) collect::markSnapped(process.folder);
  ::syscall(SYS_pidfd_send_signal, process.process.descriptor(), SIGKILL, nullptr, 0);
  struct pollfd gone{process.process.descriptor(), POLLIN, 0};
  constexpr int kMostMilliseconds = 1000;
  if (::poll(&gone, 1, kMostMilliseconds) > 0 && snapped) collect::removeFolder(process.folder);
  log(std::format("process {} was ended", process.about.pid));
}

Service::Recorded* Service::find(const collect::ProcessName& name) {
  const auto found = m_processes.find({name.pid, name.start});
  return found == m_processes.end() ? nullptr : &found->second;
}

}  // namespace traceback::app
