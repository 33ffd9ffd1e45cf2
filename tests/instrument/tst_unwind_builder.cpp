// Unwind tables for copies, of real files: at every instruction of a copy, elfutils finds the same caller's
// frame in the new file as it finds at the original instruction in the old one; and exceptions are caught in
// the copies of the same places. The copies have gaps (probes), are cut into fragments, and some fragments
// are shuffled, as from a fixed seed.
#include <Zydis/Zydis.h>
#include <elfutils/libdw.h>
#include <libelf.h>

#include <QTest>
#include <cstdlib>
#include <map>
#include <random>

#include "instrument/elf/elf_writer.h"
#include "instrument/unwind/lsda.h"
#include "instrument/unwind/unwind_builder.h"
#include "loader/mapped_file.h"
#include "tests/instrument/real_files.h"

using namespace traceback;
using namespace traceback::instrument;
using model::VirtAddr;

namespace {

// Starts of the instructions of a function, or nothing if linear decoding does not end at its end.
std::vector<VirtAddr> decode(const loader::ElfImage& image, const Fde& fde) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  const auto code = image.bytesAt(fde.start, fde.size);
  if (!code) return {};
  std::vector<VirtAddr> starts;
  for (std::uint64_t at = 0; at < fde.size;) {
    ZydisDecodedInstruction instruction;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, nullptr, code->data() + at, fde.size - at,
                                                    &instruction))) {
      return {};
    }
    starts.push_back({fde.start.value + at});
    at += instruction.length;
  }
  return starts;
}

struct Copies {
  std::vector<Fragment> fragments;
  std::map<std::uint64_t, std::uint64_t> placeOf;  // original instruction to its copy
  std::uint64_t end = 0;
};

void copyFunction(Copies& copies, std::uint32_t index, const Fde& fde, std::span<const VirtAddr> starts,
                  std::mt19937& random) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto next = i + 1 < starts.size() ? starts[i + 1].value : fde.start.value + fde.size;
    const auto size = static_cast<std::uint32_t>(next - starts[i].value);
    pieces.push_back({.original = starts[i], .originalSize = size, .copy = 0, .copySize = size});
  }
  std::vector<std::vector<Piece>> parts(1);
  for (const Piece& piece : pieces) {
    if (!parts.back().empty() && random() % 50 == 0) parts.emplace_back();
    parts.back().push_back(piece);
  }
  if (parts.size() > 1 && random() % 2 == 0) std::ranges::shuffle(parts, random);
  // One fragment may hold parts that were not neighbours.
  while (parts.size() > 1 && random() % 2 == 0) {
    auto last = std::move(parts.back());
    parts.pop_back();
    parts.back().insert(parts.back().end(), last.begin(), last.end());
  }
  for (auto& part : parts) {
    copies.end += random() % 32U;
    for (Piece& piece : part) {
      piece.copy = copies.end;
      if (random() % 4 == 0)
        piece.copySize += static_cast<std::uint32_t>(random() % 40U);  // a probe in front
      copies.placeOf[piece.original.value] = piece.copy;
      copies.end += piece.copySize;
    }
    copies.fragments.push_back({.fde = index, .pieces = std::move(part)});
  }
}

struct ElfHandle {
  explicit ElfHandle(std::span<const std::byte> bytes)
      : copy(bytes.begin(), bytes.end()), elf(elf_memory(reinterpret_cast<char*>(copy.data()), copy.size())) {
    cfi = dwarf_getcfi_elf(elf);
  }
  ~ElfHandle() {
    dwarf_cfi_end(cfi);
    elf_end(elf);
  }
  ElfHandle(const ElfHandle&) = delete;
  ElfHandle& operator=(const ElfHandle&) = delete;

