// The unwind information of real files as we read it, against what elfutils and binutils say of it; and
// that damaged tables are errors.
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <QProcess>
#include <QRegularExpression>
#include <QTest>
#include <random>

#include "instrument/unwind/eh_frame.h"
#include "loader/mapped_file.h"
#include "tests/instrument/real_files.h"

using namespace traceback;
using namespace traceback::instrument;

namespace {

struct Opened {
  loader::MappedFile file;
  std::optional<loader::ElfImage> image;
};

Opened open(const QString& path) {
  Opened opened;
  auto file = loader::MappedFile::open(path.toStdString());
  if (!file) qFatal("%s", file.error().text().c_str());
  opened.file = std::move(*file);
  auto image = loader::ElfImage::parse(opened.file.bytes(), path.toStdString());
  if (!image) qFatal("%s", image.error().text().c_str());
  opened.image = std::move(*image);
  return opened;
}

std::vector<std::byte> bytesOf(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// A common part "zR", pcrel|sdata4, and one function of 0x20 bytes that starts at 0x2000, for address 0x1000.
std::vector<std::byte> smallSection() {
  return bytesOf({20,   0,    0, 0, 0,    0, 0, 0, 1,  'z', 'R', 0, 1,  0x78, 16, 1,
                  0x1B, 0x0C, 7, 8, 0x90, 1, 0, 0, 16, 0,   0,   0, 28, 0,    0,  0,
                  0xE0, 0x0F, 0, 0, 0x20, 0, 0, 0, 0,  0,   0,   0, 0,  0,    0,  0});
}

}  // namespace

class TestEhFrame : public QObject {
  Q_OBJECT
 private slots:
  void everyEntryIsReadAsElfutilsReadsIt_data() { tests::addRealFiles(); }
  void everyEntryIsReadAsElfutilsReadsIt() {
    QFETCH(QString, path);
    const auto opened = open(path);
    const auto frame = readEhFrame(*opened.image);
    QVERIFY2(frame.has_value(), frame ? "" : frame.error().text().c_str());
    QVERIFY(!frame->hasAbsolutePointers());

    Elf_Data section{};
    section.d_buf = const_cast<std::byte*>(frame->bytes.data());
    section.d_size = frame->bytes.size();
    section.d_type = ELF_T_BYTE;
    section.d_version = EV_CURRENT;
    std::size_t cies = 0;
    std::size_t fdes = 0;
    Dwarf_Off offset = 0;
    Dwarf_CFI_Entry entry;
    unsigned char identification[EI_NIDENT];
    memcpy(identification, opened.file.bytes().data(), EI_NIDENT);
    while (true) {
      Dwarf_Off next = 0;
      const int result = dwarf_next_cfi(identification, &section, true, offset, &next, &entry);
      QVERIFY(result >= 0);
      if (result == 1) break;
      if (dwarf_cfi_cie_p(&entry)) {
        QVERIFY(cies < frame->cies.size());
        const Cie& cie = frame->cies[cies++];
        QCOMPARE(cie.offset, offset);
        QCOMPARE(cie.augmentation, std::string(entry.cie.augmentation));
        QCOMPARE(cie.codeAlignment, std::uint64_t{entry.cie.code_alignment_factor});
        QCOMPARE(cie.dataAlignment, std::int64_t{entry.cie.data_alignment_factor});
        QCOMPARE(cie.returnRegister, std::uint64_t{entry.cie.return_address_register});
        QCOMPARE(static_cast<const void*>(cie.program.data()),
                 static_cast<const void*>(entry.cie.initial_instructions));
      } else {
        QVERIFY(fdes < frame->fdes.size());
        const Fde& fde = frame->fdes[fdes++];
        QCOMPARE(fde.offset, offset);
        QCOMPARE(frame->cies[fde.cie].offset, entry.fde.CIE_pointer);
      }
      offset = next;
    }
    QCOMPARE(frame->cies.size(), cies);
    QCOMPARE(frame->fdes.size(), fdes);
    QVERIFY(fdes > 0);
  }

