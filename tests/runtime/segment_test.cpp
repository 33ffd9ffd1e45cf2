// The state machine of a ring's segment (runtime/inject/rings/segment.h) in this process, with memory and
// time handed in: whatever is done to it, a reader finds all that was written, whole and in order, at every
// moment.
//
// TRACEBACK_SEED chooses what is done.
#include "runtime/inject/rings/segment.h"

#include <QTest>
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
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
constinit std::atomic<bool> frontsAreMissing = false;

}  // namespace

std::uint64_t inject::timeStamp() { return ++now; }
bool inject::bringIn(Word*, std::uint32_t) { return memoryIsThere; }
bool inject::lacksFronts(const SegmentHeader&) { return frontsAreMissing; }
void inject::bringInFronts(const SegmentHeader&) {
  if (memoryIsThere) frontsAreMissing = false;
}

namespace {

constexpr inject::SubBuffers kSubBuffers{192, 3};
// A window for each, at whose end it lies.
constexpr std::size_t kWindowWords = format::kWindowSize / sizeof(Word),
                      kWords = kWindowWords * kSubBuffers.count;
// Of more words than they have memory for at first.
constexpr inject::SubBuffers kLarge{inject::kFirstWords + 200, kSubBuffers.count};

struct Freed {
  void operator()(Word* words) const { std::free(words); }
};

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
  explicit Writer(unsigned seed, const inject::SubBuffers& subBuffers = kSubBuffers)
      : m_random(seed),
        m_subBuffers(subBuffers),
        m_memory(static_cast<Word*>(std::aligned_alloc(format::kWindowSize, kWords * sizeof(Word)))) {
    // What another thread has left there.
    for (std::size_t i = 0; i < kWords; ++i) m_memory[i] = format::dagRecord(draw(format::kEndCode));
    if (frontsAreMissing)
      for (std::uint32_t i = 0; i < inject::kFirstSubBuffers; ++i)
        std::fill_n(frontOf(i), subBuffers.words - inject::kFirstWords, format::kInvalidWord);
    inject::startSegment(m_segment, frontOf(0), subBuffers, kFileOffset, frontsAreMissing);
  }

