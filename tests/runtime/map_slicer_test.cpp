// A snap's slice of a map: what the rings mention is whole, what is called has its name, the rest is gone.
// Qt makes `slots` a keyword, which is a name in the module table: that comes first.
#include "runtime/format/module.h"

#include <QTest>
#include <cstring>

#include "runtime/collect/snap/map_slicer.h"
#include "runtime/format/map.h"
#include "runtime/format/record.h"
#include "runtime/format/ring.h"

using namespace traceback;
using namespace traceback::format;
using collect::Bytes;

namespace {

template <typename T>
void put(Bytes& to, const T& value) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

// Four functions, "f0" to "f3", at 0x1000, 0x1100, ..., with a DAG of 16 codes and two blocks each. The
// second block of each calls the next function. Function 3 was skipped.
Bytes makeMap() {
  const std::string strings = std::string("\0original\0f0\0f1\0f2\0f3\0", 22);
  MapHeader header{};
  header.magic = kMapMagic;
  header.version = kMapVersion;
  header.headerSize = sizeof header;
  std::memcpy(header.mapId, "0123456789abcdef", 16);
  header.codeSpan = 64;
  header.functionCount = 4;
  header.dagCount = 3;
  header.blockCount = 6;
  header.addressCount = 3;
  header.stringBytes = static_cast<std::uint32_t>(strings.size());
  header.originalName = 1;
  Bytes map;
  put(map, header);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const bool copied = i < 3;
    put(map, FunctionEntry{.original = 0x1000 + 0x100 * i,
                           .copy = copied ? 0x8000 + 0x200 * i : 0u,
                           .originalSize = 0x80,
                           .copySize = copied ? 0x100u : 0u,
                           .name = 10 + 3 * i,
                           .skipReason = copied ? 0u : static_cast<std::uint32_t>(SkipReason::CallsItself),
                           .firstDag = copied ? i : 0,
                           .dagCount = copied,
                           .firstBlock = copied ? 2 * i : 0,
                           .blockCount = copied ? 2u : 0u,
                           .firstAddress = copied ? i : 0,
                           .addressCount = copied});
  }
  for (std::uint32_t i = 0; i < 3; ++i) put(map, DagEntry{16 * i, 0, 2, 4, 0});
  for (std::uint32_t i = 0; i < 3; ++i) {
    put(map,
        BlockEntry{0x1000 + 0x100 * i, 16, 0, {1, kNoBlock}, kNoBit, BlockEnd::FallThrough, kBlockEntry});
    put(map,
        BlockEntry{
            0x1010 + 0x100 * i, 16, 0x1100 + 0x100 * i, {kNoBlock, kNoBlock}, kNoBit, BlockEnd::Call, 0});
  }
  for (std::uint32_t i = 0; i < 3; ++i) put(map, AddressEntry{0x8000 + 0x200 * i, 0x1000 + 0x100 * i});
  map.insert(map.end(), strings.begin(), strings.end());
  return map;
}

ProcessModule makeModule() {
  ProcessModule module{};
  module.loadBias = 0x5555'0000'0000;
  module.start = module.loadBias;
  module.end = module.loadBias + 0x10000;
  std::memcpy(module.mapId, "0123456789abcdef", 16);
  module.codeBase = 0x4000;
  module.codeSpan = 64;
  return module;
}

struct Slice {
  MapHeader header{};
  std::vector<FunctionEntry> functions;
  std::vector<std::string> names;
};
Slice read(const Bytes& bytes) {
  Slice slice;
  std::memcpy(&slice.header, bytes.data(), sizeof slice.header);
  const std::size_t strings = bytes.size() - slice.header.stringBytes;
  for (std::uint32_t i = 0; i < slice.header.functionCount; ++i) {
    FunctionEntry function{};
    std::memcpy(&function, bytes.data() + slice.header.headerSize + i * sizeof function, sizeof function);
    slice.functions.push_back(function);
    slice.names.emplace_back(reinterpret_cast<const char*>(bytes.data()) + strings + function.name);
  }
  return slice;
}

model::Result<Bytes> slice(const Bytes& map, std::vector<std::uint32_t> codes,
                           std::vector<std::uint64_t> addresses = {}) {
  return collect::sliceMap(map, makeModule(), {codes, addresses}, "file");
}

}  // namespace

class MapSlicerTest : public QObject {
  Q_OBJECT
 private slots:
  void keepsFunctionsWhoseCodesAreMentionedAndNamesWhatTheyCall() {
    const auto bytes = slice(makeMap(), {0x4013});
    QVERIFY(bytes);
    const Slice result = read(*bytes);
    QCOMPARE(result.names, (std::vector<std::string>{"f1", "f2"}));
    QCOMPARE(result.functions[0].dagCount, 1u);
    QCOMPARE(result.functions[0].blockCount, 2u);
    QCOMPARE(result.functions[1].dagCount, 0u);
    QCOMPARE(result.functions[1].copy, 0x8400u);
    QCOMPARE(result.header.flags, std::uint32_t(kMapIsSlice));
    QCOMPARE(result.header.dagCount, 1u);
    QCOMPARE(result.header.blockCount, 2u);
    QCOMPARE(result.header.addressCount, 1u);
    // The pieces of the first function, as they were.
    const std::size_t dags = sizeof(MapHeader) + 2 * sizeof(FunctionEntry);
    DagEntry dag{};
    std::memcpy(&dag, bytes->data() + dags, sizeof dag);
    QCOMPARE(dag.code, 16u);
    BlockEntry block{};
    std::memcpy(&block, bytes->data() + dags + sizeof dag + sizeof block, sizeof block);
    QCOMPARE(block.target, 0x1200u);
  }

