// Threads that have the signals of faults blocked: a fault is recorded all the same, and nothing else shows.
#include <csignal>

#include <QTest>

#include "snap_dump.h"
#include "traced_run.h"

using namespace traceback;
using namespace traceback::testing;

namespace {

Outcome runPlain(const QStringList& arguments) {
  TracedRun plain("blocked_faults");
  plain.setTraced(false);
  return plain.run(arguments);
}

}  // namespace

class BlockedFaultTest : public QObject {
  Q_OBJECT
 private slots:
  void theProgramSeesItsOwnMasksAndSignals_data() {
    QTest::addColumn<QString>("kind");
    for (const char* kind : {"masks", "sent signals", "contexts", "jumps", "inheritance", "waits"})
      QTest::newRow(kind) << kind;
  }
  void theProgramSeesItsOwnMasksAndSignals() {
    QFETCH(QString, kind);
    const Outcome expected = runPlain({kind});
    TracedRun traced("blocked_faults");
    const Outcome actual = traced.run({kind});
    QCOMPARE(expected.status, 0);
    QVERIFY(!expected.output.isEmpty());
    COMPARE_OUTCOMES(actual, expected);
    QVERIFY(std::filesystem::exists(traced.ringFolder()));
  }

  void aFaultWhoseSignalIsBlockedLeavesASnap_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("how");
    QTest::addColumn<int>("signal");
    for (const char* kind : {"fault", "handled fault"})
      for (const auto& [how, signal] : {std::pair{"store", SIGSEGV},
                                        {"illegal", SIGILL},
                                        {"divide", SIGFPE},
                                        {"in a thread", SIGSEGV},
                                        {"abort", SIGABRT},
                                        {"damaged heap", SIGABRT}})
        QTest::addRow("%s, %s", kind, how) << kind << how << signal;
    QTest::newRow("in a handler") << "fault" << "in a handler" << SIGSEGV;
    QTest::newRow("in its own handler") << "fault" << "in its own handler" << SIGSEGV;
    QTest::newRow("abort in its own handler") << "fault" << "abort in its own handler" << SIGABRT;
    QTest::newRow("abort that is ignored") << "fault" << "ignored abort" << SIGABRT;
  }
  void aFaultWhoseSignalIsBlockedLeavesASnap() {
    QFETCH(QString, kind);
    QFETCH(QString, how);
    QFETCH(int, signal);
    const Outcome expected = runPlain({kind, how});
    QVERIFY(expected.killed);
    QCOMPARE(expected.status, signal);
    QVERIFY(!expected.output.contains("handled"));

    TracedRun traced("blocked_faults");
    const Outcome actual = traced.run({kind, how});
    QVERIFY(actual.killed);
    QCOMPARE(actual.status, signal);
    QCOMPARE(actual.output, expected.output);
    QCOMPARE(traced.snaps().size(), 1u);
    const auto snap = dumpSnap(traced.snaps()[0]);
    QVERIFY(snap);
    const auto reason = signal == SIGABRT ? format::SnapReason::Abort : format::SnapReason::Fault;
    QCOMPARE(snap->reason.reason, static_cast<std::uint32_t>(reason));
    QCOMPARE(snap->reason.signal, std::uint32_t(signal));
    QVERIFY(snap->faulting() != nullptr);
    QVERIFY((snap->faulting()->flags & format::kThreadHasRegisters) != 0);
  }

  void aHandlerRunsAgainOnceItsSignalIsLetIn() {
    const Outcome expected = runPlain({"handled fault", "let in again"});
    QCOMPARE(expected.output, QByteArray("handled\n"));
    TracedRun traced("blocked_faults");
    const Outcome actual = traced.run({"handled fault", "let in again"});
    QCOMPARE(actual.output, expected.output);
    QCOMPARE(actual.status, 7);
    QCOMPARE(traced.snaps().size(), 1u);  // of the fault whose handler ends the process
  }
};

QTEST_GUILESS_MAIN(BlockedFaultTest)
#include "blocked_fault_test.moc"
