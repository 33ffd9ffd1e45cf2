// The service's socket: whose it is, and whom the service hears.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTest>

#include "running_service.h"
#include "runtime/collect/files/private_folder.h"

using namespace traceback;
using namespace traceback::testing;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 65534;

struct sockaddr_un addressOf(const fs::path& socket) {
  struct sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket.string().copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

// A client that speaks no protocol.
int rawClient(const fs::path& socket) {
  const struct sockaddr_un address = addressOf(socket);
  const int client = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const struct timeval patience{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (client >= 0 &&
      ::connect(client, reinterpret_cast<const struct sockaddr*>(&address), sizeof address) == 0)
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

// Whether a client that sends this, and is no other, is refused for it.
bool isRefusedFor(const fs::path& socket, const collect::Bytes& bytes, format::RefusalReason reason) {
  const int client = rawClient(socket);
  const bool sent = client >= 0 && ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                                       static_cast<ssize_t>(bytes.size());
  const bool refused = sent && isRefused(client, reason);
  ::close(client);
  return refused;
}

}  // namespace

class ServiceSocketTest : public QObject {
  Q_OBJECT
 private slots:
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
      return isRefusedFor(service.socket(), bytes, reason);
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

  void thatNobodyReadsWhatItSaysEndsNothing() {
    TracedRun traced;
    const QTemporaryDir folder;
    const QString pipe = folder.filePath("errors");
    QCOMPARE(::mkfifo(pipe.toUtf8().constData(), 0600), 0);
    const int reader = ::open(pipe.toUtf8().constData(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    RunningService service(traced, "/nowhere", pipe);
    QVERIFY(service.answers());
    ::close(reader);
    for (int i = 0; i < 2; ++i)
      QVERIFY(isRefusedFor(service.socket(), {1, 2, 3}, format::RefusalReason::NoMessage));
    QVERIFY(service.answers());
  }

  void systemdsSocketIsTaken() {
    TracedRun traced;
    QVERIFY(collect::makePrivateFolder(traced.ringFolder()));
    const fs::path path = collect::serviceSocket(traced.ringFolder());
    const struct sockaddr_un address = addressOf(path);
    for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
      const int listener = ::socket(AF_UNIX, type, 0);
      if (listener < 0) QFAIL("there is no socket to be had");
      ::unlink(path.c_str());
      QCOMPARE(::bind(listener, reinterpret_cast<const struct sockaddr*>(&address), sizeof address), 0);
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
};

QTEST_GUILESS_MAIN(ServiceSocketTest)
#include "service_socket_test.moc"
