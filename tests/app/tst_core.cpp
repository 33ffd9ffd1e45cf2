// What a debugger makes of a snap: of the memory that it keeps, and of the core file that it is exported as.
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTest>

#include "tests/app/command_line.h"

using namespace traceback::test;

namespace {

// Without addresses that differ from run to run.
QStringList framesIn(const QByteArray& text) {
  static const QRegularExpression address("0x[0-9a-f]{6,}");
  static const QRegularExpression number("^#\\d+ ");
  QStringList frames;
  for (const QString& line : QString::fromUtf8(text).split(u'\n')) {
    if (!number.match(line).hasMatch()) continue;
    QString frame = line;
    frames.append(frame.replace(address, "0xN"));
  }
  return frames;
}

QStringList functionsIn(const QStringList& frames) {
  static const QRegularExpression name("^#\\d+ +(?:0xN in )?([^ ]+)");
  QStringList functions;
  for (const QString& frame : frames) functions.append(name.match(frame).captured(1));
  return functions;
}

// Calls that end their functions: of the C library, of a function of the file, through a pointer, and in a
// part that compilers move away. Each is followed by a function with other lines.
constexpr char kLastCalls[] = R"(#include <stdio.h>
#include <stdlib.h>
__attribute__((noipa, noreturn)) void fail(int v) {
  printf("bad %d\n", v);
  abort();
}
__attribute__((noipa)) int between(int v) { return v + 1; }
__attribute__((noipa, noreturn)) void deep(int v) {
  printf("deep %d\n", v);
  fail(v);
}
__attribute__((noipa)) int cold(int v) {
  printf("cold %d\n", v);
  if (v > 2) deep(v);
  return between(v) * 3;
}
__attribute__((noipa)) int bare(int v) {
  if (__builtin_expect(v > 3, 0)) {
    cold(v);
    abort();
  }
  return between(v) * 5;
}
__attribute__((noreturn)) void (*volatile handler)(int);
__attribute__((noipa, noreturn)) void pointed(int v) {
  bare(v);
  exit(1);
}
__attribute__((noipa, noreturn)) void outer(int v) {
  printf("outer %d\n", v);
  handler(v);
}
int main(int argc, char** argv) {
  (void)argv;
  handler = pointed;
  printf("main %d\n", between(argc));
  outer(argc + 3);
}
)";

}  // namespace

class CoreTest : public QObject {
  Q_OBJECT

  CommandLine m_line;

  // The snap of a run that fails; empty if there is none.
  QString record(const QString& mode, const QStringList& options, const QString& program = VALUES_PROGRAM) {
    const QStringList before = m_line.snaps();
    m_line.throughShell(QStringLiteral("ulimit -c 0; exec \"$@\""),
                        QStringList{"run", "--only", program} + options + QStringList{"--", program, mode});
    QStringList snaps = m_line.snaps();
    for (const QString& old : before) snaps.removeAll(old);
    return snaps.size() == 1 ? snaps.first() : QString();
  }
  QString coreOf(const QString& snap) {
    const QString core = m_line.path("core");
    const Ran ran = m_line.traceback({"export", "--core", core, snap});
    return ran.status == 0 ? core : QString();
  }
  Ran debug(const QStringList& commands, const QStringList& files) const {
    QStringList arguments{"-nx", "-q", "-batch", "-ex", "set debuginfod enabled off", "-ex", "set width 0"};
    for (const QString& command : commands) arguments << "-ex" << command;
    return run("gdb", arguments + files, m_line.environment());
  }
  // The core file of a run that nobody records.
  QString plainCore(const QString& mode, const QString& program = VALUES_PROGRAM) {
    const QString core = m_line.path("plain.core");
    debug({"run", "generate-core-file " + core}, {"--args", program, mode});
    return core;
  }

 private slots:
  void initTestCase() {
    QVERIFY(m_line.isReady());
    if (QStandardPaths::findExecutable("gdb").isEmpty()) QSKIP("gdb is not there");
  }

  void theBacktraceIsThatOfAPlainRun_data() {
    QTest::addColumn<QString>("mode");
    QTest::newRow("a fault") << "fault";
    QTest::newRow("abort, in the C library") << "abort";
  }
  void theBacktraceIsThatOfAPlainRun() {
    QFETCH(QString, mode);
    const QString snap = record(mode, {"--memory", "writable"});
    QVERIFY(!snap.isEmpty());
    const QString core = coreOf(snap);
    QVERIFY(!core.isEmpty());
    // The innermost frame is shown once more, at the start.
    const QByteArray backtrace = debug({"bt"}, {VALUES_PROGRAM, core}).out;
    const qsizetype measure = functionsIn(framesIn(backtrace)).indexOf("measure") - 1;
    QVERIFY(measure > 0);
    const QStringList questions{"bt",          "frame " + QString::number(measure),
                                "info locals", "up",
                                "info locals", "print failures",
                                "print mode",  "frame 1"};
    const Ran ours = debug(questions, {VALUES_PROGRAM, core});
    const Ran plain = debug(questions, {VALUES_PROGRAM, plainCore(mode)});
    QVERIFY2(framesIn(plain.out).size() >= 6, plain.out + plain.err);
    QCOMPARE(framesIn(ours.out), framesIn(plain.out));
    // The very values, arguments and locals of each.
    const auto values = [](const QByteArray& text) {
      static const QRegularExpression address("0x[0-9a-f]{6,}|LWP [0-9]+");
      return QString::fromUtf8(text.mid(text.indexOf("\n#0 "))).replace(address, "N");
    };
    QCOMPARE(values(ours.out), values(plain.out));
    QVERIFY2(ours.out.contains("std::vector of length 4, capacity 4 = {1, 2, 3, 3}"), ours.out);
    QVERIFY2(ours.out.contains("hello a name that is longer"), ours.out);
  }

