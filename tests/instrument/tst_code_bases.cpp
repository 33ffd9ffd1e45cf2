// The file in which modules that are instrumented together agree on their codes.
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "instrument/code_bases.h"
#include "instrument/instrument.h"
#include "runtime/format/record.h"
#include "tests/builders/module_codes.h"

using namespace traceback;
using namespace traceback::test;
using instrument::takeCodes;

namespace {

constexpr std::uint32_t kFirst = format::kFirstCode, kEnd = format::kEndCode;

}  // namespace

class CodeBases : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> m_folder;
  QString path(const QString& name) const { return m_folder->filePath(name); }
  std::filesystem::path bases() const { return path("bases").toStdString(); }
  model::Result<std::uint32_t> taken(const char* name, std::uint32_t span, std::uint32_t wish,
                                     std::uint32_t unit = format::kCodeUnit) const {
    return takeCodes(bases(), path(name).toStdString(), span, unit, wish);
  }
  std::optional<std::uint32_t> take(const char* name, std::uint32_t span, std::uint32_t wish,
                                    std::uint32_t unit = format::kCodeUnit) const {
    const auto codes = taken(name, span, wish, unit);
    return codes ? std::optional(*codes) : std::nullopt;
  }
  QByteArray text() const {
    QFile file(path("bases"));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  void write(const QByteArray& text) const {
    QFile file(path("bases"));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
  }

 private slots:
  void init() { m_folder = std::make_unique<QTemporaryDir>(); }

  void nobodyGetsTheCodesOfAnother() {
    QCOMPARE(take("a", 0x800, 0x10000), 0x10000u);
    QCOMPARE(take("b", 0x400, 0x10000), 0x10800u);  // wanted the same
    QCOMPARE(take("c", 0x400, 0x10400), 0x10C00u);  // begins within the first
    QCOMPARE(take("d", 0x800, 0xFC00), 0x11000u);   // ends within it
    QCOMPARE(take("e", 0x400, 0xFC00), 0xFC00u);
    QCOMPARE(text().count('\n'), 5);
  }

  void whoComesAgainHasItsOwn() {
    QCOMPARE(take("a", 0x800, 0x10000), 0x10000u);
    QCOMPARE(take("b", 0x800, 0x10000), 0x10800u);
    QCOMPARE(take("a", 0x800, 0x50000), 0x10000u);
    QCOMPARE(take("a", 0x400, 0x50000), 0x10000u);  // it has become smaller
    QCOMPARE(take("./a", 0x800, 0x50000), 0x10000u);
    QCOMPARE(text().count('\n'), 2);
    QCOMPARE(take("a", 0xC00, 0x50000), 0x11000u);  // it grew, and another is behind it
    QCOMPARE(take("c", 0x800, 0x10000), 0x10000u);  // what it had is free
    QCOMPARE(take("a", 0xC00, 0x50000), 0x11000u);
  }

  void whoHasLongPathsBeginsAtAMultipleOfTheirs() {
    QCOMPARE(take("a", 0x400, 0x10000), 0x10000u);
    QCOMPARE(take("b", 0x4000, 0x10000, 0x4000), 0x14000u);
    QCOMPARE(take("c", 0x400, 0x10000), 0x10400u);
    QCOMPARE(take("c", 0x400, 0x10000, 0x1000), 0x11000u);  // where it was is no such place
    QCOMPARE(take("a", 0x8000, 0x10000, 0x4000), 0x18000u);
    QCOMPARE(take("d", kEnd - 0x20000 + 0x400, 0x20000, 0x4000), std::nullopt);
    QCOMPARE(take("e", 0x4000, 0x7FFF'8000, 0x4000), 0x7FFF'8000u);
    QCOMPARE(take("f", 0x4000, 0x7FFF'8000, 0x4000), 0x4000u);  // what is left behind it is too short
  }

  void whereTheEndIsReachedItGoesOnFromTheFirst() {
    QCOMPARE(take("a", 0x400, kEnd - 0x400), kEnd - 0x400);
    QCOMPARE(take("b", 0x400, kEnd - 0x400), kFirst);
    QCOMPARE(take("c", 0x400, kEnd - 0x400), kFirst + 0x400);
    QCOMPARE(take("d", 0x800, kEnd - 0x800), kFirst + 0x800);
  }

  void whatIsOutsideItsRangeIsNobodys() {
    const auto takeWithin = [this](const char* name, std::uint32_t span, std::uint32_t wish) {
      const instrument::CodeSpace range{.first = 0x10000, .end = 0x12000};
      return takeCodes(bases(), path(name).toStdString(), span, format::kCodeUnit, wish, range).value_or(0);
    };
    write("0x400 0x10000 /around its first\n0x11c00 0x10000 /around its end\n0x40000 0x400 /behind it\n");
    QCOMPARE(takeWithin("a", 0x400, 0x11800), 0x11800u);
    QCOMPARE(takeWithin("b", 0x400, 0x11800), 0x10400u);
    QCOMPARE(takeWithin("c", 0x1000, 0x10000), 0x10800u);
    QCOMPARE(takeWithin("d", 0x400, 0x10000), 0u);
    QCOMPARE(take("d", 0x400, 0x10000), 0x21C00u);
  }

  void whereNothingIsLeftItIsSaid() {
    QCOMPARE(take("a", kEnd - kFirst - 0x400, kFirst), kFirst);
    QCOMPARE(take("b", 0x400, kFirst), kEnd - 0x400);
    const auto none = taken("c", 0x400, kFirst);
    QVERIFY(!none && none.error().file == bases().string() &&
            none.error().message.contains("leaves no codes"));
    QCOMPARE(text().count('\n'), 2);
  }

  void whatCannotBeUnderstoodIsNamedByItsLine_data() {
    QTest::addColumn<QByteArray>("line");
    for (const char* line : {"0x10000 0x400", "0x10000 a", "10000 0x400 a", "0x10001 0x400 a",
                             "0x10000 0x0 a", "0x10000 0x401 a", "0x0 0x400 a", "0x7ffffc00 0x400 a",
                             "0x10000 0xfffffc00 a", "0x1000000000 0x400 a", "x", "\x01"})
      QTest::newRow(line) << QByteArray(line);
  }
  void whatCannotBeUnderstoodIsNamedByItsLine() {
    QFETCH(QByteArray, line);
    const QByteArray before = "# a comment\n0x10000 0x400 /a b\n" + line + "\n0x20000 0x400 /c\n";
    write(before);
    const auto none = taken("d", 0x400, 0x10000);
    QVERIFY(!none && none.error().text().contains("line 3 is not"));
    QCOMPARE(text(), before);
  }

  void aLineThatWasCutShortIsNoOther() {
    write("0x10000 0x400 /a\n0x10400 0x400 /lib");
    const auto none = taken("d", 0x400, 0x10000);
    QVERIFY(!none && none.error().text().contains("line 2 is not"));
  }

  void aCommentWithoutALineEndTakesNoLine() {
    write("# the codes of one image");
    QCOMPARE(take("a", 0x400, 0x10000), 0x10000u);
    QCOMPARE(take("b", 0x400, 0x10000), 0x10400u);
    QVERIFY(text().startsWith("# the codes of one image\n0x10000 "));
  }

  void theFileMayNotBeAnything() {
    for (const std::filesystem::path& file :
         {std::filesystem::path("/nowhere/bases"), std::filesystem::path(m_folder->path().toStdString()),
          std::filesystem::path("/dev/null")})
      QVERIFY(!takeCodes(file, path("a").toStdString(), 0x400, format::kCodeUnit, 0x10000));
    QVERIFY(!taken("a\nb", 0x400, 0x10000));
  }

  void buildsThatRunSideBySideAgree() {
    constexpr unsigned kThreads = 8, kEach = 25;
    std::vector<ModuleCodes> all(std::size_t{kThreads} * kEach);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] {
        for (unsigned k = 0; k < kEach; ++k) {
          const std::string name = path(QString("%1-%2").arg(i).arg(k)).toStdString();
          const std::uint32_t span = 0x400 * (1 + k % 3);
          all[std::size_t{i} * kEach + k] = {
              takeCodes(bases(), name, span, format::kCodeUnit, 0x10000).value_or(0), span};
        }
      });
    for (std::thread& thread : threads) thread.join();
    std::ranges::sort(all, {}, &ModuleCodes::base);
    QVERIFY(all.front().base == 0x10000);
    for (std::size_t i = 1; i < all.size(); ++i) QVERIFY(all[i].base == all[i - 1].base + all[i - 1].span);
  }

  void modulesThatAreInstrumentedTogetherDoNotCollide() {
    const auto instrumented = [this](const char* output, const instrument::Options& options) {
      const auto report = instrument::instrumentFile("/usr/bin/gzip", path(output).toStdString(), options);
      if (!report) qWarning("%s", report.error().text().c_str());
      return codesOf(path(output));
    };
    // The same bytes lead to the same codes.
    const ModuleCodes alone = instrumented("alone", {}), again = instrumented("again", {});
    QVERIFY(alone.span > 0);
    QCOMPARE(again.base, alone.base);
    instrument::Options options;
    options.codeBases = bases();
    const ModuleCodes one = instrumented("one", options), two = instrumented("two", options);
    QCOMPARE(one.base, alone.base);
    QCOMPARE(two.span, alone.span);
    QVERIFY(!meet(one, two));
    QCOMPARE(instrumented("two", options).base, two.base);
    // What is only planned takes none.
    const QByteArray before = text();
    QVERIFY(instrument::planFile("/usr/bin/gzip", options));
    QCOMPARE(text(), before);
    // Without the file's consent nothing is written.
    write("nonsense\n");
    const auto refused = instrument::instrumentFile("/usr/bin/gzip", path("three").toStdString(), options);
    QVERIFY(!refused && refused.error().text().contains("line 1 is not") && !QFile::exists(path("three")));
  }

  void copiesOfACacheAgreeByWhatTheyAreOf() {
    instrument::Options options;
    options.codeBases = bases();
    options.codesOfCopies = true;
    const auto copyOf = [&](const QString& input, const char* output) {
      const auto report =
          instrument::instrumentFile(input.toStdString(), path(output).toStdString(), options);
      if (!report) qWarning("%s", report.error().text().c_str());
      return codesOf(path(output));
    };
    const QString library = path("one.so"), twin = path("twin.so");
    QVERIFY(QFile::copy(LOADED_LIBRARY, library) && QFile::copy(LOADED_LIBRARY, twin));
    const ModuleCodes one = copyOf(library, "1"), other = copyOf(twin, "2");
    QVERIFY(one.span != 0);
    QCOMPARE(one.base, kFirst);
    QCOMPARE(other.base, kFirst + one.span);
    QCOMPARE(copyOf(library, "made anew").base, one.base);
    QCOMPARE(text().count('\n'), 2);
    // A process has one program.
    QVERIFY(copyOf("/usr/bin/gzip", "program").span != 0);
    QCOMPARE(text().count('\n'), 2);
    write("nonsense\n");
    const ModuleCodes alone = copyOf(twin, "without the file");
    QVERIFY(alone.span == one.span && alone.base != other.base);
  }
};

QTEST_GUILESS_MAIN(CodeBases)
#include "tst_code_bases.moc"
