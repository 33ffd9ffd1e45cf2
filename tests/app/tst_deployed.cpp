// Instrumented programs that are started like any other: no `traceback run`, no environment variable.
#include <signal.h>
#include <unistd.h>

#include <QDir>
#include <QFileInfo>
#include <QTest>
#include <algorithm>

#include "tests/app/command_line.h"

using namespace traceback::test;

class DeployedTest : public QObject {
  Q_OBJECT

  std::unique_ptr<CommandLine> m_line;

  // The program's instrumented form, made with these options, under its own name in a folder of its own.
  QString deploy(const QString& program, const QStringList& options = {}) const {
    const Ran ran =
        m_line->traceback(QStringList{"instrument", program, "--output-dir", m_line->path("bin")} + options);
    if (ran.status != 0) qWarning("%s", ran.err.constData());
    return m_line->path("bin/" + QFileInfo(program).fileName());
  }
  Ran runIt(const QString& program, const QStringList& arguments = {}) const {
    return run("/bin/sh", QStringList{"-c", "ulimit -c 0; exec \"$0\" \"$@\"", program} + arguments,
               m_line->environment());
  }
  static QString runtime() {
    return QFileInfo(QFileInfo(CommandLine::program()).dir().filePath("../lib/libtraceback.so"))
        .canonicalFilePath();
  }
  QStringList snaps() const { return QDir(m_line->snapFolder()).entryList({"*.tbsnap"}, QDir::Files); }

 private slots:
  void init() {
    m_line = std::make_unique<CommandLine>();
    QVERIFY(m_line->isReady());
  }

  void itRecords() {
    const Ran ran = runIt(deploy(CRASH_PROGRAM));
    QCOMPARE(ran.status, 128 + SIGSEGV);
    QCOMPARE(ran.out, "6\n");
    QCOMPARE(snaps().size(), 1);
    QVERIFY2(snaps()[0].startsWith("crash-"), qPrintable(snaps()[0]));
    const Ran print = m_line->traceback({"print", "--last", "3", m_line->snapFolder() + '/' + snaps()[0]});
    QVERIFY2(print.out.contains("<-- fault"), print.out.constData());
  }

  void whatItLeavesWithoutASnapNamesTheProgram() {
    const QString program = deploy(CRASH_PROGRAM);
    auto environment = m_line->environment();
    environment.insert("TRACEBACK_COLLECTOR", "/nowhere/traceback");
    const Ran ran = run("/bin/sh", QStringList{"-c", "ulimit -c 0; exec \"$0\"", program}, environment);
    QCOMPARE(ran.status, 128 + SIGSEGV);
    QVERIFY(snaps().isEmpty());
    QCOMPARE(m_line->traceback({"recover"}).status, 0);
    QCOMPARE(snaps().size(), 1);
    const Ran info = m_line->traceback({"info", m_line->snapFolder() + '/' + snaps()[0]});
    const QByteArray name = QFileInfo(program).canonicalFilePath().toUtf8();
    QVERIFY2(info.out.contains("program       " + name + " (pid "), info.out.constData());
  }

  void itFindsTheRuntimeAlsoWhenItIsNotPositionIndependent() {
    const Ran ran = runIt(deploy(CRASH_NO_PIE_PROGRAM));
    QCOMPARE(ran.status, 128 + SIGSEGV);
    QCOMPARE(snaps().size(), 1);
  }

  void whereTheRuntimeIsMissingItRunsUntraced_data() {
    QTest::addColumn<QString>("runtime");
    QTest::newRow("missing") << "/nowhere/libtraceback.so";
    QTest::newRow("a folder") << "/usr";
    QTest::newRow("no library") << "/etc/passwd";
    QTest::newRow("an empty file") << "/dev/null";
    QTest::newRow("half of it") << "half";
    QTest::newRow("none") << "none";
  }
  void whereTheRuntimeIsMissingItRunsUntraced() {
    QFETCH(QString, runtime);
    if (runtime == "half") {
      runtime = m_line->path("libtraceback.so");
      const QByteArray whole = readFile(this->runtime());
      QVERIFY(writeFile(runtime, whole.first(whole.size() / 2)));
    }
    const Ran ran = runIt(deploy(CRASH_PROGRAM, {"--runtime", runtime}));
    QCOMPARE(ran.status, 128 + SIGSEGV);
    QCOMPARE(ran.out, "6\n");
    QCOMPARE(ran.err, QByteArray());
    QVERIFY(snaps().isEmpty());
  }

