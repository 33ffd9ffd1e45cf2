// Rings of threads that come and go: how many there are, whose memory is used again, and what each says.
#include <sys/stat.h>

#include <QTest>
#include <algorithm>

#include "snap_dump.h"
#include "traced_run.h"

using namespace traceback;
using namespace traceback::testing;
using format::RecordType;

namespace {

bool isWhole(const RingDump& ring) {
  return std::ranges::all_of(ring.segments, [](const Segment& segment) { return segment.damaged == 0; });
}

}  // namespace

class RingsTest : public QObject {
  Q_OBJECT
 private slots:
  void thousandsOfThreadsComeAndGo() {
    TracedRun plain("churn"), traced("churn");
    plain.setTraced(false);
    const QStringList arguments{"waves", "3200"};
    const Outcome expected = plain.run(arguments), actual = traced.run(arguments);
    QCOMPARE(actual.output, expected.output);
    QCOMPARE(actual.output, QByteArray("16650 1 1\n"));
    const auto folder = traced.processFolders().at(0);
    const auto process = traced.process(folder);
    QCOMPARE(process.ringCount, 1u + 128 + 3200);
    QCOMPARE(process.ringsFailed, 0u);
    const auto rings = traced.rings(folder);
    // The main thread's, and those of threads that ended, the last ones.
    QVERIFY(rings.size() > 64 && rings.size() <= 1 + 64 + 64);
    for (const RingDump& ring : rings) {
      QVERIFY(isWhole(ring));
      if (&ring == &rings.front()) continue;
      QCOMPARE(ring.header.state, static_cast<std::uint32_t>(format::RingState::ThreadEnded));
      // Nothing is left of whoever had the memory before.
      const auto& records = ring.segments[0].records;
      QCOMPARE(ring.segments[0].dagCodes().size(), 5u);
      QCOMPARE(std::ranges::count(records, RecordType::ThreadStart, &Record::type), 1);
      QCOMPARE(std::ranges::count(records, RecordType::ThreadEnd, &Record::type), 1);
    }
  }

  void aRingThatIsUsedAgainTakesNoMoreThanItNeeds() {
    TracedRun traced("churn");
    traced.setVariable("TRACEBACK_LEARN", "1");
    QVERIFY(traced.run({"waves", "640"}).output.startsWith("3850 "));
    const auto kilobytes = TracedRun::ringMemory(traced.processFolders().at(0));
    QVERIFY(kilobytes.size() > 64);
    const std::uint64_t most = *std::ranges::max_element(kilobytes);
    QVERIFY2(most <= 300, qPrintable(QString::number(most)));
  }

  void allRingsTogetherTakeNoMoreThanIsAllowed() {
    TracedRun traced("churn");
    traced.setVariable("TRACEBACK_TOTAL_SIZE", "6M");
    QVERIFY(traced.run({"waves", "640"}).output.startsWith("3850 "));
    const auto folder = traced.processFolders().at(0);
    std::uintmax_t bytes = 0;
    unsigned rings = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".ring") continue;
      struct stat status{};
      QCOMPARE(::stat(entry.path().c_str(), &status), 0);
      bytes += static_cast<std::uintmax_t>(status.st_blocks) * 512;
      ++rings;
    }
    QVERIFY(bytes <= 6u << 20);
    QVERIFY(rings >= 4);
    const auto process = traced.process(folder);
    QVERIFY(process.ringCount > 100);
  }

  void aRingWhoseThreadVanishedIsUsedAgain() {
    TracedRun traced("churn");
    traced.setVariable("TRACEBACK_RINGS", "3");
    QCOMPARE(traced.run({"vanish"}).output, QByteArray("110\n"));
    const auto folder = traced.processFolders().at(0);
    const auto process = traced.process(folder);
    QCOMPARE(process.ringCount, 21u);
    QCOMPARE(process.ringsFailed, 0u);
    for (const RingDump& ring : traced.rings(folder)) QVERIFY(isWhole(ring));
  }

  void aThreadWithoutARingGetsOneWhenAnotherEnds() {
    TracedRun traced("churn");
    traced.setVariable("TRACEBACK_RINGS", "2");
    QVERIFY(traced.run({"late"}).killed);
    const auto folder = traced.processFolders().at(0);
    QCOMPARE(traced.process(folder).ringsFailed, 1u);
    const auto rings = traced.rings(folder);
    QCOMPARE(rings.size(), 3u);
    const RingDump& late = rings.back();
    QVERIFY(isWhole(late));
    // It says that there was something before.
    QCOMPARE(late.header.threadStart, 0u);
    const auto& records = late.segments[0].records;
    const auto gap = std::ranges::find(records, RecordType::Gap, &Record::type);
    QVERIFY(gap != records.end() && gap->detail == static_cast<std::uint16_t>(format::GapReason::NoRing));
    QVERIFY(std::none_of(records.begin(), gap, [](const Record& record) { return record.isDag; }));
    QCOMPARE(std::ranges::count(records, RecordType::ThreadStart, &Record::type), 0);
    QVERIFY(late.segments[0].dagCodes().size() > 2500);
  }

  // To look at every head would cost it more than being recorded.
  void aThreadWithoutARingDoesNotLookForOneByItself() {
    TracedRun traced("churn");
    traced.setVariable("TRACEBACK_RINGS", "2");
    QVERIFY(traced.run({"unseen"}).killed);
    const auto folder = traced.processFolders().at(0);
    const auto process = traced.process(folder);
    QCOMPARE(process.ringsFailed, 1u);
    QCOMPARE(process.ringCount, 3u);  // the last one's is that of the thread that vanished
    for (const RingDump& ring : traced.rings(folder)) {
      QVERIFY(isWhole(ring));
      QVERIFY(ring.segments[0].dagCodes().size() < 100);
    }
  }
};

QTEST_GUILESS_MAIN(RingsTest)
#include "rings_test.moc"
