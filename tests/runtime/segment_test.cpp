// The state machine of a ring's segment (runtime/inject/rings/segment.h) in this process, with memory and
// time handed in: whatever is done to it, a reader finds all that was written, whole and in order, at every
// moment.
//
// TRACEBACK_SEED chooses what is done.
#include "runtime/inject/rings/segment.h"

#include <QTest>
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "ring_dump.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/ring_memory.h"

using namespace traceback;
using format::RecordType;
using format::Word;

namespace {

constinit std::atomic<std::uint64_t> now = 0;
constinit std::atomic<bool> memoryIsThere = true;

}  // namespace

std::uint64_t inject::timeStamp() { return ++now; }
bool inject::bringIn(Word*, std::uint32_t) { return memoryIsThere; }

namespace {

constexpr std::uint32_t kSubBufferWords = 192, kSubBuffers = 3;
constexpr std::size_t kWords = std::size_t{kSubBufferWords} * kSubBuffers;

// A record as it was asked for; but for the readings at the fronts of sub-buffers, which nobody asks for.
struct Written {
  bool isDag = false;
  std::uint32_t code = 0;
  RecordType type{};
  std::vector<std::uint64_t> values;
  bool operator==(const Written&) const = default;
};

// A thread with its segment, and what its probes do.
class Writer {
 public:
  explicit Writer(unsigned seed) : m_random(seed), m_memory(std::make_unique<Word[]>(kWords)) {
    // What another thread has left there.
    for (std::size_t i = 0; i < kWords; ++i)
      m_memory[i] = draw(50) == 0 ? format::kSentinelWord : format::dagRecord(draw(format::kEndCode));
    inject::startSegment(m_segment, m_memory.get(), kSubBufferWords, kSubBuffers, format::kRingHeaderSize);
  }

  // A head probe: calls the runtime where there is a sentinel behind the cursor, writes its record there and
  // steps the cursor. A signal may come in between, or it goes no further.
  void head(bool isAbandoned) {
    Word* cursor = inject::cursorOf(m_segment);
    if (cursor[1] == format::kSentinelWord) cursor = inject::cursorForHead(m_segment);
    if (draw(8) == 0) inject::callSoon(m_segment);
    m_isAbandoned = isAbandoned;
    if (isAbandoned && draw(2) == 0) return;
    const std::uint32_t code = format::kFirstCode + draw(1000) * 1024;
    cursor[1] = format::dagRecord(code);
    if (draw(8) == 0) inject::callSoon(m_segment);
    if (isAbandoned) return;
    m_segment.cursor += sizeof(Word);
    m_written.push_back({.isDag = true, .code = code, .type = {}, .values = {}});
  }
  void light() {
    if (m_written.empty() || !m_written.back().isDag) return;
    const std::uint32_t bit = 1U << draw(10);
    *inject::cursorOf(m_segment) |= bit;
    m_written.back().code |= bit;
  }
  void append() {
    Written record{.isDag = false, .code = 0, .type = RecordType::Sync, .values = {}};
    for (unsigned i = draw(5); i > 0; --i) record.values.push_back(m_random());
    inject::append(m_segment, record.type, 0, record.values.data(),
                   static_cast<unsigned>(record.values.size()));
    m_written.push_back(record);
    m_isAbandoned = false;
  }
  void act() {
    // Behind a head that is abandoned, by a jump out of a handler, the runtime writes before any probe does.
    const unsigned choice = m_isAbandoned ? 15 : draw(20);
    // Before it is done to its end, the step to another sub-buffer has stored the ordinal.
    if (m_isAbandoned && inject::atSubBufferEnd(m_segment) && draw(2) == 0) ++m_segment.ordinal;
    if (choice < 10) head(false);
    if (choice >= 10 && choice < 15) light();
    if (choice >= 15 && choice < 18) append();
    if (choice == 18) inject::callAtNextHead(m_segment);
    if (choice == 19) head(true);
  }

