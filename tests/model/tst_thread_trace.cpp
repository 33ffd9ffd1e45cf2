// ThreadTrace's chunks and index, against a walk over all entries.
#include <QTest>
#include <atomic>
#include <thread>

#include "model/stepping.h"
#include "tests/builders/trace_text.h"
#include "tests/model/random_trace.h"

using namespace traceback::model;
using namespace traceback::tests;

namespace {

bool same(const Entry& a, const Entry& b) {
  return a.kind == b.kind && a.depth == b.depth && a.address == b.address && a.line == b.line;
}

using Depth = std::int32_t (*)(const Entry&);
std::int32_t lineDepth(const Entry& entry) { return isSteppable(entry.kind) ? entry.depth : INT32_MAX; }

std::optional<EntryIndex> walkOn(const std::vector<Entry>& all, EntryIndex from, std::int32_t depth,
                                 Depth of) {
  for (EntryIndex at = from + 1; at < all.size(); ++at) {
    if (of(all[at]) <= depth) return at;
  }
  return {};
}

std::optional<EntryIndex> walkBack(const std::vector<Entry>& all, EntryIndex from, std::int32_t depth,
                                   Depth of) {
  for (EntryIndex at = from; at-- > 0;) {
    if (of(all[at]) <= depth) return at;
  }
  return {};
}

// Counts what is asked of it.
class CountingSource : public MemoryEntrySource {
 public:
  using MemoryEntrySource::MemoryEntrySource;
  ExpandedChunk expand(std::size_t chunk) const override {
    ++expansions;
    return MemoryEntrySource::expand(chunk);
  }
  mutable std::atomic<int> expansions = 0;
};

// Promises more than it has.
class ShrunkSource : public EntrySource {
 public:
  std::size_t chunkCount() const override { return 1; }
  ExpandedChunk expand(std::size_t) const override { return {.entries = std::vector<Entry>(3)}; }
};

}  // namespace

class ThreadTraceTest : public QObject {
  Q_OBJECT

 private slots:
  void threadsMayShareACache() {
    const auto all = randomEntries(1, 60, Shape::WellFormed);
    const auto other = randomEntries(2, 60, Shape::WellFormed);
    const auto cache = std::make_shared<ChunkCache>(4);
    const auto sharing = [&](const std::vector<Entry>& entries) {
      auto source = std::make_shared<CountingSource>(entries, 10);
      auto summaries = source->summaries();
      source->expansions = 0;  // those of the summaries
      return std::pair(
          source, std::make_unique<ThreadTrace>(ThreadTrace::Info{}, source, std::move(summaries), cache));
    };
    const auto [firstSource, first] = sharing(all);
    auto [secondSource, second] = sharing(other);
    for (int i = 0; i < 3; ++i) {
      for (const EntryIndex at : {0, 15}) {
        QVERIFY(same(first->entry(at), all[at]));
        QVERIFY(same(second->entry(at), other[at]));
      }
    }
    QCOMPARE(firstSource->expansions.load(), 2);
    QCOMPARE(secondSource->expansions.load(), 2);
    second->entry(25);  // a fifth chunk: the one used longest ago goes
    first->entry(0);
    QCOMPARE(firstSource->expansions.load(), 3);
    // Another trace in the place of one that is gone finds nothing of that one's.
    second.reset();
    const auto [thirdSource, third] = sharing(all);
    QVERIFY(same(third->entry(15), all[15]));
    QCOMPARE(thirdSource->expansions.load(), 1);
  }