  // What elfutils finds at an address: the frame address rule and that of every register, as text.
  QByteArray frameAt(std::uint64_t address) const {
    Dwarf_Frame* frame = nullptr;
    if (dwarf_cfi_addrframe(cfi, address, &frame) != 0) return "none";
    QByteArray text;
    const auto add = [&](const Dwarf_Op* ops, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        text += QByteArray::number(ops[i].atom) + ',' + QByteArray::number(quint64{ops[i].number}) + ',' +
                QByteArray::number(quint64{ops[i].number2}) + ' ';
      }
      text += ';';
    };
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    if (dwarf_frame_cfa(frame, &ops, &count) == 0) add(ops, count);
    for (int reg = 0; reg <= 16; ++reg) {
      Dwarf_Op memory[3];
      if (dwarf_frame_register(frame, reg, memory, &ops, &count) != 0) return "bad register";
      text += QByteArray::number(reg) + (ops == nullptr ? (count == 0 ? 'u' : 's') : ':');
      if (ops != nullptr) add(ops, count);
    }
    bool signal = false;
    const int column = dwarf_frame_info(frame, nullptr, nullptr, &signal);
    text += QByteArray::number(column) + (signal ? 'S' : '-');
    std::free(frame);
    return text;
  }

  std::vector<std::byte> copy;
  Elf* elf;
  Dwarf_CFI* cfi;
};

const Fde* fdeAt(const EhFrame& frame, std::uint64_t address) {
  for (const Fde& fde : frame.fdes) {
    if (fde.contains({address})) return &fde;
  }
  return nullptr;
}

const CallSite* siteAt(const Lsda& lsda, std::uint64_t address) {
  for (const auto& site : lsda.callSites) {
    if (site.contains({address})) return &site;
  }
  return nullptr;
}

}  // namespace

