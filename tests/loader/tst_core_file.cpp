// Core files of snaps: what is translated, what is left out, what is damaged.
#include <elf.h>
#include <sys/procfs.h>

#include <QTest>

#include <cstring>

#include "loader/core/core_file.h"
#include "loader/core/core_notes.h"
#include "loader/core/original_addresses.h"
#include "tests/builders/snap_builder.h"

using namespace traceback;
using format::SectionType;
using tests::MapText;
using tests::RingText;

namespace {

constexpr std::uint64_t kBias = 0x5500'0000'0000;
constexpr std::uint64_t kStack = 0x7ff0'0000'0000;
constexpr char kMaps[] =
    "550000000000-550000001000 r--p 00000000 08:01 7      /cache/prog\n"
    "550000001000-550000100000 r-xp 00001000 08:01 7      /cache/prog\n"
    "550000100000-550000101000 r--p 00100000 08:01 7      /cache/prog\n"
    "550000101000-550000102000 rw-p 00101000 08:01 7      /cache/prog\n"
    "7ff000000000-7ff000001000 rw-p 00000000 00:00 0      [stack]\n"
    "no line of such a file\n";

// main calls f last of all, and f's copy lies right behind main's.
const MapText& map() {
  static const MapText text(R"(
    function main 1000
    dag
    a 8 call 2000 b
    dag
    b 5 call 2000 - returnpoint
    function f 2000
    dag
    a 8 return
  )");
  return text;
}
const RingText& ring() {
  static const RingText text("start\nmain.a\nf.a\n", map());
  return text;
}

struct Part {
  std::uint64_t start;
  std::vector<std::uint64_t> words;
  std::uint32_t flags = format::kMemoryStack;
};

template <typename T>
std::span<const std::byte> bytesOf(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

tests::SnapBuilder snapWith(const std::vector<Part>& parts, std::optional<std::uint64_t> pc) {
  tests::ProcessText text{.map = &map(), .ring = &ring()};
  text.pc = pc;
  auto snap = text.snap();
  std::vector<format::MemoryRange> ranges;
  for (const auto& part : parts)
    ranges.push_back(
        {.start = part.start, .size = part.words.size() * 8, .flags = part.flags, .reserved = 0});
  snap.add(SectionType::MemoryRanges, bytesOf(ranges));
  for (std::uint32_t i = 0; i < parts.size(); ++i)
    snap.add(SectionType::Memory, bytesOf(parts[i].words), i, false);
  snap.add(SectionType::Mappings, std::as_bytes(std::span(kMaps)));
  return snap;
}

loader::RecordedProcess processOf(const std::vector<std::byte>& bytes) {
  loader::LoadOptions options;
  options.useLocalMaps = false;
  options.useDebugInformation = false;
  auto snap = loader::SnapReader::open(std::make_shared<const loader::MemoryBytes>(bytes), "test");
  if (!snap) qFatal("no snap");
  return loader::readRecordedProcess(std::move(*snap), options);
}

struct Core {
  std::vector<std::byte> bytes;
  loader::CoreReport report;
  std::vector<Elf64_Phdr> loads;

  std::optional<std::uint64_t> word(std::uint64_t address) const {
    for (const auto& load : loads)
      if (address >= load.p_vaddr && address - load.p_vaddr < load.p_filesz)
        return loader::readAt<std::uint64_t>(bytes, load.p_offset + (address - load.p_vaddr));
    return std::nullopt;
  }
};

model::Result<Core> coreOf(const loader::RecordedProcess& process) {
  Core core;
  auto report = loader::writeCore(process, [&core](std::span<const std::byte> bytes) {
    core.bytes.insert(core.bytes.end(), bytes.begin(), bytes.end());
    return true;
  });
  if (!report) return std::unexpected(report.error());
  core.report = *report;
  const auto header = loader::readAt<Elf64_Ehdr>(core.bytes, 0);
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto load = *loader::readAt<Elf64_Phdr>(core.bytes, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (load.p_type == PT_LOAD) core.loads.push_back(load);
  }
  return core;
}

std::uint64_t copy(const char* place) { return map().copyOf(place) + kBias; }

}  // namespace

class CoreFile : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void returnAddressesBecomeTheOriginals() {
    // Of a call in the middle, of one that is the last instruction of its copy, and what is none.
    const auto process = processOf(
        snapWith({{kStack, {copy("main.b-probe"), copy("main.b+4") + 1, kBias + 0x1000, 42}}}, copy("f.a+2"))
            .bytes());
    const auto core = coreOf(process);
    QVERIFY(core.has_value());
    QCOMPARE(*core->word(kStack), kBias + 0x1008);
    QCOMPARE(*core->word(kStack + 8), kBias + 0x100d);
    QCOMPARE(*core->word(kStack + 16), kBias + 0x1000);
    QCOMPARE(*core->word(kStack + 24), 42UL);
  }

  void otherMemoryStaysAsItIs() {
    const auto process = processOf(snapWith({{kStack, {copy("main.b-probe")}, 0}}, copy("f.a")).bytes());
    QCOMPARE(*coreOf(process)->word(kStack), copy("main.b-probe"));
  }

