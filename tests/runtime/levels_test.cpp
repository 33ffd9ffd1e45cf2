// The levels of signal handlers (runtime/inject/signals/levels.h) in this process, with memory, time and
// signals handed in: whatever interrupts what, and however it is left, each writes to its own segment, and
// what was interrupted goes on where it was.
//
// TRACEBACK_SEED chooses what happens.
#include <QTest>
#include <csignal>
#include <random>
#include <thread>

#include "handed_in.h"
#include "runtime/inject/rings/rings.h"

using namespace traceback;
using namespace traceback::testing;
using format::RecordType;

namespace {

constexpr std::uint32_t kCode = format::kFirstCode;

std::uint32_t codeOf(unsigned number) { return kCode + (number % 1000) * 1024; }

unsigned countOf(const Segment& segment, RecordType type, int detail = -1) {
  unsigned count = 0;
  for (const Record& record : segment.records)
    count += !record.isDag && record.type == type && (detail < 0 || record.detail == detail);
  return count;
}

RingDump onlyRing() {
  const auto files = ringFiles();
  return files.size() == 1 ? files.begin()->second : RingDump{};
}

bool isWhole(const RingDump& ring) {
  return std::ranges::all_of(ring.segments, [](const Segment& segment) { return segment.damaged == 0; });
}

// A thread that is interrupted again and again, as deep as can be, while it and its handlers run traced code;
// handlers return, or are left by a jump to any of those below. True if all is as it should be at each step.
class Life {
 public:
  explicit Life(unsigned seed) : m_random(seed) {}

  bool live(unsigned steps) {
    head(codeOf(0), m_top);
    bool good = isSlotRight();
    for (unsigned i = 0; i < steps && good; ++i) {
      step();
      good = isSlotRight();
    }
    while (!m_handlers.empty()) leaveOne();
    head(codeOf(1), m_top);
    return good && isSlotRight() && begun >= returned;
  }
  unsigned begun = 0, returned = 0, left = 0;

 private:
  std::uint64_t stackPointer() const { return m_handlers.empty() ? m_top : m_handlers.back().within(); }

  void step() {
    switch (m_random() % 8) {
      case 0:
      case 1:
        if (m_handlers.size() >= 9) return;
        m_handlers.emplace_back(SIGUSR1, static_cast<unsigned>(m_handlers.size()));
        ++begun;
        break;
      case 2:
        if (!m_handlers.empty()) leaveOne();
        break;
      case 3:
        if (m_handlers.empty()) return;
        if (m_random() % 2 == 0) inject::expectJump();
        m_handlers.erase(m_handlers.begin() + static_cast<std::ptrdiff_t>(m_random() % m_handlers.size()),
                         m_handlers.end());
        ++left;
        // Known from the next head that comes to the runtime on; here at once.
        inject::leaveAbandonedLevels(inject::thread(), stackPointer());
        break;
      default:
        for (unsigned n = static_cast<unsigned>(m_random() % 50); n > 0; --n)
          head(codeOf(static_cast<unsigned>(m_random())), stackPointer());
    }
  }
  void leaveOne() {
    m_handlers.back().returns();
    m_handlers.pop_back();
    ++returned;
  }
  // One level for each handler, as far as they are counted; beyond the segments nothing is kept.
  bool isSlotRight() const {
    const auto level = static_cast<unsigned>(std::min<std::size_t>(m_handlers.size(), inject::kMaxLevel));
    inject::Thread& t = inject::thread();
    return t.level == level && inject::slot() == inject::segmentOf(t, level);
  }

  std::mt19937 m_random;
  std::vector<Handler> m_handlers;
  std::uint64_t m_top = ~std::uint64_t{0};
};

}  // namespace

class LevelsTest : public QObject {
  Q_OBJECT
 private slots:
  void init() { beginProcess(); }

  void aHandlerWritesToASegmentOfItsOwn() {
    inThread([] {
      QVERIFY(inject::isThreadSlotInPlace(inject::threadSlot));
      head(codeOf(1));
      head(codeOf(2));
      const auto before = *inject::slot();
      Handler handler(SIGUSR1, 0);
      QVERIFY(inject::slot() != nullptr && inject::slot()->base != before.base);
      head(codeOf(3), handler.within());
      handler.returns();
      QVERIFY(inject::slot()->base == before.base && inject::slot()->cursor == before.cursor);
      head(codeOf(4));
    });
    const RingDump ring = onlyRing();
    QVERIFY(isWhole(ring));
    const std::vector<std::uint32_t> outside{codeOf(1), codeOf(2), codeOf(4)}, within{codeOf(3)};
    QCOMPARE(ring.segments[0].dagCodes(), outside);
    QCOMPARE(ring.segments[1].dagCodes(), within);
    QCOMPARE(countOf(ring.segments[1], RecordType::SignalBegin), 1u);
    QCOMPARE(countOf(ring.segments[1], RecordType::SignalEnd), 1u);
    QCOMPARE(countOf(ring.segments[0], RecordType::ThreadEnd), 1u);
  }

