// Rings and the records in them, on good, torn and hostile bytes.
#include <QTest>

#include <cstring>
#include <random>

#include "loader/mapped_file.h"
#include "loader/records/record_reader.h"
#include "loader/ring/ring_view.h"
#include "tests/builders/ring_text.h"
#include "tests/loader/reader_bytes.h"

using namespace traceback;
using tests::kMap;
using tests::MapText;
using tests::put;
using tests::RingText;

namespace {

loader::RingView ringOf(const std::vector<std::byte>& bytes) {
  return loader::RingView::parse(std::make_shared<const loader::MemoryBytes>(bytes), "ring").value();
}

// A segment that holds these words and nothing else; those behind the last that is not zero are not there.
loader::SegmentWords segmentOf(const std::vector<format::Word>& words) {
  format::SegmentHeader header{};
  header.subBufferWords = static_cast<std::uint32_t>(words.size()) + 1;
  header.subBufferCount = 2;
  header.fileOffset = sizeof(format::RingHeader);
  std::vector<std::byte> bytes(header.fileOffset + 2 * header.subBufferWords * sizeof(format::Word));
  std::memcpy(bytes.data() + header.fileOffset, words.data(), words.size() * sizeof words[0]);
  return loader::SegmentWords::of(std::make_shared<const loader::MemoryBytes>(std::move(bytes)), header, 1)
      .value();
}

}  // namespace

class RingReaderTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void ringGivesWordsInOrderWithTheirPositions_data() {
    QTest::addColumn<unsigned>("version");
    QTest::addColumn<unsigned>("words");  // of a sub-buffer, of which seven are records
    QTest::newRow("with sentinels") << 2U << 8U;
    QTest::newRow("in windows") << 3U << 7U;
  }
  void ringGivesWordsInOrderWithTheirPositions() {
    QFETCH(unsigned, version);
    QFETCH(unsigned, words);
    const MapText map(kMap);
    RingText::Options options;
    options.version = version;
    options.subBufferWords = words;
    std::string text;
    for (int i = 0; i < 40; ++i) text += "f.a\n";
    const RingText ring(text, map, options);
    const auto bytes = ring.bytes();
    const auto view = ringOf(bytes);
    const auto& segment = view.segments()[0];
    QVERIFY(view.damage().empty());
    QVERIFY(segment.wrapped());
    QCOMPARE(segment.size(), std::size_t{3 * words + 5});                 // 40 = 5 * 7 + 5
    QCOMPARE(segment.positionOf(0), std::uint64_t{2 * words});
    QCOMPARE(segment.positionOf(segment.size() - 1), ring.position(0));
    loader::WordWindow window(segment);
    for (std::size_t i = 0; i < segment.size(); ++i) {
      QCOMPARE(segment.firstAtOrAfter(segment.positionOf(i)), i);
      QCOMPARE(window[i] == format::kInvalidWord, i % words == 7);  // a sentinel
    }
    QCOMPARE(segment.firstAtOrAfter(0), std::size_t{0});
    QCOMPARE(segment.firstAtOrAfter(~std::uint64_t{0}), segment.size());
  }

  void whatLiesBehindTheCursorMeansNothing() {
    const MapText map(kMap);
    auto bytes = RingText("f.a\nf.a\n", map).bytes();
    const std::size_t next = format::kRingHeaderSize + 2 * 4;
    for (const format::Word word :
         {format::dagRecord(format::kFirstCode), format::kSentinelWord,
          format::header(format::RecordType::Timestamp, 3, 0), format::payload(1, 0)}) {
      put(bytes, next, word);
      const auto view = ringOf(bytes);
      QVERIFY(view.damage().empty());
      QCOMPARE(view.segments()[0].size(), std::size_t{2});
    }
  }

  void aSubBufferThatTheCursorHasNotComeToIsEmpty() {
    const MapText map(kMap);
    RingText::Options options;
    options.subBufferWords = 7;
    std::string text;
    for (int i = 0; i < 42; ++i) text += "f.a\n";  // six full ones
    auto bytes = RingText(text, map, options).bytes();
    constexpr std::size_t kOrdinal =
        offsetof(format::RingHeader, segments) + offsetof(format::SegmentHeader, ordinal);
    put(bytes, kOrdinal, std::uint64_t{6});
    const auto view = ringOf(bytes);
    QVERIFY(view.damage().empty());
    QCOMPARE(view.segments()[0].size(), std::size_t{3 * 7});
    QCOMPARE(view.segments()[0].positionOf(0), std::uint64_t{3 * 7});
  }

  void aCursorThatCannotBeIsDamage() {
    const MapText map(kMap);
    RingText::Options options;
    options.subBufferWords = 7;
    std::string text;
    for (int i = 0; i < 40; ++i) text += "f.a\n";
    auto bytes = RingText(text, map, options).bytes();
    constexpr std::size_t kCursor = offsetof(format::RingHeader, segments);
    for (const std::uint64_t cursor :
         std::initializer_list<std::uint64_t>{0, 0x7000'0000 + 3 * 8 * 4, ~0ULL}) {
      put(bytes, kCursor, cursor);
      const auto view = ringOf(bytes);
      QCOMPARE(view.damage().size(), std::size_t{1});
      QCOMPARE(view.segments()[0].size(), std::size_t{3 * 7});
    }
  }

  void halfZeroedOldestSubBufferKeepsOnlyWhatTouchesTheNext() {
    const MapText map(kMap);
    RingText::Options options;
    options.version = 1;
    options.subBufferWords = 8;
    std::string text;
    for (int i = 0; i < 40; ++i) text += "f.a\n";
    RingText ring(text, map, options);
    ring.zero(2 * 8, 3);  // ordinal 5 is in use; the oldest, 2, is at index 2
    const auto view = ringOf(ring.bytes());
    QCOMPARE(view.segments()[0].size(), std::size_t{5 + 2 * 8 + 5});
    QCOMPARE(view.segments()[0].positionOf(0), std::uint64_t{2 * 8 + 3});
  }

  void aRecordThatWasInTheWritingWhenTheProcessDiedIsNoDamage() {
    const MapText map(kMap);
    RingText::Options options;
    options.version = 1;
    auto bytes = RingText("f.a\nf.a\n", map, options).bytes();
    const auto whole = ringOf(bytes).segments()[0].size();
    const std::size_t next = format::kRingHeaderSize + whole * 4;
    put(bytes, next, format::header(format::RecordType::Timestamp, 3, 0));
    for (unsigned written = 0; written < 3; ++written) {
      const auto view = ringOf(bytes);
      QCOMPARE(view.segments()[0].size(), whole);
      put(bytes, next + 4 * (1 + written), format::payload(7, written));
    }
    QCOMPARE(ringOf(bytes).segments()[0].size(), whole + 4);
  }

  void hostileSegmentsAreLeftOut_data() {
    QTest::addColumn<unsigned>("offset");
    QTest::addColumn<quint64>("value");
    using format::SegmentHeader;
    QTest::newRow("no words") << unsigned{offsetof(SegmentHeader, subBufferWords)} << quint64{0x400000000};
    QTest::newRow("one word") << unsigned{offsetof(SegmentHeader, subBufferWords)} << quint64{0x400000001};
    QTest::newRow("many words") << unsigned{offsetof(SegmentHeader, subBufferWords)} << quint64{0x4FFFFFFFF};
    QTest::newRow("all") << unsigned{offsetof(SegmentHeader, subBufferWords)} << ~quint64{0};
    QTest::newRow("one sub-buffer") << unsigned{offsetof(SegmentHeader, subBufferWords)}
                                    << quint64{0x100000100};
    QTest::newRow("one upon the other") << unsigned{offsetof(SegmentHeader, subBufferStride)} << quint64{255};
    QTest::newRow("far apart") << unsigned{offsetof(SegmentHeader, subBufferStride)} << quint64{0xFFFFFFFF};
    QTest::newRow("outside") << unsigned{offsetof(SegmentHeader, fileOffset)} << ~quint64{0};
    QTest::newRow("in the header") << unsigned{offsetof(SegmentHeader, fileOffset)} << quint64{8};
    QTest::newRow("ordinal") << unsigned{offsetof(SegmentHeader, ordinal)} << ~quint64{0};
  }
  void hostileSegmentsAreLeftOut() {
    QFETCH(unsigned, offset);
    QFETCH(quint64, value);
    const MapText map(kMap);
    auto bytes = RingText("f.a\nf.a\n", map).bytes();
    put(bytes, offsetof(format::RingHeader, segments) + offset, value);
    const auto view = ringOf(bytes);
    QVERIFY(!view.segments()[0].used());
    QCOMPARE(view.damage().size(), std::size_t{1});
    QVERIFY(view.damage()[0].starts_with("segment 0: "));
  }

  void recordsAreTheSameEitherWay() {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
      std::vector<format::Word> words;
      for (int i = 0; i < 200; ++i) {
        switch (random() % 6) {
          case 0:
            words.push_back(format::dagRecord(random() & 0xFFFFFF));
            break;
          case 1:
            words.push_back(format::header(format::RecordType::Timestamp, 3, 0));
            break;
          case 2:
          case 3:
            words.push_back(format::payload(random(), 0));
            break;
          case 4:
            words.push_back(0);
            break;
          default:
            words.push_back(static_cast<format::Word>(random()));
            break;
        }
      }
      const auto segment = segmentOf(words);
      loader::RecordReader reader(segment);
      std::vector<std::size_t> forward, backward;
      loader::RecordDamage damage;
      std::size_t inRecords = 0;
      for (auto record = reader.next(0, &damage); record; record = reader.next(record->end(), &damage)) {
        forward.push_back(record->index);
        inRecords += record->end() - record->index;
        QCOMPARE(reader.around(record->end() - 1)->index, record->index);
      }
      for (auto record = reader.previous(words.size()); record; record = reader.previous(record->index)) {
        backward.insert(backward.begin(), record->index);
      }
      QCOMPARE(forward, backward);
      QVERIFY(inRecords + damage.holes <= segment.size());
      QVERIFY(inRecords == segment.size() || damage.total() + damage.holes > 0);
    }
  }

  void valuesComeBack() {
    std::vector<format::Word> words{format::header(format::RecordType::Exception, 6, 1)};
    for (const std::uint64_t value : {0xFEDC'BA98'7654'3210U, ~std::uint64_t{0}}) {
      for (unsigned i = 0; i < 3; ++i) words.push_back(format::payload(value, i));
    }
    const auto record = loader::RecordReader(segmentOf(words)).next(0);
    QCOMPARE(record->value(0), std::optional(std::uint64_t{0xFEDC'BA98'7654'3210}));
    QCOMPARE(record->value(1), std::optional(~std::uint64_t{0}));
    QCOMPARE(record->value(2), std::nullopt);
    words.back() = format::dagRecord(1);
    loader::RecordDamage damage;
    QCOMPARE(loader::RecordReader(segmentOf(words)).next(0, &damage)->index, words.size() - 1);
    QCOMPARE(damage.tornRecords, std::uint64_t{1});
  }
};

QTEST_APPLESS_MAIN(RingReaderTest)
#include "tst_ring_reader.moc"
