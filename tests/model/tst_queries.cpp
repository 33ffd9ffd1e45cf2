#include <QTest>

#include "model/queries.h"
#include "tests/builders/trace_text.h"

using namespace traceback::model;
using namespace traceback::tests;

namespace {

constexpr const char* kLoop = R"(
    call main main.c
      10
      11
      call visit visit.c
        30
      12
      11
      call visit visit.c
        30
        exception
      11
      12 x2
      signal 11
)";

FunctionQuery function(const Trace& trace, std::string_view name) {
  for (std::uint32_t i = 0; i < trace.functions.size(); ++i) {
    if (trace.functions[i].name == name) return {{FunctionId{i}}};
  }
  return {};
}

QList<EntryIndex> matches(const AllFound& found) {
  QList<EntryIndex> list;
  for (const Hit& hit : found.hits) list << hit.match;
  return list;
}

}  // namespace

class QueryTest : public QObject {
  Q_OBJECT

 private slots:
  void eventsAreFoundByKindAndAllOfThem() {
    const auto trace =
        traceOf("call main main.c\n 10\n gap damaged\n signal 11\n 11\n exception\n 12 fault\n");
    const ThreadTrace& thread = *trace->threads[0];
    QCOMPARE(matches(findAll(thread, GapQuery{}, 100)), (QList<EntryIndex>{2}));
    QCOMPARE(matches(findAll(thread, AnyEventQuery{}, 100)), (QList<EntryIndex>{2, 3, 5, 6}));
  }
  void theNextAndPreviousExecutionOfALineAreFound() {
    const auto trace = traceOf(kLoop, 3);
    const ThreadTrace& thread = *trace->threads[0];
    const LineQuery query{FileId{0}, 11};
    const EntryIndex first = lineAt(thread, 11, 1), second = lineAt(thread, 11, 2),
                     third = lineAt(thread, 11, 3);
    QCOMPARE(findNext(thread, first, query).hit, (Hit{second, second}));
    QCOMPARE(findNext(thread, second, query).hit, (Hit{third, third}));
    QCOMPARE(findNext(thread, third, query).hit, std::nullopt);
    QCOMPARE(findPrevious(thread, third, query).hit, (Hit{second, second}));
    QCOMPARE(findPrevious(thread, first, query).hit, std::nullopt);
    QCOMPARE(matches(findAll(thread, query, 100)), (QList<EntryIndex>{first, second, third}));
    // The same number in another file is another line.
    QVERIFY(findAll(thread, LineQuery{FileId{1}, 11}, 100).hits.empty());
  }

  void callsOfAFunctionLeadToItsFirstLine() {
    const auto trace = traceOf(kLoop, 3);
    const ThreadTrace& thread = *trace->threads[0];
    const Query query = function(*trace, "visit");
    const Hit first{callAt(*trace, thread, "visit", 1), lineAt(thread, 30, 1)};
    const Hit second{callAt(*trace, thread, "visit", 2), lineAt(thread, 30, 2)};
    QCOMPARE(findNext(thread, 0, query).hit, first);
    QCOMPARE(findNext(thread, *first.position, query).hit, second);
    // Where a cursor stands at the first line of a call, the previous call is another one.
    QCOMPARE(findPrevious(thread, *second.position, query).hit, first);
    QCOMPARE(findPrevious(thread, *second.position + 1, query).hit, second);
    QCOMPARE(findPrevious(thread, *first.position, query).hit, std::nullopt);
  }

  void aFunctionThatTheTraceBeginsInsideIsFound() {
    const auto trace = traceOf("in main main.c\n  sync\n  5\n  call f f.c\n    6\n");
    const ThreadTrace& thread = *trace->threads[0];
    QCOMPARE(matches(findAll(thread, function(*trace, "main"), 10)), (QList<EntryIndex>{1}));
    QCOMPARE(matches(findAll(thread, function(*trace, "f"), 10)),
             (QList<EntryIndex>{callAt(*trace, thread, "f")}));
  }

