// What is known about the order of entries of different threads, and what is not.

#include <QTest>
#include <random>

#include "model/order.h"
#include "tests/builders/trace_text.h"

using namespace traceback::model;
using namespace traceback::tests;

namespace {

// Entries:  0 sync@10  1 10@10 | 2 11@20  3 12@20 | 4 13@40  5 return | until 50
//           0 sync@15  1 20@15 | 2 21@30  3 return | 4 sync@35 ended
constexpr const char* kTwo = R"(
thread 1 main
began 10
time 10
sync 1
in main main.c
  10
  time 20
  11
  12
  time 40
  13
until 50
thread 2 worker
began 15
time 15
sync 1
in work work.c
  20
  time 30
  21
time 35
sync 2
ended 35
)";

TracePlace first(EntryIndex entry) { return {{0}, entry}; }
TracePlace second(EntryIndex entry) { return {{1}, entry}; }

}  // namespace

class OrderTest : public QObject {
  Q_OBJECT

 private slots:
  void boundsAreTheReadingsAround() {
    const auto trace = traceOf(kTwo);
    const ThreadTimes& times = trace->threads[0]->times();
    QCOMPARE(times.readings().size(), std::size_t{3});
    QVERIFY(times.boundsOf(1) == (TimeBounds{Ticks{10}, Ticks{20}}));
    QVERIFY(times.boundsOf(2) == (TimeBounds{Ticks{20}, Ticks{40}}));
    QVERIFY(times.boundsOf(4) == (TimeBounds{Ticks{40}, Ticks{50}}));
  }

  void beforeAndAfterNeedAReadingBetween() {
    const auto trace = traceOf(kTwo);
    QCOMPARE(orderOf(*trace, second(1), first(4)), Order::Before);  // over at 30, began at 40
    QCOMPARE(orderOf(*trace, first(4), second(1)), Order::After);
    QCOMPARE(orderOf(*trace, first(1), second(2)), Order::Before);   // over at 20, began at 30
    QCOMPARE(orderOf(*trace, first(1), second(1)), Order::Unknown);  // 10 to 20 and 15 to 30
    QCOMPARE(orderOf(*trace, first(2), second(2)), Order::Unknown);  // 20 to 40 and 30 to 35
    QCOMPARE(orderOf(*trace, first(4), second(4)), Order::After);    // ended at 35
  }

  void inOneThreadTheOrderIsAlwaysKnown() {
    const auto trace = traceOf(kTwo);
    QCOMPARE(orderOf(*trace, first(2), first(3)), Order::Before);
    QCOMPARE(orderOf(*trace, first(3), first(2)), Order::After);
    QCOMPARE(orderOf(*trace, first(3), first(3)), Order::Same);
  }

  void anotherThreadIsSomewhereInARange() {
    const auto trace = traceOf(kTwo);
    QVERIFY(whereaboutsAt(*trace, first(1), {1}) == (Whereabouts{.first = 0, .end = 2}));
    QVERIFY(whereaboutsAt(*trace, first(2), {1}) == (Whereabouts{.first = 0, .end = 5}));
    QVERIFY(whereaboutsAt(*trace, second(2), {0}) == (Whereabouts{.first = 2, .end = 4}));
    QVERIFY(whereaboutsAt(*trace, first(2), {0}) == (Whereabouts{.first = 2, .end = 3}));
    QVERIFY(whereaboutsAt(*trace, first(2), {0}).certain());
  }

  void aThreadThatHadEndedOrNotBegunIsSaidToBeSo() {
    const auto trace = traceOf(kTwo);
    const Whereabouts over = whereaboutsAt(*trace, first(4), {1});
    QVERIFY(over.over);
    QCOMPARE(over.orderOf(3), Order::Before);
    const auto late = traceOf(
        "thread 1 a\nbegan 1\ntime 1\n1\ntime 5\n2\nuntil 20\n"
        "thread 2 b\nbegan 7\ntime 7\n1\nuntil 20\n");
    const Whereabouts notBegun = whereaboutsAt(*late, first(0), {1});
    QVERIFY(notBegun.notBegun);
    QCOMPARE(notBegun.orderOf(0), Order::After);
    QVERIFY(!whereaboutsAt(*late, first(1), {1}).notBegun);
  }

  void aThreadThatWaitsIsStillAtItsLastEntry() {
    const auto trace = traceOf(
        "thread 1 a\nbegan 1\ntime 1\n1\ntime 30\n2\nuntil 40\n"
        "thread 2 b\nbegan 2\ntime 2\n1\n2\nuntil 40\n");
    QVERIFY(whereaboutsAt(*trace, first(1), {1}) == (Whereabouts{.first = 0, .end = 2}));
    QCOMPARE(orderOf(*trace, second(1), first(1)), Order::Unknown);
  }