  // Heads that nobody waits for.
  void fill(unsigned heads) {
    std::fill_n(m_memory.get(), kSubBufferWords - 1, format::dagRecord(format::kFirstCode));
    for (; heads > 0; --heads)
      inject::writeHead(m_segment, inject::cursorForHead(m_segment), format::dagRecord(format::kFirstCode));
  }
  void stepOver(unsigned words) { m_segment.cursor += words * sizeof(Word); }
  // How many heads find the next sentinel, if a signal arrives in front of one, or where it has looked for
  // the sentinel, or written its record.
  unsigned headsUntilCalled(unsigned stage) {
    Word* const cursor = inject::cursorOf(m_segment);
    const bool isCalled = cursor[1] == format::kSentinelWord;
    if (isCalled) return 0;
    if (stage == 0) inject::callAtNextHead(m_segment);
    if (stage == 1) inject::callSoon(m_segment);
    if (stage != 0) cursor[1] = format::dagRecord(format::kFirstCode);
    if (stage == 2) inject::callSoon(m_segment);
    if (stage != 0) {
      if (cursor[1] != format::dagRecord(format::kFirstCode)) return 0;
      m_segment.cursor += sizeof(Word);
    }
    unsigned heads = stage == 0 ? 0 : 1;
    while (inject::cursorOf(m_segment)[1] != format::kSentinelWord) {
      m_segment.cursor += sizeof(Word);
      ++heads;
    }
    return heads + 1;
  }

  const format::SegmentHeader& segment() const { return m_segment; }
  std::vector<Word> wordsOf(std::uint32_t subBuffer) const {
    const Word* const front = m_memory.get() + std::size_t{subBuffer} * kSubBufferWords;
    return {front, front + kSubBufferWords};
  }
  const std::vector<Written>& written() const { return m_written; }
  // As whoever reads the file finds it.
  std::optional<testing::Segment> read() const {
    std::vector<std::uint8_t> bytes(format::kRingHeaderSize + kWords * sizeof(Word));
    format::RingHeader header{};
    header.magic = format::kRingMagic;
    header.version = format::kRingVersion;
    header.segmentCount = 1;
    header.segments[0] = m_segment;
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + format::kRingHeaderSize, m_memory.get(), kWords * sizeof(Word));
    const auto dump = testing::dumpRing(bytes);
    return dump ? std::optional(dump->segments[0]) : std::nullopt;
  }

 private:
  unsigned draw(unsigned below) { return static_cast<unsigned>(m_random() % below); }

  std::mt19937 m_random;
  std::unique_ptr<Word[]> m_memory;
  format::SegmentHeader m_segment{};
  std::vector<Written> m_written;
  bool m_isAbandoned = false;
};

// Without memory, from now on and as long as it lives.
class Shortage {
 public:
  Shortage() { memoryIsThere = false; }
  ~Shortage() { memoryIsThere = true; }
  Shortage(const Shortage&) = delete;
  Shortage& operator=(const Shortage&) = delete;
};

std::vector<Written> askedFor(const testing::Segment& segment) {
  std::vector<Written> all;
  for (const testing::Record& record : segment.records)
    if (record.isDag || record.type != RecordType::Timestamp)
      all.push_back(
          {.isDag = record.isDag, .code = record.code, .type = record.type, .values = record.values});
  return all;
}

}  // namespace

