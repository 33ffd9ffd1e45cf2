// Faults in the worst places: the process ends as it would without the runtime, and its trace is there.
#include <signal.h>
#include <unistd.h>

#include <QTest>

#include "runtime/collect/snap/recover.h"
#include "snap_dump.h"
#include "traced_run.h"

using namespace traceback;
using namespace traceback::testing;

namespace {

constexpr std::uint32_t kStore = 0x0010'0800;

enum Leaves {
  Snap,           // was written by the process's own collector
  RingsOrSnap,    // that, or what `traceback recover` makes one of
  Nothing,        // it did not break down after all
};

bool storedLast(const SnapDump& snap) {
  return std::ranges::any_of(snap.rings, [](const RingDump& ring) {
    return std::ranges::any_of(ring.segments, [](const Segment& segment) {
      return std::ranges::contains(segment.dagCodes(), kStore);
    });
  });
}

}  // namespace

class BreakdownTest : public QObject {
  Q_OBJECT
 private slots:
  void itEndsAsWithoutTheRuntimeAndItsTraceIsThere_data() {
    QTest::addColumn<QString>("place");
    QTest::addColumn<int>("leaves");
    QTest::addColumn<bool>("stores");  // the fault is that of the traced function that stores
    const auto add = [](const char* place, Leaves leaves, bool stores) {
      QTest::newRow(place) << place << static_cast<int>(leaves) << stores;
    };
    add("constructor", Snap, true);
    add("handler", Snap, true);
    add("nested-handler", RingsOrSnap, true);
    add("malloc", Snap, true);
    add("dlopen", Snap, false);
    add("exit", Snap, true);
    add("destructor", Snap, true);
    add("fork-prepare", Snap, true);
    add("fork-parent", Snap, true);
    add("fork-child", Snap, true);
    add("vfork", Snap, false);
    add("stack", Snap, false);
    add("thread-stack", Snap, false);
    add("smashed", Snap, false);
    add("wild-stack", Snap, false);
    add("wild-jump", Snap, false);
    add("small-signal-stack", Snap, true);
    add("unmapped", RingsOrSnap, false);
    add("unmapped-goes-on", Nothing, false);
    add("unmapped-abort", RingsOrSnap, false);
    add("unmapped-elsewhere", Nothing, false);
    add("unmapped-waiting", Nothing, false);
    add("unmapped-ended", Nothing, false);
    add("process-unmapped", RingsOrSnap, false);
    add("sent-within", Nothing, false);
    add("blocked", RingsOrSnap, true);
    add("blocked-abort", RingsOrSnap, false);
    add("disk", RingsOrSnap, true);
    add("descriptors", Snap, true);
    add("descriptor-files", Snap, true);
    add("memory", RingsOrSnap, true);
    add("eight", Snap, true);
  }
  void itEndsAsWithoutTheRuntimeAndItsTraceIsThere() {
    QFETCH(QString, place);
    QFETCH(int, leaves);
    QFETCH(bool, stores);
    const QStringList arguments{place, TracedRun::programPath("libbreaks_in_constructor.so")};
    TracedRun plain("breakdowns"), traced("breakdowns");
    plain.setTraced(false);
    const Outcome expected = plain.run(arguments);
    QVERIFY(expected.killed || expected.status == 7);
    const Outcome actual = traced.run(arguments);
    COMPARE_OUTCOMES(actual, expected);
    if (leaves == Nothing) return;

    if (leaves == RingsOrSnap && traced.snaps().empty()) {
      const auto snaps = collect::recover(
          {.folder = traced.ringFolder(), .snapFolder = traced.snapFolder(), .onProblem = {}});
      QVERIFY2(snaps, snaps ? "" : snaps.error().text().c_str());
    }
    QVERIFY2(traced.snaps().size() == 1, actual.errors);
    const auto snap = dumpSnap(traced.snaps()[0]);
    QVERIFY(snap && !snap->rings.empty());
    for (const RingDump& ring : snap->rings)
      for (const Segment& segment : ring.segments) QCOMPARE(segment.damaged, 0u);
    if (stores) QVERIFY(storedLast(*snap));
    if (leaves == Snap) {
      QCOMPARE(snap->reason.signal, static_cast<std::uint32_t>(expected.killed ? expected.status : SIGSEGV));
      QVERIFY(snap->faulting() != nullptr);
    }
  }

  // Whoever collects takes his time; meanwhile the others' history is kept.
  void threadsThatRunOnOverwriteNothing() {
    TracedRun traced("breakdowns");
    traced.setVariable("HOME", "/nowhere/slow");
    QVERIFY(traced.run({"runners"}).killed);
    QCOMPARE(traced.snaps().size(), 1u);
    const auto snap = dumpSnap(traced.snaps()[0]);
    QVERIFY(snap);
    QCOMPARE(snap->rings.size(), 5u);
    unsigned held = 0;
    for (const auto& thread : snap->threads) {
      const RingDump& ring = snap->rings.at(thread.ringIndex);
      if (&thread == snap->faulting()) {
        QCOMPARE(ring.header.held, 0u);
        continue;
      }
      held += ring.header.held;
      const auto& segment = ring.segments[0];
      QVERIFY(ring.header.segments[0].ordinal > 16);
      // Each sub-buffer begins with a reading of the clock.
      unsigned begunSince = 0, begunBefore = 0;
      for (const Record& record : segment.records)
        if (!record.isDag && record.type == format::RecordType::Timestamp)
          ++(record.values.at(0) > snap->process.lastTsc ? begunSince : begunBefore);
      QVERIFY(begunSince <= 1 && begunBefore >= 14);
    }
    QCOMPARE(held, 4u);
  }

  void allOfEightFaultingThreadsAreInTheOneSnap() {
    TracedRun traced("breakdowns");
    QVERIFY(traced.run({"eight"}).killed);
    QCOMPARE(traced.snaps().size(), 1u);
    const auto snap = dumpSnap(traced.snaps()[0]);
    QVERIFY(snap);
    QCOMPARE(snap->threads.size(), 9u);
    QCOMPARE(snap->rings.size(), 9u);
    for (const auto& thread : snap->threads) QVERIFY((thread.flags & format::kThreadHasRegisters) != 0);
  }
};

QTEST_GUILESS_MAIN(BreakdownTest)
#include "breakdown_test.moc"
