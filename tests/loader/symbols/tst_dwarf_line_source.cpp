// Debug information as read, against what addr2line says about every instruction.
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "loader/symbols/dwarf_line_source.h"
#include "loader/symbols/object_file.h"

using namespace traceback;
using loader::LineFrame;
using loader::LineRange;
using loader::LineSource;
using loader::ModuleFiles;
using model::VirtAddr;

namespace {

struct Place {
  std::string function, file;
  std::uint32_t line = 0;
  bool operator==(const Place&) const = default;
};
using Stack = std::vector<Place>;

std::string text(const Stack& stack) {
  std::string result;
  for (const Place& place : stack)
    result += place.function + " " + place.file + ":" + std::to_string(place.line) + "; ";
  return result;
}

QByteArray run(const QString& program, const QStringList& arguments, const QByteArray& input = {}) {
  QProcess process;
  process.start(program, arguments);
  process.write(input);
  process.closeWriteChannel();
  process.waitForFinished(60'000);
  if (process.exitStatus() != QProcess::NormalExit || process.exitCode() != 0) {
    qFatal("%s: %s", qPrintable(program), process.readAllStandardError().constData());
  }
  return process.readAllStandardOutput();
}

std::vector<std::uint64_t> instructionsOf(const QString& file) {
  std::vector<std::uint64_t> addresses;
  for (const QByteArray& line :
       run("objdump", {"-d", "--no-show-raw-insn", "-j", ".text", file}).split('\n')) {
    const qsizetype colon = line.indexOf(':');
    bool ok = false;
    const std::uint64_t address = line.left(colon).trimmed().toULongLong(&ok, 16);
    if (ok && line.startsWith(' ')) addresses.push_back(address);
  }
  return addresses;
}

// What an addr2line says, by address. "?" is empty, or line 0.
std::map<std::uint64_t, Stack> askAddr2line(const char* program, const QString& file,
                                            const std::vector<std::uint64_t>& addresses) {
  QByteArray input;
  for (const std::uint64_t address : addresses)
    input += "0x" + QByteArray::number(static_cast<qulonglong>(address), 16) + '\n';
  std::map<std::uint64_t, Stack> truth;
  const QList<QByteArray> lines = run(program, {"-a", "-i", "-f", "-e", file}, input).split('\n');
  Stack* stack = nullptr;
  for (qsizetype i = 0; i < lines.size(); ++i) {
    if (lines[i].startsWith("0x")) {
      stack = &truth[lines[i].mid(2).toULongLong(nullptr, 16)];
    } else if (!lines[i].isEmpty() && i + 1 < lines.size()) {
      Place place;
      const qsizetype inlined = lines[i].indexOf(" inlined at ");
      const QByteArray function = inlined < 0 ? lines[i] : lines[i].left(inlined);
      place.function = function == "??" ? "" : function.toStdString();
      const QByteArray where = lines[++i].split(' ').front();  // without a discriminator
      const qsizetype colon = where.indexOf(':');
      const std::string path = where.left(colon).toStdString();
      place.file = path == "??" ? "" : std::filesystem::path(path).lexically_normal().string();
      place.line = where.mid(colon + 1).split(':').front().toUInt();
      stack->push_back(place);
    }
  }
  return truth;
}

// Places are held to binutils. So are names, but it has the innermost one from the symbol table now and then
// when it should not; there, elfutils' tool may agree instead. A symbol may have a suffix (".cold"),
// and neither tool says in which scopes a name is.
bool agrees(const Stack& found, const Stack& binutils, const Stack& elfutils) {
  // Without debug information a symbol is all that is known, and the file that the symbol is from.
  if (found.empty()) return binutils.size() == 1 && !binutils[0].file.contains('/') && binutils[0].line == 0;
  if (found.size() != binutils.size()) return false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].file != binutils[i].file || found[i].line != binutils[i].line) return false;
    const std::string& name = found[i].function;
    const auto isName = [&name](const std::string& said) {
      return name == said || name.ends_with("::" + said);
    };
    const bool byBinutils = isName(binutils[i].function) || binutils[i].function.starts_with(name + '.');
    if (!byBinutils && (i >= elfutils.size() || !isName(elfutils[i].function))) return false;
  }
  return true;
}

