#include <QTest>

#include "model/executions.h"
#include "model/line_counts.h"
#include "model/queries.h"
#include "tests/builders/trace_text.h"

using namespace traceback::model;
using namespace traceback::tests;

class LineCountsTest : public QObject {
  Q_OBJECT

 private slots:
  void executionsOfAllThreadsAreCounted() {
    const auto trace = traceOf(R"(
thread 1 main
call main main.c
  10
  call f f.c
    5 x3
  11
  10
thread 2 other
call f f.c
  5
  6
)");
    const LineCounts counts = countLines(*trace);
    QVERIFY(counts.complete());
    const FileId main{0}, f{1};
    QCOMPARE(counts.of(main, 10), 2U);
    QCOMPARE(counts.of(main, 11), 1U);
    QCOMPARE(counts.of(main, 12), 0U);
    QCOMPARE(counts.of(f, 5), 4U);
    QCOMPARE(counts.of(f, 6), 1U);
    QCOMPARE(counts.of(f, 10), 0U);
  }
  void aLineThatGoesOnAfterItsCallIsCountedOnce() {
    std::vector<Entry> entries(5);
    const EntryKind kinds[] = {EntryKind::Line, EntryKind::Call, EntryKind::Line, EntryKind::Return,
                               EntryKind::Line};
    for (std::size_t i = 0; i < 5; ++i) {
      entries[i].kind = kinds[i];
      entries[i].depth = i == 0 || i == 4 ? 0 : 1;
      entries[i].file = {0};
      entries[i].line = i == 2 ? 9 : 7;
      entries[i].address = entries[i].last = {0x100 + i};
    }
    Trace trace;
    trace.threads.push_back(threadOf(entries, 2));
    QCOMPARE(countLines(trace).of({0}, 7), 1U);
    // As the search for executions has it.
    QCOMPARE(findAll(*trace.threads[0], LineQuery{{0}, 7, true}, 10).hits.size(), std::size_t(1));
  }
  void aLineThatASignalInterruptsIsCountedOnce() {
    for (const EntryKind between : {EntryKind::Signal, EntryKind::Sync}) {
      std::vector<Entry> entries(3);
      entries[1].kind = between;
      for (std::size_t i : {0, 2}) {
        entries[i].file = {0};
        entries[i].line = 7;
        entries[i].address = entries[i].last = {0x100 + i};
      }
      Trace trace;
      trace.threads.push_back(threadOf(entries, 2));
      QCOMPARE(countLines(trace).of({0}, 7), 1U);
      QCOMPARE(findAll(*trace.threads[0], LineQuery{{0}, 7, true}, 10).hits.size(), std::size_t(1));
      QCOMPARE(executionStart(*trace.threads[0], 2), EntryIndex{0});
    }
  }
  void whatIsStoppedIsNotComplete() {
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(!countLines(*traceOf("call main main.c\n 1\n"), stop.get_token()).complete());
  }
};

QTEST_GUILESS_MAIN(LineCountsTest)
#include "tst_line_counts.moc"