  void searchesFindWhatAWalkFinds_data() {
    QTest::addColumn<int>("shape");
    QTest::addColumn<std::size_t>("chunkSize");
    for (const std::size_t size : {1, 2, 3, 7, 64, 1000}) {
      QTest::addRow("well formed, chunks of %zu", size) << static_cast<int>(Shape::WellFormed) << size;
      QTest::addRow("wild, chunks of %zu", size) << static_cast<int>(Shape::Wild) << size;
    }
  }
  void searchesFindWhatAWalkFinds() {
    QFETCH(int, shape);
    QFETCH(std::size_t, chunkSize);
    for (const std::uint32_t seed : {1u, 2u, 3u}) {
      const auto all = randomEntries(seed, 300, static_cast<Shape>(shape));
      const auto thread = threadOf(all, chunkSize);
      QCOMPARE(thread->entryCount(), EntryIndex(300));
      for (EntryIndex at = 0; at < all.size(); ++at) {
        QVERIFY(same(thread->entry(at), all[at]));
        const EntryIndex chunkStart = thread->chunks()[thread->chunkOf(at)].firstEntry;
        QVERIFY(chunkStart <= at && at < chunkStart + chunkSize);
        for (const std::int32_t depth : {INT32_MIN, -1, 0, 1, 2, 4, INT32_MAX}) {
          const std::int32_t least = std::min(depth, INT32_MAX - 1);
          QCOMPARE(thread->nextAtMost(at, depth), walkOn(all, at, least, lineDepth));
          QCOMPARE(thread->previousAtMost(at, depth), walkBack(all, at, least, lineDepth));
          QCOMPARE(thread->nextEdge(at, depth), walkOn(all, at, least, edgeDepth));
          QCOMPARE(thread->previousEdge(at, depth), walkBack(all, at, least, edgeDepth));
        }
        const std::int32_t here = all[at].depth;
        QCOMPARE(step(*thread, at, Step::Into), walkOn(all, at, INT32_MAX - 1, lineDepth));
        QCOMPARE(step(*thread, at, Step::Over), walkOn(all, at, here, lineDepth));
        QCOMPARE(step(*thread, at, Step::Out), walkOn(all, at, here - 1, lineDepth));
        QCOMPARE(step(*thread, at, Step::Back), walkBack(all, at, INT32_MAX - 1, lineDepth));
        QCOMPARE(step(*thread, at, Step::BackOver), walkBack(all, at, here, lineDepth));
        QCOMPARE(step(*thread, at, Step::BackOut), walkBack(all, at, here - 1, lineDepth));
      }
    }
  }

  void rangesAreReadAcrossChunks() {
    const auto all = randomEntries(4, 50, Shape::WellFormed);
    const auto thread = threadOf(all, 7);
    for (EntryIndex first = 0; first <= 50; ++first) {
      for (const std::size_t count : {0, 1, 8, 1000}) {
        const auto part = thread->entries(first, count);
        QCOMPARE(part.size(), std::min<std::size_t>(count, 50 - first));
        for (std::size_t i = 0; i < part.size(); ++i) QVERIFY(same(part[i], all[first + i]));
      }
    }
  }

