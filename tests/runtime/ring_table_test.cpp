// The table of rings (runtime/inject/rings/ring_table.h) in this process, with memory handed in, or none: who
// gets which, whatever begins and ends at the same time.
#include <QTest>
#include <barrier>
#include <latch>
#include <set>
#include <thread>

#include "handed_in.h"
#include "runtime/inject/rings/ring_memory.h"
#include "runtime/inject/rings/ring_table.h"
#include "runtime/inject/rings/rings.h"

using namespace traceback;
using namespace traceback::testing;
using format::RecordType;

namespace {

constexpr std::uint32_t kCode = format::kFirstCode;

std::vector<Record> recordsOf(const Segment& segment, RecordType type) {
  std::vector<Record> found;
  std::ranges::copy_if(segment.records, std::back_inserter(found),
                       [type](const Record& record) { return !record.isDag && record.type == type; });
  return found;
}

bool hasRing() { return inject::thread().state == inject::ThreadState::Traced; }

// Of one life of a thread: whatever is in a ring, it is that thread's alone, which wrote its number.
void live(std::uint32_t number, unsigned heads) {
  for (unsigned i = 0; i < heads; ++i) head(kCode + (1 + number) * 1024);
}

// Null if it is one thread's, from its beginning on.
const char* wrongIn(const RingDump& ring) {
  const Segment& segment = ring.segments[0];
  if (segment.damaged != 0) return "is damaged";
  const auto codes = segment.dagCodes();
  if (std::set(codes.begin(), codes.end()).size() > 1) return "has two threads in it";
  if (segment.ordinal != 0) return nullptr;
  const auto begun = recordsOf(segment, RecordType::ThreadStart), gaps = recordsOf(segment, RecordType::Gap);
  if (begun.size() + gaps.size() != 1) return "does not begin once";
  return nullptr;
}

}  // namespace

