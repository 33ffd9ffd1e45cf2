// The original and its instrumented file, stepped side by side: at every original instruction the same
// registers, flags and stack, and at every place of the copies the same frames.
//
// With TRACEBACK_SOAK all programs in all their builds.
#include <QDir>
#include <QtTest>

#include "tests/truth/product_run.h"
#include "tests/truth/verify_outcome.h"
#include "tests/truth/written_profile.h"

using namespace traceback::truth;

class TestLockstep : public QObject {
  Q_OBJECT

 private slots:
  void theSameStateAndFrames_data();
  void theSameStateAndFrames();
  void whereNothingRanAsAProfileSays_data() { theSameStateAndFrames_data(); }
  void whereNothingRanAsAProfileSays();
  void aChangedConstantIsNoticed();
  void aChangedUnwindRuleIsNoticed();

 private:
  static Attempt<Ended> step(const ProductRun& run, const QString& original, const QString& instrumented) {
    QProcessEnvironment environment = run.plainEnvironment();
    environment.insert("TRACEBACK_BUFFER_SIZE", "65536");
    return runToEnd(TRUTH_LOCKSTEP, {"--unwind", "--runtime", TRUTH_RUNTIME, original, instrumented},
                    environment, 240000);
  }
  // Where a section lies in a file.
  static std::pair<qsizetype, qsizetype> sectionOf(const QString& file, const QString& name) {
    const auto sections = runToEnd("readelf", {"-SW", file}, QProcessEnvironment::systemEnvironment());
    if (!sections) return {};
    const auto found = QRegularExpression(" " + QRegularExpression::escape(name) +
                                          "\\s+PROGBITS\\s+([0-9a-f]+)\\s+([0-9a-f]+)\\s+([0-9a-f]+)")
                           .match(QString::fromUtf8(sections->output));
    return {found.captured(2).toLongLong(nullptr, 16), found.captured(3).toLongLong(nullptr, 16)};
  }
  static QString program(const char* name) { return QString(TRUTH_PROGRAM_DIR "/") + name; }
};

void TestLockstep::theSameStateAndFrames_data() {
  QTest::addColumn<QString>("file");
  QStringList names = {"callbacks-O2",
                       "known/vector_onward",
                       "known/jump_tables",
                       "known/jump_tables_nopie",
                       "computed_goto-nopie",
                       "computed_goto-package",
                       "crash_uncaught-O2",
                       "exceptions-O2",
                       "exceptions_construction-O0",
                       "frames-package",
                       "kept_frame-O2",
                       "moved_parts-O2",
                       "moved_parts-nopie",
                       "own_slots_lazy-O2",
                       "own_slots_now-O2",
                       "own_throws_lazy-O2",
                       "own_throws_now-O2",
                       "registers_across-O2",
                       "registers_kept-O2",
                       "lifetimes-O0",
                       "setjmp_loop-package",
                       "signals_jump-O2",
                       "signals_return-O0",
                       "signals_return-clang",
                       "switches-package",
                       "tail_calls-O2",
                       "unwinding-O2",
                       "unwinding-clang",
                       "variadic-package",
                       "vector_across-O2",
                       "vector_apart-O2",
                       "vector_passed-O2",
                       "vector_unseen-O2",
                       "virtual_calls-O2"};
  if (qEnvironmentVariableIsSet("TRACEBACK_SOAK")) {
    names = QDir(TRUTH_PROGRAM_DIR).entryList(QDir::Files);
    // Never ends; or steps itself; or has threads, which are not followed; or keeps on its stack what
    // libunwind knows of frames.
    names.removeIf([](const QString& name) {
      return name.startsWith("counting") || name.startsWith("forking") || name.contains("thread") ||
             name.startsWith("handlers") || name.startsWith("cancelling") || name.startsWith("walks");
    });
  }
  for (const QString& name : names)
    if (QFile::exists(program(qPrintable(name))))
      QTest::newRow(qPrintable(name)) << program(qPrintable(name));
}

void TestLockstep::theSameStateAndFrames() {
  QFETCH(QString, file);
  const auto run = ProductRun::prepare(file);
  VERIFY_OUTCOME(run);
  const auto stepped = step(**run, file, (*run)->program());
  VERIFY_OUTCOME(stepped);
  QVERIFY2(stepped->exitCode == 0, stepped->output + stepped->complaints);
  qInfo("%s", stepped->output.trimmed().constData());
}

// Then probes take other forms, which use the stack.
void TestLockstep::whereNothingRanAsAProfileSays() {
  QFETCH(QString, file);
  const auto run = prepareAsIfNothingRan(file);
  VERIFY_OUTCOME(run);
  const auto stepped = step(**run, file, (*run)->program());
  VERIFY_OUTCOME(stepped);
  QVERIFY2(stepped->exitCode == 0, stepped->output + stepped->complaints);
}

// That a wrong value can be seen: the instrumented program's constants are others.
void TestLockstep::aChangedConstantIsNoticed() {
  const auto run = ProductRun::prepare(program("switches-O2"));
  VERIFY_OUTCOME(run);
  QFile file((*run)->program());
  QVERIFY(file.open(QFile::ReadWrite));
  const auto [offset, size] = sectionOf((*run)->program(), ".rodata");
  QVERIFY(size > 0);
  QVERIFY(file.seek(offset));
  QByteArray bytes = file.read(size);
  for (char& byte : bytes) byte = char(byte ^ 1);
  QVERIFY(file.seek(offset) && file.write(bytes) == size);
  file.close();
  const auto stepped = step(**run, program("switches-O2"), (*run)->program());
  VERIFY_OUTCOME(stepped);
  QCOMPARE(stepped->exitCode, 1);
  QVERIFY2(stepped->output.contains("instead of"), stepped->output);
}

// And a wrong frame: of the rules for the copies, all that are "the CFA is rsp+16" become rsp+24.
void TestLockstep::aChangedUnwindRuleIsNoticed() {
  const auto run = ProductRun::prepare(program("recursion-O0"));
  VERIFY_OUTCOME(run);
  QFile file((*run)->program());
  QVERIFY(file.open(QFile::ReadWrite));
  const auto [offset, size] = sectionOf((*run)->program(), ".eh_frame");
  QVERIFY(size > 0);
  QVERIFY(file.seek(offset));
  QByteArray bytes = file.read(size);
  QVERIFY(bytes.contains(QByteArray("\x0e\x10", 2)));
  bytes.replace(QByteArray("\x0e\x10", 2), QByteArray("\x0e\x18", 2));
  QVERIFY(file.seek(offset) && file.write(bytes) == size);
  file.close();
  const auto stepped = step(**run, program("recursion-O0"), (*run)->program());
  VERIFY_OUTCOME(stepped);
  QCOMPARE(stepped->exitCode, 1);
  QVERIFY2(stepped->output.contains("frame"), stepped->output);
}

QTEST_GUILESS_MAIN(TestLockstep)
#include "tst_lockstep.moc"
