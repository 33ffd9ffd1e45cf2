// A library's calls of its own functions by the procedure linkage table: what is recorded is who was called,
// another module's function of that name if there is one in front.
#include <QtTest>
#include <csignal>

#include "tests/truth/product_run.h"
#include "tests/truth/verify_outcome.h"

using namespace traceback::truth;

class TestOwnSlots : public QObject {
  Q_OBJECT

 private slots:
  void whoIsCalledIsRecorded_data();
  void whoIsCalledIsRecorded();
};

namespace {

constexpr char kCaller[] = TRUTH_PROGRAM_DIR "/known/calls_library";
constexpr char kInterposed[] = TRUTH_PROGRAM_DIR "/known/libtruth_interposed.so";

void preload(QProcessEnvironment& environment, const QString& library) {
  const QString before = environment.value("LD_PRELOAD");
  environment.insert("LD_PRELOAD", before.isEmpty() ? library : before + ':' + library);
}

}  // namespace

void TestOwnSlots::whoIsCalledIsRecorded_data() {
  QTest::addColumn<QString>("library");
  QTest::addColumn<bool>("interposed");
  for (const char* const library : {"own_slots_lazy-O2", "own_slots_now-O2"}) {
    QTest::addRow("%s", library) << library << false;
    QTest::addRow("%s, another in front", library) << library << true;
  }
}

void TestOwnSlots::whoIsCalledIsRecorded() {
  QFETCH(QString, library);
  QFETCH(bool, interposed);
  const QString original = TRUTH_PROGRAM_DIR "/" + library;
  const auto run = ProductRun::prepare(original);
  VERIFY_OUTCOME(run);
  QProcessEnvironment plainly = (*run)->plainEnvironment(), recording = (*run)->environment();
  if (interposed) {
    preload(plainly, kInterposed);
    preload(recording, kInterposed);
  }
  const auto plain = runToEnd(kCaller, {original}, plainly);
  VERIFY_OUTCOME(plain);
  QCOMPARE(plain->signal, SIGABRT);
  // n of 0, by either `plain`.
  QVERIFY(plain->output.startsWith(interposed ? "1993 " : "3 "));
  const auto traced = runToEnd(kCaller, {(*run)->program()}, recording);
  VERIFY_OUTCOME(traced);
  QCOMPARE(traced->signal, SIGABRT);
  QCOMPARE(traced->output, plain->output);

  const auto snap = (*run)->snap();
  VERIFY_OUTCOME(snap);
  const auto printed = runToEnd(TRUTH_TRACEBACK, {"print", *snap}, QProcessEnvironment::systemEnvironment());
  VERIFY_OUTCOME(printed);
  QMap<QByteArray, int> begun;  // by the functions' first lines
  for (const QByteArray& line : printed->output.split('\n'))
    for (const char* const name : {"plain", "choose", "deeper"})
      if (line.simplified().split(' ').value(1) == name &&
          line.contains("long " + QByteArray(name) + "(long"))
        ++begun[name];
  QCOMPARE(begun["deeper"], 12);
  QVERIFY(begun["choose"] >= 12);
  QCOMPARE(begun["plain"], interposed ? 0 : 12);
}

QTEST_GUILESS_MAIN(TestOwnSlots)
#include "tst_own_slots.moc"
