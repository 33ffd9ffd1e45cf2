// Maps on good, torn and hostile bytes.
#include <QTest>

#include <vector>

#include "loader/map/map_view.h"
#include "loader/reconstruct/path.h"
#include "tests/builders/map_text.h"
#include "tests/loader/reader_bytes.h"

using namespace traceback;
using tests::kMap;
using tests::MapText;
using tests::put;

class MapViewTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
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
    row("bit", kBlock + 24 + offsetof(format::BlockEntry, bit), 0x100 | format::kMaxPathBits,
        "bit is none of its DAG");
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
};

QTEST_APPLESS_MAIN(MapViewTest)
#include "tst_map_view.moc"
