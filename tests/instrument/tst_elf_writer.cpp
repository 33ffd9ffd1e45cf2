// Files that were written again with additions: they run, survive strip, and please the ELF checkers as much
// as before.
#include <dlfcn.h>

#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <cstring>
#include <random>

#include "instrument/elf/elf_writer.h"
#include "instrument/unwind/unwind_builder.h"
#include "loader/mapped_file.h"
#include "tests/instrument/real_files.h"

using namespace traceback;
using namespace traceback::instrument;
using model::VirtAddr;

namespace {

struct Run {
  int code = -1;
  QByteArray out, err;
};

Run run(const QString& program, const QStringList& arguments) {
  QProcess process;
  process.start(program, arguments);
  Run result;
  if (!process.waitForFinished(60'000)) return result;
  result.code = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : 1000 + process.exitCode();
  result.out = process.readAllStandardOutput();
  result.err = process.readAllStandardError();
  return result;
}

// Complaints with the numbers taken out, for what lies elsewhere is counted differently.
QSet<QString> complaints(const QString& path) {
  const auto result = run("eu-elflint", {"--gnu-ld", path});
  QSet<QString> lines;
  static const QRegularExpression numbers("(0x)?[0-9a-f]*[0-9][0-9a-f]*");
  for (QString line : QString(result.out + result.err).split('\n', Qt::SkipEmptyParts)) {
    if (line != "No errors") lines.insert(line.replace(numbers, "N"));
  }
  return lines;
}

void put(std::vector<std::byte>& bytes, std::size_t at, std::uint32_t value) {
  std::memcpy(&bytes[at], &value, 4);
}

// Code that adds 41 to the first slot and returns the slot plus one.
std::vector<std::byte> counter(std::uint64_t address, std::uint64_t slot) {
  std::vector<std::byte> code;
  for (const int byte : {0x83, 0x05, 0, 0, 0, 0, 41, 0x8B, 0x05, 0, 0, 0, 0, 0xFF, 0xC0, 0xC3}) {
    code.push_back(static_cast<std::byte>(byte));
  }
  put(code, 2, static_cast<std::uint32_t>(slot - (address + 7)));
  put(code, 9, static_cast<std::uint32_t>(slot - (address + 13)));
  return code;
}

struct Subject {
  loader::MappedFile file;
  std::optional<loader::ElfImage> image;
  ElfPlan plan;
};

bool open(const QString& path, Subject& subject, std::uint64_t threadAlignment = 0) {
  auto file = loader::MappedFile::open(path.toStdString());
  if (!file) return false;
  subject.file = std::move(*file);
  auto image = loader::ElfImage::parse(subject.file.bytes(), path.toStdString());
  if (!image) return false;
  subject.image = std::move(*image);
  auto plan = planAdditions(*subject.image, 136, threadAlignment);
  if (!plan) {
    qWarning("%s", plan.error().text().c_str());
    return false;
  }
  subject.plan = *plan;
  return true;
}

// The usual additions: code, a table of unwind information, a map, a symbol.
ElfAdditions usualAdditions(const Subject& subject) {
  ElfAdditions additions;
  const std::uint64_t base = subject.plan.segment.value;
  additions.segment = counter(base, subject.plan.moduleSlots.value);
  additions.parts.push_back(
      {.name = ".traceback.text", .address = {base}, .size = additions.segment.size(), .executable = true});
  const auto frame = readEhFrame(*subject.image);
  if (frame) {
    const auto none = [](VirtAddr) { return std::optional<std::uint64_t>(); };
    const auto tables = buildUnwindTables(*subject.image, *frame, std::span<const Fragment>{}, none,
                                          {base + additions.segment.size()});
    if (!tables) qFatal("%s", tables.error().text().c_str());
    additions.segment.resize(tables->end() - base);
    for (const auto& [name, table] :
         {std::pair{".eh_frame_hdr", &tables->header}, std::pair{".eh_frame", &tables->frame}}) {
      std::ranges::copy(table->bytes,
                        additions.segment.begin() + static_cast<std::ptrdiff_t>(table->address.value - base));
      additions.parts.push_back(
          {.name = name, .address = table->address, .size = table->bytes.size(), .alignment = 8});
    }
    additions.ehFrameHeader = tables->header.address;
    additions.ehFrameHeaderSize = tables->header.bytes.size();
  }
  additions.unloaded.push_back(
      {.name = ".traceback.map", .bytes = std::vector<std::byte>(1000, std::byte{0x5A})});
  additions.symbols.push_back({.name = "counter.tb", .address = {base}, .size = 16});
  return additions;
}

Patch jumpTo(std::uint64_t from, std::uint64_t to) {
  Patch patch{.address = {from}, .bytes = std::vector<std::byte>(5)};
  patch.bytes[0] = std::byte{0xE9};
  put(patch.bytes, 1, static_cast<std::uint32_t>(to - (from + 5)));
  return patch;
}

bool save(const QString& path, const std::vector<std::byte>& bytes) {
  QFile file(path);
  return file.open(QIODevice::WriteOnly) &&
         file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<qint64>(bytes.size())) ==
             static_cast<qint64>(bytes.size()) &&
         file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
}

}  // namespace

class TestElfWriter : public QObject {
  Q_OBJECT
 private slots:
  void addedCodeRunsAlsoWhenStripped_data() {
    QTest::addColumn<QString>("path");
    for (const char* path : {SUBJECT_PIE, SUBJECT_NO_PIE, SUBJECT_STATIC, SUBJECT_STATIC_PIE}) {
      QTest::newRow(path) << QString::fromLatin1(path);
    }
  }
  void addedCodeRunsAlsoWhenStripped() {
    QFETCH(QString, path);
    QCOMPARE(run(path, {}).out, QByteArray("thrown thrown thrown 7 1 1\n"));
    Subject subject;
    QVERIFY(open(path, subject));
    auto additions = usualAdditions(subject);
    const auto symbols = subject.image->symbols();
    QVERIFY(symbols.has_value());
    for (const auto& symbol : *symbols) {
      if (symbol.name == "subject_answer")
        additions.patches.push_back(jumpTo(symbol.address.value, subject.plan.segment.value));
    }
    QCOMPARE(additions.patches.size(), std::size_t{1});
    const auto written = writeElf(*subject.image, subject.plan, additions);
    QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());