  void everyRangeIsWhatBinutilsPrints_data() { tests::addRealFiles(); }
  void everyRangeIsWhatBinutilsPrints() {
    QFETCH(QString, path);
    const auto opened = open(path);
    const auto frame = readEhFrame(*opened.image);
    QVERIFY(frame.has_value());
    QProcess readelf;
    readelf.start("readelf", {"--debug-dump=frames", path});
    QVERIFY(readelf.waitForFinished(60'000));
    const QString dump = readelf.readAllStandardOutput();
    static const QRegularExpression line("FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\\.\\.([0-9a-f]+)");
    std::size_t index = 0;
    for (auto matches = line.globalMatch(dump); matches.hasNext();) {
      const auto match = matches.next();
      QVERIFY(index < frame->fdes.size());
      const Fde& fde = frame->fdes[index++];
      QCOMPARE(frame->cies[fde.cie].offset, match.captured(1).toULongLong(nullptr, 16));
      QCOMPARE(fde.start.value, match.captured(2).toULongLong(nullptr, 16));
      QCOMPARE(fde.start.value + fde.size, match.captured(3).toULongLong(nullptr, 16));
    }
    QCOMPARE(frame->fdes.size(), index);
  }

  void smallSectionIsRead() {
    const auto bytes = smallSection();
    const auto frame = parseEhFrame(bytes, {0x1000});
    QVERIFY2(frame.has_value(), frame ? "" : frame.error().text().c_str());
    QCOMPARE(frame->cies.size(), std::size_t{1});
    QCOMPARE(frame->fdes.size(), std::size_t{1});
    QCOMPARE(frame->fdes[0].start.value, std::uint64_t{0x2000});
    QCOMPARE(frame->fdes[0].size, std::uint64_t{0x20});
    QCOMPARE(frame->cies[0].dataAlignment, std::int64_t{-8});
    QCOMPARE(frame->bytes.size(), bytes.size() - 4);
  }

  void truncationIsAnError() {
    const auto bytes = smallSection();
    for (std::size_t size = 1; size < bytes.size() - 4; ++size) {
      if (size == 24) continue;  // exactly the common part
      QVERIFY2(!parseEhFrame(std::span(bytes).first(size), {0x1000}), qPrintable(QString::number(size)));
    }
  }

  void unknownPointerEncodingIsAnError() {
    for (const int encoding : {0x01, 0x09, 0x05, 0x2B, 0x3B, 0x4B, 0x50, 0x9B, 0xFF}) {
      auto bytes = smallSection();
      bytes[16] = static_cast<std::byte>(encoding);
      QVERIFY2(!parseEhFrame(bytes, {0x1000}), qPrintable(QString::number(encoding, 16)));
    }
  }

  void absoluteAddressesAreNoticed() {
    auto bytes = smallSection();
    bytes[16] = std::byte{0x03};
    const auto frame = parseEhFrame(bytes, {0x1000});
    QVERIFY(frame.has_value());
    QCOMPARE(frame->fdes[0].start.value, std::uint64_t{0xFE0});
    QVERIFY(frame->hasAbsolutePointers());
  }

  void danglingReferenceIsAnError() {
    auto bytes = smallSection();
    bytes[28] = std::byte{24};
    QVERIFY(!parseEhFrame(bytes, {0x1000}));
  }

  void damageNeverDoesMoreThanAnError() {
    const auto opened = open("/usr/bin/gzip");
    const auto frame = readEhFrame(*opened.image);
    QVERIFY(frame.has_value());
    std::mt19937 random(20051);
    for (int round = 0; round < 2000; ++round) {
      std::vector<std::byte> bytes(frame->bytes.begin(), frame->bytes.end());
      for (int flips = 0; flips < 3; ++flips)
        bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      const auto damaged = parseEhFrame(bytes, frame->address);
      if (!damaged) continue;
      for (const Fde& fde : damaged->fdes) QVERIFY(fde.cie < damaged->cies.size());
    }
  }
};

QTEST_APPLESS_MAIN(TestEhFrame)
#include "tst_eh_frame.moc"
