// Hangs: who waits for whom is found from outside, and snapped if the policy says so.
#include <QElapsedTimer>
#include <QFile>
#include <QTest>
#include <algorithm>

#include "runtime/collect/hang_watch.h"
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

}  // namespace

class HangTest : public QObject {
  Q_OBJECT
 private:
  // By a policy of its own, in the folder.
  static bool watchesForHangs(TracedRun& traced, const QTemporaryDir& folder) {
    QFile policy(folder.filePath("policy"));
    traced.setVariable("TRACEBACK_POLICY", policy.fileName());
    return policy.open(QIODevice::WriteOnly) && policy.write("snap hang 1s\n") > 0;
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