class SegmentTest : public QObject {
  Q_OBJECT
 private slots:
  void allThatWasWrittenLastIsThereAtEveryMoment_data() {
    QTest::addColumn<bool>("hasMemory");
    QTest::newRow("with memory for all of it") << true;
    QTest::newRow("with memory for as little as there may be") << false;
  }
  void allThatWasWrittenLastIsThereAtEveryMoment() {
    QFETCH(bool, hasMemory);
    std::optional<Shortage> shortage;
    if (!hasMemory) shortage.emplace();
    const unsigned subBuffers = hasMemory ? kSubBuffers : inject::kFirstSubBuffers;
    const unsigned seed = qEnvironmentVariable("TRACEBACK_SEED", "1").toUInt();
    for (unsigned run = 0; run < 20; ++run) {
      Writer writer(seed * 1000 + run);
      const std::vector<Word> last = writer.wordsOf(kSubBuffers - 1);
      std::uint64_t position = inject::positionOf(writer.segment());
      std::size_t fewest = kWords;
      for (unsigned i = 0; i < 1500; ++i) {
        writer.act();
        QVERIFY(inject::positionOf(writer.segment()) >= position);
        position = inject::positionOf(writer.segment());
        const auto segment = writer.read();
        QVERIFY(segment);
        QCOMPARE(segment->damaged, 0u);
        const auto found = askedFor(*segment);
        const auto& written = writer.written();
        QVERIFY(found.size() <= written.size() && std::equal(found.rbegin(), found.rend(), written.rbegin()));
        if (found.size() < written.size()) fewest = std::min(fewest, segment->records.size());
      }
      // Only the oldest sub-buffer makes room. None of the records is longer than sixteen words.
      QVERIFY(fewest * 16 >= (subBuffers - 1) * (kSubBufferWords - 16));
      QVERIFY(writer.segment().ordinal > 2 * kSubBuffers);
      QCOMPARE(writer.segment().subBufferCount, subBuffers);
      if (!hasMemory) QCOMPARE(writer.wordsOf(kSubBuffers - 1), last);
    }
  }

  void aHeadThatIsWaitedForCallsTheRuntimeWhereverOneIsInterrupted() {
    for (unsigned stage = 0; stage < 3; ++stage) {
      Writer writer(9);
      writer.fill(10);
      const unsigned heads = writer.headsUntilCalled(stage);
      QCOMPARE(heads, stage == 0 ? 1u : 2u);
    }
  }

  void aCursorThatWasSteppedOverAnEndComesBackIntoTheNextSubBuffer() {
    Writer writer(11);
    writer.fill(kSubBufferWords - 6);
    QVERIFY(!inject::isAstray(writer.segment()));
    const std::uint64_t before = writer.segment().ordinal;
    writer.stepOver(8);
    QVERIFY(inject::isAstray(writer.segment()));
    writer.fill(1);
    QVERIFY(!inject::isAstray(writer.segment()));
    QCOMPARE(writer.segment().ordinal, before + 1);
    const auto segment = writer.read();
    QVERIFY(segment);
    QCOMPARE(segment->damaged, 0u);
  }

  void sentinelsStayInTheirPlaces() {
    Writer writer(7);
    for (unsigned i = 0; i < 5000; ++i) {
      writer.act();
      const Word* base = reinterpret_cast<const Word*>(writer.segment().base);
      // Of those that are begun, and of the next.
      const auto most = std::min<std::uint64_t>(writer.segment().ordinal + 2, kSubBuffers);
      for (unsigned k = 1; k <= most; ++k) QCOMPARE(base[k * kSubBufferWords - 1], format::kSentinelWord);
      const std::uint64_t index = format::cursorIndex(writer.segment());
      QVERIFY(index < kWords);
    }
  }

  // No word of one thread's is another's; the clock is all that they share.
  void threadsHaveNothingToDoWithEachOther() {
    std::vector<std::unique_ptr<Writer>> writers;
    for (unsigned i = 0; i < 4; ++i) writers.push_back(std::make_unique<Writer>(100 + i));
    std::vector<std::thread> threads;
    for (const auto& writer : writers)
      threads.emplace_back([&writer] {
        for (unsigned i = 0; i < 20000; ++i) writer->act();
      });
    for (std::thread& thread : threads) thread.join();
    for (const auto& writer : writers) {
      const auto segment = writer->read();
      QVERIFY(segment);
      QCOMPARE(segment->damaged, 0u);
      const auto found = askedFor(*segment);
      QVERIFY(!found.empty() && std::equal(found.rbegin(), found.rend(), writer->written().rbegin()));
    }
  }
};

QTEST_GUILESS_MAIN(SegmentTest)
#include "segment_test.moc"
