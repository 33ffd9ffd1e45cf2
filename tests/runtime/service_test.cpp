// The service: groups that are snapped together, whom it hears, and what it tidies.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QTest>
#include <algorithm>
#include <cstring>

#include "runtime/collect/housekeeping.h"
#include "runtime/collect/private_folder.h"
#include "runtime/collect/process_folder.h"
#include "runtime/collect/service_client.h"
#include "runtime/collect/service_message.h"
#include "runtime/collect/site_rules.h"
#include "snap_dump.h"
#include "traced_run.h"

using namespace traceback;
using namespace traceback::testing;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 65534;

// A home with a site file.
struct Site {
  explicit Site(const QByteArray& rules) {
    QDir(home.path()).mkpath(".config/traceback");
    QFile file(home.filePath(".config/traceback/site"));
    if (file.open(QIODevice::WriteOnly)) file.write(rules);
  }
  QTemporaryDir home;
};

// With its rings where another one has them.
struct SiteRun : TracedRun {
  SiteRun(const Site& site, const QString& program, const TracedRun* with = nullptr) : TracedRun(program) {
    setVariable("HOME", site.home.path());
    if (with != nullptr)
      setVariable("XDG_RUNTIME_DIR", QString::fromStdString(with->ringFolder().parent_path().string()));
  }
};

