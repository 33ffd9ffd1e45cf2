// kill -9 at a random moment: of each thread, what is recovered spells numbers up to the last one that the
// thread counted in shared memory before it spelled it, or up to the one before that.
//
// TRACEBACK_SEED chooses the moments, TRACEBACK_KILLS how many (50).
#include <QtTest>
#include <algorithm>
#include <random>

#include "tests/truth/counting_run.h"
#include "tests/truth/spelled_numbers.h"

using namespace traceback::truth;

namespace {

// A machine that is too busy tells nothing of what was written, and is told apart from what is lost or torn
// (tests/soak/kills.py).
QByteArray told(const QString& error) {
  return (error.contains(kTooSlow) ? "not verified: " + error : error).toLocal8Bit();
}

}  // namespace

class TestKill : public QObject {
  Q_OBJECT

 private slots:
  void recoveredNumbersEndWhereTheProcessDid_data();
  void recoveredNumbersEndWhereTheProcessDid();

 private:
  std::mt19937 m_random{qEnvironmentVariable("TRACEBACK_SEED", "1").toUInt()};
};

void TestKill::recoveredNumbersEndWhereTheProcessDid_data() {
  QTest::addColumn<QString>("build");
  QTest::addColumn<unsigned>("threads");
  QTest::addColumn<unsigned>("delay");  // microseconds after all threads have begun
  const int rounds = qEnvironmentVariable("TRACEBACK_KILLS", "50").toInt();
  std::uniform_int_distribution<unsigned> delay(0, 20000);
  for (int i = 0; i < rounds; ++i) {
    const unsigned threads = i % 10 == 9 ? 200 : i % 2 == 0 ? 1 : 8;
    const QString build = i / 2 % 2 == 0 ? "O2" : "O0";
    QTest::addRow("%d: %u threads, %s", i, threads, qPrintable(build)) << build << threads << delay(m_random);
  }
}

void TestKill::recoveredNumbersEndWhereTheProcessDid() {
  QFETCH(QString, build);
  QFETCH(unsigned, threads);
  QFETCH(unsigned, delay);
  const auto run = CountingRun::start(build, threads, 0, {}, "65536");
  QVERIFY2(run, run ? "" : told(run.error()));
  if (!(*run)->waitUntilAllCount(threads, 300000))
    QFAIL((*run)->isRunning() ? told(QString("the threads: ") + kTooSlow)
                              : "it ended: " + (*run)->complaints());
  QThread::usleep(delay);
  (*run)->kill();
  if (!(*run)->waitForKill(300000))
    QFAIL((*run)->isRunning() ? told(QString("the killed process: ") + kTooSlow) : "it ended by itself");
  const CountingRun::Counts counts = (*run)->counts();

  const auto snap = (*run)->product().snap();
  QVERIFY2(snap, snap ? "" : told(snap.error()));
  const auto trace = readTrace(*snap);
  QVERIFY2(trace, trace ? "" : qPrintable(trace.error()));
  QVERIFY2(trace->damage.isEmpty(), qPrintable(trace->damage.join("; ")));
  QCOMPARE(trace->threads.size(), std::size_t(threads));
  for (unsigned i = 0; i < threads; ++i) {
    const auto thread = std::ranges::find(trace->threads, (*run)->tid(i), &TracedThread::tid);
    QVERIFY2(thread != trace->threads.end(), qPrintable(QString("thread %1 is lost").arg(i)));
    const auto spelled = SpelledNumbers::read(*thread, (*run)->listing(), "main");
    QVERIFY2(spelled, spelled ? "" : qPrintable(QString("thread %1: %2").arg(i).arg(spelled.error())));
    const auto wrong = contradiction(*spelled, counts[i]);
    QVERIFY2(!wrong, wrong ? qPrintable(QString("thread %1: %2").arg(i).arg(*wrong)) : "");
  }
}

QTEST_GUILESS_MAIN(TestKill)
#include "tst_kill.moc"