  void exceptionsAndSignalsAreFound() {
    const auto trace = traceOf(kLoop, 2);
    const ThreadTrace& thread = *trace->threads[0];
    const auto exception = findNext(thread, 0, ExceptionQuery{}).hit;
    QVERIFY(exception);
    QCOMPARE(thread.entry(exception->match).kind, EntryKind::Exception);
    QCOMPARE(findPrevious(thread, thread.entryCount(), ExceptionQuery{}).hit, exception);
    QCOMPARE(findPrevious(thread, exception->match, ExceptionQuery{}).hit, std::nullopt);
    QCOMPARE(thread.entry(findNext(thread, 0, SignalQuery{}).hit->match).detail, 11u);
  }

  void aLimitIsKeptAndSaid() {
    const auto trace = traceOf("call main main.c\n  7 x5000\n");
    const ThreadTrace& thread = *trace->threads[0];
    const auto some = findAll(thread, LineQuery{FileId{0}, 7}, 4000);
    QCOMPARE(some.hits.size(), std::size_t(4000));
    QVERIFY(some.more && !some.cancelled);
    const auto rest = findAll(thread, LineQuery{FileId{0}, 7}, 4000, some.hits.back().match + 1);
    QCOMPARE(rest.hits.size(), std::size_t(1000));
    QVERIFY(!rest.more);
    QVERIFY(!findAll(thread, LineQuery{FileId{0}, 7}, 5000).more);
  }

  void aStoppedSearchSaysSo() {
    const auto trace = traceOf(kLoop);
    const ThreadTrace& thread = *trace->threads[0];
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(findNext(thread, 0, ExceptionQuery{}, stop.get_token()).cancelled);
    QVERIFY(findPrevious(thread, 9, ExceptionQuery{}, stop.get_token()).cancelled);
    QVERIFY(findAll(thread, ExceptionQuery{}, 5, 0, stop.get_token()).cancelled);
    QVERIFY(!linesOfCall(thread, wholeTrace(thread), 0, 100, stop.get_token()).complete);
  }

  void linesOfACallAreCountedWithoutThoseItCalled() {
    const auto trace = traceOf(kLoop, 3);
    const ThreadTrace& thread = *trace->threads[0];
    const EntryIndex here = lineAt(thread, 12, 1);
    const auto found = linesOfCall(thread, activeCalls(thread, here).front(), here);
    QVERIFY(found.complete);
    const std::vector<LineHits> expected{
        {FileId{0}, 10, 1, lineAt(thread, 10)}, {FileId{0}, 11, 3, here + 1}, {FileId{0}, 12, 3, here}};
    QCOMPARE(found.lines, expected);
  }

  void aLineThatGoesOnAfterItsCallIsCountedOnce() {
    const auto trace = traceOf("call main main.c\n  1\n  call f f.c\n    9\n  1\n");
    std::vector<Entry> entries = trace->threads[0]->entries(0, 100);
    Entry& rest = entries.back();
    rest.address = {rest.address.value + 4};
    rest.last = rest.address;
    const auto onwards = threadOf(entries, 4);
    QCOMPARE(linesOfCall(*onwards, activeCalls(*onwards, 1).front(), 0).lines.front().count,
             std::uint64_t(1));
    // Back at the same address it runs once more.
    QCOMPARE(linesOfCall(*trace->threads[0], activeCalls(*onwards, 1).front(), 0).lines.front().count,
             std::uint64_t(2));
  }

  void longCallsAreSkippedNotRead() {
    const auto trace = traceOf("call main main.c\n  1\n  call f f.c\n    9 x60000\n  2\n", 1000);
    const ThreadTrace& thread = *trace->threads[0];
    const auto found = linesOfCall(thread, activeCalls(thread, 1).front(), 0, 10'000);
    QVERIFY(found.complete);
    QCOMPARE(found.lines.size(), std::size_t(2));
    QVERIFY(!linesOfCall(thread, activeCalls(thread, 5).front(), 0, 10'000).complete);
  }
};

QTEST_APPLESS_MAIN(QueryTest)
#include "tst_queries.moc"
