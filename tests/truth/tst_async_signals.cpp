// Traced handlers of timers that fire every 200 microseconds into tight loops and calls: no record of the
// interrupted code and none of the handlers is damaged or lost.
//
// Each run takes five seconds, with TRACEBACK_SOAK a minute. Snaps are taken all the while, for a ring holds
// but the last part.
#include <QElapsedTimer>
#include <QtTest>
#include <csignal>

#include "tests/truth/counting_run.h"
#include "tests/truth/spelled_numbers.h"

using namespace traceback::truth;

class TestAsyncSignals : public QObject {
  Q_OBJECT

 private slots:
  void nothingIsDamaged_data();
  void nothingIsDamaged();

 private:
  static void checkTrace(const QString& snap, const CodeListing& listing, std::array<Spelled, 3>& spelled);
};

namespace {
constexpr std::array<const char*, 3> kSpellers = {"main", "alarm", "timer"};
}

void TestAsyncSignals::nothingIsDamaged_data() {
  QTest::addColumn<QString>("build");
  QTest::addColumn<QStringList>("clocks");
  for (const char* build : {"O2", "O0"}) {
    QTest::addRow("setitimer, %s", build) << build << QStringList{"alarm"};
    QTest::addRow("timer_create, %s", build) << build << QStringList{"timer"};
    QTest::addRow("both, %s", build) << build << QStringList{"alarm", "timer"};
  }
}

// All that the trace has spells numbers that follow one another, and there is no damage.
void TestAsyncSignals::checkTrace(const QString& snap, const CodeListing& listing,
                                  std::array<Spelled, 3>& spelled) {
  const auto trace = readTrace(snap);
  QVERIFY2(trace, trace ? "" : qPrintable(trace.error()));
  QVERIFY2(trace->damage.isEmpty(), qPrintable(trace->damage.join("; ")));
  QCOMPARE(trace->threads.size(), 1UL);
  for (std::size_t i = 0; i < kSpellers.size(); ++i) {
    auto read = SpelledNumbers::read(trace->threads[0], listing, kSpellers[i]);
    QVERIFY2(read, read ? "" : qPrintable(read.error()));
    spelled[i] = std::move(*read);
  }
}

void TestAsyncSignals::nothingIsDamaged() {
  QFETCH(QString, build);
  QFETCH(QStringList, clocks);
  const unsigned milliseconds = qEnvironmentVariableIsSet("TRACEBACK_SOAK") ? 60000 : 5000;
  const auto run = CountingRun::start(build, 1, milliseconds, clocks, "4194304");
  QVERIFY2(run, run ? "" : qPrintable(run.error()));
  QVERIFY2((*run)->waitUntilAllCount(1, 20000), (*run)->complaints());

  std::size_t snaps = 0, handlers = 0;
  std::array<Spelled, 3> spelled;
  for (; (*run)->isRunning(); QThread::msleep(300)) {
    const auto snap = (*run)->product().snapOf((*run)->pid());
    if (!snap && !(*run)->isRunning()) break;  // it came too late
    QVERIFY2(snap, snap ? "" : qPrintable(snap.error()));
    checkTrace(*snap, (*run)->listing(), spelled);
    if (QTest::currentTestFailed()) return;
    ++snaps;
    handlers += spelled[1].numbers.size() + spelled[2].numbers.size();
    QFile::remove(*snap);
  }
  QVERIFY2((*run)->waitForKill(10000), (*run)->complaints());

  // It killed itself between two numbers, so at the end the counts are met exactly.
  const auto snap = (*run)->product().snap();
  QVERIFY2(snap, snap ? "" : qPrintable(snap.error()));
  checkTrace(*snap, (*run)->listing(), spelled);
  if (QTest::currentTestFailed()) return;
  const CountingRun::Counts counts = (*run)->counts();
  QVERIFY(!spelled[0].isOpen);
  QVERIFY(!spelled[0].numbers.empty());
  QCOMPARE(spelled[0].numbers.back(), std::uint16_t(counts[0]));
  for (const auto& [speller, slot, name] :
       {std::tuple{1U, CountingRun::kAlarm, "alarm"}, {2U, CountingRun::kTimer, "timer"}}) {
    if (!clocks.contains(name)) continue;
    QVERIFY(!spelled[speller].isOpen);
    QVERIFY(!spelled[speller].numbers.empty());
    QCOMPARE(spelled[speller].numbers.back(), std::uint16_t(counts[slot]));
    handlers += spelled[speller].numbers.size();
  }
  QVERIFY(handlers > 20);
  qInfo("%llu numbers and %llu handlers counted; %zu snaps had %zu handlers",
        static_cast<unsigned long long>(counts[0]),
        static_cast<unsigned long long>(counts[CountingRun::kAlarm] + counts[CountingRun::kTimer]), snaps + 1,
        handlers);
}

QTEST_GUILESS_MAIN(TestAsyncSignals)
#include "tst_async_signals.moc"