    QTemporaryDir folder;
    const QString output = folder.filePath("subject");
    QVERIFY(save(output, *written));
    const QByteArray expected = "thrown thrown thrown 7 42 83\n";
    const auto plain = run(output, {});
    QCOMPARE(plain.err, QByteArray());
    QCOMPARE(plain.out, expected);
    QCOMPARE(plain.code, 3);
    for (const char* how : {"--strip-debug", "--strip-unneeded", "--strip-all"}) {
      const QString stripped = folder.filePath("stripped");
      const auto strip = run("strip", {how, "-o", stripped, output});
      QCOMPARE(strip.err, QByteArray());
      QCOMPARE(strip.code, 0);
      QCOMPARE(run(stripped, {}).out, expected);
    }
    const auto symbol = run("nm", {output});
    QVERIFY(symbol.out.contains(" t counter.tb\n"));
    QCOMPARE(run("readelf", {"-aW", output}).err, QByteArray());
    QCOMPARE(complaints(output) - complaints(path), QSet<QString>());
  }

  void filesOfTheDistributionStayWhatTheyWere_data() { tests::addRealFiles(); }
  void filesOfTheDistributionStayWhatTheyWere() {
    QFETCH(QString, path);
    Subject subject;
    QVERIFY(open(path, subject));
    const auto additions = usualAdditions(subject);
    const auto written = writeElf(*subject.image, subject.plan, additions);
    QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());

