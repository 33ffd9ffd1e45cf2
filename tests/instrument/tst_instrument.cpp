// The instrumentor as a whole: what it refuses, what it writes, and that it survives any file.
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>

#include <format>
#include <random>

#include "instrument/instrument.h"
#include "loader/elf/elf_image.h"
#include "loader/mapped_file.h"
#include "runtime/format/skip_reason.h"

using namespace traceback;
using instrument::instrumentFile;

namespace {

constexpr char kProgram[] = "/usr/bin/gzip", kLibrary[] = "/usr/lib/x86_64-linux-gnu/libz.so.1";

QByteArray read(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void write(const QString& path, const QByteArray& bytes) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  QCOMPARE(file.write(bytes), bytes.size());
}

}  // namespace

class TestInstrument : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;
  QString path(const char* name) const { return m_folder.filePath(name); }

  // Instruments these bytes; the error's text, or empty. Nothing but input and output may be left.
  QString errorOf(const QByteArray& bytes) {
    write(path("input"), bytes);
    QFile::remove(path("output"));
    const auto report = instrumentFile(path("input").toStdString(), path("output").toStdString(), {});
    const QStringList left = QDir(m_folder.path()).entryList({"output*"}, QDir::Files);
    if (report) return {};
    if (!left.isEmpty()) return "left " + left.join(' ');
    return QString::fromStdString(report.error().text());
  }

  std::uint64_t instrumentedWith(const std::vector<std::string>& only,
                                 const std::vector<std::string>& exclude) {
    instrument::Options options;
    options.only = only;
    options.exclude = exclude;
    const auto report = instrumentFile(kProgram, path("selected").toStdString(), options);
    return report ? report->instrumented : 0;
  }

 private slots:
  void whatIsNotAProgramIsRefused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("reason");
    QByteArray program = read(kProgram);
    QTest::newRow("empty") << QByteArray() << "";
    QTest::newRow("text") << QByteArray("#!/bin/sh\necho hello\n") << "not an ELF file";
    QTest::newRow("header only") << program.first(64) << "";
    QByteArray other = program;
    other[18] = char(183);  // e_machine: AArch64
    QTest::newRow("another machine") << other << "x86-64";
    QByteArray narrow = program;
    narrow[4] = 1;  // ELFCLASS32
    QTest::newRow("32 bits") << narrow << "";
    QTest::newRow("half") << program.first(program.size() / 2) << "";
  }
  void whatIsNotAProgramIsRefused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, reason);
    const QString error = errorOf(bytes);
    QVERIFY2(error.startsWith(path("input")), qPrintable(error));
    QVERIFY2(error.contains(reason), qPrintable(error));
    QVERIFY2(!error.contains('\n'), qPrintable(error));
  }

  void missingFileIsNamed() {
    const auto report = instrumentFile("/nowhere/program", path("output").toStdString(), {});
    QVERIFY(!report);
    QVERIFY(report.error().text().starts_with("/nowhere/program"));
  }

  void unwritableFolderIsNamed() {
    const auto report = instrumentFile(kProgram, "/nowhere/output", {});
    QVERIFY(!report);
    QVERIFY(report.error().text().starts_with("/nowhere/output"));
  }

  void fullDiskLeavesNothing() {
    // A file-size limit fails the write as a full disk does.
    const int status =
        QProcess::execute("sh", {"-c", "ulimit -f 64; trap '' XFSZ; LIMITED=1 exec \"$0\" fullDiskChild",
                                 QCoreApplication::applicationFilePath()});
    QCOMPARE(status, 0);
  }
  void fullDiskChild() {
    const auto report = instrumentFile(kProgram, path("limited").toStdString(), {});
    const bool limited = qEnvironmentVariableIsSet("LIMITED");
    QCOMPARE(report.has_value(), !limited);
    QCOMPARE(QFile::exists(path("limited")), !limited);
    QVERIFY(QDir(m_folder.path()).entryList({"limited.*"}).isEmpty());
  }

  void instrumentedFileIsRefused() {
    const auto first = instrumentFile(kProgram, path("once").toStdString(), {});
    QVERIFY(first.has_value());
    const auto second = instrumentFile(path("once").toStdString(), path("twice").toStdString(), {});
    QVERIFY(!second);
    QVERIFY(second.error().text().contains("instrumented already"));
    QVERIFY(!QFile::exists(path("twice")));
  }

  void staticProgramIsRefused() {
    QFile source(path("static.c"));
    QVERIFY(source.open(QIODevice::WriteOnly));
    source.write("int main(void) { return 0; }\n");
    source.close();
    QCOMPARE(QProcess::execute("gcc", {"-static", "-o", path("static"), path("static.c")}), 0);
    const auto report = instrumentFile(path("static").toStdString(), path("output").toStdString(), {});
    QVERIFY(!report);
    QVERIFY(report.error().text().contains("static"));
  }

  void sameInputGivesSameOutput() {
    QVERIFY(instrumentFile(kProgram, path("a").toStdString(), {}).has_value());
    QVERIFY(instrumentFile(kProgram, path("b").toStdString(), {}).has_value());
    QCOMPARE(read(path("a")), read(path("b")));
  }

  void numberOfThreadsMakesNoDifference() {
    // Enough functions for every thread to have some.
    const std::string program = "/usr/bin/perl";
    instrument::Options options;
    options.threads = 1;
    QVERIFY(instrumentFile(program, path("a").toStdString(), options).has_value());
    for (const unsigned threads : {2U, 7U}) {
      options.threads = threads;
      QVERIFY(instrumentFile(program, path("b").toStdString(), options).has_value());
      QVERIFY(read(path("a")) == read(path("b")));
    }
  }

  void modeIsKept() {
    QVERIFY(QFile::copy(kProgram, path("moded")));
    QCOMPARE(::chmod(qPrintable(path("moded")), 0711), 0);
    QVERIFY(instrumentFile(path("moded").toStdString(), path("moded.tb").toStdString(), {}).has_value());
    struct stat status{};
    QCOMPARE(::stat(qPrintable(path("moded.tb")), &status), 0);
    QCOMPARE(status.st_mode & 07777, 0711u);
  }

  void reportAddsUp() {
    const auto report = instrumentFile(kProgram, path("report").toStdString(), {});
    QVERIFY(report.has_value());
    std::uint64_t skipped = 0;
    for (const auto& [reason, count] : report->skipped) {
      QVERIFY(!reason.empty());
      skipped += count;
    }
    QCOMPARE(report->instrumented + skipped, report->functions);
    QVERIFY(report->instrumented * 100 > report->functions * 90);
  }

  void fatesOfFunctionsAreWhatIsDoneWithThem() {
    const auto report = instrumentFile("/usr/bin/perl", path("perl").toStdString(), {});
    const auto file = loader::MappedFile::open("/usr/bin/perl");
    QVERIFY(report && file);
    const auto image = loader::ElfImage::parse(file->bytes(), "/usr/bin/perl");
    const auto fates = instrument::functionFates(*image, {});
    QVERIFY(fates.has_value());
    QCOMPARE(fates->size(), report->functions);
    std::map<std::string, std::uint64_t> skipped, entriesLeft;
    for (const auto& fate : *fates) {
      if (fate.reason == format::SkipReason::None) {
        QVERIFY(fate.copied);
        continue;
      }
      ++(fate.copied ? entriesLeft : skipped)[std::string(format::skipReasonName(fate.reason))];
      QVERIFY(format::skipReasonSentence(fate.reason).size() > 20);
    }
    QVERIFY(skipped == report->skipped);
    QVERIFY(entriesLeft == report->entriesLeft);
  }

  void patternsChooseFunctions() {
    instrument::Options options;
    options.exclude = {"*"};
    const auto none = instrumentFile(kProgram, path("none").toStdString(), options);
    QVERIFY(!none);
    QVERIFY(none.error().text().contains("none of its functions"));
  }

  void functionsAreChosenByNumberAndAddress() {
    const std::uint64_t all = instrumentedWith({}, {});
    QVERIFY(all > 100);
    const std::uint64_t low = instrumentedWith({"0-49"}, {}), high = instrumentedWith({"50-100000"}, {});
    QVERIFY(low > 0 && low <= 50);
    QCOMPARE(low + high, all);
    QCOMPARE(instrumentedWith({}, {"0-49"}), high);

    const auto file = loader::MappedFile::open(kProgram);
    QVERIFY(file.has_value());
    // By an address in the middle of the function that starts there.
    instrumentedWith({"60"}, {});
    const auto changedAt = [&]() -> qsizetype {
      const QByteArray before = read(kProgram), after = read(path("selected"));
      for (qsizetype i = 4096; i < before.size(); ++i)
        if (before[i] != after[i]) return i;
      return -1;
    };
    const qsizetype offset = changedAt();
    QVERIFY(offset > 0);
    const auto image = loader::ElfImage::parse(file->bytes(), kProgram);
    QVERIFY(image.has_value());
    for (const Elf64_Phdr& segment : image->segments()) {
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      const auto address = segment.p_vaddr + std::uint64_t(offset) - segment.p_offset + 2;
      QCOMPARE(instrumentedWith({std::format("{:#x}", address)}, {}), 1u);
      QCOMPARE(changedAt(), offset);
    }
  }

  void functionsAreChosenByAListInAFile() {
    write(path("list"), "3\n7, 9-10\n\n");
    QCOMPARE(instrumentedWith({"@" + path("list").toStdString()}, {}),
             instrumentedWith({"3", "7", "9-10"}, {}));
    instrument::Options options;
    options.exclude = {"@" + path("missing").toStdString()};
    const auto report = instrumentFile(kProgram, path("selected").toStdString(), options);
    QVERIFY(!report);
    QVERIFY(report.error().text().starts_with(path("missing").toStdString()));
  }

  void whatIsNoFunctionIsRefused_data() {
    QTest::addColumn<QString>("item");
    for (const char* item : {"", "0x", "0xg", "12-", "5-4", "1-2-3", "99999999999999999999"})
      QTest::newRow(item[0] == 0 ? "empty" : item) << item;
  }
  void whatIsNoFunctionIsRefused() {
    QFETCH(QString, item);
    instrument::Options options;
    options.only = {item.toStdString()};
    const auto report = instrumentFile(kProgram, path("selected").toStdString(), options);
    QVERIFY(!report);
    QVERIFY(report.error().text().contains("'" + item.toStdString() + "'"));
  }

  void optionsSurviveAsText() {
    const auto roundTrip = [](const instrument::Options& options) {
      const auto text = instrument::textOf(options);
      const auto back = text ? instrument::parseOptions(*text) : std::unexpected(text.error());
      return back ? *instrument::textOf(*back) : "failed";
    };
    QCOMPARE(*instrument::textOf({}), "");
    instrument::Options options;
    options.nullMode = options.poison = true;
    options.only = {"png_*", "0x1000", "3", "4-9"};
    options.exclude = {"main"};
    options.threadAlignment = 128;
    options.threadSlot = -48000;
    QCOMPARE(roundTrip(options),
             "null poison only=3-3,4-9,0x1000,png_*, exclude=main, thread-alignment=128 "
             "thread-slot=-48000");
    for (const char* wrong : {"poisen", "thread-alignment=", "thread-alignment=12x"})
      QVERIFY(!instrument::parseOptions(wrong));
  }

  // Heads, bits and routines, and the spills of all of them.
  void allProbesLookWhereTheProcessHasTheirSlot() {
    constexpr std::int32_t kFar = -48'000;
    const auto countOf = [this](std::int32_t slot, std::int32_t place) {
      instrument::Options options;
      options.threadSlot = slot;
      if (!instrumentFile(kLibrary, path("looking").toStdString(), options)) return qsizetype{-1};
      QByteArray operand("\x25", 1);  // no base, no index
      operand.append(reinterpret_cast<const char*>(&place), sizeof place);
      return read(path("looking")).count(operand);
    };
    for (const std::int32_t word : {0, 8, 16}) {
      const qsizetype usual = countOf(format::kThreadSlot, format::kThreadSlot + word);
      QVERIFY(usual > 0);
      QCOMPARE(countOf(kFar, kFar + word), usual);
      QCOMPARE(countOf(kFar, format::kThreadSlot + word), qsizetype{0});
    }
    instrument::Options options;
    options.threadSlot = kFar;
    QVERIFY2(!instrumentFile(kProgram, path("looking").toStdString(), options),
             "its slot is where it usually is");
  }

  void aProfileIsKnownByItsBytes() {
    const QString profile = path("a b%20.tbprofile");
    write(profile, "traceback-profile 2\nmodule ab\n10 1 1 1 1\n");
    instrument::Options options;
    QVERIFY(instrument::useProfile(options, profile.toStdString()).has_value());
    const auto text = instrument::textOf(options);
    QVERIFY(text && text->starts_with("profile=") && text->ends_with("a%20b%2520.tbprofile") &&
            !text->contains(' '));
    const auto back = instrument::parseOptions(*text);
    QVERIFY(back && back->profile == options.profile && back->profileHash == options.profileHash);
    const auto report = instrumentFile(kProgram, path("profiled").toStdString(), *back);
    QVERIFY(report.has_value());
    write(profile, "traceback-profile 2\nmodule ab\n10 2 2 1 1\n");
    const auto changed = instrumentFile(kProgram, path("profiled").toStdString(), *back);
    QVERIFY(!changed && changed.error().text().contains("changed meanwhile"));
    instrument::Options again;
    QVERIFY(instrument::useProfile(again, profile.toStdString()).has_value());
    QVERIFY(again.profileHash != options.profileHash);
    write(profile, "nothing\n");
    QVERIFY(!instrument::useProfile(again, profile.toStdString()).has_value());
  }

  void aFolderOfProfilesHasOneForEachModule() {
    const auto file = loader::MappedFile::open(kProgram);
    const std::string buildId = loader::ElfImage::parse(file->bytes(), kProgram)->buildId();
    instrument::Options options;
    options.profiles = path("some profiles").toStdString();
    const auto text = instrument::textOf(options);
    QVERIFY(text && text->starts_with("profiles=") && !text->contains(' '));
    QCOMPARE(instrument::parseOptions(*text)->profiles, options.profiles);
    QVERIFY2(instrument::hashOfProfileFor(kProgram, options) == 0, "nothing is there");
    const auto without = instrumentFile(kProgram, path("without").toStdString(), options);
    QVERIFY(without.has_value());
    QVERIFY(QDir().mkpath(path("some profiles")));
    const QString own = QString::fromStdString(instrument::profileIn(options.profiles, buildId).string());
    write(own, QByteArray::fromStdString("traceback-profile 2\nmodule " + buildId + "\n10 1 1 1 1\n"));
    const auto hash = instrument::hashOfProfileFor(kProgram, options);
    QVERIFY(hash != 0);
    const auto by = instrumentFile(kProgram, path("by").toStdString(), options);
    QVERIFY(by.has_value());
    QVERIFY2(by->newTextBytes < without->newTextBytes, "what never ran takes few bytes");
    write(own, QByteArray::fromStdString("traceback-profile 2\nmodule " + buildId + "\n10 2 2 1 1\n"));
    QVERIFY(instrument::hashOfProfileFor(kProgram, options) != hash);
    write(own, "nonsense\n");
    const auto damaged = instrumentFile(kProgram, path("by").toStdString(), options);
    QVERIFY(damaged && damaged->newTextBytes == without->newTextBytes);
  }

  void whatNeverRanTakesFewerBytes() {
    const auto file = loader::MappedFile::open(kProgram);
    const auto image = loader::ElfImage::parse(file->bytes(), kProgram);
    write(path("nothing.tbprofile"),
          "traceback-profile 2\nmodule " + QByteArray::fromStdString(image->buildId()) + "\n0 0 0 0 0\n");
    instrument::Options options;
    const auto usual = instrumentFile(kProgram, path("usual").toStdString(), options);
    QVERIFY(instrument::useProfile(options, path("nothing.tbprofile").toStdString()).has_value());
    const auto cold = instrumentFile(kProgram, path("cold").toStdString(), options);
    QVERIFY(usual.has_value() && cold.has_value());
    QCOMPARE(cold->instrumented, usual->instrumented);
    QVERIFY2(cold->newTextBytes < usual->newTextBytes * 85 / 100,
             qPrintable(QString("%1 and %2").arg(cold->newTextBytes).arg(usual->newTextBytes)));
  }

  void poisonFillsWhatHasACopyAndNothingMissesIt() {
    instrument::Options options;
    options.poison = true;
    const auto report = instrumentFile(kProgram, path("gzip").toStdString(), options);
    QVERIFY(report.has_value());
    const qint64 filled =
        read(path("gzip")).first(read(kProgram).size()).count(char(0xCC)) - read(kProgram).count(char(0xCC));
    QVERIFY2(filled > qint64(report->textBytes) * 8 / 10, qPrintable(QString::number(filled)));
    QProcess plain, ours;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("LD_PRELOAD", RUNTIME);
    environment.insert("TRACEBACK", "off");
    ours.setProcessEnvironment(environment);
    plain.start(kProgram, {"-9nc", kProgram});
    ours.start(path("gzip"), {"-9nc", kProgram});
    QVERIFY(plain.waitForFinished() && ours.waitForFinished());
    QCOMPARE(ours.exitStatus(), QProcess::NormalExit);
    QCOMPARE(ours.exitCode(), plain.exitCode());
    QCOMPARE(ours.readAllStandardOutput(), plain.readAllStandardOutput());
  }

  void computedPlacesAreKnownByTheirMarks() {
    instrument::Options options;
    options.poison = true;
    const auto report = instrumentFile(PLACES, path("places").toStdString(), options);
    QVERIFY(report.has_value());
    QProcess ours;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("LD_PRELOAD", RUNTIME);
    environment.insert("TRACEBACK", "off");
    ours.setProcessEnvironment(environment);
    ours.start(path("places"), {});
    QVERIFY(ours.waitForFinished());
    QCOMPARE(ours.exitStatus(), QProcess::NormalExit);
    QCOMPARE(ours.readAllStandardOutput(), "7\n11\n13\n");
  }

  void withoutTheRuntimeItRunsAsBefore_data() {
    QTest::addColumn<bool>("nullMode");
    QTest::newRow("null mode") << true;
    QTest::newRow("with probes") << false;
  }
  void withoutTheRuntimeItRunsAsBefore() {
    QFETCH(bool, nullMode);
    instrument::Options options;
    options.nullMode = nullMode;
    QVERIFY(instrumentFile(kProgram, path("gzip").toStdString(), options).has_value());
    QProcess plain, ours;
    plain.start(kProgram, {"-9nc", kProgram});
    ours.start(path("gzip"), {"-9nc", kProgram});
    QVERIFY(plain.waitForFinished() && ours.waitForFinished());
    QCOMPARE(ours.exitCode(), plain.exitCode());
    QCOMPARE(ours.readAllStandardOutput(), plain.readAllStandardOutput());
  }

  void truncatedAnywhereItIsAnErrorOrAProgram() {
    const QByteArray program = read(kProgram);
    for (qsizetype size = 0; size < program.size(); size += 1024) errorOf(program.first(size));
    const QString error = errorOf(program.first(1024));
    QVERIFY2(!error.isEmpty(), "a truncated file was taken");
  }

  void damagedAnywhereItIsAnErrorOrAProgram() {
    const QByteArray program = read(kProgram);
    std::mt19937 random(20);
    int refused = 0;
    for (int round = 0; round < 150; ++round) {
      QByteArray damaged = program;
      // Mostly where the structure is: headers, dynamic section, unwind tables.
      for (int i = 0; i < 4; ++i) {
        const qsizetype area = random() % 2 == 0 ? 4096 : damaged.size();
        damaged[qsizetype(random() % std::uint64_t(area))] = char(random());
      }
      const QString error = errorOf(damaged);
      QVERIFY2(!error.contains('\n') && !error.startsWith("left"), qPrintable(error));
      if (!error.isEmpty()) ++refused;
    }
    QVERIFY(refused > 0);
  }

  void damagedUnwindTablesAreAnErrorOrSkip() {
    const QByteArray program = read(kProgram);
    const auto image = loader::ElfImage::parse(
        std::as_bytes(std::span(program.constData(), std::size_t(program.size()))), kProgram);
    QVERIFY(image.has_value());
    const Elf64_Shdr* section = image->section(".eh_frame");
    QVERIFY(section != nullptr);
    std::mt19937 random(21);
    for (int round = 0; round < 100; ++round) {
      QByteArray damaged = program;
      for (int i = 0; i < 3; ++i)
        damaged[static_cast<qsizetype>(section->sh_offset) + qsizetype(random() % section->sh_size)] =
            char(random());
      const QString error = errorOf(damaged);
      QVERIFY2(!error.startsWith("left"), qPrintable(error));
    }
  }
};

QTEST_GUILESS_MAIN(TestInstrument)
#include "tst_instrument.moc"