  void aThreadStandsAtTheOriginal() {
    const auto threads = loader::coreThreads(processOf(snapWith({}, copy("f.a+2")).bytes()));
    QCOMPARE(threads.size(), 1UL);
    QCOMPARE(threads[0].programCounter, kBias + 0x2002);
    QVERIFY(threads[0].placeIsKnown && !threads[0].inProbe);
    const auto inProbe = loader::coreThreads(processOf(snapWith({}, copy("f.a-probe")).bytes()));
    QCOMPARE(inProbe[0].programCounter, kBias + 0x2000);
    QVERIFY(inProbe[0].inProbe);
  }

  void withoutTheMapNothingIsGuessed() {
    tests::ProcessText text{.map = &map(), .ring = &ring()};
    text.pc = copy("f.a");
    text.withMap = false;
    const auto process = processOf(text.snap().bytes());
    const auto core = coreOf(process);
    QCOMPARE(core->report.unknownPlaces, 1UL);
    QCOMPARE(loader::coreThreads(process)[0].programCounter, copy("f.a"));
  }

  // A debugger would take what a file holds, or zeros, for what was in memory.
  void onlyWhatIsAsInItsFileIsLeftToTheFile() {
    const auto files = loader::coreFiles(processOf(snapWith({}, copy("f.a")).bytes()));
    QCOMPARE(files.size(), 2UL);
    for (const auto& file : files) QCOMPARE(QByteArray::fromStdString(file.path), QByteArray("/src/prog"));
    QCOMPARE(files[1].offset, 0x1000UL);
    // Text that was kept is the copy's file's; what was relocated (before what can be written) is kept.
    const auto core = coreOf(
        processOf(snapWith({{kBias + 0x1000, {1, 2}, 0}, {kBias + 0x100000, {3}, 0}}, copy("f.a")).bytes()));
    QCOMPARE(core->loads.size(), 1UL);
    QCOMPARE(*core->word(kBias + 0x100000), 3UL);
  }

  void aSnapWithoutRegistersSaysSo() {
    const auto core = coreOf(processOf(snapWith({}, std::nullopt).bytes()));
    QVERIFY(!core);
    QVERIFY(core.error().message.find("registers") != std::string::npos);
  }

  void damagedMemoryIsLeftOutAndCounted() {
    const std::vector<std::uint64_t> words(3 * format::kSnapBlockSize / 8, 7);
    auto snap = snapWith({}, copy("f.a"));
    tests::ProcessText text{.map = &map(), .ring = &ring()};
    text.pc = copy("f.a");
    auto builder = text.snap();
    const format::MemoryRange range{
        .start = kStack, .size = words.size() * 8, .flags = format::kMemoryStack, .reserved = 0};
    builder.addObject(SectionType::MemoryRanges, range);
    builder.addBlocks(SectionType::Memory, bytesOf(words));
    auto bytes = builder.bytes();
    // In the middle block, behind the table and the first.
    const auto& entry = builder.entries().back();
    const auto first = *loader::readAt<format::SnapBlock>(bytes, entry.offset);
    bytes[static_cast<std::size_t>(entry.offset) + 3 * sizeof(format::SnapBlock) + first.storedSize + 4] ^=
        std::byte{1};
    const auto core = coreOf(processOf(bytes));
    QCOMPARE(core->report.damagedMemory, 1UL);
    QCOMPARE(core->loads.size(), 2UL);
    QCOMPARE(*core->word(kStack), 7UL);
    QVERIFY(!core->word(kStack + format::kSnapBlockSize));
    QCOMPARE(*core->word(kStack + 2 * format::kSnapBlockSize), 7UL);
  }

  void rangesThatContradictEachOtherAreLeftOut() {
    const auto process = processOf(
        snapWith({{kStack, {1, 2}}, {kStack + 8, {3}}, {UINT64_MAX - 7, {4, 5}}}, copy("f.a")).bytes());
    QCOMPARE(process.memory.size(), 1UL);
    QVERIFY(!process.report.notes().empty());
  }

  void whoTakesNothingEndsTheWriting() {
    const auto process = processOf(snapWith({{kStack, {1}}}, copy("f.a")).bytes());
    QVERIFY(!loader::writeCore(process, [](std::span<const std::byte>) { return false; }));
  }

  void linesThatAreNoMappingsAreLeftOut() {
    const auto mappings = format::parseMappings(
        "1000-2000 r-xp 00000010 08:01 12   /a name with blanks (deleted)\n2000-1000 r--p 0 0 0\nzz\n\n"
        "3000-4000 rw-s 00000000 00:00 0\n5000-6000 rw");
    QCOMPARE(mappings.size(), 2UL);
    QCOMPARE(QByteArray::fromStdString(mappings[0].path), QByteArray("/a name with blanks (deleted)"));
    QVERIFY(mappings[0].executable && !mappings[0].shared && mappings[0].offset == 0x10);
    QVERIFY(mappings[1].shared && mappings[1].writable && mappings[1].path.empty());
  }
};

QTEST_APPLESS_MAIN(CoreFile)
#include "tst_core_file.moc"
