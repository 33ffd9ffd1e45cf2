// Executions of lines: whoever counts or finds them is of one mind.
#include <QTest>

#include "model/executions.h"
#include "model/line_counts.h"
#include "model/queries.h"
#include "tests/builders/trace_text.h"

using namespace traceback::model;
using namespace traceback::tests;

namespace {

QList<EntryIndex> matches(const AllFound& found) {
  QList<EntryIndex> list;
  for (const Hit& hit : found.hits) list << hit.match;
  return list;
}

Entry entryOf(EntryKind kind, std::int32_t depth, std::uint32_t line, std::uint64_t address) {
  Entry entry;
  entry.kind = kind;
  entry.depth = depth;
  entry.module = {0};
  entry.file = {0};
  entry.line = line;
  entry.address = entry.last = {address};
  return entry;
}

// An inlined function of line 99, called from that one.
void addInlined(std::vector<Entry>& entries, std::uint32_t line, std::uint64_t address,
                std::uint16_t flags = kEntryInlined) {
  entries.push_back(entryOf(EntryKind::Call, 1, line, address));
  entries.back().flags = flags;
  entries.push_back(entryOf(EntryKind::Line, 1, 99, address));
  entries.push_back(entryOf(EntryKind::Return, 1, 0, address));
}

// Of line 7, in the outermost call of all.
void compareExecutions(std::vector<Entry> entries, const QList<EntryIndex>& begins) {
  Trace trace;
  trace.threads.push_back(threadOf(std::move(entries), 3));
  const ThreadTrace& thread = *trace.threads[0];
  QCOMPARE(matches(findAll(thread, LineQuery{FileId{0}, 7, true}, 100)), begins);
  QCOMPARE(countLines(trace).of(FileId{0}, 7), static_cast<std::uint64_t>(begins.size()));
  std::uint64_t ofCall = 0;
  for (const LineHits& hits : linesOfCall(thread, activeCalls(thread, 0).front(), 0).lines)
    if (hits.line == 7) ofCall = hits.count;
  QCOMPARE(ofCall, static_cast<std::uint64_t>(begins.size()));
}

}  // namespace

class ExecutionsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aLineThatGoesOnAfterACallIsOneExecution() {
    std::vector<Entry> entries;
    const auto add = [&entries](EntryKind kind, std::int32_t depth, std::uint32_t line,
                                std::uint64_t address) {
      entries.push_back(entryOf(kind, depth, line, address));
    };
    for (int round = 0; round < 2; ++round) {
      add(EntryKind::Line, 0, 7, 0x100);
      add(EntryKind::Call, 1, 0, 0x200);
      add(EntryKind::Line, 1, 9, 0x200);
      add(EntryKind::Return, 1, 0, 0x200);
      add(EntryKind::Line, 0, 7, 0x104);
    }
    const auto thread = threadOf(entries, 3);
    QCOMPARE(matches(findAll(*thread, LineQuery{FileId{0}, 7}, 100)), (QList<EntryIndex>{0, 4, 5, 9}));
    QCOMPARE(matches(findAll(*thread, LineQuery{FileId{0}, 7, true}, 100)), (QList<EntryIndex>{0, 5}));
    QCOMPARE(executionStart(*thread, 9), EntryIndex(5));
    QCOMPARE(executionStart(*thread, 4), EntryIndex(0));
    QCOMPARE(executionStart(*thread, 2), EntryIndex(2));
    QCOMPARE(matches(findAll(*thread, AddressQuery{ModuleId{0}, VirtAddr{0x104}}, 100)),
             (QList<EntryIndex>{4, 9}));
  }
  void aLineThatGoesOnAfterAnUntracedCallIsOneExecution() {
    std::vector<Entry> entries(5);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      entries[i].module = {0};
      entries[i].file = {0};
      entries[i].line = 7;
      entries[i].address = entries[i].last = {0x100 + 4 * (i % 2)};
      entries[i].flags = i % 2 == 0 ? kEntryUntracedCall : 0;
    }
    Trace trace;
    trace.threads.push_back(threadOf(entries, 2));
    const ThreadTrace& thread = *trace.threads[0];
    QCOMPARE(matches(findAll(thread, LineQuery{FileId{0}, 7, true}, 100)), (QList<EntryIndex>{0, 2, 4}));
    QCOMPARE(countLines(trace).of(FileId{0}, 7), 3U);
    QCOMPARE(linesOfCall(thread, activeCalls(thread, 0).front(), 0).lines.front().count, 3U);
  }
  void aLineAllOfWhoseCodeIsInlinedRunsByItsCall() {
    std::vector<Entry> entries{entryOf(EntryKind::Line, 0, 6, 0x100)};
    addInlined(entries, 7, 0x104);
    entries.push_back(entryOf(EntryKind::Line, 0, 8, 0x110));
    compareExecutions(entries, {1});
  }
  void severalInlinedCallsOfALineAreOneExecution() {
    std::vector<Entry> entries{entryOf(EntryKind::Line, 0, 6, 0x100)};
    addInlined(entries, 7, 0x104);
    addInlined(entries, 7, 0x108);
    entries.push_back(entryOf(EntryKind::Line, 0, 7, 0x10c));
    compareExecutions(entries, {1});
    const auto thread = threadOf(entries, 3);
    QCOMPARE(executionStart(*thread, 7), EntryIndex{1});
  }
  void aLineGoesOnWithWhatItInlines() {
    std::vector<Entry> entries{entryOf(EntryKind::Line, 0, 7, 0x100)};
    addInlined(entries, 7, 0x104);
    compareExecutions(entries, {0});
  }
  void eachRoundOfALoopIsAnExecution() {
    std::vector<Entry> entries{entryOf(EntryKind::Line, 0, 6, 0x100)};
    for (int round = 0; round < 3; ++round) addInlined(entries, 7, 0x104);
    compareExecutions(entries, {1, 4, 7});
  }
  void whatGoesOnWithAnInlinedCallRunsNoLine() {
    std::vector<Entry> entries{entryOf(EntryKind::Line, 0, 6, 0x100)};
    addInlined(entries, 7, 0x104);
    entries.push_back(entryOf(EntryKind::Line, 0, 8, 0x108));
    addInlined(entries, 7, 0x10c, kEntryInlined | kEntryResumed);
    compareExecutions(entries, {1});
  }
  void whatAnotherCallRanIsNotGoneOnWith() {
    std::vector<Entry> entries{entryOf(EntryKind::Line, 0, 6, 0x100)};
    for (const std::uint64_t address : {0x200, 0x204}) {
      entries.push_back(entryOf(EntryKind::Call, 1, 0, 0x200));
      entries.push_back(entryOf(EntryKind::Line, 1, 7, address));
      entries.push_back(entryOf(EntryKind::Return, 1, 0, 0x200));
    }
    const auto thread = threadOf(entries, 3);
    QCOMPARE(matches(findAll(*thread, LineQuery{FileId{0}, 7, true}, 100)), (QList<EntryIndex>{2, 5}));
  }
};

QTEST_GUILESS_MAIN(ExecutionsTest)
#include "tst_executions.moc"