  // A head probe: calls the runtime where the cursor would be stepped into another window, writes its record
  // and steps the cursor. A jump out of a signal's handler may come in between, and then it goes no further.
  void head(bool isAbandoned) {
    Word* cursor = inject::cursorOf(m_segment);
    if (isFull()) cursor = inject::cursorForHead(m_segment);
    m_isAbandoned = isAbandoned;
    if (isAbandoned && draw(2) == 0) return;
    const std::uint32_t code = format::kFirstCode + draw(1000) * 1024;
    cursor[1] = format::dagRecord(code);
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
  void appendSignal(RecordType type, std::uint16_t detail, const std::vector<std::uint64_t>& values) {
    inject::append(m_segment, type, detail, values.data(), static_cast<unsigned>(values.size()));
  }
  void act() {
    // Behind a head that is abandoned, by a jump out of a handler, the runtime writes before any probe does.
    const unsigned choice = m_isAbandoned ? 15 : draw(19);
    // Before it is done to its end, the step to another sub-buffer has stored the ordinal.
    if (m_isAbandoned && inject::atSubBufferEnd(m_segment) && draw(2) == 0) ++m_segment.ordinal;
    if (choice < 10) head(false);
    if (choice >= 10 && choice < 15) light();
    if (choice >= 15 && choice < 18) append();
    if (choice == 18) head(true);
  }

  // Heads that nobody waits for.
  void fill(unsigned heads) {
    for (; heads > 0; --heads)
      inject::writeHead(m_segment, inject::cursorForHead(m_segment), format::dagRecord(format::kFirstCode));
  }
  void stepOver(unsigned words) { m_segment.cursor += words * sizeof(Word); }
  bool isFull() const { return format::isAtWindowEnd(m_segment.cursor); }
  const format::SegmentHeader& segment() const { return m_segment; }
  std::vector<Word> wordsOf(std::uint32_t subBuffer) const {
    const Word* const front = frontOf(subBuffer);
    return {front, front + m_subBuffers.words};
  }
  const std::vector<Written>& written() const { return m_written; }
  // As whoever reads the file finds it.
  std::optional<testing::Segment> read() const {
    std::vector<std::uint8_t> bytes(kFileOffset + kWords * sizeof(Word));
    format::RingHeader header{};
    header.magic = format::kRingMagic;
    header.version = format::kRingVersion;
    header.segmentCount = 1;
    header.segments[0] = m_segment;
    std::memcpy(bytes.data(), &header, sizeof header);
    const Word* const first = frontOf(0);
    std::memcpy(bytes.data() + kFileOffset, first,
                std::size_t(m_memory.get() + kWords - first) * sizeof(Word));
    const auto dump = testing::dumpRing(bytes);
    return dump ? std::optional(dump->segments[0]) : std::nullopt;
  }

 private:
  static constexpr std::uint64_t kFileOffset = format::kRingHeaderSize;

  Word* frontOf(std::uint32_t subBuffer) const {
    return m_memory.get() + (subBuffer + 1) * kWindowWords - m_subBuffers.words;
  }
  unsigned draw(unsigned below) { return static_cast<unsigned>(m_random() % below); }

  std::mt19937 m_random;
  inject::SubBuffers m_subBuffers;
  std::unique_ptr<Word[], Freed> m_memory;
  format::SegmentHeader m_segment{};
  std::vector<Written> m_written;
  bool m_isAbandoned = false;
};

// What there is of memory, as long as it lives.
class MemoryThatThereIs {
 public:
  explicit MemoryThatThereIs(bool isMore) { memoryIsThere = isMore; }
  ~MemoryThatThereIs() {
    memoryIsThere = true;
    frontsAreMissing = false;
  }
  MemoryThatThereIs(const MemoryThatThereIs&) = delete;
  MemoryThatThereIs& operator=(const MemoryThatThereIs&) = delete;
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
    QTest::addColumn<bool>("hasFronts");
    QTest::newRow("with memory for all of it") << true << true;
    QTest::newRow("with memory for as little as there may be") << false << true;
    QTest::newRow("with memory for all of it when it is used again") << true << false;
    QTest::newRow("with memory for the ends alone") << false << false;
  }
  void allThatWasWrittenLastIsThereAtEveryMoment() {
    QFETCH(bool, hasMemory);
    QFETCH(bool, hasFronts);
    const MemoryThatThereIs memory(hasMemory);
    const unsigned subBuffers = hasMemory ? kSubBuffers.count : inject::kFirstSubBuffers;
    const unsigned seed = qEnvironmentVariable("TRACEBACK_SEED", "1").toUInt();
    const inject::SubBuffers& used = hasFronts ? kSubBuffers : kLarge;
    const unsigned runs = hasFronts ? 20 : 3, acts = hasFronts ? 1500 : 6000;
    for (unsigned run = 0; run < runs; ++run) {
      frontsAreMissing = !hasFronts;
      Writer writer(seed * 1000 + run, used);
      const std::vector<Word> last = writer.wordsOf(used.count - 1);
      std::uint64_t position = inject::positionOf(writer.segment());
      std::size_t fewest = kWords;
      for (unsigned i = 0; i < acts; ++i) {
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
      QVERIFY(fewest * 16 >= (subBuffers - 1) * ((hasFronts ? used.words : inject::kFirstWords) - 16));
      QVERIFY(writer.segment().ordinal > 2 * used.count);
      QCOMPARE(writer.segment().subBufferCount, subBuffers);
      if (!hasMemory) QCOMPARE(writer.wordsOf(used.count - 1), last);
      QCOMPARE(frontsAreMissing.load(), !hasFronts && !hasMemory);
    }
  }

  void aCursorThatWasSteppedOverAnEndComesBackIntoTheNextSubBuffer() {
    Writer writer(11);
    writer.fill(kSubBuffers.words - 6);
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

  void aSubBufferIsFullWhereItsWindowEnds() {
    Writer writer(7);
    for (unsigned i = 0; i < 5000; ++i) {
      writer.act();
      QCOMPARE(inject::atSubBufferEnd(writer.segment()), writer.isFull());
      const std::uint64_t index = format::cursorIndex(writer.segment());
      QVERIFY(index % kWindowWords < kSubBuffers.words && index / kWindowWords < kSubBuffers.count);
    }
  }

  // A reader finds it whatever is overwritten, as long as its handler writes.
  void aHandlersSignalStandsAtEachFront() {
    Writer writer(1);
    const std::vector<std::uint64_t> values{11, 12, 13, 14, 15, 16, 17};
    constexpr std::uint16_t kDetail = SIGSEGV | format::kSignalHandled;
    writer.fill(100);
    writer.appendSignal(RecordType::SignalBegin, kDetail, values);
    for (unsigned round = 0; round < 8; ++round) {
      writer.fill(150);
      const auto segment = writer.read();
      QVERIFY(segment);
      QCOMPARE(segment->damaged, 0u);
      const auto& records = segment->records;
      const auto begin = std::ranges::find(records, RecordType::SignalBegin, &testing::Record::type);
      QVERIFY(begin != records.end());
      QVERIFY(std::all_of(records.begin(), begin, [&](const testing::Record& record) {
        return round < 2 ? true : record.type == RecordType::Timestamp;
      }));
      for (const testing::Record& record : records) {
        if (record.isDag || record.type != RecordType::SignalBegin) continue;
        QCOMPARE(record.values, values);
        QCOMPARE(record.detail & ~format::kSignalContinued, int{kDetail});
      }
    }
    writer.appendSignal(RecordType::SignalEnd, 0, {1, 2});
    writer.fill(1000);
    const auto segment = writer.read();
    QVERIFY(segment &&
            !std::ranges::contains(segment->records, RecordType::SignalBegin, &testing::Record::type));
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
