// Snaps on good, torn and hostile bytes, and of writers that are older or newer.
#include <QTest>

#include <functional>
#include <random>
#include <vector>

#include "loader/load_trace.h"
#include "loader/snap/snap_reader.h"
#include "tests/builders/entry_text.h"
#include "tests/builders/snap_builder.h"
#include "tests/loader/reader_bytes.h"

using namespace traceback;
using tests::kMap;
using tests::MapText;
using tests::notesOf;
using tests::put;
using tests::RingText;

namespace {

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

}  // namespace

class SnapReaderTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
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

  void sectionsLargerThanTheyCanBeAreNotInflated_data() {
    QTest::addColumn<unsigned>("type");
    QTest::addColumn<quint64>("size");
    QTest::addColumn<QString>("note");
    const quint64 text = (quint64{1} << 24) + 1;
    QTest::newRow("process") << 1U << text << "process: is too large";
    QTest::newRow("modules") << 2U << quint64{(format::kMaxModules + 1) * sizeof(format::ProcessModule)}
                             << "modules: is too large";
    QTest::newRow("reason") << 3U << text << "reason: is too large";
    QTest::newRow("threads") << 4U << (quint64{1} << 30) << "threads: is too large";
    QTest::newRow("host") << 9U << text << "host: is too large";
  }
  void sectionsLargerThanTheyCanBeAreNotInflated() {
    QFETCH(unsigned, type);
    QFETCH(quint64, size);
    QFETCH(QString, note);
    auto snap = goodSnap();
    for (auto& entry : snap.entries()) {
      if (entry.type == type) entry.size = size;
    }
    const auto loaded = load(snap.bytes());
    QVERIFY(loaded.has_value());
    QVERIFY2(notesOf(*loaded->trace).find(note.toStdString()) != std::string::npos,
             notesOf(*loaded->trace).c_str());
  }

  void asManyModulesAsThereCanBeAreRead() {
    tests::SnapBuilder snap;
    const std::vector<std::byte> modules(format::kMaxModules * sizeof(format::ProcessModule));
    snap.add(format::SectionType::Modules, modules);
    const auto reader =
        loader::SnapReader::open(std::make_shared<const loader::MemoryBytes>(snap.bytes()), "x.tbsnap");
    QVERIFY(reader.has_value());
    QCOMPARE(reader->read(reader->sections()[0])->size(), modules.size());
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
             std::string("the snap is of a later revision (2.6) than this TraceBack knows (2.2): what was "
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
};

QTEST_APPLESS_MAIN(SnapReaderTest)
#include "tst_snap_reader.moc"