  void moreLevelsThanSegmentsAreAGap() {
    inThread([] {
      head(codeOf(1));
      std::vector<Handler> handlers;
      for (unsigned i = 0; i < inject::kMaxLevel + 2; ++i) {
        handlers.emplace_back(SIGUSR1, i);
        head(codeOf(10 + i), handlers.back().within());
      }
      for (; !handlers.empty(); handlers.pop_back()) handlers.back().returns();
      head(codeOf(2));
    });
    const RingDump ring = onlyRing();
    QVERIFY(isWhole(ring));
    for (unsigned i = 1; i < format::kMaxSegments; ++i) {
      QCOMPARE(ring.segments[i].dagCodes(), std::vector<std::uint32_t>{codeOf(9 + i)});
      QCOMPARE(countOf(ring.segments[i], RecordType::SignalEnd), 1u);
    }
    constexpr auto kTooDeep = static_cast<int>(format::GapReason::NestedTooDeep);
    QCOMPARE(countOf(ring.segments[format::kMaxSegments - 1], RecordType::Gap, kTooDeep), 1u);
  }

  void aHandlerThatIsLeftIsNoticedAtAHead() {
    inThread([] {
      head(codeOf(1));
      Handler outer(SIGUSR1, 0);
      head(codeOf(2), outer.within());
      Handler inner(SIGUSR2, 1);
      head(codeOf(3), inner.within());
      // A jump into the outer one, and out of that.
      inject::expectJump();
      head(codeOf(4), outer.within());
      QCOMPARE(inject::thread().level, 1u);
      inject::expectJump();
      head(codeOf(5), outer.outside());
      QCOMPARE(inject::thread().level, 0u);
    });
    const RingDump ring = onlyRing();
    QVERIFY(isWhole(ring));
    const std::vector<std::uint32_t> first{codeOf(1), codeOf(5)}, second{codeOf(2), codeOf(4)};
    QCOMPARE(ring.segments[0].dagCodes(), first);
    QCOMPARE(ring.segments[1].dagCodes(), second);
    QCOMPARE(countOf(ring.segments[0], RecordType::Resumption, 1), 1u);
    QCOMPARE(countOf(ring.segments[1], RecordType::Resumption, 2), 1u);
  }

  void aChildForkedInAHandlerGoesOnBehindAGap() {
    inThread([] {
      head(codeOf(1));
      Handler handler(SIGUSR1, 0);
      head(codeOf(2), handler.within());
      forkHere();
      head(codeOf(3), handler.within());  // on probation: it gets a ring of its own
      handler.returns();
      QVERIFY(inject::slot() == &inject::traceback_probation);
      head(codeOf(4));
    });
    const RingDump ring = onlyRing();
    QVERIFY(isWhole(ring));
    const std::vector<std::uint32_t> child{codeOf(3), codeOf(4)};
    QCOMPARE(ring.segments[0].dagCodes(), child);
    QCOMPARE(countOf(ring.segments[0], RecordType::Gap, static_cast<int>(format::GapReason::Forked)), 1u);
  }

  void whateverHappensEachLevelKeepsItsPlace() {
    const unsigned seed = qEnvironmentVariable("TRACEBACK_SEED", "1").toUInt();
    for (unsigned run = 0; run < 20; ++run) {
      beginProcess();
      Life life(seed * 1000 + run);
      bool good = false;
      inThread([&] { good = life.live(4000); });
      QVERIFY2(good, qPrintable(QString("seed %1, run %2").arg(seed).arg(run)));
      QVERIFY(life.begun > 100 && life.returned > 10 && life.left > 10);
      QVERIFY(isWhole(onlyRing()));
    }
  }

  void threadsHaveNothingToDoWithEachOther() {
    std::vector<std::unique_ptr<Life>> lives;
    for (unsigned i = 0; i < 6; ++i) lives.push_back(std::make_unique<Life>(100 + i));
    std::atomic<unsigned> good = 0;
    std::vector<std::thread> threads;
    for (const auto& life : lives) threads.push_back(startThread([&] { good += life->live(3000); }));
    for (std::thread& thread : threads) thread.join();
    QCOMPARE(good.load(), 6u);
    const auto files = ringFiles();
    QCOMPARE(files.size(), 6u);
    for (const auto& [name, ring] : files) QVERIFY(isWhole(ring));
  }
};

QTEST_GUILESS_MAIN(LevelsTest)
#include "levels_test.moc"