class RingTableTest : public QObject {
  Q_OBJECT
 private slots:
  void eachThreadHasARingUntilItEnds() {
    beginProcess();
    std::latch begun(3), over(1);
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < 3; ++i)
      threads.push_back(startThread([&, i] {
        live(i, 10);
        begun.count_down();
        over.wait();
      }));
    begun.wait();
    QCOMPARE(ringFiles().size(), 3u);
    for (const auto& [name, ring] : ringFiles())
      QCOMPARE(ring.header.state, static_cast<std::uint32_t>(format::RingState::InUse));
    over.count_down();
    for (std::thread& thread : threads) thread.join();
    QCOMPARE(ringFiles().size(), 3u);
    std::set<std::uint32_t> tids;
    for (const auto& [name, ring] : ringFiles()) {
      QCOMPARE(wrongIn(ring), nullptr);
      QCOMPARE(ring.header.state, static_cast<std::uint32_t>(format::RingState::ThreadEnded));
      QCOMPARE(recordsOf(ring.segments[0], RecordType::ThreadEnd).size(), 1u);
      tids.insert(ring.header.tid);
    }
    QCOMPARE(tids.size(), 3u);
    QCOMPARE(processFile().ringCount, 3u);
  }

  void ofThoseThatEndedTheOldestMakesRoom() {
    beginProcess();
    for (std::uint32_t i = 0; i < inject::kMaxEndedRings + 5; ++i) inThread([i] { live(i, 3); });
    const auto files = ringFiles();
    QCOMPARE(files.size(), std::size_t{inject::kMaxEndedRings});
    std::set<std::uint32_t> codes;
    for (const auto& [name, ring] : files) {
      QCOMPARE(wrongIn(ring), nullptr);
      for (const std::uint32_t code : ring.segments[0].dagCodes()) codes.insert(code);
    }
    // Nothing is left of the first five.
    QCOMPARE(codes.size(), std::size_t{inject::kMaxEndedRings});
    QCOMPARE(*codes.begin(), kCode + 6 * 1024);
  }

  void whatIsMappedIsTheNextOnesAsItIs() {
    beginProcess();
    for (std::uint32_t i = 0; i < inject::kMaxEndedRings; ++i) inThread([i] { live(i, 3); });
    QCOMPARE(mappedRings(), inject::kMaxEndedRings);
    for (std::uint32_t i = 0; i < 5; ++i) inThread([i] { live(i, 3); });
    QCOMPARE(mappedRings(), inject::kMaxEndedRings);
    for (const auto& [name, ring] : ringFiles())
      QVERIFY(name.starts_with(std::to_string(ring.header.tid) + "-"));
    unmapEndedRings();
    for (std::uint32_t i = 0; i < 5; ++i) inThread([i] { live(i, 3); });
    QCOMPARE(mappedRings(), inject::kMaxEndedRings + 5);
    QCOMPARE(ringFiles().size(), std::size_t{inject::kMaxEndedRings});
  }

  void whoFindsNoneRunsOnAndHasOneLater() {
    beginProcess(2);
    std::barrier step(4);
    std::atomic<unsigned> traced = 0, late = 0;
    std::vector<std::thread> threads;
    std::atomic<bool> mayEnd[3] = {};
    for (std::uint32_t i = 0; i < 3; ++i)
      threads.push_back(startThread([&, i] {
        step.arrive_and_wait();
        live(i, 10);
        const bool had = hasRing();
        traced += had;
        step.arrive_and_wait();
        if (had) {
          // The first of the two ends; the other waits for who comes late.
          static std::atomic<unsigned> turn;
          if (turn++ % 2 == 0) return;
          mayEnd[0].wait(false);
          return;
        }
        while (!hasRing()) live(i, 300);
        late += 1;
        live(i, 10);
        mayEnd[0] = true;
        mayEnd[0].notify_all();
      }));
    step.arrive_and_wait();
    step.arrive_and_wait();
    for (std::thread& thread : threads) thread.join();
    QCOMPARE(traced.load(), 2u);
    QCOMPARE(late.load(), 1u);
    QCOMPARE(processFile().ringsFailed, 1u);
    unsigned gaps = 0;
    for (const auto& [name, ring] : ringFiles()) {
      QCOMPARE(wrongIn(ring), nullptr);
      for (const Record& gap : recordsOf(ring.segments[0], RecordType::Gap))
        gaps += gap.detail == static_cast<std::uint16_t>(format::GapReason::NoRing);
    }
    QCOMPARE(gaps, 1u);
  }

  void withoutMemoryNothingIsLost() {
    beginProcess();
    inThread([] { live(1, 10); });
    const auto before = ringFiles().begin()->second.segments[0].dagCodes();
    setMemoryIsThere(false);
    inThread([] {
      live(2, 1000);
      QVERIFY(!hasRing());
    });
    QCOMPARE(ringFiles().size(), 1u);
    QCOMPARE(ringFiles().begin()->second.segments[0].dagCodes(), before);
    QCOMPARE(processFile().ringsFailed, 1u);
    setMemoryIsThere(true);
    inThread([] { live(3, 10); });
    QCOMPARE(ringFiles().size(), 2u);
  }

  void aRingIsAsLongAsThereIsMemoryFor() {
    beginProcess();
    inThread([] {
      live(1, 10);
      setMemoryIsThere(false);
      live(1, 5000);
    });
    const RingDump ring = ringFiles().begin()->second;
    QCOMPARE(ring.header.segments[0].subBufferCount, inject::kFirstSubBuffers);
    QCOMPARE(wrongIn(ring), nullptr);
    // One of its sub-buffers, and what there is of the other.
    QVERIFY(ring.segments[0].dagCodes().size() >= ring.header.segments[0].subBufferWords - 16);
    setMemoryIsThere(true);
    for (unsigned i = 0; i < inject::kMaxEndedRings; ++i) inThread([] { live(2, 40'000); });
    for (const auto& [name, other] : ringFiles()) {
      QCOMPARE(wrongIn(other), nullptr);
      QCOMPARE(other.header.segments[0].subBufferCount, 16u);
    }
  }

  void beforeAFilterRingsGetAllMemoryThatThereIs_data() {
    QTest::addColumn<bool>("isThere");
    QTest::addColumn<unsigned>("subBuffers");
    QTest::newRow("all") << true << 16u;
    QTest::newRow("none") << false << inject::kFirstSubBuffers;
  }
  void beforeAFilterRingsGetAllMemoryThatThereIs() {
    QFETCH(bool, isThere);
    QFETCH(unsigned, subBuffers);
    beginProcess();
    inThread([isThere] {
      live(1, 10);
      setMemoryIsThere(isThere);
      inject::reserveRings(true);
      beginFiltering();
      setMemoryIsThere(false);  // nobody can ask any more
      live(1, 40'000);
      QVERIFY(hasRing());
    });
    const auto files = ringFiles();
    const auto own = std::ranges::find_if(
        files, [](const auto& file) { return !file.second.segments[0].dagCodes().empty(); });
    QVERIFY(own != files.end());
    QCOMPARE(wrongIn(own->second), nullptr);
    QCOMPARE(own->second.header.segments[0].subBufferCount, subBuffers);
  }

  void manyThreadsComeAndGoAtOnce() {
    for (const unsigned most : {3u, 8u, 64u}) {
      beginProcess(most);
      constexpr unsigned kAtOnce = 12, kLives = 40;
      std::atomic<unsigned> traced = 0, over = 0;
      std::vector<std::thread> makers;
      for (unsigned i = 0; i < kAtOnce; ++i)
        makers.push_back(startThread([&, i] {
          for (unsigned k = 0; k < kLives; ++k)
            inThread([&, i, k] {
              live(i * kLives + k, 100 + 37 * (k % 5));
              traced += hasRing();
              over += 1;
            });
        }));
      for (std::thread& maker : makers) maker.join();
      QCOMPARE(over.load(), kAtOnce * kLives);
      QCOMPARE(processFile().ringCount, traced.load());
      QVERIFY(traced >= kLives);
      const auto files = ringFiles();
      QVERIFY(files.size() <= most + inject::kMaxEndedRings);
      for (const auto& [name, ring] : files)
        QVERIFY2(wrongIn(ring) == nullptr, wrongIn(ring) != nullptr ? wrongIn(ring) : "");
    }
  }

  // No lock then, for no signal may be blocked.
  void behindAFilterTheyAreClaimedWithoutALock() {
    beginProcess();
    inject::findTidInDescriptor();
    inThread([] { live(0, 1); });
    inject::reserveRings(true);
    beginFiltering();
    constexpr unsigned kAtOnce = 6, kLives = 50;
    std::atomic<unsigned> traced = 0;
    std::vector<std::thread> makers;
    for (unsigned i = 0; i < kAtOnce; ++i)
      makers.push_back(startThread([&, i] {
        for (unsigned k = 0; k < kLives; ++k)
          inThread([&, i, k] {
            live(1 + i * kLives + k, 50);
            traced += hasRing();
          });
      }));
    for (std::thread& maker : makers) maker.join();
    // There are more than are alive at any time.
    QCOMPARE(traced.load(), kAtOnce * kLives);
    for (const auto& [name, ring] : ringFiles())
      if (ring.header.magic == format::kRingMagic) QCOMPARE(wrongIn(ring), nullptr);
  }
};

QTEST_GUILESS_MAIN(RingTableTest)
#include "ring_table_test.moc"
