// Handlers of what a copy did. One lets it go on elsewhere: in original code, which returns into a copy with
// anything in the registers that calls need not keep.
#include <QtTest>
#include <csignal>

#include "tests/truth/instrumented_file.h"
#include "tests/truth/product_run.h"
#include "tests/truth/verify_outcome.h"

using namespace traceback::truth;

class TestSkippedFaults : public QObject {
  Q_OBJECT

 private slots:
  void noRecordGoesWhereTheCursorIsNot_data();
  void noRecordGoesWhereTheCursorIsNot();
  void theHandlerOfATrappedCallSeesTheOriginalsPlace();
};

void TestSkippedFaults::noRecordGoesWhereTheCursorIsNot_data() {
  QTest::addColumn<bool>("inPlace");
  QTest::newRow("heads in routines") << false;
  QTest::newRow("heads in place") << true;
}

void TestSkippedFaults::noRecordGoesWhereTheCursorIsNot() {
  QFETCH(bool, inPlace);
  const QString program = TRUTH_PROGRAM_DIR "/known/skips_faults",
                library = TRUTH_PROGRAM_DIR "/known/libskips_faults.so";
  const auto prepare = [inPlace](const QString& file) {
    return ProductRun::prepare(file, inPlace ? QStringList() : QStringList{"--without", "heads-in-place"});
  };
  const auto run = prepare(program), opened = prepare(library);
  VERIFY_OUTCOME(run);
  VERIFY_OUTCOME(opened);
  for (const auto* each : {&run, &opened}) {
    const auto file = InstrumentedFile::open((**each)->program().toStdString());
    QVERIFY2(file, file ? "" : file.error().c_str());
    QCOMPARE(file->module.broughtHeadCount > 0, inPlace);
    QCOMPARE(file->module.routineCount > 0, !inPlace);
  }
  const auto plain = runToEnd(program, {library}, (*run)->plainEnvironment());
  VERIFY_OUTCOME(plain);
  // 0 to 18 by threes, and 13 times what was there before.
  QCOMPARE(plain->output, "154 154\n");
  const auto traced = runToEnd((*run)->program(), {(*opened)->program()}, (*run)->environment());
  VERIFY_OUTCOME(traced);
  QCOMPARE(traced->output, plain->output);
  QCOMPARE(traced->signal, SIGABRT);

  // Recorded all the time: each call is there, in the program and in the library.
  const auto snap = (*run)->snap();
  VERIFY_OUTCOME(snap);
  const auto printed = runToEnd(TRUTH_TRACEBACK, {"print", *snap}, QProcessEnvironment::systemEnvironment());
  VERIFY_OUTCOME(printed);
  const auto lines = printed->output.split('\n');
  const auto calls = std::ranges::count_if(lines, [](const QByteArray& line) {
    return line.simplified().split(' ').value(1) == "probeOften" && line.contains("sum += probe");
  });
  QVERIFY2(calls >= 40, printed->output);
}

void TestSkippedFaults::theHandlerOfATrappedCallSeesTheOriginalsPlace() {
  const QString program = TRUTH_PROGRAM_DIR "/known/trapped_call";
  const auto run = ProductRun::prepare(program, {});
  VERIFY_OUTCOME(run);
  const auto plain = runToEnd(program, {}, (*run)->plainEnvironment());
  VERIFY_OUTCOME(plain);
  QVERIFY2(plain->output.endsWith("answer 17\n"), plain->output);
  const auto traced = runToEnd((*run)->program(), {}, (*run)->environment());
  VERIFY_OUTCOME(traced);
  QCOMPARE(traced->output, plain->output);
}

QTEST_GUILESS_MAIN(TestSkippedFaults)
#include "tst_skipped_faults.moc"
