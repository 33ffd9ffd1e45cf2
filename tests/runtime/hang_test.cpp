// Hangs: who waits for whom is found from outside, and snapped if the policy says so.
#include <signal.h>
#include <sys/syscall.h>

#include <QFile>
#include <QTest>
#include <algorithm>
#include <chrono>

#include "runtime/collect/watch/reply_watch.h"
#include "runtime/collect/watch/stall_watch.h"
#include "snap_dump.h"
#include "traced_run.h"

using namespace traceback;
using namespace traceback::testing;

namespace {

constexpr unsigned kFirstArgument = 14;  // rdi in user_regs_struct

collect::WaitingThread waiting(pid_t tid, pid_t forWhom, bool forEnd = false) {
  return {.tid = tid, .wait = {.tid = forWhom, .forEnd = forEnd}};
}

std::vector<pid_t> tids(const std::vector<collect::WaitingThread>& threads) {
  std::vector<pid_t> all;
  for (const auto& each : threads) all.push_back(each.tid);
  return all;
}

// What the first thread of a process does, in the kernel's own words.
bool isRunning(pid_t pid) {
  const auto call = collect::systemCallOf(pid, pid);
  return call && call->running;
}
bool isIn(pid_t pid, long number) {
  const auto call = collect::systemCallOf(pid, pid);
  return call && !call->running && call->number == number;
}

collect::StallDetector::Request requestFor(const TracedRun& traced, const QProcess& process,
                                           std::string threadName = {}) {
  return {.pid = static_cast<pid_t>(process.processId()),
          .processFolder = traced.processFolders().at(0).string(),
          .threadName = std::move(threadName),
          .patience = std::chrono::seconds(2)};
}

// A detector whose time is ours: each look comes when what was silent before has been so for long enough.
template <typename Detector>
struct Looks {
  collect::StallDetector::Request request;
  Detector detector = {};
  typename Detector::Clock::time_point now = Detector::Clock::now();

  std::optional<collect::Finding> later() {
    now += request.patience;
    return detector.look(request, now);
  }
};

}  // namespace

class HangTest : public QObject {
  Q_OBJECT
 private:
  // By a policy of its own, in the folder.
  static bool watchesForHangs(TracedRun& traced, const QTemporaryDir& folder,
                              const char* rules = "snap hang 1s\n") {
    QFile policy(folder.filePath("policy"));
    traced.setVariable("TRACEBACK_POLICY", policy.fileName());
    return policy.open(QIODevice::WriteOnly) && policy.write(rules) > 0;
  }

 private slots:
  void whoWaitsForItselfInTheEndIsDeadlocked() {
    QVERIFY(collect::deadlocked({}).empty());
    QVERIFY(collect::deadlocked({waiting(1, 2), waiting(3, 2)}).empty());
    QVERIFY(collect::deadlocked({waiting(1, 1, true)}).empty());
    QCOMPARE(tids(collect::deadlocked({waiting(1, 1)})), std::vector<pid_t>({1}));
    // 4 waits for them, but nobody waits for it.
    QCOMPARE(tids(collect::deadlocked({waiting(1, 2), waiting(2, 3, true), waiting(3, 1), waiting(4, 1)})),
             std::vector<pid_t>({1, 2, 3}));
  }