class TestUnwindBuilder : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() { elf_version(EV_CURRENT); }

  void copiesUnwindAsTheOriginals_data() { tests::addRealFiles(); }
  void copiesUnwindAsTheOriginals() {
    QFETCH(QString, path);
    auto file = loader::MappedFile::open(path.toStdString());
    QVERIFY(file.has_value());
    const auto image = loader::ElfImage::parse(file->bytes(), path.toStdString());
    QVERIFY(image.has_value());
    const auto frame = readEhFrame(*image);
    QVERIFY(frame.has_value());
    const auto plan = planAdditions(*image, 136);
    QVERIFY2(plan.has_value(), plan ? "" : plan.error().text().c_str());

    // Of large files a part, for time; another one each seed.
    std::mt19937 random(6);
    const std::size_t stride = 1 + frame->fdes.size() / 500;
    Copies copies;
    copies.end = plan->segment.value;
    int refused = 0;
    for (std::uint32_t i = 0; i < frame->fdes.size(); ++i) {
      if (stride > 1 && random() % stride != 0) continue;
      const auto starts = decode(*image, frame->fdes[i]);
      if (starts.empty()) continue;
      if (!canCarry(*image, *frame, i, starts)) {
        ++refused;
        continue;
      }
      copyFunction(copies, i, frame->fdes[i], starts, random);
    }
    QVERIFY(!copies.fragments.empty());
    const auto pads = [&](VirtAddr pad) -> std::optional<std::uint64_t> {
      const auto place = copies.placeOf.find(pad.value);
      return place == copies.placeOf.end() ? pad.value : place->second;
    };
    const auto tables = buildUnwindTables(*image, *frame, copies.fragments, pads, {copies.end});
    QVERIFY2(tables.has_value(), tables ? "" : tables.error().text().c_str());

    ElfAdditions additions;
    additions.segment.resize(tables->end() - plan->segment.value);
    const auto place = [&](const char* name, const UnwindTable& table) {
      std::ranges::copy(
          table.bytes,
          additions.segment.begin() + static_cast<std::ptrdiff_t>(table.address.value - plan->segment.value));
      additions.parts.push_back({.name = name, .address = table.address, .size = table.bytes.size()});
    };
    place(".eh_frame_hdr", tables->header);
    place(".gcc_except_table", tables->exceptions);
    place(".eh_frame", tables->frame);
    additions.ehFrameHeader = tables->header.address;
    additions.ehFrameHeaderSize = tables->header.bytes.size();
    const auto written = writeElf(*image, *plan, additions);
    QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());

    // Frames.
    const ElfHandle before(file->bytes());
    const ElfHandle after(*written);
    QVERIFY(before.cfi != nullptr && after.cfi != nullptr);
    std::size_t compared = 0;
    for (const Fragment& fragment : copies.fragments) {
      for (const Piece& piece : fragment.pieces) {
        const auto expected = before.frameAt(piece.original.value);
        QVERIFY(expected != "none");
        QCOMPARE(after.frameAt(piece.copy), expected);
        if (piece.copySize > 1) QCOMPARE(after.frameAt(piece.copy + piece.copySize - 1), expected);
        if (++compared % 16 == 0) QCOMPARE(after.frameAt(piece.original.value), expected);
      }
    }
    qInfo("%s: %zu instructions of %zu fragments, %d functions refused", qPrintable(path), compared,
          copies.fragments.size(), refused);

    // Exceptions.
    const auto newImage = loader::ElfImage::parse(*written, "new");
    QVERIFY(newImage.has_value());
    const auto newFrame = readEhFrame(*newImage);
    QVERIFY2(newFrame.has_value(), newFrame ? "" : newFrame.error().text().c_str());
    QCOMPARE(newFrame->cies.size(), frame->cies.size());
    QCOMPARE(newFrame->fdes.size(), frame->fdes.size() + copies.fragments.size());
    for (std::size_t i = 0; i < frame->cies.size(); ++i) {
      QCOMPARE(newFrame->cies[i].personality.target, frame->cies[i].personality.target);
    }
    for (std::size_t i = 0; i < frame->fdes.size(); ++i) {
      QCOMPARE(newFrame->fdes[i].start.value, frame->fdes[i].start.value);
      QCOMPARE(newFrame->fdes[i].size, frame->fdes[i].size);
      QCOMPARE(newFrame->fdes[i].lsda.value, frame->fdes[i].lsda.value);
    }
    for (std::size_t i = 0; i < copies.fragments.size(); ++i) {
      const Fragment& fragment = copies.fragments[i];
      const Fde& original = frame->fdes[fragment.fde];
      const Fde& copy = newFrame->fdes[frame->fdes.size() + i];
      QCOMPARE(copy.start.value, fragment.pieces.front().copy);
      QCOMPARE(copy.cie, original.cie);
      QCOMPARE(copy.lsda.value == 0, original.lsda.value == 0);
      if (original.lsda.value == 0) continue;
      const auto oldTable = readLsda(*image, *frame, original);
      const auto newTable = readLsda(*newImage, *newFrame, copy);
      QVERIFY2(newTable.has_value(), newTable ? "" : newTable.error().text().c_str());
      for (const Piece& piece : fragment.pieces) {
        const auto* expected = siteAt(*oldTable, piece.original.value);
        for (const auto at : {piece.copy, piece.copy + piece.copySize - 1}) {
          const auto* site = siteAt(*newTable, at);
          QCOMPARE(site == nullptr, expected == nullptr);
          if (site == nullptr) continue;
          QCOMPARE(site->landingPad.value, expected->landingPad.value == 0 ? 0 : *pads(expected->landingPad));
          QCOMPARE(site->action, expected->action);
        }
      }
      QCOMPARE(newTable->typeEncoding, oldTable->typeEncoding);
      QVERIFY(newTable->actions.size() <= oldTable->actions.size());
      QVERIFY(std::ranges::equal(newTable->actions, oldTable->actions.first(newTable->actions.size())));
      QVERIFY(newTable->types.size() <= oldTable->types.size());
      for (std::size_t t = 0; t < newTable->types.size(); ++t) {
        QCOMPARE(newTable->types[t].target, oldTable->types[t].target);
      }
      QVERIFY(std::ranges::equal(newTable->specifications,
                                 oldTable->specifications.first(newTable->specifications.size())));
    }
  }

  void searchTableIsSortedAndComplete() {
    const QString path = "/usr/bin/gzip";
    auto file = loader::MappedFile::open(path.toStdString());
    const auto image = loader::ElfImage::parse(file->bytes(), path.toStdString());
    const auto frame = readEhFrame(*image);
    QVERIFY(frame.has_value());
    const auto none = [](VirtAddr) { return std::optional<std::uint64_t>(); };
    const auto tables = buildUnwindTables(*image, *frame, std::span<const Fragment>{}, none, {0x200004});
    QVERIFY(tables.has_value());
    QCOMPARE(tables->header.address.value, std::uint64_t{0x200008});
    const auto header = parseEhFrameHeader(tables->header.bytes, tables->header.address);
    QVERIFY(header.has_value());
    QCOMPARE(header->ehFrame.value, tables->frame.address.value);
    QCOMPARE(*header->fdeCount, std::uint64_t{frame->fdes.size()});
    const auto moved = parseEhFrame(tables->frame.bytes, tables->frame.address);
    QVERIFY(moved.has_value());
    std::int32_t previous = INT32_MIN;
    for (std::size_t i = 0; i < *header->fdeCount; ++i) {
      std::int32_t start = 0;
      std::int32_t entry = 0;
      memcpy(&start, tables->header.bytes.data() + 12 + 8 * i, 4);
      memcpy(&entry, tables->header.bytes.data() + 16 + 8 * i, 4);
      QVERIFY(start > previous);
      previous = start;
      const auto* fde =
          fdeAt(*moved, tables->header.address.value + static_cast<std::uint64_t>(std::int64_t{start}));
      QVERIFY(fde != nullptr);
      QCOMPARE(tables->frame.address.value + fde->offset,
               tables->header.address.value + static_cast<std::uint64_t>(std::int64_t{entry}));
    }
  }

  void landingPadWithoutACopyIsAnError() {
    const QString path = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6";
    auto file = loader::MappedFile::open(path.toStdString());
    const auto image = loader::ElfImage::parse(file->bytes(), path.toStdString());
    const auto frame = readEhFrame(*image);
    std::mt19937 random(7);
    for (std::uint32_t i = 0; i < frame->fdes.size(); ++i) {
      const Fde& fde = frame->fdes[i];
      if (fde.lsda.value == 0) continue;
      const auto lsda = readLsda(*image, *frame, fde);
      if (std::ranges::all_of(lsda->callSites,
                              [](const CallSite& site) { return site.landingPad.value == 0; }))
        continue;
      Copies copies;
      copies.end = 0x300000;
      copyFunction(copies, i, fde, decode(*image, fde), random);
      const auto none = [](VirtAddr) { return std::optional<std::uint64_t>(); };
      QVERIFY(!buildUnwindTables(*image, *frame, copies.fragments, none, {copies.end}));
      return;
    }
    QFAIL("no function with a landing pad");
  }

  void overlappingCopiesAreAnError() {
    const QString path = "/usr/bin/gzip";
    auto file = loader::MappedFile::open(path.toStdString());
    const auto image = loader::ElfImage::parse(file->bytes(), path.toStdString());
    const auto frame = readEhFrame(*image);
    const auto none = [](VirtAddr) { return std::optional<std::uint64_t>(); };
    std::vector<Fragment> fragments;
    for (const std::uint32_t i : {3U, 4U}) {
      const Fde& fde = frame->fdes[i];
      const auto starts = decode(*image, fde);
      QVERIFY(starts.size() > 1);
      const auto size = static_cast<std::uint32_t>(starts[1].value - starts[0].value);
      fragments.push_back(
          {.fde = i,
           .pieces = {{.original = starts[0], .originalSize = size, .copy = 0x300000 + i, .copySize = 8}}});
    }
    QVERIFY(!buildUnwindTables(*image, *frame, fragments, none, {0x310000}));
    fragments[1].pieces[0].copy = 0x300100;
    QVERIFY(buildUnwindTables(*image, *frame, fragments, none, {0x310000}));
  }
};

QTEST_APPLESS_MAIN(TestUnwindBuilder)
#include "tst_unwind_builder.moc"
