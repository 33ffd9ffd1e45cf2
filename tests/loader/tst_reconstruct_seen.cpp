// Where a thread was when another one met its fatal signal.
#include <QTest>

#include "model/stepping.h"
#include "tests/loader/reconstruction.h"

using namespace traceback;
using tests::compare;
using tests::kLoop;
using tests::reconstruct;

class SeenTest : public QObject {
  Q_OBJECT

  static std::vector<model::EntryIndex> marksOf(const model::ThreadTrace& thread) {
    std::vector<model::EntryIndex> marks;
    for (model::EntryIndex at = 0; at < thread.entryCount(); ++at)
      if ((thread.entry(at).flags & model::kEntryAtOtherFault) != 0) marks.push_back(at);
    return marks;
  }

 private Q_SLOTS:
  void itStandsBehindTheRecordThatHadBegun() {
    const auto got = reconstruct({.map = kLoop, .otherFault = 4900, .ring = R"(
      start
      main.a
      main.h c
      f.a
      seen 5000
      + x y
      main.d
      main.h r
      time 9000
      thread-end
    )"});
    compare(got.text, R"(
    sync 1
    call main
    main 1000-1007
    main 1008-100b
    main 100c-100f
      call f
      f 2000-2007
      f 2008-200f
      f 2010-2013 other-fault
      return f
    main 1014-1017
    main 1008-100b
    main 1010-1013
    return main
    sync 2
    )");
    const auto& thread = got.thread();
    const auto mark = thread.info().otherFault;
    QCOMPARE(marksOf(thread), std::vector{mark.value_or(0)});
    QCOMPARE(got.notes(), std::string());
    // What it had begun before was over; of that record one does not know; the rest came later.
    const auto& times = thread.times();
    QVERIFY(times.trusted());
    QCOMPARE(times.firstNotOverAt({5000}), std::optional<model::EntryIndex>(5));  // the call of f
    const auto next = *mark + 2;  // behind the return
    QCOMPARE(times.firstBegunAfter({5000}), std::optional(next));
    QCOMPARE(times.boundsOf(4).to, std::optional(model::Ticks{5000}));
    for (model::EntryIndex at = 5; at < next; ++at)
      QCOMPARE(times.boundsOf(at), (model::TimeBounds{.from = model::Ticks{1000}, .to = model::Ticks{9000}}));
    QCOMPARE(times.boundsOf(next).from, std::optional(model::Ticks{5000}));
  }

  void aViewerOpensTheThreadThere() {
    const auto got = reconstruct({.map = kLoop, .otherFault = 4900, .ring = R"(
      main.a
      seen 5000
      main.h c
      f.a
    )"});
    const auto& thread = got.thread();
    const auto first = model::initialPosition(thread), last = model::finalPosition(thread);
    QVERIFY(first && last && *first < *last);
    QCOMPARE(first, thread.info().otherFault);
  }

  void whoWaitsIsThereAsInTheEnd() {
    const auto got = reconstruct({.map = kLoop,
                                  .otherFault = 4900,
                                  .ring = R"(
      main.a
      main.h c
      wait 7
      seen 5000
    )",
                                  .pc = "outside"});
    const auto& thread = got.thread();
    QCOMPARE(marksOf(thread), std::vector{model::finalPosition(thread).value_or(0)});
    QCOMPARE(model::initialPosition(thread), model::finalPosition(thread));
  }

  void whatIsOverwrittenIsNotShown() {
    std::string more;
    for (int i = 0; i < 2000; ++i) more += "f.a y\n";
    const auto got =
        reconstruct({.map = kLoop, .otherFault = 4900, .ring = "main.a\nmain.h c\nseen 5000\n" + more});
    QVERIFY(marksOf(got.thread()).empty());
    QCOMPARE(got.notes(), std::string());
  }

  // Between its reading of the clock and its record of that the other one looked.
  void aReadingThatWasOvertakenIsNoContradiction() {
    const auto got = reconstruct({.map = kLoop, .otherFault = 4900, .ring = R"(
      start
      main.a
      seen 5000
      time 4000
      main.h r
      time 6000
    )"});
    QVERIFY(got.thread().times().trusted());
    QCOMPARE(got.notes(), std::string());
    QVERIFY(got.thread().info().otherFault.has_value());
  }

  void whatContradictsTheThreadsOwnClockIsLeftOut() {
    const auto got = reconstruct({.map = kLoop, .otherFault = 4900, .ring = R"(
      time 6000
      main.a
      seen 5000
      main.h r
    )"});
    QVERIFY(marksOf(got.thread()).empty());
    QVERIFY(got.thread().times().trusted());
  }

  // One that its program handled, or that another thread of a process met that was snapped for something
  // else.
  void whoWasSeenAtAnotherFaultIsNotMarked() {
    const char* ring = "main.a\nseen 5000\nmain.h r\ntime 9000\n";
    QCOMPARE(marksOf(reconstruct({.map = kLoop, .otherFault = 5000, .ring = ring}).thread()).size(),
             std::size_t{1});
    QVERIFY(marksOf(reconstruct({.map = kLoop, .otherFault = 5001, .ring = ring}).thread()).empty());
    QVERIFY(marksOf(reconstruct({.map = kLoop, .ring = ring}).thread()).empty());
  }

  void ofARecordThatASignalDividesItIsNotKnownInWhichPart() {
    const auto got = reconstruct({.map = kLoop, .otherFault = 4900, .ring = R"(
      main.a
      main.h c
      f.a
      seen 5000
      signal 14 at f.a+4
      main.a
      return
      + x y
      main.d
    )"});
    QVERIFY(marksOf(got.thread()).empty());
    QCOMPARE(got.notes(), std::string());
  }

  void inAHandlerItIsThere() {
    const auto got = reconstruct({.map = kLoop, .otherFault = 4900, .ring = R"(
      main.a
      signal 14 at main.a+4
      f.a y
      seen 5000
      f.a
      return
      main.h r
    )"});
    const auto& thread = got.thread();
    QCOMPARE(marksOf(thread).size(), std::size_t{1});
    QVERIFY((thread.entry(*thread.info().otherFault).flags & model::kEntryInHandler) != 0);
  }

  // A chunk's entries are expanded by themselves; whichever chunk it stands in.
  void itIsTheSameHoweverFarTheWalkGoesAtOnce() {
    for (int before = 2040; before < 2056; ++before) {
      std::string ring = "start\n";
      for (int i = 0; i < before; ++i) ring += "f.a y\n";
      const auto got = reconstruct({.map = kLoop,
                                    .otherFault = 4900,
                                    .ring = ring + "seen 5000\nf.a\nf.a y\n",
                                    .options = {.subBufferWords = 4096}});
      const auto& thread = got.thread();
      QCOMPARE(marksOf(thread), std::vector{thread.info().otherFault.value_or(0)});
    }
  }

  // A ring may say anything.
  void ofAnImpossiblePlaceNothingIsSaid_data() {
    QTest::addColumn<quint64>("position");
    QTest::addColumn<quint32>("level");
    QTest::newRow("behind all") << quint64{1'000'000} << quint32{0};
    QTest::newRow("of no segment") << quint64{1} << quint32{77};
    QTest::newRow("at the end of numbers") << ~quint64{0} << quint32{0};
  }
  void ofAnImpossiblePlaceNothingIsSaid() {
    QFETCH(quint64, position);
    QFETCH(quint32, level);
    const tests::MapText map(kLoop);
    const tests::RingText ring("main.a\nmain.h r\n", map);
    auto bytes = ring.bytes();
    auto* header = reinterpret_cast<format::RingHeader*>(bytes.data());
    header->seenTime = 5000;
    header->seenPosition = position;
    header->seenLevel = level;
    const auto view =
        loader::RingView::parse(std::make_shared<const loader::MemoryBytes>(std::move(bytes)), "ring");
    QVERIFY(view.has_value());
    model::LoadReport report;
    loader::ThreadEndState end;
    end.faultTime = model::Ticks{4900};
    QVERIFY(!loader::buildTimeline(*view, end, "thread", report).seen);
  }
};

QTEST_APPLESS_MAIN(SeenTest)
#include "tst_reconstruct_seen.moc"
