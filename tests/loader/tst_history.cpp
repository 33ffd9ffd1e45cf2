// The coarse history of a ring, read level by level and resolved to functions and lines.
#include <QTest>
#include <cstring>

#include "loader/ring/history_view.h"
#include "model/history_text.h"
#include "tests/loader/reconstruction.h"

using namespace traceback;
using format::HistoryEntry;
using format::HistoryHeader;
using tests::kLoop;

namespace {

constexpr std::uint64_t kEach = 16;
constexpr std::uint32_t kWords = 1024;

// A history as the runtime leaves it; entries that stand for `parts` sub-buffers each from `first` on.
class HistoryBytes {
 public:
  HistoryBytes() {
    header.version = format::kHistoryVersion;
    header.headerSize = sizeof header;
    header.entrySize = sizeof(HistoryEntry);
    header.levels = format::kHistoryLevels;
    header.entriesEach = kEach;
    header.merged = format::kHistoryMerged;
    for (auto& level : levels) level.resize(kEach);
  }
  HistoryEntry& add(unsigned level, std::uint64_t first, std::uint64_t parts,
                    std::vector<format::HistoryCount> counts = {}, std::uint64_t others = 0) {
    HistoryEntry entry{};
    entry.number = ++header.written[level];
    entry.firstOrdinal = first;
    entry.lastOrdinal = first + parts - 1;
    entry.firstTime = 1000 + first * 10;
    entry.lastTime = 1000 + (first + parts) * 10;
    entry.looked = 1;
    entry.others = entry.sampled = others;
    std::ranges::copy(counts, entry.counts);
    for (const auto& count : counts) entry.sampled += count.times;
    return levels[level][(entry.number - 1) % kEach] = entry;
  }
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> all(sizeof header + format::kHistoryLevels * kEach * sizeof(HistoryEntry));
    std::memcpy(all.data(), &header, sizeof header);
    std::size_t at = sizeof header;
    for (const auto& level : levels) {
      std::memcpy(all.data() + at, level.data(), kEach * sizeof(HistoryEntry));
      at += kEach * sizeof(HistoryEntry);
    }
    return all;
  }

  HistoryHeader header{};
  std::vector<HistoryEntry> levels[format::kHistoryLevels];
};

// As of a ring of four sub-buffers, the last of which is `ordinal`, with the history at its end.
struct Ring {
  explicit Ring(const HistoryBytes& history, std::uint64_t ordinal) : bytes(format::kRingHeaderSize) {
    const auto part = history.bytes();
    header.segmentCount = 1;
    header.segments[0].ordinal = ordinal;
    header.segments[0].subBufferWords = kWords;
    header.segments[0].subBufferCount = 4;
    header.historyOffset = bytes.size();
    header.historySize = static_cast<std::uint32_t>(part.size());
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  loader::HistoryView read() const {
    return loader::readHistory(loader::MemoryBytes(loader::Bytes(bytes)), header);
  }

  format::RingHeader header{};
  std::vector<std::byte> bytes;
};

std::vector<std::pair<std::uint64_t, std::uint64_t>> ordinalsOf(const loader::HistoryView& view) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ordinals;
  for (const auto& entry : view.entries) ordinals.emplace_back(entry.firstOrdinal, entry.lastOrdinal);
  return ordinals;
}

}  // namespace

class HistoryTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void coarserEntriesReachFurtherBack() {
    HistoryBytes history;
    for (std::uint64_t i = 0; i < 40; ++i) history.add(0, i, 1);  // 24 to 39 are left
    for (std::uint64_t i = 0; i < 40; i += 8) history.add(1, i, 8);
    const auto view = Ring(history, 100).read();
    QCOMPARE(view.damage, std::string());
    QCOMPARE(view.entries.size(), std::size_t{3 + 16});
    QCOMPARE(view.entries.front().firstOrdinal, std::uint64_t{0});
    for (std::size_t i = 1; i < view.entries.size(); ++i)
      QCOMPARE(view.entries[i].firstOrdinal, view.entries[i - 1].lastOrdinal + 1);
  }

  void countsOfEverythingAreNoEntries() {
    HistoryBytes history;
    history.header.levels = 0;
    history.header.countSlots = 8;
    history.header.countOthers = 11;
    Ring ring(history, 100);
    const format::HistoryCount counts[] = {
        {format::dagRecord(5000), 7}, {0, 0}, {format::dagRecord(6000), 2}};
    std::memcpy(ring.bytes.data() + format::kRingHeaderSize + sizeof(HistoryHeader), counts, sizeof counts);
    const auto view = ring.read();
    QCOMPARE(view.damage, std::string());
    QVERIFY(view.entries.empty());
    QCOMPARE(view.counts.size(), std::size_t{2});
    QCOMPARE(view.uncounted, std::uint64_t{11});
    QCOMPARE(view.counts[1].record, format::dagRecord(6000));
    QCOMPARE(view.counts[1].times, 2u);

    const std::uint32_t noRecord = 17;
    std::memcpy(ring.bytes.data() + format::kRingHeaderSize + sizeof(HistoryHeader), &noRecord,
                sizeof noRecord);
    const auto bad = ring.read();
    QCOMPARE(bad.counts.size(), std::size_t{1});
    QVERIFY(!bad.damage.empty());
  }

  void whatIsCountedForProfilesStandsBehindTheLevels() {
    HistoryBytes history;
    for (std::uint64_t i = 0; i < 4; ++i) history.add(0, i, 1, {{format::dagRecord(5000), 3}});
    history.header.countSlots = 4;
    Ring ring(history, 100);
    QVERIFY2(!ring.read().damage.empty(), "there is no room for it");
    const format::HistoryCount counts[] = {
        {0, 0}, {format::dagRecord(6000), 2}, {17, 1}, {format::dagRecord(5000), 7}};
    const auto* const bytes = reinterpret_cast<const std::byte*>(counts);
    ring.bytes.insert(ring.bytes.end(), bytes, bytes + sizeof counts);
    ring.header.historySize += sizeof counts;
    const auto view = ring.read();
    QCOMPARE(view.entries.size(), std::size_t{4});
    QCOMPARE(view.counts.size(), std::size_t{2});
    QCOMPARE(view.counts[1].times, 7u);
    QVERIFY(view.damage.contains("1 of its counts"));
  }

  void moreCountsThanThereIsRoomForAreNone() {
    HistoryBytes history;
    history.header.levels = 0;
    for (const std::uint64_t slots : {std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
      history.header.countSlots = slots;
      const auto view = Ring(history, 100).read();
      QVERIFY(view.counts.empty() && view.entries.empty());
      QVERIFY(!view.damage.empty());
    }
  }

  void nothingIsCountedTwiceWhereLevelsOverlap() {
    HistoryBytes history;
    for (std::uint64_t i = 0; i < 36; ++i) history.add(0, i, 1);  // 20 to 35 are left
    for (std::uint64_t i = 0; i < 32; i += 8) history.add(1, i, 8);
    const auto view = Ring(history, 100).read();
    QCOMPARE(ordinalsOf(view).front(), (std::pair<std::uint64_t, std::uint64_t>{0, 7}));
    for (std::size_t i = 1; i < view.entries.size(); ++i)
      QCOMPARE(view.entries[i].firstOrdinal, view.entries[i - 1].lastOrdinal + 1);
    QCOMPARE(view.entries.size(), std::size_t{3 + 12});
  }

  void whatTheRingStillHoldsIsNotInIt() {
    HistoryBytes history;
    for (std::uint64_t i = 0; i < 4; ++i) history.add(0, i, 1);
    const auto view = Ring(history, 6).read();
    QCOMPARE(ordinalsOf(view),
             (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 0}, {1, 1}, {2, 2}}));
    QCOMPARE(view.damage, std::string());
  }

  void anEntryThatWasBeingWrittenIsLeftOut() {
    HistoryBytes history;
    for (std::uint64_t i = 0; i < 20; ++i) history.add(0, i, 1);
    history.levels[0][20 % kEach].number = 0;
    const auto view = Ring(history, 100).read();
    QCOMPARE(view.damage, std::string());
    QCOMPARE(view.entries.size(), std::size_t{15});
  }

  void damagedEntriesAreToldAndLeftOut_data() {
    QTest::addColumn<int>("what");
    int row = 0;
    for (const char* name : {"number", "order", "looked", "sampled", "others", "record", "time", "ring"})
      QTest::newRow(name) << row++;
  }
  void damagedEntriesAreToldAndLeftOut() {
    QFETCH(int, what);
    HistoryBytes history;
    for (std::uint64_t i = 0; i < 5; ++i) history.add(0, i, 1, {{format::dagRecord(5000), 10}}, 3);
    HistoryEntry& entry = history.levels[0][2];
    switch (what) {
      case 0:
        entry.number = 77;
        break;
      case 1:
        entry.lastOrdinal = entry.firstOrdinal - 1;
        break;
      case 2:
        entry.looked = 2;
        break;
      case 3:
        entry.sampled = 14;
        break;
      case 4:
        entry.others = ~std::uint64_t{0};
        break;
      case 5:
        entry.counts[0].record = 5;
        break;
      case 6:
        entry.lastTime = 0;
        break;
      default:
        entry.lastOrdinal = 99;
        break;
    }
    const auto view = Ring(history, 50).read();
    QCOMPARE(view.entries.size(), std::size_t{4});
    QCOMPARE(view.damage, std::string("1 of its entries are damaged"));
  }

  void aHeaderThatContradictsItselfIsTold() {
    const auto damageOf = [](auto&& change) {
      HistoryBytes history;
      history.add(0, 0, 1);
      change(history.header);
      const auto view = Ring(history, 50).read();
      return view.entries.empty() ? view.damage : "not empty";
    };
    QVERIFY(damageOf([](HistoryHeader& header) { header.version = 9; }).contains("version 9"));
    for (const auto& change : std::initializer_list<void (*)(HistoryHeader&)>{
             [](HistoryHeader& header) { header.headerSize = 4; },
             [](HistoryHeader& header) { header.headerSize = 1 << 30; },
             [](HistoryHeader& header) { header.entrySize = 8; },
             [](HistoryHeader& header) { header.levels = 99; },
             [](HistoryHeader& header) { header.entriesEach = 0; },
             [](HistoryHeader& header) { header.entriesEach = 1 << 31; },
             [](HistoryHeader& header) { header.merged = 0; }})
      QCOMPARE(damageOf(change), std::string("its header contradicts itself"));
    HistoryBytes history;
    Ring ring(history, 50);
    ring.header.historyOffset = 1 << 30;
    QCOMPARE(ring.read().damage, std::string("it lies outside the ring"));
    ring.header.historyOffset = format::kRingHeaderSize;
    ring.bytes.resize(format::kRingHeaderSize + sizeof(HistoryHeader));
    history.header.written[0] = 5;
    std::memcpy(ring.bytes.data() + format::kRingHeaderSize, &history.header, sizeof(HistoryHeader));
    QCOMPARE(ring.read().damage, std::string("a part of it cannot be read"));
  }

  void aRingOfAnOlderRuntimeHasNone() {
    Ring ring(HistoryBytes(), 50);
    ring.header.historyOffset = 0;
    const auto view = ring.read();
    QVERIFY(view.entries.empty() && view.damage.empty());
  }

  void entriesAreFunctionsAndLines() {
    // Two DAGs of main, the second in a loop; one of f; and one that nobody has.
    const tests::MapText map(kLoop);
    const auto code = [&](std::string_view place) {
      return format::dagRecord(format::kFirstCode + map.headCode(place));
    };
    HistoryBytes history;
    history.add(0, 0, 3,
                {{code("main.h"), 7},
                 {code("main.h") + 1, 5},
                 {code("main.a"), 2},
                 {code("f.a"), 4},
                 {format::dagRecord(0x0070'0000), 9}},
                6);
    std::string text;
    for (int i = 0; i < 400; ++i) text += "main.h c\nf.a x\nmain.d\n";
    const auto got = tests::reconstruct(
        {.map = kLoop, .ring = text, .options = {.subBufferWords = 64, .history = history.bytes()}});
    const auto& known = got.thread().info().history;
    QVERIFY(known != nullptr);
    QCOMPARE(known->stretches.size(), std::size_t{1});
    const auto& stretch = known->stretches.front();
    QCOMPARE(stretch.parts, std::uint64_t{3});
    QCOMPARE(stretch.looked, std::uint64_t{1});
    QCOMPARE(stretch.sampled, std::uint64_t{33});
    QCOMPARE(stretch.unnamed, std::uint64_t{15});
    QCOMPARE(stretch.functions.size(), std::size_t{2});
    const auto& first = stretch.functions.front();
    QCOMPARE(got.trace().functions[first.function.value].name, std::string("main"));
    QCOMPARE(first.times, std::uint64_t{14});
    QCOMPARE(first.places.size(), std::size_t{2});
    QVERIFY(first.places[0].kind == model::HistoryPlace::Kind::Loop);
    QCOMPARE(first.places[0].times, std::uint64_t{12});
    QCOMPARE(first.places[0].address.value, std::uint64_t{0x1008});
    QVERIFY(first.places[1].kind == model::HistoryPlace::Kind::Entry);
    QVERIFY(!got.notes().contains("before its ring"));
  }

  void aRecordCountsForEachFunctionThatItWentOnInto() {
    constexpr std::string_view text = R"(
      version 4
      function main 1000
      dag 1
      a 4 branch r c bit=0 taken
      c 4 call 2000 r into
      dag
      r 4 return returnpoint
      function f 2000
      dag
      a 4 return
    )";
    const tests::MapText map(text);
    const auto record = format::dagRecord(format::kFirstCode + map.headCode("main.a"));
    HistoryBytes history;
    history.add(0, 0, 3, {{record, 7}, {record + 1, 5}}, 0);
    std::string ring;
    for (int i = 0; i < 400; ++i) ring += "main.a\nmain.r\n";
    const auto got = tests::reconstruct(
        {.map = text, .ring = ring, .options = {.subBufferWords = 64, .history = history.bytes()}});
    QVERIFY(got.thread().info().history != nullptr);
    const auto& stretch = got.thread().info().history->stretches.front();
    QCOMPARE(stretch.sampled, std::uint64_t{12});
    QCOMPARE(stretch.counted(), std::uint64_t{19});
    QCOMPARE(stretch.functions.size(), std::size_t{2});
    QCOMPARE(stretch.functions[0].times, std::uint64_t{12});
    QCOMPARE(stretch.functions[1].times, std::uint64_t{7});
    QVERIFY(stretch.functions[1].places.front().kind == model::HistoryPlace::Kind::Entry);
  }

  void damageIsInTheLoadReport() {
    HistoryBytes history;
    history.add(0, 0, 1).looked = 5;
    std::string text;
    for (int i = 0; i < 400; ++i) text += "main.h c\nf.a x\nmain.d\n";
    const auto got = tests::reconstruct(
        {.map = kLoop, .ring = text, .options = {.subBufferWords = 64, .history = history.bytes()}});
    QVERIFY(got.thread().info().history == nullptr);
    QVERIFY(got.notes().contains("thread 7: what was before its ring: 1 of its entries are damaged"));
  }
};

QTEST_GUILESS_MAIN(HistoryTest)
#include "tst_history.moc"
