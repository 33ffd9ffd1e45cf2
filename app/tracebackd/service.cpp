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

#include "model/utf8.h"
#include "runtime/collect/recover.h"
#include "runtime/collect/snap_assembly.h"

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

}  // namespace

Service::Service(Listener listener, ServiceOptions options)
    : m_listener(std::move(listener)), m_options(std::move(options)) {}

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
  findProcesses();
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
  findProcesses();
  for (auto& [name, process] : m_processes) lookAtThreads(process);
  if (now - m_tidied < kTidyPause) return;
  m_tidied = now;
  if (m_options.tidy) m_options.tidy(m_rules);
}

void Service::findProcesses() {
  namespace fs = std::filesystem;
  m_rules = collect::siteRules();
  std::erase_if(m_processes, [](const auto& each) {
    const auto start = collect::startOfProcess(each.first.first);
    return !start || *start != each.first.second;
  });
  std::error_code error;
  for (fs::directory_iterator it(m_options.ringFolder, error), end; !error && it != end;
       it.increment(error)) {
    const auto name = collect::parseProcessName(it->path().filename().string());
    if (!name) continue;
    Recorded* known = find(*name);
    if (known == nullptr) {
      const auto start = collect::startOfProcess(name->pid);
      if (!start || *start != name->start || !collect::readProcessHeader(it->path())) continue;
      known = &m_processes[{name->pid, name->start}];
      known->folder = it->path();
      known->process = collect::SystemFile(static_cast<int>(::syscall(SYS_pidfd_open, name->pid, 0)));
    }
    // What it is called is known when it has its first module.
    const auto header = collect::readProcessHeader(known->folder);
    if (!header) continue;
    known->about =
        collect::describeProcess(known->folder, *header, collect::snapFolderFor({}, *header), m_rules);
    const auto rule =
        std::ranges::find(m_rules.stalls, textOf(known->about.program), &collect::StallRule::program);
    known->rule = rule == m_rules.stalls.end() ? std::nullopt : std::optional(*rule);
  }
}

void Service::lookAtThreads(Recorded& process) {
  if (!process.rule) return;
  const auto found = process.stalls.look({.pid = static_cast<pid_t>(process.about.pid),
                                          .processFolder = process.folder.string(),
                                          .threadName = process.rule->thread,
                                          .patience = process.rule->patience},
                                         Clock::now());
  if (!found) return;
  log(std::format("process {} {}", process.about.pid, found->occasion));
  const collect::GroupEvent event = snapGroup(textOf(process.about.group), &process.about);
  snap(process, *found, format::SnapReason::Hang, event.members.empty() ? std::nullopt : std::optional(event),
       true);
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
  job->thread = std::jthread([job = job.get(), options] {
    job->written = collect::snapProcess(job->name.pid, options).has_value();
    job->done = true;
  });
  m_jobs.push_back(std::move(job));
}

void Service::finishJobs() {
  std::erase_if(m_jobs, [this](const auto& job) {
    if (!job->done) return false;
    Recorded* process = find(job->name);
    if (process != nullptr && job->written) ++process->snaps;
    if (process == nullptr || !job->stalled) {
      if (!job->written) log(std::format("process {} could not be snapped", job->name.pid));
      return true;
    }
    process->stalls.wereStopped(
        {.pid = job->name.pid, .processFolder = process->folder.string(), .threadName = {}, .patience = {}});
    if (process->rule && process->rule->end) end(*process, job->written);
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
