// Snap, map, ring, record and ELF readers on good, torn and hostile bytes.
#include <QFile>
#include <QTest>

#include <cstring>
#include <functional>
#include <random>

#include "loader/elf/elf_image.h"
#include "loader/load_trace.h"
#include "loader/map/map_view.h"
#include "loader/mapped_file.h"
#include "loader/reconstruct/path.h"
#include "loader/records/record_reader.h"
#include "loader/ring/ring_view.h"
#include "loader/snap/snap_reader.h"
#include "tests/builders/entry_text.h"
#include "tests/builders/snap_builder.h"

using namespace traceback;
using tests::MapText;
using tests::notesOf;
using tests::RingText;

namespace {

constexpr std::string_view kMap = R"(
  function main 1000
  dag
  a 8 branch c b
  b 4 fall c bit=0
  c 4 call 2000 d bit=1
  dag
  d 4 return returnpoint
  function f 2000
  dag
  a 8 return
)";

template <typename T>
void put(std::vector<std::byte>& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

std::vector<std::byte> contentsOf(const char* path) {
  QFile file(QString::fromUtf8(path));
  if (!file.open(QIODevice::ReadOnly)) qFatal("cannot read %s", path);
  const auto all = file.readAll();
  const auto bytes = std::as_bytes(std::span(all.data(), static_cast<std::size_t>(all.size())));
  return {bytes.begin(), bytes.end()};
}

tests::SnapBuilder goodSnap() {
  static const MapText map(kMap);
  static const RingText ring("start\nmain.a b c\nf.a\nmain.d\nthread-end\n", map);
  return tests::ProcessText{.map = &map, .ring = &ring}.snap();
}

model::Result<loader::LoadedSnap> load(const std::vector<std::byte>& bytes) {
  loader::LoadOptions options;
  options.useLocalMaps = false;
  options.useDebugInformation = false;
  return loader::loadSnapBytes(bytes, "x.tbsnap", options);
}

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

class ReadersTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  // --- snap

  void snapOpens() {
    const auto loaded = load(goodSnap().bytes());
    QVERIFY(loaded.has_value());
    const auto& trace = *loaded->trace;
    QCOMPARE(notesOf(trace), std::string());
    QCOMPARE(trace.summary.pid, 100U);
    QCOMPARE(trace.summary.program, std::string("prog"));
    QCOMPARE(trace.summary.host, std::string("box"));
    QCOMPARE(trace.summary.commandLine, std::string("prog --x"));
    QCOMPARE(trace.modules[0].path, std::string("/src/prog"));
    QCOMPARE(trace.modules[0].buildId, std::string("abababab"));
    QCOMPARE(trace.threads[0]->info().name, std::string("worker"));
  }

  void everyTruncationOfASnapIsAnErrorThatNamesTheFile() {
    const auto bytes = goodSnap().bytes();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto loaded = load({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)});
      QVERIFY(!loaded.has_value());
      QVERIFY(loaded.error().text().starts_with("x.tbsnap: "));
      QVERIFY(loaded.error().offset.has_value());
    }
  }

  void flippedBitsNeverGoUnnoticed() {
    const auto bytes = goodSnap().bytes();
    const auto whole = load(bytes);
    const auto text = tests::threadText(*whole->trace, *whole->trace->threads[0]);
    std::mt19937 random(1);
    int harmless = 0;
    for (std::size_t i = sizeof(format::SnapHeader); i < bytes.size(); ++i) {
      auto damaged = bytes;
      damaged[i] ^= static_cast<std::byte>(1U << (random() % 8));
      const auto loaded = load(damaged);
      if (!loaded.has_value()) continue;
      if (!loaded->trace->report.empty()) continue;
      ++harmless;
      QCOMPARE(tests::threadText(*loaded->trace, *loaded->trace->threads[0]), text);
    }
    // Only the Host section's contents may go unread; and that is checked, too.
    QCOMPARE(harmless, 0);
  }

  void aDamagedSectionCostsOnlyItself_data() {
    QTest::addColumn<unsigned>("type");
    QTest::addColumn<QString>("note");
    QTest::newRow("process") << 1U << "process: its checksum is wrong";
    QTest::newRow("reason") << 3U << "reason: its checksum is wrong";
    QTest::newRow("threads") << 4U << "threads: its checksum is wrong";
    QTest::newRow("ring") << 5U << "ring 0: its checksum is wrong";
    QTest::newRow("map") << 6U << "map of module 0: its checksum is wrong";
  }
  void aDamagedSectionCostsOnlyItself() {
    QFETCH(unsigned, type);
    QFETCH(QString, note);
    auto snap = goodSnap();
    for (auto& entry : snap.entries()) {
      if (entry.type == type) entry.crc ^= 1;
    }
    const auto loaded = load(snap.bytes());
    QVERIFY(loaded.has_value());
    QVERIFY2(notesOf(*loaded->trace).find(note.toStdString()) != std::string::npos,
             notesOf(*loaded->trace).c_str());
    QCOMPARE(loaded->trace->threads.size(), std::size_t{1});
    const bool ranKnown = type != 5 && type != 6;
    QCOMPARE(
        tests::threadText(*loaded->trace, *loaded->trace->threads[0]).find("call main") != std::string::npos,
        ranKnown);
  }

  void sectionsThatLieAboutTheirSizeAreMissing_data() {
    QTest::addColumn<quint64>("size");
    QTest::newRow("one less") << quint64{4095};
    QTest::newRow("one more") << quint64{4097};
    QTest::newRow("huge") << quint64{1} + (quint64{1} << 40);
    QTest::newRow("largest that is allowed") << quint64{loader::kMaxSectionSize};
    QTest::newRow("all") << ~quint64{0};
  }
  void sectionsThatLieAboutTheirSizeAreMissing() {
    QFETCH(quint64, size);
    auto snap = goodSnap();
    snap.entries()[0].size = size;  // the process file
    const auto loaded = load(snap.bytes());
    QVERIFY(loaded.has_value());
    QVERIFY(notesOf(*loaded->trace).starts_with("process: "));
    QCOMPARE(loaded->trace->summary.pid, 0U);
  }

  void sectionsOutsideTheFileAreMissing() {
    for (const auto offset : {std::uint64_t{1} << 30, ~std::uint64_t{0}, ~std::uint64_t{0} - 100}) {
      auto snap = goodSnap();
      snap.entries()[0].offset = offset;
      const auto loaded = load(snap.bytes());
      QVERIFY(loaded.has_value());
      QVERIFY(notesOf(*loaded->trace).starts_with("process: lies beyond the end of the file"));
    }
  }

  // --- newer writers (snap.h)

  void aLaterRevisionOpensAsFarAsItIsKnown() {
    const MapText map(kMap);
    const std::string known = "start\nmain.a b c\nf.a\nmain.d\nthread-end\n";
    // Were the values of the unknown records times, they would be the last.
    const std::string later =
        "start\nrecord 20 0 900000\nmain.a b c\nrecord 20 1 900001 2 3 4 5 6 7 8 9 10\nf.a\nrecord 63 0\n"
        "wait 200\nmain.d\nthread-end\n";
    const RingText knownRing(known, map), laterRing(later, map);
    const auto expected = load(tests::ProcessText{.map = &map, .ring = &knownRing}.snap().bytes());
    QVERIFY(expected.has_value());
    QCOMPARE(notesOf(*expected->trace), std::string());

    auto snap = tests::ProcessText{.map = &map, .ring = &laterRing}.snap();
    snap.addObject(static_cast<format::SectionType>(77), std::uint64_t{1});
    snap.addObject(static_cast<format::SectionType>(77), std::uint64_t{2});
    for (auto& entry : snap.entries()) {
      if (entry.type == static_cast<std::uint32_t>(format::SectionType::Host)) entry.flags |= 0x80;
    }
    const auto loaded = load(snap.setRevision(format::kSnapRevision + 4).bytes());
    QVERIFY(loaded.has_value());
    const auto& trace = *loaded->trace;
    const auto& thread = *trace.threads[0];
    QCOMPARE(tests::threadText(trace, thread),
             tests::threadText(*expected->trace, *expected->trace->threads[0]));
    for (const auto& reading : thread.times().readings()) QVERIFY(reading.time.value < 900'000);
    QCOMPARE(notesOf(trace),
             std::string("the snap is of a later revision (2.5) than this TraceBack knows (2.1): what was "
                         "added since is left out; a later TraceBack shows it\n"
                         "section of unknown type 77: left out\n"
                         "host: is stored in a way that this TraceBack does not know\n"
                         "thread 7: records of unknown type 20, left out\n"
                         "thread 7: records of unknown type 63, left out\n"
                         "thread 7: syncs of unknown kind 200, left out\n"));
    for (const auto& note : trace.report.notes())
      QCOMPARE(note.severity,
               note.text.starts_with("host") ? model::Severity::DataLoss : model::Severity::Info);
    QCOMPARE(trace.report.notes()[1].count, std::uint64_t{2});
    QCOMPARE(trace.report.notes()[3].count, std::uint64_t{2});
  }

  void reasonsOfALaterRevisionAreUnknownOnes() {
    const MapText map(kMap);
    const RingText ring("start\nmain.a b c\n", map);
    const auto snap =
        tests::ProcessText{.map = &map, .ring = &ring, .reason = static_cast<format::SnapReason>(99)}.snap();
    const auto loaded = load(snap.bytes());
    QVERIFY(loaded.has_value());
    QCOMPARE(loaded->trace->summary.reason, model::TraceReason::Unknown);
    QCOMPARE(notesOf(*loaded->trace), std::string("reason: of unknown kind 99\n"));
  }

  void unknownRecordsInASnapThatClaimsNothingNewAreDamage() {
    const MapText map(kMap);
    const RingText ring("start\nrecord 20 0 1\nmain.a b c\n", map);
    const auto loaded = load(tests::ProcessText{.map = &map, .ring = &ring}.snap().bytes());
    QVERIFY(loaded.has_value());
    QCOMPARE(loaded->trace->report.notes().size(), std::size_t{1});
    QCOMPARE(loaded->trace->report.notes()[0].severity, model::Severity::DataLoss);
  }

  void snapsFromBeforeThereWereRevisionsOpen() {
    const auto loaded = load(goodSnap().setRevision(0).bytes());
    QVERIFY(loaded.has_value());
    QCOMPARE(notesOf(*loaded->trace), std::string());
  }

  void otherVersionsAreRefusedWithWhatToDo() {
    auto bytes = goodSnap().bytes();
    put(bytes, offsetof(format::SnapHeader, version), format::kSnapVersion + 1);
    QCOMPARE(load(bytes).error().text(),
             std::string("x.tbsnap: snap version 3 is newer than this TraceBack reads (2): open it with the "
                         "TraceBack that recorded it, or a later one (at offset 0x8)"));
    put(bytes, offsetof(format::SnapHeader, version), format::kSnapVersion - 1);
    QCOMPARE(load(bytes).error().text(),
             std::string("x.tbsnap: snap version 1 is older than this TraceBack reads (2): open it with the "
                         "TraceBack that recorded it (at offset 0x8)"));
  }

  void loadingCanBeCancelled() {
    std::stop_source stop;
    stop.request_stop();
    const auto loaded = loader::loadSnapBytes(goodSnap().bytes(), "x.tbsnap", {}, {}, stop.get_token());
    QVERIFY(!loaded.has_value());
    QCOMPARE(loaded.error().message, std::string("cancelled"));
  }

  void progressGrowsToOne() {
    loader::LoadOptions options;
    options.useLocalMaps = options.useDebugInformation = false;
    double last = 0;
    bool grows = true;
    const auto loaded =
        loader::loadSnapBytes(goodSnap().bytes(), "x.tbsnap", options, [&](double share, std::string_view) {
          grows = grows && share >= last && share <= 1;
          last = share;
        });
    QVERIFY(loaded.has_value() && grows);
    QCOMPARE(last, 1.0);
  }

  void filesThatCannotBeReadAreNamed() {
    const auto missing = loader::loadTrace("/nonexistent/x.tbsnap");
    QCOMPARE(missing.error().text(),
             std::string("/nonexistent/x.tbsnap: cannot open: No such file or directory"));
    const auto folder = loader::loadTrace("/");
    QCOMPARE(folder.error().text(), std::string("/: is a folder, not a file"));
    const auto device = loader::loadTrace("/dev/null");
    QCOMPARE(device.error().text(), std::string("/dev/null: not a regular file"));
  }

  // --- map

  void mapAnswersByCodeAndByAddress() {
    const MapText text(kMap);
    const auto bytes = text.bytes();
    const auto map = loader::MapView::parse(bytes, "map").value();
    QCOMPARE(map.functionCount(), std::size_t{2});
    QCOMPARE(map.functionName(0), std::string_view("main"));
    QCOMPARE(map.functionAt({0x100F}), std::optional<loader::MapFunction>(0U));
    QCOMPARE(map.functionAt({0x1014}), std::nullopt);
    QCOMPARE(map.functionAt({0x2000}), std::optional<loader::MapFunction>(1U));
    QVERIFY(map.dagOf(text.headCode("main.a") + 3)->entry.bits == 2);
    QVERIFY(map.dagOf(text.headCode("f.a"))->function == 1);
    QVERIFY(!map.dagOf(text.codeSpan()));
    QCOMPARE(map.originalOf({text.copyOf("main.b+2")})->address.value, std::uint64_t{0x100A});
    QVERIFY(!map.originalOf({text.copyOf("main.b+2")})->fixed);
    QCOMPARE(map.originalOf({text.copyOf("main.b-probe") + 3})->address.value, std::uint64_t{0x1008});
    QVERIFY(map.originalOf({text.copyOf("main.b-probe") + 3})->fixed);
    QVERIFY(!map.originalOf({0x1000}));
  }

  void everyTruncationOfAMapIsAnError() {
    const auto bytes = MapText(kMap).bytes();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto map = loader::MapView::parse(std::span(bytes).first(size), "map", 0x100);
      QVERIFY(!map.has_value());
      QVERIFY(map.error().offset >= 0x100U);
    }
  }

  void hostileMapsAreRefused_data() {
    QTest::addColumn<unsigned>("offset");
    QTest::addColumn<unsigned>("value");
    QTest::addColumn<QString>("reason");
    constexpr unsigned kFunction = sizeof(format::MapHeader);
    constexpr unsigned kDag = kFunction + 2 * sizeof(format::FunctionEntry);
    constexpr unsigned kBlock = kDag + 3 * sizeof(format::DagEntry);
    const auto row = [](const char* name, std::size_t offset, unsigned value, const char* reason) {
      QTest::newRow(name) << static_cast<unsigned>(offset) << value << QString::fromUtf8(reason);
    };
    row("magic", 0, 0, "not a TraceBack map");
    row("version", offsetof(format::MapHeader, version), 9, "version 9 is not known");
    row("functions", offsetof(format::MapHeader, functionCount), 0x10000000,
        "truncated in the table of functions");
    row("blocks", offsetof(format::MapHeader, blockCount), 0xFFFFFFFF, "truncated in the table of blocks");
    row("build id", offsetof(format::MapHeader, buildIdSize), 33, "build id too long");
    row("first dag", kFunction + offsetof(format::FunctionEntry, firstDag), 0xFFFFFFFF, "DAGs lie outside");
    row("dag count", kFunction + offsetof(format::FunctionEntry, dagCount), 4, "DAGs lie outside");
    row("block count", kFunction + offsetof(format::FunctionEntry, blockCount), 6, "blocks lie outside");
    row("name", kFunction + offsetof(format::FunctionEntry, name), 0x10000, "name lies outside");
    row("dag's code", kDag, 0x7FFFFFF0, "codes lie outside");
    row("dag's alignment", kDag, 1, "not aligned");
    row("dag's blocks", kDag + 4, 4, "DAG's blocks lie outside");
    row("no blocks", kDag + 8, 0x00020000, "DAG's blocks lie outside");
    row("shared codes", kDag + 12, 2, "share codes");
    row("successor", kBlock + offsetof(format::BlockEntry, successor), 77, "none of its function");
    row("backwards", kBlock + 24 + offsetof(format::BlockEntry, successor), 1, "not in order");
    row("bit", kBlock + 24 + offsetof(format::BlockEntry, bit), 0x00000105, "bit is none of its DAG");
    row("end", kBlock + offsetof(format::BlockEntry, bit), 0x000063FF, "unknown way");
    row("wrapping block", kBlock + offsetof(format::BlockEntry, size), 0xFFFFFFFF, "wraps around");
  }
  void hostileMapsAreRefused() {
    QFETCH(unsigned, offset);
    QFETCH(unsigned, value);
    QFETCH(QString, reason);
    auto bytes = MapText(kMap).bytes();
    put(bytes, offset, value);
    const auto map = loader::MapView::parse(bytes, "map");
    QVERIFY(!map.has_value());
    QVERIFY2(map.error().message.find(reason.toStdString()) != std::string::npos, map.error().text().c_str());
  }

  void hostileMapsOfBranchesAreRefused_data() {
    QTest::addColumn<unsigned>("offset");
    QTest::addColumn<unsigned>("value");
    QTest::addColumn<QString>("reason");
    constexpr unsigned kDag = sizeof(format::MapHeader) + sizeof(format::FunctionEntry);
    constexpr unsigned kBlock = kDag + sizeof(format::DagEntry);
    const auto row = [](const char* name, std::size_t offset, unsigned value, const char* reason) {
      QTest::newRow(name) << static_cast<unsigned>(offset) << value << QString::fromUtf8(reason);
    };
    row("dag outside", kDag + 4, 3, "DAG's blocks lie outside");
    row("dag without a head", kDag + 4, 1, "is no head");
    row("backwards", kBlock + 48 + offsetof(format::BlockEntry, successor), 1, "not in order");
    row("itself", kBlock + 24 + offsetof(format::BlockEntry, successor), 1, "not in order");
    row("bit", kBlock + 24 + offsetof(format::BlockEntry, bit), 0x0000010A, "bit is none of its DAG");
  }
  void hostileMapsOfBranchesAreRefused() {
    QFETCH(unsigned, offset);
    QFETCH(unsigned, value);
    QFETCH(QString, reason);
    auto bytes = MapText(R"(
      version 2
      function main 1000
      dag 1
      a 8 branch c b bit=0
      b 4 fall c
      c 4 return
    )")
                     .bytes();
    QVERIFY(loader::MapView::parse(bytes, "map").has_value());
    put(bytes, offset, value);
    const auto map = loader::MapView::parse(bytes, "map");
    QVERIFY(!map.has_value());
    QVERIFY2(map.error().message.find(reason.toStdString()) != std::string::npos, map.error().text().c_str());
  }

  void recordsThatGoOnIntoFunctionsForEverAreRefused_data() {
    QTest::addColumn<QString>("target");
    QTest::addColumn<QString>("reason");
    QTest::newRow("nowhere") << "4000" << "";
    QTest::newRow("another") << "3000" << "";
    QTest::newRow("within another") << "3004" << "";
    QTest::newRow("itself") << "2000" << "no record can go on";
    QTest::newRow("back") << "1000" << "no record can go on";
    QTest::newRow("not to its entry") << "5000" << "no record can go on";
  }
  void recordsThatGoOnIntoFunctionsForEverAreRefused() {
    QFETCH(QString, target);
    QFETCH(QString, reason);
    const std::string text = R"(
      version 4
      function main 1000
      dag
      a 4 call 2000 r into
      dag
      r 4 return
      function f 2000
      dag
      a 4 call )" + target.toStdString() +
                             R"( r into
      dag
      r 4 return
      function g 3000
      dag
      a 4 fall b
      b 4 return
      function h 5000
      dag
      a 4 return at=5004
    )";
    const auto bytes = MapText(text).bytes();
    const auto map = loader::MapView::parse(bytes, "map");
    QCOMPARE(map.has_value(), reason.isEmpty());
    if (map) {
      loader::DagPath path;
      loader::decodePath(*map, {.function = 0, .entry = map->dagOf(0)->entry}, 0, path);
      QCOMPARE(path.blocks.size(), target == "3000" ? std::size_t{4} : std::size_t{2});
    } else {
      QVERIFY(map.error().message.contains(reason.toStdString()));
    }
  }

  // --- ring and records

  void ringGivesWordsInOrderWithTheirPositions() {
    const MapText map(kMap);
    RingText::Options options;
    options.subBufferWords = 8;
    std::string text;
    for (int i = 0; i < 40; ++i) text += "f.a\n";
    const RingText ring(text, map, options);
    const auto bytes = ring.bytes();
    const auto view = ringOf(bytes);
    const auto& segment = view.segments()[0];
    QVERIFY(view.damage().empty());
    QVERIFY(segment.wrapped());
    QCOMPARE(segment.size(), std::size_t{3 * 8 + 5});                 // 40 = 5 * 7 + 5
    QCOMPARE(segment.positionOf(0), std::uint64_t{2 * 8});
    QCOMPARE(segment.positionOf(segment.size() - 1), ring.position(0));
    loader::WordWindow words(segment);
    for (std::size_t i = 0; i < segment.size(); ++i) {
      QCOMPARE(segment.firstAtOrAfter(segment.positionOf(i)), i);
      QCOMPARE(words[i] == format::kInvalidWord, i % 8 == 7);         // a sentinel
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
    options.subBufferWords = 8;
    std::string text;
    for (int i = 0; i < 42; ++i) text += "f.a\n";  // six full ones
    auto bytes = RingText(text, map, options).bytes();
    constexpr std::size_t kOrdinal =
        offsetof(format::RingHeader, segments) + offsetof(format::SegmentHeader, ordinal);
    put(bytes, kOrdinal, std::uint64_t{6});
    const auto view = ringOf(bytes);
    QVERIFY(view.damage().empty());
    QCOMPARE(view.segments()[0].size(), std::size_t{3 * 8});
    QCOMPARE(view.segments()[0].positionOf(0), std::uint64_t{3 * 8});
  }

  void aCursorThatCannotBeIsDamage() {
    const MapText map(kMap);
    RingText::Options options;
    options.subBufferWords = 8;
    std::string text;
    for (int i = 0; i < 40; ++i) text += "f.a\n";
    auto bytes = RingText(text, map, options).bytes();
    constexpr std::size_t kCursor = offsetof(format::RingHeader, segments);
    for (const std::uint64_t cursor :
         std::initializer_list<std::uint64_t>{0, 0x7000'0000 + 3 * 8 * 4, ~0ULL}) {
      put(bytes, kCursor, cursor);
      const auto view = ringOf(bytes);
      QCOMPARE(view.damage().size(), std::size_t{1});
      QCOMPARE(view.segments()[0].size(), std::size_t{3 * 8});
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

  // --- ELF

  void elfTellsItsTables() {
    for (const char* name : {CORPUS "/elf/library", CORPUS "/elf/without_sections"}) {
      const auto bytes = contentsOf(name);
      const auto image = loader::ElfImage::parse(bytes, name);
      QVERIFY2(image.has_value(), name);
      QCOMPARE(image->buildId().size(), std::size_t{40});
      const auto symbols = image->dynamicSymbols().value();
      const auto f = std::ranges::find(symbols, std::string_view("f"), &loader::ElfSymbol::name);
      QVERIFY(f != symbols.end() && f->defined() && f->type() == STT_FUNC);
      QVERIFY(image->bytesAt(f->address, f->size).has_value());
      const auto outside = std::ranges::find(symbols, std::string_view("outside"), &loader::ElfSymbol::name);
      QVERIFY(outside != symbols.end() && !outside->defined());
      QCOMPARE(image->sections().empty(), std::string_view(name).ends_with("without_sections"));
      QVERIFY(!image->relocations().value().empty());
    }
  }

  void packedRelativeRelocationsAreUnpacked() {
    const auto bytes = contentsOf(CORPUS "/elf/library");
    const auto image = loader::ElfImage::parse(bytes, "library").value();
    QVERIFY(image.dynamicValue(DT_RELR).has_value());
    const auto relocations = image.relocations().value();
    std::size_t packed = 0;
    for (const auto& relocation : relocations) {
      if (relocation.table != loader::ElfRelocation::Table::Relr) continue;
      ++packed;
      QCOMPARE(relocation.type, std::uint32_t{R_X86_64_RELATIVE});
      QVERIFY(image.segmentAt({static_cast<std::uint64_t>(relocation.addend)}) != nullptr);
    }
    QCOMPARE(packed, std::size_t{6});  // p, and the five pointers in q
  }

  void everyTruncationOfAnElfFileIsAnError() {
    const auto bytes = contentsOf(CORPUS "/elf/library");
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto image = loader::ElfImage::parse(std::span(bytes).first(size), "x");
      QVERIFY(!image.has_value());
      QVERIFY(image.error().text().starts_with("x: "));
      QVERIFY(image.error().offset.has_value());
    }
  }

  void filesOfOtherKindsAreRefusedByName_data() {
    QTest::addColumn<unsigned>("offset");
    QTest::addColumn<unsigned>("value");
    QTest::addColumn<QString>("reason");
    QTest::newRow("not ELF") << 0U << unsigned{'M'} << "not an ELF file";
    QTest::newRow("32 bits") << unsigned{EI_CLASS} << unsigned{ELFCLASS32} << "not a 64-bit ELF file";
    QTest::newRow("big-endian") << unsigned{EI_DATA} << unsigned{ELFDATA2MSB}
                                << "not a little-endian ELF file";
    QTest::newRow("ARM") << unsigned{offsetof(Elf64_Ehdr, e_machine)} << unsigned{EM_AARCH64}
                         << "not for x86-64 (machine 183)";
  }
  void filesOfOtherKindsAreRefusedByName() {
    QFETCH(unsigned, offset);
    QFETCH(unsigned, value);
    QFETCH(QString, reason);
    auto bytes = contentsOf(CORPUS "/elf/library");
    put(bytes, offset, static_cast<std::uint8_t>(value));
    const auto image = loader::ElfImage::parse(bytes, "x");
    QVERIFY(!image.has_value());
    QCOMPARE(QString::fromStdString(image.error().message), reason);
  }
};

QTEST_APPLESS_MAIN(ReadersTest)
#include "tst_readers.moc"