  // Where nothing of the function follows, the recorder's way on does.
  void framesWhoseCallEndsTheirFunctionAreAtThatCall_data() {
    QTest::addColumn<QString>("level");
    for (const char* level : {"-O1", "-O2", "-Os"}) QTest::newRow(level) << level;
  }
  void framesWhoseCallEndsTheirFunctionAreAtThatCall() {
    QFETCH(QString, level);
    const QString program = m_line.path("lasting" + level);
    QVERIFY(writeFile(program + ".c", kLastCalls));
    const Ran built = run("gcc", {"-g", level, "-o", program, program + ".c"}, m_line.environment());
    QVERIFY2(built.status == 0, built.err);
    const QString snap = record("", {}, program);
    QVERIFY(!snap.isEmpty());
    const QStringList ours = framesIn(debug({"bt"}, {program, coreOf(snap)}).out);
    const QStringList plain = framesIn(debug({"bt"}, {program, plainCore("", program)}).out);
    for (const char* each : {"fail", "deep", "cold", "pointed", "outer", "main"})
      QVERIFY2(!functionsIn(plain).filter(each).isEmpty(), qPrintable(plain.join('\n')));
    QCOMPARE(ours, plain);
  }

  void everyThreadHasItsFrames() {
    const QString snap = record("fault", {});
    QVERIFY(!snap.isEmpty());
    const Ran ours = debug({"thread apply all bt full"}, {VALUES_PROGRAM, coreOf(snap)});
    const QStringList functions = functionsIn(framesIn(ours.out));
    for (const char* each : {"scaled", "measure", "descend", "main", "waitForEver", "start_thread"})
      QVERIFY2(!functions.filter(each).isEmpty(), ours.out + ours.err);
    QVERIFY2(ours.out.contains("left = 42"), ours.out);
  }

  // What it needs for that is little: 256 KiB a thread at most, less than that when packed.
  void stacksAreKeptUnlessOneSaysOtherwise() {
    const QString snap = record("fault", {});
    QVERIFY(!snap.isEmpty());
    const Ran ours = debug({"bt", "frame 1", "print count", "print corner", "print failures"},
                           {VALUES_PROGRAM, coreOf(snap)});
    QVERIFY2(ours.out.contains("$1 = 4") && ours.out.contains("$2 = {x = 4, y = -4}"), ours.out + ours.err);
    // It is not on a stack, and what the file has for it is not what it was.
    QVERIFY2(ours.err.contains("Cannot access memory"), ours.out + ours.err);
  }

  void noMemoryIsKeptIfOneWants() {
    const QByteArray secret = "a name that is longer than any short string";
    const QString all = record("fault", {"--memory", "all"});
    QVERIFY(!all.isEmpty());
    QVERIFY(readFile(coreOf(all)).contains("hello " + secret));
    const QString none = record("fault", {"--memory", "none"});
    QVERIFY(!none.isEmpty());
    const QString core = m_line.path("none.core");
    const Ran ran = m_line.traceback({"export", "--core", core, none});
    QCOMPARE(ran.status, 0);
    QVERIFY2(ran.err.contains("2 threads have no stack in the snap"), ran.err);
    QVERIFY(!readFile(core).contains("a name"));
    QCOMPARE(functionsIn(framesIn(debug({"bt"}, {VALUES_PROGRAM, core}).out)).first(), "scaled");
  }

  void theEnvironmentSaysWhatIsKept() {
    m_line.environment().insert("TRACEBACK_MEMORY", "none");
    const QString snap = record("fault", {});
    m_line.environment().remove("TRACEBACK_MEMORY");
    QVERIFY(!snap.isEmpty());
    QVERIFY(m_line.traceback({"export", "--core", m_line.path("core"), snap}).err.contains("no stack"));
  }

  void whatIsNoMemoryOptionIsSaid() {
    const Ran ran = m_line.traceback({"run", "--memory", "most", "--", VALUES_PROGRAM});
    QCOMPARE(ran.status, 2);
    QVERIFY2(ran.err.contains("--memory"), ran.err);
  }

  void aCoreIsNeverHalfThere() {
    const QString snap = record("fault", {});
    QVERIFY(!snap.isEmpty());
    const Ran ran = m_line.traceback({"export", "--core", m_line.path("nowhere/core"), snap});
    QCOMPARE(ran.status, 1);
    QVERIFY(ran.complainsInOneLine());
  }
};

QTEST_APPLESS_MAIN(CoreTest)
#include "tst_core.moc"