Stack stackOf(const std::vector<LineFrame>& frames) {
  Stack stack;
  for (const LineFrame& frame : frames)
    stack.push_back({std::string(frame.function), std::string(frame.file), frame.line});
  return stack;
}

Stack stackAt(const LineSource& source, std::uint64_t address) {
  const auto ranges = source.rangesIn({address}, {address + 1});
  return ranges.empty() ? Stack() : stackOf(ranges.front().frames);
}

std::string buildIdOf(const QString& file) {
  const auto object = loader::ObjectFile::open(file.toStdString());
  return object ? object->buildId() : std::string("?");
}

ModuleFiles moduleOf(const QString& file) {
  return {.path = file.toStdString(), .loadedPath = {}, .buildId = buildIdOf(file), .debugPaths = {}};
}

}  // namespace

class DwarfLineSourceTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_dir;
  QString path(const QString& name) const { return m_dir.filePath(name); }

  QString compile(const QString& name, const QString& source, const QStringList& options) const {
    const QString program = source.endsWith(".c") ? "gcc" : "g++";
    run(program, QStringList{"-o", path(name), QString(TRACEBACK_TEST_PROGRAMS) + '/' + source} + options);
    return path(name);
  }
  static std::unique_ptr<LineSource> open(const ModuleFiles& files) {
    std::string note;
    return loader::openLineSource(files, note);
  }
  static int differences(const LineSource& source, const QString& file) {
    const auto addresses = instructionsOf(file);
    const auto binutils = askAddr2line("addr2line", file, addresses);
    const auto elfutils = askAddr2line("eu-addr2line", file, addresses);
    int count = 0, known = 0;
    for (const std::uint64_t address : addresses) {
      const Stack found = stackAt(source, address);
      known += !found.empty();
      if (agrees(found, binutils.at(address), elfutils.at(address))) continue;
      if (++count > 5) continue;
      qWarning("%#llx: found %s expected %s", static_cast<unsigned long long>(address), text(found).c_str(),
               text(binutils.at(address)).c_str());
    }
    return known > 50 ? count : -1;
  }

 private slots:
  void initTestCase() { QVERIFY(m_dir.isValid()); }

  void everyInstructionIsWhereAddr2lineSays_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QStringList>("options");
    for (const QString source : {"shapes.cpp", "plain.c"}) {
      for (const QString level : {"-O0", "-O2"}) {
        for (const QString version : {"-gdwarf-4", "-gdwarf-5"}) {
          QTest::addRow("%s %s %s", qPrintable(source), qPrintable(level), qPrintable(version))
              << source << QStringList{level, version};
        }
      }
    }
    QTest::newRow("without position-independent code") << "shapes.cpp" << QStringList{"-O2", "-g", "-no-pie"};
    QTest::newRow("with dropped functions")
        << "shapes.cpp" << QStringList{"-O2", "-g", "-ffunction-sections", "-Wl,--gc-sections"};
    QTest::newRow("compressed") << "shapes.cpp" << QStringList{"-O2", "-g", "-gz"};
    QTest::newRow("lines alone") << "shapes.cpp" << QStringList{"-O2", "-g1"};
    QTest::newRow("optimised at link time") << "shapes.cpp" << QStringList{"-O2", "-g", "-flto"};
  }
  void everyInstructionIsWhereAddr2lineSays() {
    QFETCH(QString, source);
    QFETCH(QStringList, options);
    const QString file = compile("program", source, options);
    const auto lines = open(moduleOf(file));
    QVERIFY(lines && lines->hasLines());
    QCOMPARE(differences(*lines, file), 0);
  }

  // Of these binutils' addr2line does not understand enough to be asked.
  void debugInformationLaidOutOtherwiseSaysTheSame_data() {
    QTest::addColumn<QString>("option");
    QTest::newRow("types in units of their own") << "-fdebug-types-section";
    QTest::newRow("in a .dwo file") << "-gsplit-dwarf";
  }
  void debugInformationLaidOutOtherwiseSaysTheSame() {
    QFETCH(QString, option);
    const QString plain = compile("plain", "shapes.cpp", {"-O2", "-g"});
    const QString other = compile("laid-out", "shapes.cpp", {"-O2", "-g", option});
    const auto addresses = instructionsOf(plain);
    QCOMPARE(instructionsOf(other), addresses);
    const auto expected = open(moduleOf(plain)), found = open(moduleOf(other));
    QVERIFY(expected && found);
    for (const std::uint64_t address : addresses) {
      QCOMPARE(text(stackAt(*found, address)), text(stackAt(*expected, address)));
    }
  }

  void aRangeIsTheSameInOnePieceAndByteByByte() {
    const QString file = compile("program", "shapes.cpp", {"-O2", "-g"});
    const auto lines = open(moduleOf(file));
    const auto addresses = instructionsOf(file);
    const VirtAddr start{addresses.front()}, end{addresses.back() + 16};
    const auto all = lines->rangesIn(start, end);
    QVERIFY(all.size() > 50);
    VirtAddr reached = start;
    for (const LineRange& range : all) {
      QVERIFY(range.start >= reached && range.start < range.end && range.end <= end);
      for (std::uint64_t at = reached.value; at < range.start.value; ++at)
        QVERIFY(stackAt(*lines, at).empty());
      for (std::uint64_t at = range.start.value; at < range.end.value; ++at) {
        QCOMPARE(text(stackAt(*lines, at)), text(stackOf(range.frames)));
      }
      reached = range.end;
    }
    // Clipped to what was asked for.
    const auto part = lines->rangesIn({all[5].start.value + 1}, {all[5].end.value});
    QCOMPARE(part.size(), std::size_t(1));
    QCOMPARE(part[0].start.value, all[5].start.value + 1);
    QVERIFY(lines->rangesIn(start, start).empty());
    QVERIFY(lines->rangesIn(end, start).empty());
    QVERIFY(lines->rangesIn({UINT64_MAX - 1}, {UINT64_MAX}).empty());
  }

  void functionsAreThoseOfTheSymbolTable() {
    for (const QString source : {"shapes.cpp", "plain.c"}) {
      const QString file = compile("program", source, {"-O2", "-g", "-fno-toplevel-reorder"});
      const auto lines = open(moduleOf(file));
      int checked = 0;
      for (const QByteArray& row : run("nm", {"-S", file}).split('\n')) {
        const auto words = row.split(' ');
        if (words.size() != 4 || !QByteArray("tT").contains(words[2]) || words[3].contains(".cold")) continue;
        const std::uint64_t start = words[0].toULongLong(nullptr, 16),
                            size = words[1].toULongLong(nullptr, 16);
        if (words[3].startsWith('_') && !words[3].startsWith("_Z")) continue;  // of the C runtime
        for (const std::uint64_t at : {start, start + size - 1}) {
          const auto function = lines->functionAt({at});
          QVERIFY2(function, words[3].constData());
          QCOMPARE(function->start.value, start);
          QCOMPARE(function->size, size);
          // A nested function's symbol has a suffix that its debug information has not.
          QVERIFY2(words[3].startsWith(function->name.c_str()), words[3].constData());
        }
        ++checked;
      }
      QVERIFY(checked >= 3);
      QCOMPARE(lines->functionAt({1}), std::nullopt);
    }
  }

  void functionsSayWhereTheyAreDefined() {
    const QString file = compile("program", "plain.c", {"-O0", "-g"});
    const auto lines = open(moduleOf(file));
    for (const std::uint64_t address : instructionsOf(file)) {
      const auto function = lines->functionAt({address});
      if (!function || function->name != "outer") continue;
      QCOMPARE(function->file, std::string(TRACEBACK_TEST_PROGRAMS "/plain.c"));
      QCOMPARE(function->line, 31u);
      return;
    }
    QFAIL("outer was not found");
  }

  void functionsWithoutLinkageNamesAreNamedByTheirScopes() {
    const QString file = compile("program", "shapes.cpp", {"-O2", "-g"});
    const auto lines = open(moduleOf(file));
    std::set<std::string> names;
    for (const std::uint64_t address : instructionsOf(file)) {
      for (const Place& place : stackAt(*lines, address)) names.insert(place.function);
    }
    QVERIFY(names.contains("shapes::(anonymous namespace)::hidden"));
    QVERIFY(names.contains("main::(lambda)::operator()"));
    QVERIFY(names.contains("main"));
    const QString plain = compile("program", "plain.c", {"-O0", "-g"});
    const auto plainLines = open(moduleOf(plain));
    for (const std::uint64_t address : instructionsOf(plain)) {
      const auto function = plainLines->functionAt({address});
      QVERIFY(!function || !function->name.contains(':'));
    }
  }

  void coldPartsBelongToTheirFunctions() {
    const QString file = compile("program", "shapes.cpp", {"-O2", "-g"});
    const auto lines = open(moduleOf(file));
    int cold = 0;
    for (const QByteArray& row : run("nm", {file}).split('\n')) {
      if (!row.contains("check") || !row.endsWith(".cold")) continue;
      const std::uint64_t at = row.split(' ')[0].toULongLong(nullptr, 16);
      const auto function = lines->functionAt({at});
      QVERIFY(function);
      QCOMPARE(function->name, std::string("_ZN6shapes5checkEi"));
      QVERIFY(function->start.value != at);
      ++cold;
    }
    QVERIFY(cold > 0);
  }

  void pathsAreBelowTheFolderOfTheCompilation_data() {
    QTest::addColumn<bool>("hidden");
    QTest::newRow("absolute") << false;
    QTest::newRow("made relative by the build") << true;  // as distributions do
  }
  void pathsAreBelowTheFolderOfTheCompilation() {
    QFETCH(bool, hidden);
    QVERIFY(QDir(m_dir.path()).mkpath("work/sub/deep"));
    const auto place = [this](const char* name, const char* as) {
      QFile::remove(path(as));
      QVERIFY(QFile::copy(QString(TRACEBACK_TEST_PROGRAMS "/") + name, path(as)));
    };
    place("shapes.cpp", "work/shapes.cpp");
    place("shapes_inline.h", "work/sub/deep/shapes_inline.h");
    const QString top = QFileInfo(m_dir.path()).canonicalFilePath();
    const QString before = QDir::currentPath();
    QVERIFY(QDir::setCurrent(path("work/sub")));
    QStringList options{"-g", "-O1", "-Ideep", "-o", path("relative"), "../shapes.cpp"};
    if (hidden) options << "-ffile-prefix-map=" + top + "=.";
    run("g++", options);
    QVERIFY(QDir::setCurrent(before));
    const auto lines = open(moduleOf(path("relative")));
    std::set<std::string> files;
    for (const std::uint64_t address : instructionsOf(path("relative"))) {
      for (const Place& at : stackAt(*lines, address)) files.insert(at.file);
    }
    const std::string start = hidden ? "" : top.toStdString() + "/";
    for (const char* name : {"work/shapes.cpp", "work/sub/deep/shapes_inline.h"}) {
      QVERIFY2(files.contains(start + name), name);
    }
    for (const std::string& file : files) QVERIFY2(!file.contains("./"), file.c_str());
  }

  void strippedProgramsKeepTheNamesOfTheirDynamicSymbols() {
    const QString file = compile("stripped", "plain.c", {"-O1", "-g", "-rdynamic"});
    const QString whole = path("whole");
    QFile::remove(whole);
    QVERIFY(QFile::copy(file, whole));
    run("strip", {file});
    const auto lines = open(moduleOf(file));
    QVERIFY(lines && !lines->hasLines());
    QVERIFY(lines->rangesIn({0x1000}, {0x3000}).empty());
    for (const QByteArray& row : run("nm", {"-D", file}).split('\n')) {
      if (!row.endsWith(" T outer")) continue;
      const auto function = lines->functionAt({row.split(' ')[0].toULongLong(nullptr, 16) + 2});
      QVERIFY(function);
      QCOMPARE(function->name, std::string("outer"));
      return;
    }
    QFAIL("outer is not exported");
  }

  void debugInformationInAFileOfItsOwnIsFound_data() {
    QTest::addColumn<QString>("where");
    QTest::addColumn<bool>("byLink");
    QTest::addColumn<QString>("search");  // a debug path that is named
    QTest::newRow("named as a file") << "elsewhere/x.dbg" << false << "elsewhere/x.dbg";
    QTest::newRow("by build id in a folder") << "symbols/.build-id/%1/%2.debug" << false << "symbols";
    QTest::newRow("by name in a folder") << "symbols2/split.debug" << false << "symbols2";
    QTest::newRow("linked beside it") << "split.dbg" << true << "";
    QTest::newRow("linked in .debug") << ".debug/split.dbg" << true << "";
  }
  void debugInformationInAFileOfItsOwnIsFound() {
    QFETCH(QString, where);
    QFETCH(bool, byLink);
    QFETCH(QString, search);
    const QString file = compile("split", "shapes.cpp", {"-O2", "-g"});
    const QString whole = path("split.whole");
    QFile::remove(whole);
    QVERIFY(QFile::copy(file, whole));
    const QString id = QString::fromStdString(buildIdOf(file));
    const QString debug = path(where.contains('%') ? where.arg(id.left(2), id.mid(2)) : where);
    QVERIFY(QDir().mkpath(QFileInfo(debug).path()));
    run("objcopy", {"--only-keep-debug", file, debug});
    run("strip", {file});
    if (byLink) run("objcopy", {"--add-gnu-debuglink=" + debug, file});
    ModuleFiles module = moduleOf(file);
    if (!search.isEmpty()) module.debugPaths.push_back(path(search).toStdString());
    const auto lines = open(module);
    QVERIFY(lines && lines->hasLines());
    QCOMPARE(differences(*lines, whole), 0);
    QFile::remove(debug);
    QVERIFY(!open(moduleOf(file)) || !open(moduleOf(file))->hasLines());
  }

  void debugInformationOfAnotherBuildIsNotUsed() {
    const QString file = compile("mine", "plain.c", {"-O1", "-g"});
    const QString other = compile("other", "plain.c", {"-O2", "-g"});
    ModuleFiles module = moduleOf(file);
    module.path = other.toStdString();  // rebuilt since
    std::string note;
    QVERIFY(!loader::openLineSource(module, note));
    QVERIFY2(QString::fromStdString(note).contains("other: not used, for its build id is " +
                                                   QString::fromStdString(buildIdOf(other))),
             note.c_str());
    // The file that was mapped still has it.
    module.loadedPath = file.toStdString();
    QVERIFY(open(module) && open(module)->hasLines());
  }

  void withoutABuildIdALinkedFileMustHaveTheRightContents() {
    const QString file = compile("noid", "plain.c", {"-O1", "-g", "-Wl,--build-id=none"});
    const QString debug = path("noid.dbg");
    run("objcopy", {"--only-keep-debug", file, debug});
    run("strip", {file});
    run("objcopy", {"--add-gnu-debuglink=" + debug, file});
    QCOMPARE(buildIdOf(file), std::string());
    std::string note;
    auto lines = loader::openLineSource(moduleOf(file), note);
    QVERIFY(lines && lines->hasLines());
    QVERIFY2(note.contains("has no build id"), note.c_str());
    QFile changed(debug);
    QVERIFY(changed.open(QIODevice::Append) && changed.write("x") == 1);
    changed.close();
    note.clear();
    lines = loader::openLineSource(moduleOf(file), note);
    QVERIFY(!lines || !lines->hasLines());
    QVERIFY2(note.contains("not the file that was linked to"), note.c_str());
  }

  void aNamedFileThatIsNotThereIsSaid() {
    const QString file = compile("mine", "plain.c", {"-O1", "-g"});
    ModuleFiles module = moduleOf(file);
    module.debugPaths.push_back(path("nowhere.debug").toStdString());
    std::string note;
    QVERIFY(loader::openLineSource(module, note));
    QVERIFY2(note.contains("nowhere.debug: there is no such file"), note.c_str());
  }

  void stubsAreThoseThatObjdumpNames_data() {
    QTest::addColumn<QStringList>("options");
    QTest::newRow("plain") << QStringList{};
    QTest::newRow("bound at once") << QStringList{"-Wl,-z,now"};
    QTest::newRow("for indirect branch tracking") << QStringList{"-fcf-protection", "-Wl,-z,ibtplt"};
    QTest::newRow("at fixed addresses") << QStringList{"-no-pie"};
  }
  void stubsAreThoseThatObjdumpNames() {
    QFETCH(QStringList, options);
    const QString file = compile("stubs", "shapes.cpp", QStringList{"-O1", "-g"} + options);
    const auto lines = open(moduleOf(file));
    int known = 0;
    for (const QByteArray& line : run("objdump", {"-d", file}).split('\n')) {
      const qsizetype begin = line.indexOf('<'), end = line.indexOf("@plt>:");
      if (begin < 0 || end < 0 || line.contains("@@")) continue;
      const VirtAddr address{line.left(begin).trimmed().toULongLong(nullptr, 16)};
      const auto name = lines->stubAt(address);
      // The first has no name of its own, and objdump calls it by the last one's.
      if (name.empty() && known == 0) continue;
      QCOMPARE(QByteArray(name.data(), static_cast<qsizetype>(name.size())),
               line.sliced(begin + 1, end - begin - 1));
      ++known;
    }
    QVERIFY(known > 3);
    QVERIFY(lines->stubAt({1}).empty());
  }

  void severalThreadsMayAskAtOnce() {
    const QString file = compile("program", "shapes.cpp", {"-O2", "-g"});
    const auto addresses = instructionsOf(file);
    const auto reference = open(moduleOf(file));
    std::vector<std::string> expected;
    for (const std::uint64_t address : addresses) expected.push_back(text(stackAt(*reference, address)));
    const auto lines = open(moduleOf(file));
    std::atomic<int> wrong = 0;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
          for (std::size_t at = 0; at < addresses.size(); ++at) {
            if (text(stackAt(*lines, addresses[at])) != expected[at]) ++wrong;
          }
        });
      }
    }
    QCOMPARE(wrong.load(), 0);
  }

  void damagedDebugInformationCrashesNothing_data() {
    QTest::addColumn<QStringList>("options");
    QTest::newRow("version 4") << QStringList{"-O2", "-gdwarf-4"};
    QTest::newRow("version 5") << QStringList{"-O2", "-gdwarf-5"};
  }
  void damagedDebugInformationCrashesNothing() {
    QFETCH(QStringList, options);
    const QString file = compile("whole", "shapes.cpp", options);
    QFile input(file);
    QVERIFY(input.open(QIODevice::ReadOnly));
    const QByteArray bytes = input.readAll();
    const auto addresses = instructionsOf(file);
    const QString damagedPath = path("damaged");
    QRandomGenerator random(17);
    for (int round = 0; round < 150; ++round) {
      QByteArray damaged = bytes;
      // Most of the file is debug information.
      if (round % 10 == 0)
        damaged.truncate(static_cast<qsizetype>(random.bounded(static_cast<quint32>(bytes.size()))));
      for (int flip = 0; flip < 1 + round / 3 && !damaged.isEmpty(); ++flip) {
        const auto at = static_cast<qsizetype>(random.bounded(static_cast<quint32>(damaged.size())));
        damaged[at] = static_cast<char>(random.bounded(256));
      }
      QFile output(damagedPath);
      QVERIFY(output.open(QIODevice::WriteOnly | QIODevice::Truncate));
      output.write(damaged);
      output.close();
      ModuleFiles module = moduleOf(damagedPath);
      std::string note;
      const auto lines = loader::openLineSource(module, note);
      if (!lines) continue;
      VirtAddr reached{};
      for (const LineRange& range : lines->rangesIn({addresses.front()}, {addresses.back()})) {
        QVERIFY(range.start >= reached && range.end > range.start);
        reached = range.end;
      }
      for (std::size_t i = 0; i < addresses.size(); i += 7) lines->functionAt({addresses[i]});
    }
  }
};

QTEST_GUILESS_MAIN(DwarfLineSourceTest)
#include "tst_dwarf_line_source.moc"