  // A line that runs on behind a reading is not over by then.
  void aLineAcrossAReadingIsOverLater() {
    const auto trace = traceOf(
        "thread 1 a\nbegan 1\ntime 1\n1\n2 across\ntime 10\n3\ntime 20\n4\nuntil 30\n"
        "thread 2 b\nbegan 12\ntime 12\n1\ntime 14\n2\nuntil 30\n");
    QVERIFY(trace->threads[0]->times().boundsOf(0) == (TimeBounds{Ticks{1}, Ticks{10}}));
    QVERIFY(trace->threads[0]->times().boundsOf(1) == (TimeBounds{Ticks{1}, Ticks{20}}));
    QCOMPARE(orderOf(*trace, first(0), second(0)), Order::Before);
    QCOMPARE(orderOf(*trace, first(1), second(0)), Order::Unknown);
    QVERIFY(whereaboutsAt(*trace, second(0), {0}) == (Whereabouts{.first = 1, .end = 3}));
  }

  void aClockThatRunsBackwardsTellsNothing() {
    const auto trace = traceOf(
        "thread 1 a\nbegan 1\ntime 9\n1\ntime 3\n2\nuntil 30\n"
        "thread 2 b\nbegan 12\ntime 12\n1\nuntil 30\n");
    QVERIFY(!trace->threads[0]->times().trusted());
    QCOMPARE(orderOf(*trace, first(0), second(0)), Order::Unknown);
    QVERIFY(whereaboutsAt(*trace, second(0), {0}) == (Whereabouts{.first = 0, .end = 2}));
    QCOMPARE(orderOf(*trace, first(0), first(1)), Order::Before);
  }

  void withoutReadingsNothingIsKnown() {
    const auto trace = traceOf("thread 1 a\n1\n2\nthread 2 b\n1\n");
    QCOMPARE(orderOf(*trace, first(0), second(0)), Order::Unknown);
    QVERIFY(whereaboutsAt(*trace, second(0), {0}) == (Whereabouts{.first = 0, .end = 2}));
    QCOMPARE(Interleaving(*trace, {{0}, {1}}).entryCount(), 3U);
  }

  // Random threads: what is said of ranges, orders and the one list must agree with each other.
  void rangesAndTheOneOrderAgreeWithTheOrderOfTwo() {
    std::mt19937 random(20);
    for (int round = 0; round < 60; ++round) {
      std::string text;
      for (int thread = 1; thread <= 3; ++thread) {
        unsigned long now = random() % 20;
        text += "thread " + std::to_string(thread) + " t\nbegan " + std::to_string(now) + "\ntime " +
                std::to_string(now) + "\n1\n";
        for (int i = 0; i < 12; ++i) {
          if (random() % 3 == 0) text += "time " + std::to_string(now += random() % 9) + "\n";
          text += std::to_string(i + 2) + (random() % 5 == 0 ? " across\n" : "\n");
        }
        text += (random() % 2 ? "ended " : "until ") + std::to_string(now + random() % 9) + "\n";
      }
      const auto trace = traceOf(text);
      const Interleaving all(*trace, {{0}, {1}, {2}});
      QCOMPARE(all.entryCount(), 39U);
      std::vector<TracePlace> sequence;
      for (const ThreadStretch& stretch : all.stretches()) {
        QCOMPARE(stretch.position, sequence.size());
        for (EntryIndex i = stretch.first; i < stretch.end; ++i) {
          sequence.push_back({stretch.thread, i});
          QCOMPARE(&all.stretches()[all.stretchOf(sequence.back())], &stretch);
        }
      }
      for (std::size_t a = 0; a < sequence.size(); ++a) {
        for (std::uint32_t other = 0; other < 3; ++other) {
          const Whereabouts where = whereaboutsAt(*trace, sequence[a], {other});
          for (EntryIndex i = 0; i < 13; ++i) {
            const TracePlace place{{other}, i};
            const Order order = orderOf(*trace, place, sequence[a]);
            if (order == Order::Same) continue;
            // A range has an entry more than the order needs where the thread was between two entries.
            if (where.orderOf(i) != order) QVERIFY(where.certain() && where.contains(i));
          }
        }
        for (std::size_t b = a + 1; b < sequence.size(); ++b)
          QVERIFY(orderOf(*trace, sequence[a], sequence[b]) != Order::After);
      }
    }
  }

  void aStretchNamesTheThreadsThatItIsInNoKnownOrderTo() {
    const auto trace = traceOf(kTwo);
    const Interleaving all(*trace, {{0}, {1}});
    for (const ThreadStretch& stretch : all.stretches()) {
      const auto others = unorderedWith(*trace, stretch);
      // Of the first thread all but its last stretch, which began when the other had ended.
      QCOMPARE(!others.empty(), stretch.thread.value == 1 || stretch.first < 4);
    }
  }
};

QTEST_APPLESS_MAIN(OrderTest)
#include "tst_order.moc"
