#include <QTest>

#include "model/stepping.h"
#include "tests/builders/trace_text.h"

using namespace traceback::model;
using namespace traceback::tests;

namespace {

constexpr const char* kParser = R"(
    call main main.c
      10
      call parse parse.c
        20
        call visit
          30
          31
        21
      11
      call parse parse.c
        20
        call visit
          30 fault
)";

}  // namespace

class StepTest : public QObject {
  Q_OBJECT

 private:
  static std::uint32_t lineAfter(const ThreadTrace& thread, EntryIndex from, Step how) {
    const auto at = step(thread, from, how);
    return at ? thread.entry(*at).line : 0;
  }

 private slots:
  void stepsInEveryDirection_data() {
    QTest::addColumn<unsigned>("line");
    QTest::addColumn<int>("nth");
    QTest::addColumn<QList<unsigned>>("into_over_out_back_backOver_backOut");
    QTest::newRow("at the start") << 10u << 1 << QList<unsigned>{20, 11, 0, 0, 0, 0};
    QTest::newRow("before a call") << 20u << 1 << QList<unsigned>{30, 21, 11, 10, 10, 10};
    QTest::newRow("in the innermost call") << 31u << 1 << QList<unsigned>{21, 21, 21, 30, 30, 20};
    QTest::newRow("after a call") << 21u << 1 << QList<unsigned>{11, 11, 11, 31, 20, 10};
    QTest::newRow("after a deep call") << 11u << 1 << QList<unsigned>{20, 0, 0, 21, 10, 0};
    QTest::newRow("at the fault") << 30u << 2 << QList<unsigned>{0, 0, 0, 20, 20, 20};
  }
  void stepsInEveryDirection() {
    QFETCH(unsigned, line);
    QFETCH(int, nth);
    QFETCH(QList<unsigned>, into_over_out_back_backOver_backOut);
    for (std::size_t chunkSize : {1, 2, 3, 100}) {
      const auto trace = traceOf(kParser, chunkSize);
      const ThreadTrace& thread = *trace->threads[0];
      const EntryIndex from = lineAt(thread, line, nth);
      QVERIFY(from < thread.entryCount());
      QList<unsigned> found;
      for (Step how : {Step::Into, Step::Over, Step::Out, Step::Back, Step::BackOver, Step::BackOut}) {
        found << lineAfter(thread, from, how);
      }
      QCOMPARE(found, into_over_out_back_backOver_backOut);
    }
  }

  void opensAtTheFault() {
    const auto trace = traceOf(kParser);
    QCOMPARE(initialPosition(*trace->threads[0]), std::optional(lineAt(*trace->threads[0], 30, 2)));
  }

  // In a library without lines.
  void opensAtTheInnermostCallWithLinesWhereWhatItCalledGaveUp_data() {
    QTest::addColumn<QString>("end");
    QTest::addColumn<std::uint32_t>("line");
    QTest::newRow("aborted") << "0 fault\n      signal 6\n" << 20U;
    QTest::newRow("threw, and nobody caught it") << "0\n      exception std::bad_alloc fault\n" << 20U;
    QTest::newRow("faulted") << "0 fault\n      signal 11\n" << 0U;
    QTest::newRow("faulted, and that is all that is known") << "0 fault\n" << 0U;
  }
  void opensAtTheInnermostCallWithLinesWhereWhatItCalledGaveUp() {
    QFETCH(QString, end);
    const auto trace =
        traceOf(("call main main.c\n  10\n  call parse parse.c\n    20\n    call check\n      0\n"
                 "      call fail\n        0\n      " +
                 end)
                    .toStdString());
    const ThreadTrace& thread = *trace->threads[0];
    const auto at = initialPosition(thread);
    QVERIFY(at);
    QTEST(thread.entry(*at).line, "line");
    QCOMPARE(thread.entry(*at).depth, thread.entry(*at).line == 0 ? 2 : 1);
  }

  void opensAtTheLastSteppableEntryWithoutAFault() {
    const auto trace = traceOf("call main main.c\n  1\n  2\nend\nsync\n");
    QCOMPARE(initialPosition(*trace->threads[0]), std::optional(lineAt(*trace->threads[0], 2)));
  }

  void standsNowhereInATraceWithoutSteppableEntries() {
    const auto trace = traceOf("sync\nsync\n");
    QCOMPARE(initialPosition(*trace->threads[0]), std::nullopt);
    const auto empty = threadOf({}, 4);
    QCOMPARE(initialPosition(*empty), std::nullopt);
    QCOMPARE(step(*empty, 0, Step::Into), std::nullopt);
  }

  void callsReturnsAndSyncsAreNeverStoodOn() {
    const auto trace = traceOf(
        "call main main.c\n  1\n  sync\n  call f f.c\n    call g g.c\n  signal 2\n  gap\n  exception\n");
    const ThreadTrace& thread = *trace->threads[0];
    std::vector<EntryKind> seen;
    for (auto at = std::optional(lineAt(thread, 1)); at; at = step(thread, *at, Step::Into)) {
      seen.push_back(thread.entry(*at).kind);
    }
    QCOMPARE(seen, (std::vector{EntryKind::Line, EntryKind::Signal, EntryKind::Gap, EntryKind::Exception}));
  }
};

QTEST_APPLESS_MAIN(StepTest)
#include "tst_stepping.moc"