// The program itself, with the ring folder of a traced run.
class RunningService {
 public:
  explicit RunningService(const TracedRun& traced, const QString& home = QStringLiteral("/nowhere"))
      : m_rings(traced.ringFolder()) {
    auto environment = QProcessEnvironment::systemEnvironment();
    const QString folder = QString::fromStdString(m_rings.parent_path().string());
    for (const char* name : {"XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"})
      environment.insert(name, folder);
    environment.insert("HOME", home);
    m_process.setProcessEnvironment(environment);
    m_process.start(TRACEBACKD, QStringList());
    m_process.waitForStarted();
  }
  ~RunningService() {
    m_process.terminate();
    m_process.waitForFinished();
  }
  bool answers() const {
    return QTest::qWaitFor([this] { return fs::exists(socket()) && summary().has_value(); }, 30'000);
  }
  std::optional<collect::ServiceConnection> connect() const {
    auto made = collect::ServiceConnection::open(m_rings);
    return made ? std::optional(std::move(*made)) : std::nullopt;
  }
  std::vector<format::ServiceState> states() const { return ask().first; }
  std::optional<format::ServiceSummary> summary() const { return ask().second; }
  bool knows(unsigned processes) const {
    return QTest::qWaitFor([&] { return states().size() == processes; }, 30'000);
  }
  fs::path socket() const { return collect::serviceSocket(m_rings); }
  QProcess& process() { return m_process; }

 private:
  std::pair<std::vector<format::ServiceState>, std::optional<format::ServiceSummary>> ask() const {
    std::vector<format::ServiceState> states;
    const auto service = connect();
    if (!service || !service->send(collect::Question{})) return {};
    while (const auto message = service->receive(10s)) {
      if (const auto* end = std::get_if<format::ServiceSummary>(&*message)) return {states, *end};
      if (const auto* state = std::get_if<format::ServiceState>(&*message)) states.push_back(*state);
    }
    return {};
  }
  fs::path m_rings;
  QProcess m_process;
};

// Those that are whole.
std::vector<fs::path> snapsOf(const TracedRun& traced) {
  auto snaps = traced.snaps();
  std::erase_if(snaps, [](const fs::path& each) { return each.filename().string().starts_with('.'); });
  return snaps;
}

QStringList linesOf(const SnapDump& snap, const QString& key) {
  QStringList values;
  for (const QString& line : QString::fromStdString(snap.group).split(u'\n'))
    if (line.startsWith(key + u'=')) values.append(line.mid(key.size() + 1));
  return values;
}

format::ServiceProcess someProcess() {
  format::ServiceProcess process{};
  process.pid = static_cast<std::uint32_t>(::getpid());
  process.start = collect::startOfProcess(::getpid()).value_or(0);
  collect::setField(process.group, "shop");
  collect::setField(process.program, "test");
  collect::setField(process.snapFolder, "/nowhere");
  return process;
}

std::vector<collect::Message> oneOfEach() {
  collect::GroupEvent event;
  event.about.id = 7;
  collect::setField(event.about.group, "shop");
  event.members.resize(2);
  event.members[1].pid = 4711;
  collect::setField(event.members[1].snap, "/snaps/shop-4711.tbsnap");
  format::ServiceGroup group{};
  collect::setField(group.group, "shop");
  return {collect::BreakDown{someProcess()},
          group,
          event,
          collect::Question{},
          format::ServiceState{someProcess(), 1, 2, 3, 0},
          format::ServiceSummary{1, 2, 3, 4, 0},
          format::ServiceRefusal{1, 2}};
}

// A client that speaks no protocol.
int rawClient(const fs::path& socket) {
  struct sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket.string().copy(address.sun_path, sizeof address.sun_path - 1);
  const int client = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const struct timeval patience{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (client >= 0 && ::connect(client, reinterpret_cast<struct sockaddr*>(&address), sizeof address) == 0)
    return client;
  ::close(client);
  return -1;
}

// Whether the service answers with a refusal, for this reason if one is named, and hangs up.
bool isRefused(int client, format::RefusalReason reason) {
  std::vector<std::uint8_t> bytes(collect::kMostMessage);
  const ssize_t got = ::recv(client, bytes.data(), bytes.size(), 0);
  if (got <= 0) return false;
  const auto message = collect::decode(std::span(bytes).first(static_cast<std::size_t>(got)));
  const auto* refusal = message ? std::get_if<format::ServiceRefusal>(&*message) : nullptr;
  return refusal != nullptr && refusal->reason == static_cast<std::uint32_t>(reason) &&
         ::recv(client, bytes.data(), bytes.size(), 0) <= 0;
}

}  // namespace

class ServiceTest : public QObject {
  Q_OBJECT
 private slots:
  void everyMessageComesBackAsItWasSent() {
    for (const collect::Message& message : oneOfEach()) {
      const collect::Bytes packet = collect::encode(message);
      const auto decoded = collect::decode(packet);
      QVERIFY2(decoded, decoded ? "" : decoded.error().text.c_str());
      QCOMPARE(decoded->index(), message.index());
      QCOMPARE(collect::encode(*decoded), packet);
    }
  }

  void whatIsNoMessageIsRefused() {
    for (const collect::Message& message : oneOfEach()) {
      collect::Bytes packet = collect::encode(message);
      for (std::size_t size = 0; size < packet.size(); ++size)
        QVERIFY(!collect::decode(std::span(packet).first(size)));
      packet.push_back(0);
      QVERIFY(!collect::decode(packet));
      packet.pop_back();
      packet[4] ^= 2;
      QCOMPARE(collect::decode(packet).error().reason, format::RefusalReason::OtherVersion);
    }
    collect::BreakDown endless{someProcess()};
    std::ranges::fill(endless.program, std::uint8_t{'x'});
    QVERIFY(!collect::decode(collect::encode(endless)));
    collect::BreakDown escape{someProcess()};
    collect::setField(escape.program, "a\x1b[2Jb");
    QVERIFY(!collect::decode(collect::encode(escape)));
    collect::BreakDown nobody{someProcess()};
    nobody.pid = 0;
    QVERIFY(!collect::decode(collect::encode(nobody)));
    collect::GroupEvent event;
    collect::Bytes packet = collect::encode(event);
    const std::uint32_t many = 0xFFFF'FFFF;
    std::memcpy(packet.data() + sizeof(format::MessageHeader) + offsetof(format::ServiceEvent, memberCount),
                &many, sizeof many);
    QVERIFY(!collect::decode(packet));
  }

  void aGroupIsSnappedTogetherWhenOneOfItFaults() {
    const Site site("group shop traced\n");
    SiteRun first(site, "traced"), other(site, "hangs", &first), faulting(site, "traced", &first);
    RunningService service(first, site.home.path());
    QVERIFY(service.answers());
    auto waiting = first.start({"pause"}), elsewhere = other.start({"stuck"});
    QVERIFY(waiting->waitForReadyRead(30'000) && elsewhere->waitForReadyRead(30'000));
    QVERIFY(service.knows(2));
    const Outcome outcome = faulting.run({"fault", "null"});
    QVERIFY(outcome.killed && outcome.status == SIGSEGV);
    QVERIFY(QTest::qWaitFor([&first] { return !snapsOf(first).empty(); }, 60'000));
    QCOMPARE(snapsOf(first).size(), 1u);
    QCOMPARE(snapsOf(faulting).size(), 1u);
    QVERIFY(snapsOf(other).empty());

    const auto broken = dumpSnap(snapsOf(faulting)[0]), with = dumpSnap(snapsOf(first)[0]);
    QVERIFY(broken && with);
    QCOMPARE(broken->reason.reason, static_cast<std::uint32_t>(format::SnapReason::Fault));
    QCOMPARE(with->reason.reason, static_cast<std::uint32_t>(format::SnapReason::Policy));
    QVERIFY2(with->host.contains("occasion=is of the group shop, whose process"), with->host.c_str());
    QCOMPARE(with->group, broken->group);
    QCOMPARE(linesOf(*with, "group"), QStringList("shop"));
    QCOMPARE(linesOf(*with, "cause"), QStringList(QString::number(broken->process.pid)));
    QCOMPARE(linesOf(*with, "member"),
             QStringList({QString::number(broken->process.pid), QString::number(with->process.pid)}));
    QCOMPARE(linesOf(*with, "snap"), QStringList({QString::fromStdString(snapsOf(faulting)[0].string()),
                                                  QString::fromStdString(snapsOf(first)[0].string())}));
    waiting->write("\n");
    QCOMPARE(TracedRun::finish(*waiting).status, 4);  // it went on
    elsewhere->kill();
    TracedRun::finish(*elsewhere);
    QVERIFY(service.knows(0));
    QCOMPARE(service.summary()->events, 1u);
  }

  void aGroupIsSnappedWhenSomebodyAsksButNotAgainAtOnce() {
    const Site site("group shop traced\n");
    SiteRun first(site, "traced");
    RunningService service(first, site.home.path());
    QVERIFY(service.answers());
    auto waiting = first.start({"pause"});
    QVERIFY(waiting->waitForReadyRead(30'000) && service.knows(1));
    const auto membersOf = [&service](const char* name) {
      format::ServiceGroup group{};
      collect::setField(group.group, name);
      const auto client = service.connect();
      const auto answer = client && client->send(group) ? client->receive(10s) : std::nullopt;
      const auto* event = answer ? std::get_if<collect::GroupEvent>(&*answer) : nullptr;
      return event != nullptr ? static_cast<int>(event->members.size()) : -1;
    };
    QCOMPARE(membersOf("nobody"), 0);
    QCOMPARE(membersOf("shop"), 1);
    QCOMPARE(membersOf("shop"), 0);
    QVERIFY(QTest::qWaitFor([&first] { return !snapsOf(first).empty(); }, 60'000));
    const auto asked = dumpSnap(snapsOf(first)[0]);
    QVERIFY(asked && asked->host.contains("which was snapped by hand"));
    QVERIFY(linesOf(*asked, "cause").isEmpty());
    QVERIFY(QTest::qWaitFor([&] { return service.states()[0].snaps == 1; }, 30'000));
    waiting->write("\n");
    QCOMPARE(TracedRun::finish(*waiting).status, 4);
  }

  void whoGaveUpItsRightsIsSnappedByTheServiceAndItsGroupWithIt() {
    if (::geteuid() != 0) QSKIP("only root can give up rights");
    const Site site("group shop traced confined\nfaults 1/1h\n");
    SiteRun first(site, "traced"), fallen(site, "confined", &first);
    RunningService service(first, site.home.path());
    QVERIFY(service.answers());
    auto waiting = first.start({"pause"});
    QVERIFY(waiting->waitForReadyRead(30'000) && service.knows(1));
    auto leaving = fallen.start({"user-after", "fault", "", "1"});
    QVERIFY(service.knows(2));
    leaving->write("\n");
    const Outcome outcome = TracedRun::finish(*leaving);
    QVERIFY(outcome.killed && outcome.status == SIGSEGV);
    QVERIFY(QTest::qWaitFor([&] { return !snapsOf(fallen).empty() && !snapsOf(first).empty(); }, 60'000));
    const auto broken = dumpSnap(snapsOf(fallen)[0]), with = dumpSnap(snapsOf(first)[0]);
    QVERIFY(broken && with && broken->faulting() != nullptr);
    QCOMPARE(broken->reason.signal, std::uint32_t{SIGSEGV});
    QCOMPARE(with->group, broken->group);
    QCOMPARE(linesOf(*with, "cause"), QStringList(QString::number(broken->process.pid)));
    QVERIFY(linesOf(*with, "snap").contains(QString::fromStdString(snapsOf(fallen)[0].string())));
    QVERIFY(service.knows(1));
    // The same fault again is no news.
    auto again = fallen.start({"user-after", "fault", "", "1"});
    QVERIFY(service.knows(2));
    again->write("\n");
    QVERIFY(TracedRun::finish(*again).killed);
    QVERIFY(service.knows(1));
    QTest::qWait(1000);
    QCOMPARE(
        std::ranges::count_if(snapsOf(fallen),
                              [](const fs::path& path) { return path.extension() == format::kSnapSuffix; }),
        1);
    waiting->write("\n");
    QCOMPARE(TracedRun::finish(*waiting).status, 4);
  }

  void whatStallsIsSnappedWithItsGroup() {
    const Site site("group shop traced hangs\nsnap stall 1s hangs\n");
    SiteRun first(site, "traced"), stalled(site, "hangs", &first);
    RunningService service(first, site.home.path());
    QVERIFY(service.answers());
    auto waiting = first.start({"pause"}), spinning = stalled.start({"spins"});
    QVERIFY(waiting->waitForReadyRead(30'000) && spinning->waitForReadyRead(30'000));
    QVERIFY(QTest::qWaitFor([&] { return !snapsOf(stalled).empty() && !snapsOf(first).empty(); }, 60'000));
    QVERIFY(QTest::qWaitFor(
        [&] {
          return std::ranges::any_of(service.states(),
                                     [](const auto& state) { return state.silentSeconds > 0; });
        },
        30'000));
    QTest::qWait(2000);  // it is snapped once
    QCOMPARE(snapsOf(stalled).size(), 1u);
    const auto broken = dumpSnap(snapsOf(stalled)[0]);
    QVERIFY(broken);
    QCOMPARE(broken->reason.reason, static_cast<std::uint32_t>(format::SnapReason::Hang));
    QVERIFY2(broken->host.contains("occasion=stalls: thread"), broken->host.c_str());
    QCOMPARE(linesOf(*broken, "member").size(), 2);
    QCOMPARE(spinning->state(), QProcess::Running);
    spinning->kill();
    TracedRun::finish(*spinning);
    waiting->write("\n");
    TracedRun::finish(*waiting);
  }

  void whatStallsIsEndedIfTheSiteSaysSoAndWhatWaitsForWorkIsNot() {
    const Site site("end stall 1s hangs\n");
    SiteRun stalled(site, "hangs");
    RunningService service(stalled, site.home.path());
    QVERIFY(service.answers());
    const Outcome idle = stalled.run({"idle"});
    QVERIFY(!idle.killed && idle.status == 0);
    QVERIFY(snapsOf(stalled).empty());
    const Outcome outcome = stalled.run({"spins"});
    QVERIFY(outcome.killed && outcome.status == SIGKILL);
    QCOMPARE(snapsOf(stalled).size(), 1u);
    const auto left = [&stalled] {  // of processes
      return std::ranges::any_of(stalled.processFolders(),
                                 [](const auto& each) { return fs::is_directory(each); });
    };
    QVERIFY(QTest::qWaitFor([&] { return !left(); }, 30'000));  // there is nothing to be recovered
  }

  void withoutTheServiceAMemberIsSnappedAlone() {
    const Site site("group shop traced\n");
    SiteRun alone(site, "traced");
    QVERIFY(alone.run({"fault", "null"}).killed);
    QCOMPARE(snapsOf(alone).size(), 1u);
    QVERIFY(dumpSnap(snapsOf(alone)[0])->group.empty());
  }

  void aServiceThatWasKilledIsStartedAgain() {
    TracedRun traced;
    {
      RunningService service(traced);
      QVERIFY(service.answers());
      service.process().kill();  // and its socket stays
      QVERIFY(service.process().waitForFinished());
    }
    RunningService again(traced);
    QVERIFY(again.answers());
  }

  void theSocketIsPrivateAndOnlyOneServiceHasIt() {
    TracedRun traced;
    RunningService service(traced);
    QVERIFY(service.answers());
    struct stat status{};
    QCOMPARE(::lstat(service.socket().c_str(), &status), 0);
    QVERIFY(S_ISSOCK(status.st_mode));
    QCOMPARE(status.st_mode & 0777, 0600u);
    QCOMPARE(::lstat(service.socket().parent_path().c_str(), &status), 0);
    QCOMPARE(status.st_mode & 0777, 0700u);
    RunningService second(traced);
    QVERIFY(second.process().waitForFinished(30'000));
    QCOMPARE(second.process().exitCode(), 1);
    QVERIFY(second.process().readAllStandardError().contains("another service"));
    QVERIFY(service.summary());
    service.process().terminate();
    QVERIFY(service.process().waitForFinished(30'000));
    QCOMPARE(service.process().exitCode(), 0);
    QVERIFY(!fs::exists(service.socket()));
  }

  void aFolderThatOthersMayOpenIsRefused() {
    TracedRun traced;
    QCOMPARE(::mkdir(traced.ringFolder().c_str(), 0755), 0);
    RunningService service(traced);
    QVERIFY(service.process().waitForFinished(30'000));
    QCOMPARE(service.process().exitCode(), 1);
    QVERIFY(service.process().readAllStandardError().contains("open to others"));
    QVERIFY(!collect::checkPrivateFolder(traced.ringFolder()));
    fs::remove(traced.ringFolder());
    const fs::path elsewhere = traced.ringFolder().parent_path() / "elsewhere";
    QCOMPARE(::mkdir(elsewhere.c_str(), 0700), 0);
    fs::create_symlink(elsewhere, traced.ringFolder());
    QVERIFY(!collect::checkPrivateFolder(traced.ringFolder()));
    QVERIFY(!collect::makePrivateFolder(traced.ringFolder()));
  }

  void strangersAreNotHeard() {
    if (::geteuid() != 0) QSKIP("only root can be another user for a while");
    TracedRun traced;
    RunningService service(traced);
    QVERIFY(service.answers());
    // They do not even find it.
    const auto asStranger = [](const auto& does) {
      const pid_t child = ::fork();
      if (child == 0) ::_exit(::setgid(kStranger) == 0 && ::setuid(kStranger) == 0 ? does() : 99);
      int status = 0;
      ::waitpid(child, &status, 0);
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    };
    QCOMPARE(asStranger([&] { return rawClient(service.socket()) < 0 ? 0 : 1; }), 0);
    // Where the folders are opened to them, they are told to go.
    for (fs::path folder = service.socket();
         folder != folder.root_path() && folder != "/dev/shm" && folder != "/tmp";
         folder = folder.parent_path())
      ::chmod(folder.c_str(), 0777);
    QCOMPARE(asStranger([&] {
               const int client = rawClient(service.socket());
               return client < 0 ? 1 : isRefused(client, format::RefusalReason::NotYours) ? 0 : 2;
             }),
             0);
    ::chmod(service.socket().parent_path().c_str(), 0700);
    QVERIFY(QTest::qWaitFor([&] { return service.summary().has_value(); }, 10'000));
    QCOMPARE(service.summary()->refused, 1u);
    // Nor is a service that is another user's asked.
    QCOMPARE(::chown(service.socket().parent_path().c_str(), kStranger, kStranger), 0);
    QVERIFY(!service.connect());
    QCOMPARE(::chown(service.socket().parent_path().c_str(), 0, 0), 0);
  }

  void maliciousClientsAreCutOffAndTheOthersServed() {
    TracedRun traced;
    RunningService service(traced);
    QVERIFY(service.answers());
    const auto sends = [&](const collect::Bytes& bytes, format::RefusalReason reason) {
      const int client = rawClient(service.socket());
      const bool sent = client >= 0 && ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                                           static_cast<ssize_t>(bytes.size());
      const bool refused = sent && isRefused(client, reason);
      ::close(client);
      return refused;
    };
    using enum format::RefusalReason;
    QVERIFY(sends({1, 2, 3}, NoMessage));
    QVERIFY(sends(collect::Bytes(collect::kMostMessage * 2, 'x'), NoMessage));
    collect::Bytes newer = collect::encode(collect::Question{});
    newer[4] = 200;
    QVERIFY(sends(newer, OtherVersion));
    // What only the service says.
    QVERIFY(sends(collect::encode(collect::GroupEvent{}), NoMessage));
    QVERIFY(sends(collect::encode(format::ServiceSummary{}), NoMessage));
    // A process that is not there may break down: nobody else is of its group.
    const auto client = service.connect();
    QVERIFY(client && client->send(collect::BreakDown{someProcess()}));
    const auto answer = client->receive(10s);
    QVERIFY(answer && std::get<collect::GroupEvent>(*answer).members.empty());
    // Whoever asks and does not listen is cut off some time, and nobody waits for it.
    const int deaf = rawClient(service.socket());
    const collect::Bytes question = collect::encode(collect::Question{});
    for (int i = 0; i < 20'000; ++i)
      if (::send(deaf, question.data(), question.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EPIPE)
        break;
    QVERIFY(service.summary());
    ::close(deaf);
    // More clients than there may be.
    std::vector<int> crowd;
    for (int i = 0; i < 300; ++i) crowd.push_back(rawClient(service.socket()));
    QVERIFY(isRefused(crowd.back(), TooMany));
    for (const int each : crowd) ::close(each);
    QVERIFY(service.answers());
    QVERIFY(service.states().empty());
  }

  void systemdsSocketIsTaken() {
    TracedRun traced;
    QVERIFY(collect::makePrivateFolder(traced.ringFolder()));
    const fs::path path = collect::serviceSocket(traced.ringFolder());
    struct sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
      const int listener = ::socket(AF_UNIX, type, 0);
      if (listener < 0) QFAIL("there is no socket to be had");
      ::unlink(path.c_str());
      QCOMPARE(::bind(listener, reinterpret_cast<struct sockaddr*>(&address), sizeof address), 0);
      QCOMPARE(::listen(listener, 8), 0);
      const pid_t child = ::fork();
      if (child == 0) {
        constexpr int kPassed = 3;
        if (listener == kPassed)
          ::fcntl(kPassed, F_SETFD, 0);
        else
          ::dup2(listener, kPassed);
        ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
        ::setenv("LISTEN_FDS", "1", 1);
        ::setenv("XDG_STATE_HOME", "/nowhere", 1);
        ::setenv("XDG_RUNTIME_DIR", traced.ringFolder().parent_path().c_str(), 1);
        ::execl(TRACEBACKD, TRACEBACKD, "--quiet", nullptr);
        ::_exit(127);
      }
      ::close(listener);
      int status = 0;
      if (type == SOCK_STREAM) {
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        continue;
      }
      const auto client = collect::ServiceConnection::open(traced.ringFolder());
      QVERIFY(client && client->send(collect::Question{}));
      const auto answer = client->receive(30s);
      QVERIFY(answer);
      QCOMPARE(std::get<format::ServiceSummary>(*answer).pid, static_cast<std::uint32_t>(child));
      ::kill(child, SIGTERM);
      QCOMPARE(::waitpid(child, &status, 0), child);
      QVERIFY(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      QVERIFY(fs::exists(path));  // it is systemd's
    }
  }

  void ringsOfKilledProcessesAreKeptForTheirTime() {
    TracedRun traced;
    traced.run({"threads", "2"});  // kills itself
    QCOMPARE(traced.processFolders().size(), 1u);
    auto living = traced.start({"pause"});
    QVERIFY(living->waitForReadyRead(30'000));
    QCOMPARE(traced.processFolders().size(), 2u);
    collect::tidyRings(traced.ringFolder(), 1h);
    QCOMPARE(traced.processFolders().size(), 2u);
    unsigned marks = 0;
    for (const fs::path& folder : traced.processFolders()) {
      const fs::path mark = folder / "ended";
      if (!fs::exists(mark)) continue;
      ++marks;
      fs::last_write_time(mark, fs::file_time_type::clock::now() - 2h);
    }
    QCOMPARE(marks, 1u);
    collect::tidyRings(traced.ringFolder(), 0s);
    QCOMPARE(traced.processFolders().size(), 2u);
    collect::tidyRings(traced.ringFolder(), 1h);
    QCOMPARE(traced.processFolders().size(), 1u);
    living->write("\n");
    QCOMPARE(TracedRun::finish(*living).status, 4);
  }

  void theSitesRulesAreReadAndAWrongLineIsNamed() {
    collect::SiteRules rules;
    QVERIFY(collect::addSiteRules("# nothing\n\n", rules).empty());
    QVERIFY(
        collect::addSiteRules("redact environment paths\nredact stacks # more\nfaults 3/1d\nkeep rings 2h\n"
                              "group shop server db\nsnap stall 30s server\nend stall 2m db net.worker\n",
                              rules)
            .empty());
    QCOMPARE(rules.redaction, collect::kRedactEnvironment | collect::kRedactPaths | collect::kRedactStacks);
    QCOMPARE(rules.faultCount, 3u);
    QVERIFY(rules.faultTime == 24h && rules.keepRings == 2h);
    QCOMPARE(rules.groupOf("db"), std::string("shop"));
    QVERIFY(rules.groupOf("other").empty());
    QCOMPARE(rules.stalls.size(), 2u);
    QVERIFY(!rules.stalls[0].end && rules.stalls[0].patience == 30s && rules.stalls[0].thread.empty());
    QVERIFY(rules.stalls[1].end && rules.stalls[1].thread == "net.worker");
    for (const char* line : {"redact",
                             "redact passwords",
                             "redact environment passwords",
                             "faults",
                             "faults 3",
                             "faults 3/0s",
                             "faults x/1d",
                             "faults 3/1d more",
                             "keep",
                             "keep rings",
                             "keep snaps 1d",
                             "keep rings 1w",
                             "group",
                             "group shop",
                             "group a/b server",
                             "group ................................ server",
                             "group shop bin/server",
                             "snap",
                             "snap stall",
                             "snap stall 30s",
                             "snap stall 0s server",
                             "snap stall 30 server",
                             "snap hang 30s server",
                             "end stall 30s server a.name.too.long.for.one",
                             "end stall 30s server a b",
                             "frobnicate",
                             "\x01"}) {
      collect::SiteRules none;
      const auto problems =
          collect::addSiteRules(std::string("faults 1/1h\n") + line + "\nredact paths\n", none);
      QVERIFY2(problems.size() == 1 && problems[0].line == 2 && !problems[0].reason.empty(), line);
      QVERIFY2(none.redaction == collect::kRedactPaths && none.faultCount == 1, line);
      QVERIFY2(none.groups.empty() && none.stalls.empty() && none.keepRings == 0s, line);
    }
  }

  void theServiceTidiesByThePolicy() {
    TracedRun traced;
    const fs::path home = traced.ringFolder().parent_path();
    fs::create_directories(home / "traceback");
    ::chmod((home / "traceback").c_str(), 0700);
    // XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_RUNTIME_DIR are one here.
    QFile policy(QString::fromStdString((home / "traceback/policy").string()));
    QVERIFY(policy.open(QIODevice::WriteOnly) && policy.write("keep 1h\n") > 0);
    policy.close();
    QFile snap(QString::fromStdString((home / "traceback/old.tbsnap").string()));
    QVERIFY(snap.open(QIODevice::WriteOnly));
    snap.close();
    fs::last_write_time(home / "traceback/old.tbsnap", fs::file_time_type::clock::now() - 2h);
    RunningService service(traced);
    QVERIFY(service.answers());
    QVERIFY(!fs::exists(home / "traceback/old.tbsnap"));
  }

  void itsOptionsAreInItsManual() {
    QProcess help;
    help.start(TRACEBACKD, {"--help"});
    QVERIFY(help.waitForFinished(30'000));
    QCOMPARE(help.exitCode(), 0);
    const QByteArray text = help.readAllStandardOutput();
    QFile manual(RESOURCES "/man/tracebackd.8");
    QVERIFY(manual.open(QIODevice::ReadOnly));
    const QByteArray pages = manual.readAll().replace("\\-", "-");
    QVERIFY(text.contains("--tidy") && text.contains("--quiet"));
    const QRegularExpression option("--[a-z]+");
    for (auto found = option.globalMatch(QString::fromUtf8(text)); found.hasNext();)
      QVERIFY(pages.contains(found.next().captured().toUtf8()));
    QProcess wrong;
    wrong.start(TRACEBACKD, {"--frobnicate"});
    QVERIFY(wrong.waitForFinished(30'000));
    QCOMPARE(wrong.exitCode(), 2);
  }
};

QTEST_GUILESS_MAIN(ServiceTest)
#include "service_test.moc"