  // Something that the dynamic linker takes, and that is no runtime: it is tried once.
  void anotherLibraryInTheRuntimesPlaceDoesNoHarm() {
    const Ran ran =
        runIt(deploy(REPORT_PROGRAM, {"--runtime", "/lib/x86_64-linux-gnu/libm.so.6"}), {"exit3"});
    QCOMPARE(ran.status, 3);
    QCOMPARE(ran.err, QByteArray());
    QVERIFY2(ran.out.contains(" name=report preload=none\n"), ran.out.constData());
  }

  void theUserCanNameAnotherRuntime() {
    const QString program = deploy(CRASH_PROGRAM, {"--runtime", "/nowhere/libtraceback.so"});
    m_line->environment().insert("TRACEBACK_RUNTIME", runtime());
    QCOMPARE(runIt(program).status, 128 + SIGSEGV);
    QCOMPARE(snaps().size(), 1);
  }

  void onATerminalTheSnapIsNamed() {
    const QString program = deploy(CRASH_PROGRAM);
    const Ran ran = run("/usr/bin/script", {"-q", "-c", program, "/dev/null"}, m_line->environment());
    QCOMPARE(snaps().size(), 1);
    QVERIFY2(ran.out.contains(snaps()[0].toUtf8()), ran.out.constData());
  }

  void elsewhereItIsNamedOnlyWhenAskedFor() {
    const QString program = deploy(CRASH_PROGRAM);
    QCOMPARE(runIt(program).err, QByteArray());
    QCOMPARE(snaps().size(), 1);
    m_line->environment().insert("TRACEBACK", "tell");
    QVERIFY(runIt(program).err.contains("its trace is in"));
    QCOMPARE(snaps().size(), 2);
  }

  void recordingCanBeTurnedOff() {
    const QString program = deploy(CRASH_PROGRAM);
    m_line->environment().insert("TRACEBACK", "off");
    QCOMPARE(runIt(program).status, 128 + SIGSEGV);
    QVERIFY(snaps().isEmpty());
  }

  void tracebackRunTakesItAsItIs() {
    const QString program = deploy(CRASH_PROGRAM);
    const Ran ran = m_line->throughShell("ulimit -c 0; exec \"$@\"",
                                         {"run", "--snap-dir", m_line->path("chosen"), "--", program});
    QCOMPARE(ran.status, 128 + SIGSEGV);
    QVERIFY2(!ran.err.contains("untraced"), ran.err.constData());
    QCOMPARE(QDir(m_line->path("chosen")).entryList({"*.tbsnap"}).size(), 1);
  }

  void theProcessIsAsItWas() {
    const QString program = deploy(REPORT_PROGRAM);
    const Ran ran =
        run("/bin/sh", {"-c", "echo pid=$$; exec \"$0\" -x '' 'a b'", program}, m_line->environment());
    const auto lines = ran.out.split('\n');
    QCOMPARE(lines[1], lines[0] + " name=report preload=none");
    QCOMPARE(ran.out.mid(ran.out.indexOf("0=")), "0=" + program.toUtf8() + "\n1=-x\n2=\n3=a b\n");
  }

