// ELF files, good, torn and of other kinds.
#include <QFile>
#include <QTest>

#include <algorithm>

#include "loader/elf/elf_image.h"
#include "tests/loader/reader_bytes.h"

using namespace traceback;
using tests::put;

namespace {

std::vector<std::byte> contentsOf(const char* path) {
  QFile file(QString::fromUtf8(path));
  if (!file.open(QIODevice::ReadOnly)) qFatal("cannot read %s", path);
  const auto all = file.readAll();
  const auto bytes = std::as_bytes(std::span(all.data(), static_cast<std::size_t>(all.size())));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

class ElfImageTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
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

QTEST_APPLESS_MAIN(ElfImageTest)
#include "tst_elf_image.moc"
