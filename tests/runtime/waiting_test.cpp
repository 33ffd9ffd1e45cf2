// Calls that wait: they do what they do without the runtime, and the rings tell when that was.
#include <signal.h>

#include <QTest>
#include <algorithm>

#include "runtime/format/clock.h"
#include "runtime/format/wait.h"
#include "snap_dump.h"
#include "traced_run.h"

using namespace traceback;
using namespace traceback::testing;
using format::RecordType;
using format::SyncKind;
using format::WaitKind;

namespace {

QList<int> kindsOf(const RingDump& ring) {
  QList<int> kinds;
  for (const Segment& segment : ring.segments)
    for (const Record& record : segment.records)
      if (!record.isDag && record.type == RecordType::Sync) kinds.append(record.detail);
  return kinds;
}

// A thread's start was read before its ring was made ready.
bool isReading(const Record& record) {
  return !record.isDag && record.type != RecordType::ThreadStart && record.type != RecordType::LoopCount &&
         record.type != RecordType::Resumption;
}

// Each thread's readings go forward; each wait has one behind it before any other record.
bool areInOrder(const RingDump& ring) {
  std::uint64_t last = 0;
  bool waits = false;
  for (const Record& record : ring.segments[0].records) {
    if (waits && (record.isDag || record.type == RecordType::Sync)) return false;
    if (!isReading(record)) continue;
    if (record.values.at(0) < last) return false;
    last = record.values[0];
    waits = record.type == RecordType::Sync && SyncKind(record.detail) != SyncKind::ThreadCreate;
  }
  return true;
}

}  // namespace

class WaitingTest : public QObject {
  Q_OBJECT
 private slots:
  void behavesAsWithoutTheRuntime_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("clock");
    for (const char* kind : {"events", "sleeps", "children", "threads", "cancelling"}) {
      QTest::newRow(kind) << kind << QString();
      QTest::addRow("%s, logical clock", kind) << kind << QStringLiteral("logical");
    }
  }
  void behavesAsWithoutTheRuntime() {
    QFETCH(QString, kind);
    QFETCH(QString, clock);
    TracedRun plain("waits"), traced("waits");
    plain.setTraced(false);
    if (!clock.isEmpty()) traced.setVariable("TRACEBACK_CLOCK", clock);
    const Outcome expected = plain.run({kind}), actual = traced.run({kind});
    QVERIFY(expected.output.size() > 50);
    COMPARE_OUTCOMES(actual, expected);
    QVERIFY(std::filesystem::exists(traced.ringFolder()));
  }

  void eachWaitIsInTheRing_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QList<int>>("kinds");
    const auto add = [](const char* kind, const std::vector<WaitKind>& waits, QList<int> all = {}) {
      for (const WaitKind each : waits) all.append(static_cast<int>(each));
      QTest::newRow(kind) << kind << all;
    };
    add("events", {WaitKind::Poll});
    add("sleeps", {WaitKind::Sleep});
    add("children", {WaitKind::Child});
    add("threads", {WaitKind::Sleep, WaitKind::Condition, WaitKind::Barrier, WaitKind::ThreadJoin},
        {static_cast<int>(SyncKind::ThreadCreate)});
  }
  void eachWaitIsInTheRing() {
    QFETCH(QString, kind);
    QFETCH(QList<int>, kinds);
    for (const QString& clock : {QStringLiteral("tsc"), QStringLiteral("logical")}) {
      TracedRun traced("waits");
      traced.setVariable("TRACEBACK_CLOCK", clock);
      QVERIFY(traced.run({kind, "kill"}).killed);
      const auto folder = traced.processFolders().back();
      QCOMPARE(format::clockIn(traced.process(folder)).kind,
               static_cast<std::uint32_t>(clock == "tsc" ? format::ClockKind::Counter
                                                         : format::ClockKind::Logical));
      const auto rings = traced.rings(folder);
      QVERIFY(!rings.empty());
      const auto found = kindsOf(rings[0]);
      for (const int each : kinds) QVERIFY2(found.contains(each), qPrintable(kind));
      for (const int each : found) QVERIFY(kinds.contains(each));
      for (const RingDump& ring : rings) {
        QCOMPARE(ring.segments[0].damaged, 0u);
        QVERIFY(areInOrder(ring));
      }
    }
  }

  void theSnapsOwnReadingIsOfTheSameClock() {
    for (const QString& clock : {QStringLiteral("tsc"), QStringLiteral("logical")}) {
      TracedRun traced("traced");
      traced.setVariable("TRACEBACK_CLOCK", clock);
      QVERIFY(traced.run({"fault", "address"}).killed);
      const auto snap = dumpSnap(traced.snaps().at(0));
      QVERIFY(snap);
      std::uint64_t last = 0;
      for (const RingDump& ring : snap->rings)
        for (const Segment& segment : ring.segments)
          for (const Record& record : segment.records)
            if (isReading(record)) last = std::max(last, record.values.at(0));
      QVERIFY(last != 0 && snap->reason.tsc > last);
      if (clock == "logical") QVERIFY(snap->reason.tsc < 1000);
    }
  }

  void whatOneThreadLetsGoOnAnotherIsReadInThatOrder() {
    for (const QString& clock : {QStringLiteral("tsc"), QStringLiteral("logical")}) {
      TracedRun traced("waits");
      traced.setVariable("TRACEBACK_CLOCK", clock);
      QVERIFY(traced.run({"threads", "kill"}).killed);
      const auto rings = traced.rings(traced.processFolders().at(0));
      QCOMPARE(rings.size(), 2u);
      // The second thread's last wait, for the semaphore, ended after the first one let it go on, and that
      // came after all that the first one had read before.
      const auto readings = [](const RingDump& ring) {
        std::vector<std::uint64_t> times;
        for (const Record& record : ring.segments[0].records)
          if (isReading(record)) times.push_back(record.values.at(0));
        return times;
      };
      const auto first = readings(rings[0]), second = readings(rings[1]);
      QVERIFY(first.size() > 8 && second.size() > 6);
      const std::uint64_t ended = second.back(), woken = second[second.size() - 2];
      const auto posted = std::ranges::lower_bound(first, woken) - 1;
      QVERIFY(posted >= first.begin() + 4 && *posted > second[second.size() - 3]);
      QVERIFY(std::ranges::lower_bound(first, ended) != first.end());  // it was joined after that
    }
  }
};

QTEST_GUILESS_MAIN(WaitingTest)
#include "waiting_test.moc"
