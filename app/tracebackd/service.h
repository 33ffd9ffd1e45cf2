// The service: has all processes of a group snapped when one of them breaks down, and those whose threads
// show no life (runtime/format/service.h, runtime/collect/rules/site_rules.h). It finds recorded processes by
// their folders in the ring folder, which is this user's alone, and hears nobody but its own user and root.
//
// One thread, in an event loop; whatever could make it wait is done by another one, or cut off.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/tracebackd/listener.h"
#include "app/tracebackd/profiling.h"
#include "runtime/collect/files/process_folder.h"
#include "runtime/collect/files/system_file.h"
#include "runtime/collect/rules/site_rules.h"
#include "runtime/collect/service/service_client.h"
#include "runtime/collect/service/service_message.h"
#include "runtime/collect/watch/stall_watch.h"

namespace traceback::app {

struct ServiceOptions {
  std::filesystem::path ringFolder;
  std::function<void(const collect::SiteRules&)> tidy;  // done at the start and every few minutes
  std::function<void(const std::string&)> log;
  std::filesystem::path command;  // `traceback`
};

class Service {
 public:
  Service(Listener listener, ServiceOptions options);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Until SIGTERM or SIGINT, which the caller has blocked. Fails if the kernel has nothing to wait with.
  model::Result<void> run();

  static constexpr std::size_t kMostClients = 256;
  // Who does not take what is sent to it is cut off.
  static constexpr std::size_t kMostUnsent = 4096;
  // A group that breaks down again at once is not snapped again.
  static constexpr std::chrono::seconds kGroupPause{5};
  // Who connects and says nothing.
  static constexpr std::chrono::seconds kSilentPatience{10};
  static constexpr std::chrono::milliseconds kLookPause{250};
  static constexpr std::chrono::minutes kTidyPause{10};
  // What a process is called may change: it executes another program.
  static constexpr std::chrono::seconds kDescribePause{3};
  // Looks at a thread in the time after which it is said to stall.
  static constexpr int kLooksInPatience = 16;

 private:
  using Clock = std::chrono::steady_clock;
  struct Client {
    collect::SystemFile socket;
    collect::Peer peer;
    Clock::time_point heard{};
    std::deque<collect::Message> unsent;  // what the socket has no room for yet
    bool gone = false;
  };
  // A recorded process that lives.
  struct Recorded {
    std::filesystem::path folder;
    collect::SystemFile process;  // a pidfd
    // As it said first: what it says later may be the word of somebody with fewer rights.
    std::filesystem::path snapFolder;
    format::ServiceProcess about{};
    std::optional<collect::StallRule> rule;
    bool wasProfiled = false;
    collect::StallDetector stalls;
    Clock::time_point described{}, looked{};
    std::uint32_t snaps = 0;
  };
  // A snap that is being made.
  struct Job {
    collect::ProcessName name;
    bool stalled = false;
    std::atomic<bool> done = false;
    std::atomic<bool> written = false;
    std::jthread thread;
  };

  void acceptClients();
  void hear(Client& client);
  void answer(Client& client, const collect::Message& message);
  void refuse(Client& client, format::RefusalReason reason, const std::string& why);
  collect::GroupEvent snapGroup(const std::string& group, const format::ServiceProcess* cause);
  void tellAll(Client& client);
  static void flush(Client& client);
  void send(Client& client, const collect::Message& message);
  void removeGone();

  void look();
  // Of those that are known already, `anew` or when some time has passed, what they are called now.
  void findProcesses(bool anew);
  void describe(Recorded& process) const;
  void lookAtThreads(const std::pair<pid_t, std::uint64_t>& name);
  bool isBeingSnapped(const Recorded& process) const;
  void lookWhomToProfile();
  void snapFallen(const Recorded& process);
  void snap(Recorded& process, const collect::Finding& why, format::SnapReason reason,
            const std::optional<collect::GroupEvent>& group, bool stalled);
  void startJob(std::unique_ptr<Job> job, std::function<bool()> makesSnap);
  void finishJobs();
  void end(Recorded& process, bool snapped);
  Recorded* find(const collect::ProcessName& name);
  void log(const std::string& text) const;

  Listener m_listener;
  ServiceOptions m_options;
  collect::SiteRules m_rules;
  std::vector<std::unique_ptr<Client>> m_clients;
  std::map<std::pair<pid_t, std::uint64_t>, Recorded> m_processes;  // by number and start
  std::vector<std::unique_ptr<Job>> m_jobs;
  std::map<std::string, Clock::time_point> m_lastOfGroup;
  Clock::time_point m_start = Clock::now();
  Clock::time_point m_looked{}, m_tidied{}, m_lookedWhomToProfile{};
  Profiling m_profiling;
  std::uint64_t m_events = 0, m_refused = 0;
};

}  // namespace traceback::app