  void theEnvironmentIsAsItWas_data() {
    QTest::addColumn<QString>("preload");
    QTest::newRow("plain") << QString();
    QTest::newRow("with other libraries loaded first") << "/lib/x86_64-linux-gnu/libm.so.6";
  }
  void theEnvironmentIsAsItWas() {
    QFETCH(QString, preload);
    const QString program = deploy("/usr/bin/env");
    if (!preload.isEmpty()) m_line->environment().insert("LD_PRELOAD", preload);
    const auto sorted = [](const QByteArray& text) {
      auto lines = text.split('\n');
      std::ranges::sort(lines);
      return lines;
    };
    QCOMPARE(sorted(run(program, {}, m_line->environment()).out),
             sorted(run("/usr/bin/env", {}, m_line->environment()).out));
  }

  void itsChildrenHaveTheEnvironmentThatTheyHad() {
    const auto environmentOf = [&](const QString& shell) {
      auto lines = run(shell, {"-c", "/usr/bin/env"}, m_line->environment()).out.split('\n');
      std::ranges::sort(lines);
      return lines;
    };
    QCOMPARE(environmentOf(deploy("/bin/dash")), environmentOf("/bin/dash"));
  }

  // The kernel names the process for the script; it is executed again by another name.
  void anInterpretersProcessIsNamedForTheScript() {
    const QString program = deploy(REPORT_PROGRAM);
    QVERIFY(writeFile(m_line->path("script"), "#!" + program.toUtf8() + "\n", true));
    const Ran ran = run(m_line->path("script"), {"exit4"}, m_line->environment());
    QVERIFY2(ran.out.contains(" name=script "), ran.out.constData());
    QCOMPARE(ran.status, 4);
  }

  void itWorksInAProcessThatHasNoEnvironment() {
    const Ran ran = run("/usr/bin/env", {"-i", deploy(REPORT_PROGRAM), "exit5"}, m_line->environment());
    QCOMPARE(ran.status, 5);
    QCOMPARE(ran.err, QByteArray());
  }

  void itsChildrenOfTheSameKindRecordToo() {
    const QString program = deploy(CRASH_PROGRAM), shell = deploy("/bin/dash");
    const Ran ran =
        run(shell, {"-c", "ulimit -c 0; \"$1\"; \"$1\"; exit 7", "sh", program}, m_line->environment());
    QCOMPARE(ran.status, 7);
    QCOMPARE(snaps().size(), 2);
  }

  void startedByTheDynamicLinkerItRunsUntraced() {
    const Ran ran =
        run("/lib64/ld-linux-x86-64.so.2", {deploy(REPORT_PROGRAM), "exit6"}, m_line->environment());
    QCOMPARE(ran.status, 6);
    QCOMPARE(ran.err, QByteArray());
  }

  // AT_SECURE: whoever starts it may not choose what it loads.
  void withMoreRightsThanItsUserItRunsUntraced() {
    if (::geteuid() != 0) QSKIP("only root can start a program with more rights than its user has");
    const QString program = deploy(CRASH_PROGRAM);
    QCOMPARE(runIt(program).status, 128 + SIGSEGV);
    QCOMPARE(snaps().size(), 1);
    m_line->environment().insert("TRACEBACK_RUNTIME", runtime());
    const Ran ran = run("/usr/bin/setpriv", {"--ruid=65534", "--", program}, m_line->environment());
    QCOMPARE(ran.status, 128 + SIGSEGV);
    QCOMPARE(ran.err, QByteArray());
    QCOMPARE(snaps().size(), 1);
  }

  void ofALibraryItIsSaidWhenItRecords() {
    const Ran ran = m_line->traceback({"instrument", LIBRARY, "-o", m_line->path("library.so")});
    QCOMPARE(ran.status, 0);
    QVERIFY2(ran.out.contains("records in processes that are traced already"), ran.out.constData());
    const Ran json =
        m_line->traceback({"instrument", LIBRARY, "-o", m_line->path("library.so"), "--report", "json"});
    QVERIFY2(json.out.contains("\"runtime\":null"), json.out.constData());
  }
};

QTEST_GUILESS_MAIN(DeployedTest)
#include "tst_deployed.moc"