  void codesOfOtherModulesDoNotCount() {
    const auto bytes = slice(makeMap(), {0x3FFF, 0x4030, 0x5000});
    QVERIFY(bytes);
    QCOMPARE(read(*bytes).names.size(), 0u);
  }

  void aSkippedFunctionIsNamedIfItIsCalledOrAThreadIsInIt() {
    const auto called = slice(makeMap(), {0x4020});
    QCOMPARE(read(*called).names, (std::vector<std::string>{"f2", "f3"}));
    const auto inside = slice(makeMap(), {}, {0x5555'0000'1310});
    QCOMPARE(read(*inside).names, std::vector<std::string>{"f3"});
    const auto inCopy = slice(makeMap(), {}, {0x5555'0000'8010});
    QCOMPARE(read(*inCopy).names, std::vector<std::string>{"f0"});
    const auto outside = slice(makeMap(), {}, {0x5555'0000'1090, 0x1310});
    QVERIFY(read(*outside).names.empty());
  }

  void functionsThatAPathGoesOnIntoAreWhole() {
    // f0 -> f1 -> f2, of which only f0 has a record.
    Bytes map = makeMap();
    const std::size_t blocks = sizeof(MapHeader) + 4 * sizeof(FunctionEntry) + 3 * sizeof(DagEntry);
    const auto passes = [&](std::uint32_t block) {
      const std::uint16_t flags = kBlockPassesEntry;
      std::memcpy(map.data() + blocks + block * sizeof(BlockEntry) + offsetof(BlockEntry, flags), &flags,
                  sizeof flags);
    };
    passes(1);
    const auto one = slice(map, {0x4000});
    QCOMPARE(read(*one).names, (std::vector<std::string>{"f0", "f1", "f2"}));
    QCOMPARE(read(*one).functions[1].blockCount, 2u);
    QCOMPARE(read(*one).functions[2].blockCount, 0u);
    passes(3);
    const auto two = slice(map, {0x4000});
    QCOMPARE(read(*two).names, (std::vector<std::string>{"f0", "f1", "f2", "f3"}));
    QCOMPARE(read(*two).functions[2].blockCount, 2u);
    // Back again, which no sound map says: it is given up.
    const std::uint32_t back = 0x1000;
    std::memcpy(map.data() + blocks + 3 * sizeof(BlockEntry) + offsetof(BlockEntry, target), &back,
                sizeof back);
    QCOMPARE(read(*slice(map, {0x4000})).names, (std::vector<std::string>{"f0", "f1"}));
  }

  void anotherMapIsRefused() {
    Bytes map = makeMap();
    map[offsetof(MapHeader, mapId)] = '?';
    const auto bytes = slice(map, {0x4000});
    QVERIFY(!bytes);
    QVERIFY(bytes.error().message.find("replaced") != std::string::npos);
  }

  void aCutMapIsRefusedAtEveryLength() {
    const Bytes map = makeMap();
    for (std::size_t size = 0; size < map.size(); ++size)
      QVERIFY(!slice(Bytes(map.begin(), map.begin() + static_cast<std::ptrdiff_t>(size)), {0x4000}));
  }

  void aMapWithAnyByteChangedIsReadOrRefused() {
    const Bytes map = makeMap();
    for (std::size_t i = 0; i < map.size(); ++i)
      for (const int change : {0x01, 0x80, 0xFF}) {
        Bytes other = map;
        other[i] = static_cast<std::uint8_t>(other[i] ^ change);
        const auto bytes = slice(other, {0x4000, 0x4010, 0x4020}, {0x5555'0000'1310});
        if (bytes) QVERIFY(bytes->size() <= map.size() + 64);  // a name may read from the middle of another
      }
  }

  void everyCodeOfTheRingsIsFoundOnce() {
    Bytes one(kRingHeaderSize), two(kRingHeaderSize);
    for (const Word word :
         {dagRecord(7), dagRecord(5), kSentinelWord, header(RecordType::Timestamp, 3, 0), Word{0}})
      put(one, word);
    for (const Word word : {dagRecord(5), dagRecord(kEndCode - 1)}) put(two, word);
    two.push_back(0xFF);  // a cut word
    const std::vector<const Bytes*> rings{&one, &two};
    QCOMPARE(collect::codesIn(rings), (std::vector<std::uint32_t>{5, 7, kEndCode - 1}));
  }
};

QTEST_APPLESS_MAIN(MapSlicerTest)
#include "map_slicer_test.moc"