  void aSearchExpandsAtMostTwoChunks() {
    // A long way at depth 1 between two lines at depth 0.
    std::vector<Entry> all(100'000);
    for (Entry& entry : all) entry.depth = 1;
    all.front().depth = all.back().depth = 0;
    const auto source = std::make_shared<const CountingSource>(all, 100);
    const ThreadTrace thread({}, source, source->summaries());
    source->expansions = 0;
    QCOMPARE(thread.nextAtMost(0, 0), std::optional<EntryIndex>(99'999));
    QCOMPARE(thread.previousAtMost(99'999, 0), std::optional<EntryIndex>(0));
    QVERIFY(source->expansions <= 2);
  }

  void whatIsLookedAtAgainIsNotExpandedAgain() {
    const auto source =
        std::make_shared<const CountingSource>(randomEntries(5, 1000, Shape::WellFormed), 100);
    const ThreadTrace thread({}, source, source->summaries());
    source->expansions = 0;
    for (int i = 0; i < 50; ++i) thread.entry(static_cast<EntryIndex>(i % 4) * 100);
    QCOMPARE(source->expansions.load(), 4);
  }

  void entriesBeyondTheEndAreGaps() {
    const auto thread = threadOf(randomEntries(6, 10, Shape::WellFormed), 4);
    QCOMPARE(thread->entry(10).kind, EntryKind::Gap);
    QCOMPARE(thread->entry(UINT64_MAX).kind, EntryKind::Gap);
    QCOMPARE(thread->nextAtMost(UINT64_MAX, 5), std::nullopt);
    QVERIFY(thread->previousAtMost(UINT64_MAX, 100).has_value());
    QVERIFY(thread->entries(10, 5).empty());
  }

  void aSourceThatGivesLessThanItPromisedLeavesGaps() {
    const ThreadTrace thread({}, std::make_shared<const ShrunkSource>(),
                             {{.firstEntry = 0, .entryCount = 5, .leastLineDepth = 0, .leastEdgeDepth = 0}});
    QCOMPARE(thread.entry(2).kind, EntryKind::Line);
    QCOMPARE(thread.entry(4).kind, EntryKind::Gap);
    QCOMPARE(thread.entries(0, 10).size(), std::size_t(5));
  }

  void theCodeOfALineThatSkipsIsWhatRanOfIt() {
    class Source : public EntrySource {
     public:
      std::size_t chunkCount() const override { return 2; }
      ExpandedChunk expand(std::size_t) const override {
        Entry whole, skips, call;
        whole.address = {0x10};
        whole.last = {0x1f};
        skips.address = {0x20};
        skips.last = {0x3f};
        skips.flags = kEntrySkips;
        call.kind = EntryKind::Call;
        call.address = {0x20};
        return {.entries = {whole, skips, call},
                .pieces = {{.entry = 1, .code = {{0x20}, {0x27}}}, {.entry = 1, .code = {{0x38}, {0x3f}}}}};
      }
    };
    std::vector<ChunkSummary> chunks;
    for (EntryIndex i = 0; i < 2; ++i) chunks.push_back(summarise(3 * i, Source().expand(i).entries));
    const ThreadTrace thread({}, std::make_shared<const Source>(), chunks);
    using Code = std::vector<CodeRange>;
    QCOMPARE(thread.code(0), (Code{{{0x10}, {0x1f}}}));
    for (const EntryIndex skips : {1, 4}) {
      QCOMPARE(thread.code(skips), (Code{{{0x20}, {0x27}}, {{0x38}, {0x3f}}}));
      const auto ran = [&](std::uint64_t at) { return thread.ranIn(skips, thread.entry(skips), {at}); };
      QVERIFY(ran(0x20) && ran(0x27) && ran(0x38) && ran(0x3f));
      QVERIFY(!ran(0x1f) && !ran(0x28) && !ran(0x37) && !ran(0x40));
    }
    QCOMPARE(thread.code(2), Code());
    QCOMPARE(thread.code(6), Code());
  }

  void emptyChunksAreSteppedAcross() {
    class Source : public EntrySource {
     public:
      std::size_t chunkCount() const override { return 4; }
      ExpandedChunk expand(std::size_t chunk) const override {
        return {.entries = std::vector<Entry>(chunk % 2 ? 2 : 0)};
      }
    };
    std::vector<ChunkSummary> chunks(4);
    for (std::size_t i = 0; i < 4; ++i) {
      chunks[i] = summarise(i < 2 ? 0 : 2, Source().expand(i).entries);
    }
    const ThreadTrace thread({}, std::make_shared<const Source>(), chunks);
    QCOMPARE(thread.entryCount(), EntryIndex(4));
    for (EntryIndex at = 0; at < 4; ++at) QCOMPARE(thread.entry(at).kind, EntryKind::Line);
    QCOMPARE(thread.nextAtMost(1, 0), std::optional<EntryIndex>(2));
    QCOMPARE(thread.previousAtMost(2, 0), std::optional<EntryIndex>(1));
  }

  void manyThreadsMayLookAtOnce() {
    const auto all = randomEntries(7, 2000, Shape::WellFormed);
    const auto thread = threadOf(all, 16);
    std::atomic<int> wrong = 0;
    {
      std::vector<std::jthread> readers;
      for (std::size_t start = 0; start < 4; ++start) {
        readers.emplace_back([&, start] {
          for (std::size_t i = 0; i < 4000; ++i) {
            const std::size_t at = (start * 500 + i * 7) % all.size();
            if (!same(thread->entry(at), all[at])) ++wrong;
          }
        });
      }
    }
    QCOMPARE(wrong.load(), 0);
  }

  void timeStampsBecomeWallClockByTheClockPairs() {
    Trace trace;
    QCOMPARE(trace.wallClock({1500}), std::nullopt);
    trace.clockStart = {{1000}, {1'700'000'000'000'000'000}};
    QCOMPARE(trace.wallClock({1500}), std::nullopt);
    trace.clockEnd = {{3000}, {1'700'000'000'000'001'000}};
    QCOMPARE(trace.wallClock({1500}), std::optional<Nanoseconds>({1'700'000'000'000'000'250}));
    QCOMPARE(trace.wallClock({1000}), std::optional<Nanoseconds>({1'700'000'000'000'000'000}));
    QCOMPARE(trace.wallClock({500}), std::optional<Nanoseconds>({1'699'999'999'999'999'750}));
    QCOMPARE(trace.wallClock({0}), std::nullopt);  // no time stamp
    trace.clockEnd->ticks = {1000};
    QCOMPARE(trace.wallClock({1500}), std::nullopt);
  }

  void notesThatRecurAreCounted() {
    LoadReport report;
    report.add(Severity::DataLoss, "torn");
    report.add(Severity::Info, "torn");
    report.add(Severity::DataLoss, "torn", 2);
    QCOMPARE(report.notes().size(), std::size_t(2));
    QCOMPARE(report.notes()[0], (LoadNote{Severity::DataLoss, "torn", 3}));
  }
};

QTEST_APPLESS_MAIN(ThreadTraceTest)
#include "tst_thread_trace.moc"