  void aDeadlockIsSnappedAndTheSnapSaysWhichLocks_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<unsigned>("locks");
    QTest::newRow("two threads, two locks") << "two" << 2u;
    QTest::newRow("a lock and a join") << "join" << 1u;
    QTest::newRow("the same lock twice") << "self" << 1u;
  }
  void aDeadlockIsSnappedAndTheSnapSaysWhichLocks() {
    QFETCH(QString, kind);
    QFETCH(unsigned, locks);
    QTemporaryDir folder;
    TracedRun traced("hangs");
    QVERIFY(watchesForHangs(traced, folder));
    auto process = traced.start({kind});
    QVERIFY(process->waitForReadyRead(30'000));
    const auto addresses = process->readLine().split(' ');
    QVERIFY(QTest::qWaitFor([&traced] { return !traced.snaps().empty(); }, 60'000));
    QTest::qWait(1500);  // it is snapped once
    const auto snaps = traced.snaps();
    QCOMPARE(snaps.size(), 1u);
    QCOMPARE(process->state(), QProcess::Running);
    process->kill();
    traced.finish(*process);

    const auto snap = dumpSnap(snaps[0]);
    QVERIFY(snap);
    QCOMPARE(snap->reason.reason, static_cast<std::uint32_t>(format::SnapReason::Hang));
    QVERIFY2(snap->host.contains("\noccasion=hangs: thread"), snap->host.c_str());
    QStringList found;
    for (const auto& thread : snap->threads) {
      if ((thread.flags & format::kThreadWaitsForLock) == 0) continue;
      QVERIFY(std::ranges::contains(snap->threads, thread.waitsFor, &format::SnapThread::tid));
      found.append(QStringLiteral("0x%1").arg(thread.registers[kFirstArgument], 0, 16));
    }
    QCOMPARE(found.size(), static_cast<qsizetype>(locks));
    for (const QByteArray& address : addresses)
      QVERIFY2(found.contains(QString::fromUtf8(address.trimmed())), address);
  }

  void whatWaitsForWorkIsAlive() {
    for (const long call : {SYS_epoll_wait, SYS_accept4, SYS_nanosleep, SYS_wait4})
      QVERIFY(collect::waitsForWork(call, {}));
    QVERIFY(collect::waitsForWork(SYS_read, "socket:[4711]") &&
            collect::waitsForWork(SYS_read, "/dev/pts/0"));
    QVERIFY(!collect::waitsForWork(SYS_read, "/srv/file") && !collect::waitsForWork(SYS_futex, {}));
    QVERIFY(!collect::waitsForWork(SYS_connect, {}) && !collect::waitsForWork(SYS_write, {}));
  }

  void aThreadShowsLifeByWaitingAndComingBack() {
    const collect::SystemCall running{.running = true}, lock{.number = SYS_futex};
    collect::ThreadLife before{.state = 'R', .waits = 7, .call = running};
    collect::ThreadLife now = before;
    QVERIFY(!collect::showsLife(before, now));
    now.waits = 8;
    QVERIFY(collect::showsLife(before, now));
    now = {.state = 'S', .waits = 7, .call = lock};
    QVERIFY(!collect::showsLife(before, now));
    now.call->number = SYS_epoll_wait;
    QVERIFY(collect::showsLife(before, now));
    now = {.state = 'T', .waits = 7, .call = lock};
    QVERIFY(collect::showsLife(before, now));  // somebody stopped it
    now = {.state = 'S', .waits = 7, .call = {}};
    QVERIFY(collect::showsLife(before, now));  // nothing is known
  }

  void whatStallsIsToldOnceAndWhatWaitsForWorkIsNot_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("thread");
    QTest::addColumn<QString>("says");
    QTest::newRow("it runs on and on")
        << "spins" << "" << "without waiting for anything, and its trace went on";
    QTest::newRow("it waits for what never comes") << "stuck" << "" << "has been in one call of futex";
    QTest::newRow("another thread by name") << "worker" << "spinner" << "without waiting for anything";
    QTest::newRow("the first one waits for work") << "worker" << "" << "";
    QTest::newRow("it joins one that waits for work") << "idle" << "" << "";
  }
  void whatStallsIsToldOnceAndWhatWaitsForWorkIsNot() {
    QFETCH(QString, kind);
    QFETCH(QString, thread);
    QFETCH(QString, says);
    TracedRun traced("hangs");
    auto process = traced.start({kind});
    QVERIFY(QTest::qWaitFor([&traced] { return !traced.processFolders().empty(); }, 30'000));
    const auto request = requestFor(traced, *process, thread.toStdString());
    collect::StallDetector detector;
    std::vector<std::string> told;
    // The time of day is ours: only that looks are so far apart that threads do something between them.
    auto now = collect::StallDetector::Clock::now();
    for (int i = 0; i < 20; ++i, now += std::chrono::milliseconds(500)) {
      QTest::qWait(120);
      if (const auto found = detector.look(request, now)) told.push_back(found->occasion);
    }
    process->kill();
    traced.finish(*process);
    QCOMPARE(told.size(), says.isEmpty() ? 0u : 1u);
    if (told.empty()) return;
    QVERIFY2(told[0].starts_with("stalls: thread"), told[0].c_str());
    QVERIFY2(told[0].contains(says.toStdString()), told[0].c_str());
  }

  void aCallThatWasInterruptedAndGoesOnIsTheSame() {
    const collect::SystemCall poll{.number = SYS_poll, .arguments = {1, 2, 3}, .stackPointer = 4};
    collect::SystemCall now = poll;
    now.number = SYS_restart_syscall;
    QCOMPARE(collect::asItBegan(poll, now).number, long{SYS_poll});
    QCOMPARE(collect::asItBegan(collect::asItBegan(poll, now), now).number, long{SYS_poll});
    now.stackPointer = 5;
    QCOMPARE(collect::asItBegan(poll, now).number, long{SYS_restart_syscall});
    const collect::SystemCall running{.running = true};
    QVERIFY(collect::asItBegan(poll, running).running);
    QVERIFY(collect::asItBegan(running, now) == now);
  }

  void whoWasStoppedInAPollStillWaitsForWork_data() {
    QTest::addColumn<bool>("seenBefore");
    QTest::newRow("as it was seen before") << true;
    QTest::newRow("and was not seen before") << false;
  }
  void whoWasStoppedInAPollStillWaitsForWork() {
    QFETCH(bool, seenBefore);
    TracedRun traced("hangs");
    auto process = traced.start({"polls"});
    QVERIFY(process->waitForReadyRead(30'000));
    const auto request = requestFor(traced, *process);
    const pid_t pid = request.pid;
    QVERIFY(QTest::qWaitFor([pid] { return isIn(pid, SYS_poll); }, 30'000));
    Looks<collect::StallDetector> looks{request};
    if (seenBefore) QVERIFY(!looks.later());
    QCOMPARE(::kill(pid, SIGSTOP) + ::kill(pid, SIGCONT), 0);
    QVERIFY(QTest::qWaitFor([pid] { return isIn(pid, SYS_restart_syscall); }, 30'000));
    for (int i = 0; i < 4; ++i) QVERIFY(!looks.later());
    process->kill();
    traced.finish(*process);
  }

  void aStallIsToldOnceAlthoughItsThreadWasStopped_data() {
    QTest::addColumn<QString>("kind");
    QTest::newRow("it runs on and on") << "spins";
    QTest::newRow("it waits for what never comes") << "stuck";
  }
  void aStallIsToldOnceAlthoughItsThreadWasStopped() {
    QFETCH(QString, kind);
    TracedRun traced("hangs");
    auto process = traced.start({kind});
    QVERIFY(QTest::qWaitFor([&traced] { return !traced.processFolders().empty(); }, 30'000));
    const auto request = requestFor(traced, *process);
    const pid_t pid = request.pid;
    const auto isThere = [&] {
      return kind == QLatin1String("spins") ? isRunning(pid) : isIn(pid, SYS_futex);
    };
    QVERIFY(QTest::qWaitFor(isThere, 30'000));
    Looks<collect::StallDetector> looks{request};
    QVERIFY(!looks.later());
    QVERIFY(looks.later());
    // It has not gone on by the next look.
    QCOMPARE(::kill(pid, SIGSTOP), 0);
    const auto isStopped = [&request] {
      const auto life = collect::lifeOf(request.pid, request.pid, request.processFolder);
      return life && life->state == 'T';
    };
    QVERIFY(QTest::qWaitFor(isStopped, 30'000));
    looks.detector.wereStopped();
    QVERIFY(!looks.later());
    QCOMPARE(::kill(pid, SIGCONT), 0);
    QVERIFY(QTest::qWaitFor([&] { return !isStopped() && isThere(); }, 30'000));
    for (int i = 0; i < 4; ++i) QVERIFY(!looks.later());
    // Stopped by somebody else it shows life.
    QCOMPARE(::kill(pid, SIGSTOP), 0);
    QVERIFY(QTest::qWaitFor(isStopped, 30'000));
    QVERIFY(!looks.later());
    QCOMPARE(::kill(pid, SIGCONT), 0);
    QVERIFY(QTest::qWaitFor([&] { return !isStopped() && isThere(); }, 30'000));
    QVERIFY(looks.later() || looks.later());
    process->kill();
    traced.finish(*process);
  }

  void aWaitForAnAnswerIsTheSameWhenItsThreadWasStopped() {
    TracedRun traced("hangs");
    auto process = traced.start({"asks"});
    QVERIFY(process->waitForReadyRead(30'000));
    const auto request = requestFor(traced, *process);
    const pid_t pid = request.pid;
    QVERIFY(QTest::qWaitFor([pid] { return isIn(pid, SYS_recvfrom); }, 30'000));
    Looks<collect::ReplyDetector> looks{request};
    QVERIFY(!looks.later());
    QVERIFY(looks.later());
    // It is not back in its call at the next look.
    QCOMPARE(::kill(pid, SIGUSR1), 0);
    QVERIFY(QTest::qWaitFor([pid] { return isRunning(pid); }, 30'000));
    looks.detector.wereStopped();
    QVERIFY(!looks.later());
    QVERIFY(QTest::qWaitFor([pid] { return isIn(pid, SYS_recvfrom); }, 30'000));
    for (int i = 0; i < 3; ++i) QVERIFY(!looks.later());
    // Where nobody stopped it, it is another wait.
    QCOMPARE(::kill(pid, SIGUSR1), 0);
    QVERIFY(QTest::qWaitFor([pid] { return isRunning(pid); }, 30'000));
    QVERIFY(!looks.later());
    QVERIFY(QTest::qWaitFor([pid] { return isIn(pid, SYS_recvfrom); }, 30'000));
    QVERIFY(!looks.later());
    QVERIFY(looks.later());
    process->kill();
    traced.finish(*process);
  }

  void aWaitForAnAnswerIsNoneForATimeOrForWhoeverComes() {
    for (const long call : {SYS_poll, SYS_epoll_wait, SYS_recvfrom, SYS_connect, SYS_wait4})
      QVERIFY(collect::waitsForReply(call, {}));
    QVERIFY(collect::waitsForReply(SYS_read, "socket:[1]") && collect::waitsForReply(SYS_write, "pipe:[1]"));
    QVERIFY(!collect::waitsForReply(SYS_read, "/dev/pts/0") && !collect::waitsForReply(SYS_read, {}));
    for (const long call : {SYS_accept4, SYS_nanosleep, SYS_pause, SYS_futex, SYS_rt_sigtimedwait})
      QVERIFY(!collect::waitsForReply(call, {}));
  }

  void whatDoesNotGetOnIsSnappedIfThePolicySaysSo_data() {
    QTest::addColumn<QByteArray>("rules");
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("an answer that does not come")
        << QByteArray("snap wait 1s\n") << "asks" << QByteArray("has been in one call of recvfrom for ");
    QTest::newRow("of a thread by name") << QByteArray("snap wait 1s hangs\n") << "asks"
                                         << QByteArray("has been in one call of recvfrom for ");
    QTest::newRow("of another thread") << QByteArray("snap wait 1s nobody\n") << "asks" << QByteArray();
    QTest::newRow("what is not asked for") << QByteArray("snap hang 1s\n") << "asks" << QByteArray();
    QTest::newRow("a stall") << QByteArray("snap stall 1s\n") << "stuck"
                             << QByteArray("has been in one call of futex for ");
    QTest::newRow("of a thread that is alive") << QByteArray("snap stall 1s\n") << "worker" << QByteArray();
    QTest::newRow("of a thread by name that is not")
        << QByteArray("snap stall 1s spinner\n") << "worker" << QByteArray("without waiting for anything");
  }
  void whatDoesNotGetOnIsSnappedIfThePolicySaysSo() {
    QFETCH(QByteArray, rules);
    QFETCH(QString, kind);
    QFETCH(QByteArray, says);
    QTemporaryDir folder;
    TracedRun traced("hangs");
    QVERIFY(watchesForHangs(traced, folder, rules.constData()));
    auto process = traced.start({kind});
    if (!says.isEmpty()) QVERIFY(QTest::qWaitFor([&traced] { return !traced.snaps().empty(); }, 60'000));
    QTest::qWait(3000);
    const auto snaps = traced.snaps();
    QCOMPARE(process->state(), QProcess::Running);
    process->kill();
    traced.finish(*process);
    QCOMPARE(snaps.size(), says.isEmpty() ? 0u : 1u);  // it is told once
    if (snaps.empty()) return;
    const auto snap = dumpSnap(snaps[0]);
    QVERIFY(snap);
    QCOMPARE(snap->reason.reason, static_cast<std::uint32_t>(format::SnapReason::Hang));
    QVERIFY2(snap->host.contains(says.toStdString()), snap->host.c_str());
    QVERIFY(std::ranges::contains(snap->threads, snap->reason.tid, &format::SnapThread::tid));
  }

  void locksThatAreOnlyMuchWantedAreNoHang() {
    QTemporaryDir folder;
    TracedRun traced("hangs");
    QVERIFY(watchesForHangs(traced, folder));
    const Outcome outcome = traced.run({"busy"});
    QCOMPARE(outcome.output, QByteArray("-1\n"));
    QVERIFY(!outcome.killed && outcome.status == 0);
    QVERIFY(traced.snaps().empty());
    QVERIFY(traced.processFolders().empty());
  }
};

QTEST_GUILESS_MAIN(HangTest)
#include "hang_test.moc"
