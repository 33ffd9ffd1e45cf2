// Exception tables of real files and of hand-made bytes.
#include <QProcess>
#include <QRegularExpression>
#include <QTest>
#include <map>
#include <random>

#include "instrument/unwind/lsda.h"
#include "loader/mapped_file.h"
#include "tests/instrument/real_files.h"

using namespace traceback;
using namespace traceback::instrument;

namespace {

std::vector<std::byte> bytesOf(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// Two call sites; the second catches type 1 and has a specification of type 1 behind it.
std::vector<std::byte> smallTable() {
  return bytesOf({0xFF, 0x9B, 23,          // pads from the start, types pcrel|indirect|sdata4, to 0x1A
                  0x01, 8,                 // uleb call sites
                  0x10, 5,    0,    0,     // no pad
                  0x20, 5,    0x40, 3,     // pad, action at 2
                  0x7F, 0,                 // filter -1, last
                  0x01, 0x7D,              // filter 1, then at 0
                  0,    0,    0,    0, 0,  // to the type table
                  0x00, 0x10, 0,    0,     // type 1: 0x1000 from here (0x16)
                  1,    0});               // specification: type 1
}

}  // namespace

class TestLsda : public QObject {
  Q_OBJECT
 private slots:
  void tablesOfRealFilesFillTheirSection_data() { tests::addRealFiles(); }
  void tablesOfRealFilesFillTheirSection() {
    QFETCH(QString, path);
    auto file = loader::MappedFile::open(path.toStdString());
    QVERIFY(file.has_value());
    const auto image = loader::ElfImage::parse(file->bytes(), path.toStdString());
    QVERIFY(image.has_value());
    const auto frame = readEhFrame(*image);
    QVERIFY(frame.has_value());
    std::map<std::uint64_t, std::uint64_t> tables;  // start to end
    for (const Fde& fde : frame->fdes) {
      if (fde.lsda.value == 0) continue;
      const auto lsda = readLsda(*image, *frame, fde);
      QVERIFY2(lsda.has_value(), lsda ? "" : lsda.error().text().c_str());
      auto& end = tables[fde.lsda.value];
      end = std::max(end, lsda->end.value);
      for (const auto& site : lsda->callSites) {
        if (site.landingPad.value == 0) continue;
        const auto* segment = image->segmentAt(site.landingPad);
        QVERIFY(segment != nullptr && (segment->p_flags & PF_X) != 0);
      }
      for (const auto& type : lsda->types)
        QVERIFY(type.target == 0 || image->segmentAt({type.target}) != nullptr);
    }
    // Tables lie one behind the other: so none is read beyond its end, and few bytes are left unread (tables
    // of functions that the linker dropped, actions that no call site leads to, alignment).
    const auto* section = image->section(".gcc_except_table");
    if (section == nullptr) {
      QVERIFY(tables.empty());
      return;
    }
    std::uint64_t expected = section->sh_addr;
    std::uint64_t unread = 0;
    for (const auto& [start, end] : tables) {
      QVERIFY2(start >= expected, qPrintable(QString::number(start, 16)));
      unread += start - expected;
      expected = end;
    }
    const std::uint64_t sectionEnd = section->sh_addr + section->sh_size;
    QVERIFY(expected <= sectionEnd);
    unread += sectionEnd - expected;
    QVERIFY2(unread <= 8 + section->sh_size / 20,
             qPrintable(QString("%1 of %2").arg(unread).arg(section->sh_size)));
  }

