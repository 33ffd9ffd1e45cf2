// Functions of libc that the runtime stands in front of do what they do without it.
#include <csignal>

#include <QTest>

#include "traced_run.h"

using namespace traceback::testing;

class InterpositionTest : public QObject {
  Q_OBJECT

  // Runs the program plain and with the runtime; `traced` is of the second.
  static Outcome ranAlike(TracedRun& plain, TracedRun& traced, const QStringList& arguments,
                          Outcome& expected) {
    plain.setTraced(false);
    expected = plain.run(arguments);
    return traced.run(arguments);
  }

 private slots:
  void behavesAsWithoutTheRuntime_data() {
    QTest::addColumn<QString>("kind");
    for (const char* kind : {"failed execs", "vforked", "masked waits", "handlers that wait",
                             "handlers behind a filter", "throws by another library"})
      QTest::newRow(kind) << kind;
  }
  void behavesAsWithoutTheRuntime() {
    QFETCH(QString, kind);
    TracedRun plain("interposed"), traced("interposed");
    Outcome expected;
    const Outcome actual = ranAlike(plain, traced, {kind}, expected);
    QVERIFY(!expected.output.isEmpty());
    COMPARE_OUTCOMES(actual, expected);
    QVERIFY(std::filesystem::exists(traced.ringFolder()));
  }

  void aMallocThatIsNotReadyIsNotCalled() {
    TracedRun plain("late_malloc"), traced("late_malloc");
    Outcome expected;
    const Outcome actual = ranAlike(plain, traced, {}, expected);
    QCOMPARE(expected.status, 3);
    COMPARE_OUTCOMES(actual, expected);
    QVERIFY(std::filesystem::exists(traced.ringFolder()));
  }

  void aPreloadedLibraryIsStillInFrontOfLibc_data() {
    QTest::addColumn<bool>("first");
    QTest::newRow("behind the runtime") << false;
    QTest::newRow("before it") << true;
  }
  void aPreloadedLibraryIsStillInFrontOfLibc() {
    QFETCH(bool, first);
    TracedRun plain("interposed"), traced("interposed");
    const QString library = TracedRun::programPath("libin_front.so"), runtime = TracedRun::runtimePath();
    plain.setVariable("LD_PRELOAD", library);
    traced.setVariable("LD_PRELOAD", first ? library + ":" + runtime : runtime + ":" + library);
    Outcome expected;
    const Outcome actual = ranAlike(plain, traced, {"library in front"}, expected);
    QCOMPARE(expected.output.count(", in front"), 3);
    QCOMPARE(actual.output, expected.output);
    QCOMPARE(actual.status, 0);
  }

  void anActionThatWasReadFromTheKernelIsTheProgramsOwn() {
    TracedRun plain("interposed"), traced("interposed");
    Outcome expected;
    const Outcome actual = ranAlike(plain, traced, {"reads by itself"}, expected);
    QVERIFY(expected.output.contains("handler 10"));
    QCOMPARE(actual.output, expected.output);
    QCOMPARE(actual.status, SIGXCPU);
    QCOMPARE(traced.snaps().size(), 1u);
  }

  // However the other thread ends it, what the process ends by is the fault, and it is snapped.
  void whatAnotherThreadEndsWhileAFaultIsRecordedEndsByTheFault_data() {
    QTest::addColumn<QString>("ending");
    for (const char* ending : {"return", "exit", "_exit", "exec"}) QTest::newRow(ending) << ending;
  }
  void whatAnotherThreadEndsWhileAFaultIsRecordedEndsByTheFault() {
    QFETCH(QString, ending);
    TracedRun traced("interposed");
    const Outcome actual = traced.run({"fault and end", ending});
    QVERIFY(actual.killed);
    QCOMPARE(actual.status, SIGSEGV);
    QCOMPARE(traced.snaps().size(), 1u);
  }

  void anAbortWhoseHandlerReturnsLeavesASnap_data() {
    QTest::addColumn<QString>("how");
    for (const char* how : {"return", "default", "assert"}) QTest::newRow(how) << how;
  }
  void anAbortWhoseHandlerReturnsLeavesASnap() {
    QFETCH(QString, how);
    TracedRun plain("interposed"), traced("interposed");
    Outcome expected;
    const Outcome actual = ranAlike(plain, traced, {"aborts", how}, expected);
    QCOMPARE(expected.status, SIGABRT);
    QCOMPARE(actual.output, expected.output);
    QVERIFY(actual.killed);
    QCOMPARE(actual.status, SIGABRT);
    QCOMPARE(traced.snaps().size(), 1u);
  }

  void aHandlerOfSigabrtReturnsToWhoeverSentIt_data() {
    QTest::addColumn<QString>("how");
    for (const char* how : {"sent", "jump"}) QTest::newRow(how) << how;
  }
  void aHandlerOfSigabrtReturnsToWhoeverSentIt() {
    QFETCH(QString, how);
    TracedRun plain("interposed"), traced("interposed");
    Outcome expected;
    const Outcome actual = ranAlike(plain, traced, {"aborts", how}, expected);
    QVERIFY(expected.output.contains("goes on"));
    QCOMPARE(actual.output, expected.output);
    QVERIFY(!actual.killed);
    QCOMPARE(actual.status, 0);
    QVERIFY(traced.snaps().empty());
  }

  void askingWhetherThereAreFiltersLeavesFaultsToBeSnapped() {
    TracedRun plain("interposed"), traced("interposed");
    Outcome expected;
    const Outcome actual = ranAlike(plain, traced, {"asks for filters"}, expected);
    QCOMPARE(actual.output, expected.output);
    QCOMPARE(actual.status, SIGSEGV);
    QCOMPARE(traced.snaps().size(), 1u);
  }
};

QTEST_GUILESS_MAIN(InterpositionTest)
#include "interposition_test.moc"