    // Byte-identical but for the header tables, what moved out of their way, and the dynamic section if that
    // says where.
    const auto old = subject.file.bytes();
    QVERIFY(written->size() > old.size());
    const auto& header = subject.image->header();
    std::size_t tables = header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr);
    for (const auto& stretch : subject.plan.moved)
      tables = std::max<std::size_t>(tables, stretch.offset + stretch.size);
    const auto* dynamic = subject.image->segment(PT_DYNAMIC);
    QVERIFY(dynamic != nullptr);
    int words = 0;
    for (std::size_t at = tables; at < old.size(); ++at) {
      if ((*written)[at] == old[at]) continue;
      QVERIFY(at >= dynamic->p_offset && at < dynamic->p_offset + dynamic->p_filesz);
      at |= 7;
      ++words;
    }
    QVERIFY(words <= std::ranges::count_if(subject.plan.moved, [](const auto& stretch) {
              return stretch.dynamicTag.has_value();
            }));

    QTemporaryDir folder;
    const QString output = folder.filePath(QFileInfo(path).fileName());
    QVERIFY(save(output, *written));
    QCOMPARE(complaints(output) - complaints(path), QSet<QString>());
    QTemporaryDir other;
    const QString stripped = other.filePath(QFileInfo(path).fileName());
    const auto strip = run("strip", {"-o", stripped, output});
    QCOMPARE(strip.err, QByteArray());
    QCOMPARE(strip.code, 0);
    for (const QString& file : {output, stripped}) {
      const auto readelf = run("readelf", {"-lSW", file});
      QCOMPARE(readelf.err, QByteArray());
      const auto mapped = loader::MappedFile::open(file.toStdString());
      const auto image = loader::ElfImage::parse(mapped->bytes(), file.toStdString());
      QVERIFY2(image.has_value(), image ? "" : image.error().text().c_str());
      const auto segment = image->bytesAt(subject.plan.segment, additions.segment.size());
      QVERIFY(segment.has_value());
      QVERIFY(std::ranges::equal(*segment, additions.segment));
      QCOMPARE(image->buildId(), subject.image->buildId());
      const auto* map = image->section(".traceback.map");
      QVERIFY(map != nullptr && map->sh_size == 1000);
    }
    if (path.contains("/lib/")) {
      // Loaded, with every symbol looked up, by a program that uses most of these libraries.
      const auto before = run("cmake", {"--version"});
      QCOMPARE(before.code, 0);
      for (const QString& file : {output, stripped}) {
        const auto after = run("env", {"LD_BIND_NOW=1", "LD_PRELOAD=" + file, "cmake", "--version"});
        QCOMPARE(after.err, before.err);
        QCOMPARE(after.out, before.out);
        const auto thrown = run("env", {"LD_PRELOAD=" + file, SUBJECT_PIE});
        QCOMPARE(thrown.err, QByteArray());
        QCOMPARE(thrown.out, QByteArray("thrown thrown thrown 7 1 1\n"));
      }
      return;
    }
    const auto before = run(path, {"--help"});
    for (const QString& file : {output, stripped}) {
      const auto after = run(file, {"--help"});
      QCOMPARE(after.code, before.code);
      QCOMPARE(QByteArray(after.out).replace(file.toLocal8Bit(), path.toLocal8Bit()), before.out);
    }
  }

  void programsWithAlignedThreadStorageStayWhatTheyWere() {
    for (const QString path : {"/usr/bin/gzip", "/usr/bin/lua5.4", "/usr/bin/perl", "/usr/bin/gdb"}) {
      Subject subject;
      QVERIFY(open(path, subject, 128));
      QVERIFY(subject.plan.threadStorage.has_value());
      const auto written = writeElf(*subject.image, subject.plan, usualAdditions(subject));
      QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
      QTemporaryDir folder, other;
      const QString name = QFileInfo(path).fileName();
      const QString output = folder.filePath(name), stripped = other.filePath(name);
      QVERIFY(save(output, *written));
      QCOMPARE(complaints(output) - complaints(path), QSet<QString>());
      const auto strip = run("strip", {"-o", stripped, output});
      QCOMPARE(strip.err, QByteArray());
      const auto before = run(path, {"--help"});
      for (const QString& file : {output, stripped}) {
        QCOMPARE(run("readelf", {"-lSW", file}).err, QByteArray());
        const auto mapped = loader::MappedFile::open(file.toStdString());
        const auto image = loader::ElfImage::parse(mapped->bytes(), file.toStdString());
        const Elf64_Phdr* storage = image->segment(PT_TLS);
        QVERIFY(storage != nullptr);
        QCOMPARE(storage->p_align, std::uint64_t{128});
        QCOMPARE(image->buildId(), subject.image->buildId());
        const auto after = run(file, {"--help"});
        QCOMPARE(after.code, before.code);
        QCOMPARE(QByteArray(after.out).replace(file.toLocal8Bit(), path.toLocal8Bit()), before.out);
      }
    }
  }

  void librariesOfAllKindsLoad_data() {
    QTest::addColumn<QString>("path");
    for (const QString& path : QString(SUBJECT_LIBRARIES).split(':')) QTest::newRow(qPrintable(path)) << path;
  }
  void librariesOfAllKindsLoad() {
    QFETCH(QString, path);
    Subject subject;
    QVERIFY(open(path, subject));
    auto additions = usualAdditions(subject);
    const auto symbols = subject.image->dynamicSymbols();
    QVERIFY(symbols.has_value());
    for (const auto& symbol : *symbols) {
      if (symbol.name == "library_answer") {
        additions.patches.push_back(jumpTo(symbol.address.value, subject.plan.segment.value));
      }
    }
    QCOMPARE(additions.patches.size(), std::size_t{1});
    const auto written = writeElf(*subject.image, subject.plan, additions);
    QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
    QTemporaryDir folder;
    const QString output = folder.filePath("output.so");
    const QString stripped = folder.filePath("stripped.so");
    QVERIFY(save(output, *written));
    QCOMPARE(complaints(output) - complaints(path), QSet<QString>());
    QCOMPARE(run("strip", {"-o", stripped, output}).err, QByteArray());
    for (const QString& file : {output, stripped}) {
      void* library = dlopen(file.toLocal8Bit().constData(), RTLD_NOW | RTLD_LOCAL);
      QVERIFY2(library != nullptr, dlerror());
      const auto answer = reinterpret_cast<int (*)()>(dlsym(library, "library_answer"));
      QVERIFY(answer != nullptr);
      QCOMPARE(answer(), 42);
      QCOMPARE(answer(), 83);
      QCOMPARE(dlclose(library), 0);
    }
  }

  void fileWithoutSectionHeadersRuns() {
    QFile original(SUBJECT_PIE);
    QVERIFY(original.open(QIODevice::ReadOnly));
    QByteArray bytes = original.readAll();
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.constData(), sizeof header);
    bytes.truncate(static_cast<qsizetype>(header.e_shoff));
    header.e_shoff = 0;
    header.e_shnum = header.e_shstrndx = 0;
    std::memcpy(bytes.data(), &header, sizeof header);
    QTemporaryDir folder;
    // What lies behind the last segment is not of the ELF file any more.
    const auto image = loader::ElfImage::parse(std::as_bytes(std::span(bytes)), "bare");
    QVERIFY(image.has_value());
    qsizetype end = 0;
    for (const auto& segment : image->segments())
      end = std::max(end, static_cast<qsizetype>(segment.p_offset + segment.p_filesz));
    QVERIFY(!planAdditions(*image, 136));
    bytes.truncate(end);
    const QString bare = folder.filePath("bare");
    QVERIFY(save(
        bare, std::vector<std::byte>(reinterpret_cast<const std::byte*>(bytes.constData()),
                                     reinterpret_cast<const std::byte*>(bytes.constData()) + bytes.size())));
    Subject subject;
    QVERIFY(open(bare, subject));
    const auto written = writeElf(*subject.image, subject.plan, usualAdditions(subject));
    QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
    const QString output = folder.filePath("output");
    QVERIFY(save(output, *written));
    QCOMPARE(run(output, {}).out, QByteArray("thrown thrown thrown 7 1 1\n"));
    const auto mapped = loader::MappedFile::open(output.toStdString());
    const auto again = loader::ElfImage::parse(mapped->bytes(), "again");
    QVERIFY(again.has_value());
    QVERIFY(again->section(".traceback.map") != nullptr);
  }

  void slotsStayOutOfWhatIsProtectedAfterRelocation() {
    QFile original(SUBJECT_PIE);
    QVERIFY(original.open(QIODevice::ReadOnly));
    QByteArray bytes = original.readAll();
    const auto before = loader::ElfImage::parse(std::as_bytes(std::span(bytes)), "file");
    QVERIFY(before.has_value());
    const auto header = before->header();
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
      auto segment = before->segments()[i];
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0) end = segment.p_vaddr + segment.p_memsz;
    }
    QVERIFY(end % 0x1000 != 0);
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
      auto segment = before->segments()[i];
      if (segment.p_type != PT_GNU_RELRO) continue;
      segment.p_memsz = end - segment.p_vaddr;  // all of the writable segment
      std::memcpy(bytes.data() + header.e_phoff + i * sizeof segment, &segment, sizeof segment);
    }
    const auto after = loader::ElfImage::parse(std::as_bytes(std::span(bytes)), "file");
    QVERIFY(after.has_value());
    const auto plain = planAdditions(*before, 136);
    const auto moved = planAdditions(*after, 136);
    QVERIFY(plain && moved);
    QCOMPARE(plain->moduleSlots.value, (end + 7) / 8 * 8);
    QCOMPARE(moved->moduleSlots.value, (end + 0xFFF) / 0x1000 * 0x1000);
    QVERIFY(moved->segment.value >= moved->moduleSlots.value + 0x1000);
  }

  void appendedDataIsRefused() {
    QFile original(SUBJECT_PIE);
    QVERIFY(original.open(QIODevice::ReadOnly));
    const QByteArray bytes = original.readAll() + "payload";
    const auto image = loader::ElfImage::parse(std::as_bytes(std::span(bytes)), "file");
    QVERIFY(image.has_value());
    const auto plan = planAdditions(*image, 136);
    QVERIFY(!plan);
    QVERIFY(plan.error().message.contains("appended"));
  }

  void patchOutsideOfTheFileIsAnError() {
    Subject subject;
    QVERIFY(open(SUBJECT_PIE, subject));
    for (const std::uint64_t address : {subject.plan.moduleSlots.value, std::uint64_t{0}, std::uint64_t{0x40},
                                        subject.plan.segment.value, ~std::uint64_t{0}}) {
      auto additions = usualAdditions(subject);
      additions.patches.push_back({.address = {address}, .bytes = std::vector<std::byte>(5)});
      QVERIFY(!writeElf(*subject.image, subject.plan, additions));
    }
  }

  void damageNeverDoesMoreThanAnError() {
    for (const char* path : {SUBJECT_PIE, "/usr/lib/x86_64-linux-gnu/libz.so.1"}) {
      const auto file = loader::MappedFile::open(path);
      QVERIFY(file.has_value());
      const auto original = file->bytes();
      const auto header = loader::readAt<Elf64_Ehdr>(original, 0);
      std::mt19937 random(20053);
      int written = 0;
      for (int round = 0; round < 3000; ++round) {
        std::vector<std::byte> bytes(original.begin(), original.end());
        for (int flips = 0; flips < 2; ++flips) {
          // The tables, and what lies behind the first of them.
          const std::size_t at = random() % 2 == 0 ? 16 + random() % 1100
                                                   : header->e_shoff + random() % (32 * sizeof(Elf64_Shdr));
          if (at < bytes.size()) bytes[at] = static_cast<std::byte>(random());
        }
        const auto image = loader::ElfImage::parse(bytes, "damaged");
        if (!image) continue;
        Subject subject{.file = {}, .image = *image, .plan = {}};
        const auto plan = planAdditions(*image, 136);
        if (!plan) continue;
        subject.plan = *plan;
        ElfAdditions additions;
        additions.segment = counter(plan->segment.value, plan->moduleSlots.value);
        additions.parts.push_back({.name = ".traceback.text",
                                   .address = plan->segment,
                                   .size = additions.segment.size(),
                                   .executable = true});
        additions.symbols.push_back({.name = "counter.tb", .address = plan->segment, .size = 16});
        additions.patches.push_back({.address = image->entry(), .bytes = std::vector<std::byte>(5)});
        if (writeElf(*image, *plan, additions)) ++written;
      }
      QVERIFY(written > 0);
    }
  }

  void bytesThatNoSectionCoversAreAnError() {
    Subject subject;
    QVERIFY(open(SUBJECT_PIE, subject));
    auto additions = usualAdditions(subject);
    additions.segment.push_back(std::byte{1});
    QVERIFY(!writeElf(*subject.image, subject.plan, additions));
  }
};

QTEST_APPLESS_MAIN(TestElfWriter)
#include "tst_elf_writer.moc"