  void firstTableIsWhatElfutilsPrints() {
    const QString path = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6";
    auto file = loader::MappedFile::open(path.toStdString());
    QVERIFY(file.has_value());
    const auto image = loader::ElfImage::parse(file->bytes(), path.toStdString());
    const auto* section = image->section(".gcc_except_table");
    QVERIFY(section != nullptr);
    const auto frame = readEhFrame(*image);
    const auto fde =
        std::ranges::find_if(frame->fdes, [&](const Fde& f) { return f.lsda.value == section->sh_addr; });
    QVERIFY(fde != frame->fdes.end());
    const auto lsda = readLsda(*image, *frame, *fde);
    QVERIFY(lsda.has_value());

    QProcess readelf;
    readelf.start("eu-readelf", {"-e", path});
    QVERIFY(readelf.waitForFinished(60'000));
    const QString dump = readelf.readAllStandardOutput();
    static const QRegularExpression line(
        "Call site start: +(\\S+)\\s+Call site length: +(\\S+)\\s+Landing pad: +(\\S+)\\s+Action: +(\\S+)");
    std::size_t index = 0;
    for (auto matches = line.globalMatch(dump); matches.hasNext();) {
      const auto match = matches.next();
      QVERIFY(index < lsda->callSites.size());
      const CallSite& site = lsda->callSites[index++];
      const auto pad = match.captured(3).toULongLong(nullptr, 0);
      QCOMPARE(site.start.value - fde->start.value, match.captured(1).toULongLong(nullptr, 0));
      QCOMPARE(site.length, match.captured(2).toULongLong(nullptr, 0));
      QCOMPARE(site.landingPad.value, pad == 0 ? 0 : pad + fde->start.value);
      QCOMPARE(site.action, match.captured(4).toULongLong(nullptr, 0));
    }
    QVERIFY(index > 0);
    QCOMPARE(lsda->callSites.size(), index);
  }

  void smallTableIsRead() {
    const auto bytes = smallTable();
    const auto lsda = parseLsda(bytes, {0x5000}, {0x100}, 0x80);
    QVERIFY2(lsda.has_value(), lsda ? "" : lsda.error().text().c_str());
    QCOMPARE(lsda->callSites.size(), std::size_t{2});
    QVERIFY((lsda->callSites[0] == CallSite{.start = {0x110}, .length = 5, .landingPad = {0}, .action = 0}));
    QVERIFY(
        (lsda->callSites[1] == CallSite{.start = {0x120}, .length = 5, .landingPad = {0x140}, .action = 3}));
    QCOMPARE(lsda->actions.size(), std::size_t{4});
    QCOMPARE(lsda->types.size(), std::size_t{1});
    QCOMPARE(lsda->types[0].target, std::uint64_t{0x5000 + 0x16 + 0x1000});
    QCOMPARE(lsda->specifications.size(), std::size_t{2});
    QCOMPARE(lsda->end.value, std::uint64_t{0x5000 + bytes.size()});
  }

  void truncationIsAnError() {
    const auto bytes = smallTable();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      QVERIFY(!parseLsda(std::span(bytes).first(size), {0x5000}, {0x100}, 0x80));
    }
  }

  void actionsThatLoopAreAnError() {
    auto bytes = smallTable();
    bytes[16] = std::byte{0x7F};  // next: itself
    QVERIFY(!parseLsda(bytes, {0x5000}, {0x100}, 0x80));
  }

  void callSiteOutsideOfItsFunctionIsAnError() {
    QVERIFY(!parseLsda(smallTable(), {0x5000}, {0x100}, 0x24));
    QVERIFY(parseLsda(smallTable(), {0x5000}, {0x100}, 0x25));
  }

  void callSitesOutOfOrderAreAnError() {
    auto bytes = smallTable();
    bytes[9] = std::byte{0x14};
    QVERIFY(!parseLsda(bytes, {0x5000}, {0x100}, 0x80));
  }

  // Clang's, of a basic block in a section of its own: behind its one site comes another one's header.
  void landingPadsAreReadAsFarAsTheTableIs() {
    const auto bytes = bytesOf({0xFF, 0xFF, 0x01, 8, 0x10, 5, 0x40, 0, 0xFF, 0xFF, 0x01, 0x00, 0, 0});
    QVERIFY(!parseLsda(bytes, {0x5000}, {0x100}, 0x80));
    const auto pads = landingPads(bytes, {0x5000}, {0x100}, 0x80);
    QCOMPARE(pads.size(), std::size_t{1});
    QCOMPARE(pads[0].value, std::uint64_t{0x140});
    QVERIFY(landingPads(std::span(bytes).first(3), {0x5000}, {0x100}, 0x80).empty());
  }

  void damageNeverDoesMoreThanAnError() {
    std::mt19937 random(20052);
    for (int round = 0; round < 50'000; ++round) {
      auto bytes = smallTable();
      for (int flips = 0; flips < 2; ++flips)
        bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      const auto lsda = parseLsda(bytes, {0x5000}, {0x100}, 0x80);
      if (lsda) QVERIFY(lsda->end.value <= 0x5000 + bytes.size());
    }
  }
};

QTEST_APPLESS_MAIN(TestLsda)
#include "tst_lsda.moc"
