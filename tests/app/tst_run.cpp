// `traceback run`: the program is what it was before, and where it cannot be traced it runs all the same.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QSet>
#include <QTest>
#include <algorithm>

#include "tests/app/command_line.h"

using namespace traceback::test;

class RunTest : public QObject {
  Q_OBJECT

  std::unique_ptr<CommandLine> m_line;
  const QString m_report = QStringLiteral(REPORT_PROGRAM);

  Ran runIt(const QStringList& words) const { return m_line->traceback(QStringList{"run", "--"} + words); }
  // The copies of the test programs.
  QStringList cached() const {
    return listing(m_line->path("cache/traceback/instrumented"))
        .filter(QRegularExpression("^[^/]+/objects/.*/programs/[a-z]+$"));
  }

 private slots:
  void init() {
    m_line = std::make_unique<CommandLine>();
    QVERIFY(m_line->isReady());
  }

  void theProgramIsInstrumentedAndSaysNothingOfIt() {
    const Ran ran = runIt({m_report, "exit0"});
    QCOMPARE(ran.err, QByteArray());
    QCOMPARE(ran.status, 0);
    QCOMPARE(cached().size(), 1);
  }

  void argumentsArriveAsTheyAre() {
    const Ran ran = runIt({m_report, "--", "--help", "", "a b", "--snap-dir"});
    QCOMPARE(ran.out.mid(ran.out.indexOf('\n') + 1),
             "0=" + m_report.toUtf8() + "\n1=--\n2=--help\n3=\n4=a b\n5=--snap-dir\n");
  }

  // Whoever does not ask libc (Go) looks behind the environment, out of which our variables are taken: of
  // which there are as many as one likes.
  void theAuxiliaryVectorIsFoundBehindTheEnvironment() {
    QSet<QByteArray> said;
    for (const char* ours : {"", "TRACEBACK_RINGS", "TRACEBACK_TOTAL_SIZE"}) {
      if (*ours != '\0') m_line->environment().insert(ours, "1G");
      const Ran ran = runIt({m_report, "auxv"});
      QCOMPARE(ran.status, 0);
      said += ran.out.mid(ran.out.indexOf("page=")).trimmed();
    }
    QCOMPARE(said, (QSet<QByteArray>{"page=0", "page=4096"}));
  }

  void theDashesMayBeLeftOut() {
    const Ran ran = m_line->traceback({"run", "--snap-dir", m_line->path("snaps"), m_report, "-x", "exit3"});
    QCOMPARE(ran.status, 3);
    QVERIFY(ran.out.contains("1=-x\n"));
  }

  void theProcessIsTheSame() {
    const Ran ran = m_line->throughShell("echo pid=$$; exec \"$@\"", {"run", "--", m_report});
    const auto lines = ran.out.split('\n');
    QVERIFY(lines[0].startsWith("pid="));
    QVERIFY2(lines[1].startsWith(lines[0] + " "), ran.out.constData());
  }

  void theProgramKeepsItsNameAndItsEnvironment() {
    const Ran ran = runIt({m_report});
    QVERIFY2(ran.out.contains(" name=report preload=none\n"), ran.out.constData());
    const auto sorted = [](const QByteArray& text) {
      auto lines = text.split('\n');
      std::ranges::sort(lines);
      return lines;
    };
    const Ran plain = run("/usr/bin/env", {}, m_line->environment());
    QCOMPARE(sorted(runIt({"/usr/bin/env"}).out), sorted(plain.out));
  }

  void itEndsAsTheProgramDoes() {
    QCOMPARE(runIt({m_report, "exit7"}).status, 7);
    QCOMPARE(runIt({m_report, "kill"}).status, 128 + SIGKILL);
  }

  void aNameIsLookedUpInPath() {
    m_line->environment().insert("PATH", QFileInfo(m_report).path() + ":/usr/bin:/bin");
    const Ran ran = runIt({"report"});
    QCOMPARE(ran.status, 0);
    QVERIFY2(ran.out.contains("0=report\n"), ran.out.constData());
  }

  void theSecondRunUsesTheFirstOnesCopy() {
    runIt({m_report});
    const QStringList first = cached();
    runIt({m_report});
    QCOMPARE(cached(), first);
    QCOMPARE(first.size(), 1);
  }

  void nullModeHasACopyOfItsOwn() {
    runIt({m_report});
    const Ran ran = m_line->traceback({"run", "--null", "--", m_report, "exit2"});
    QCOMPARE(ran.err, QByteArray());
    QCOMPARE(ran.status, 2);
    QCOMPARE(cached().size(), 2);
  }

  void offMeansOff() {
    m_line->environment().insert("TRACEBACK", "off");
    const Ran ran = runIt({m_report, "exit4"});
    QCOMPARE(ran.status, 4);
    QCOMPARE(ran.err, QByteArray());
    QCOMPARE(cached(), QStringList());
  }

  void whatCannotBeTracedRunsAsItIs_data() {
    QTest::addColumn<QString>("program");
    QTest::addColumn<QByteArray>("reason");
    QTest::newRow("another user's rights") << "setuid" << QByteArray("changes its user");
    QTest::newRow("statically linked") << QStringLiteral(STATIC_PROGRAM) << QByteArray("statically linked");
  }
  void whatCannotBeTracedRunsAsItIs() {
    QFETCH(QString, program);
    QFETCH(QByteArray, reason);
    QString path = program;
    QByteArray output = "0=";
    if (program == "setuid" && geteuid() == 0) {
      path = m_line->path("report");
      QVERIFY(QFile::copy(m_report, path));
      QCOMPARE(chown(path.toUtf8(), 65534, 65534), 0);
      QCOMPARE(chmod(path.toUtf8(), 04755), 0);
      QCOMPARE(chmod(m_line->folder().toUtf8(), 0755), 0);
    } else if (program == "setuid") {
      path = "/usr/bin/passwd";
      output = "";
      struct stat status{};
      if (stat(path.toUtf8(), &status) != 0 || (status.st_mode & S_ISUID) == 0 ||
          status.st_uid == geteuid()) {
        QSKIP("nothing here changes its user");
      }
    }
    const Ran ran = runIt({path, "--help"});
    QVERIFY2(ran.complainsInOneLine(), ran.err.constData());
    QVERIFY2(ran.err.contains(reason) && ran.err.contains(path.toUtf8()), ran.err.constData());
    QCOMPARE(ran.status, 0);
    QVERIFY2(ran.out.contains(output), ran.out.constData());
    QCOMPARE(cached(), QStringList());
  }

  void theProgramRunsThoughNothingCanBeSaid_data() {
    QTest::addColumn<QString>("redirection");
    QTest::newRow("closed") << "2>&-";
    QTest::newRow("full") << "2>/dev/full";
  }
  void theProgramRunsThoughNothingCanBeSaid() {
    QFETCH(QString, redirection);
    // Of which there is something to say.
    const QString program = QStringLiteral(STATIC_PROGRAM);
    QCOMPARE(m_line->throughShell("\"$@\" " + redirection, {"run", "--", program, "exit5"}).status, 5);
    QCOMPARE(m_line->throughShell("\"$@\" " + redirection, {"run", "--", m_report, "exit5"}).status, 5);
    const QString policy = m_line->path("policy");
    QVERIFY(writeFile(policy, "snap everything\n"));
    QCOMPARE(
        m_line->throughShell("\"$@\" " + redirection, {"run", "--policy", policy, "--", m_report, "exit5"})
            .status,
        5);
  }
  void theProgramRunsThoughNobodyReadsWhatIsSaid() {
    const QStringList words{"run", "--", QStringLiteral(STATIC_PROGRAM), "exit5"};
    QCOMPARE(run(CommandLine::program(), words, m_line->environment(), giveErrorsToNobody).status, 5);
  }

  void whatIsClosedIsClosedForTheProgram() {
    const QStringList words{"/bin/sh", "-c",
                            "for i in 0 1 2; do test -e /proc/$$/fd/$i && echo $i; done >\"$0\"",
                            m_line->path("open")};
    const auto opened = [&](const QStringList& command, const QString& redirections) {
      run("/bin/sh", QStringList{"-c", "\"$@\" " + redirections, "sh"} + command, m_line->environment());
      return readFile(m_line->path("open"));
    };
    for (const char* redirections : {"", "2>&-", "<&-", "<&- 2>&-"}) {
      const QByteArray plain = opened(words, redirections);
      QVERIFY(!plain.isEmpty());
      QCOMPARE(opened(QStringList{CommandLine::program(), "run", "--"} + words, redirections), plain);
    }
  }

  void theProgramHasTheSignalsThatTheCommandWasGiven_data() {
    QTest::addColumn<QString>("before");
    QTest::newRow("as usual") << "";
    QTest::newRow("ignored") << "trap '' XFSZ PIPE TTOU; ";
  }
  void theProgramHasTheSignalsThatTheCommandWasGiven() {
    QFETCH(QString, before);
    const QStringList words{"/bin/grep", "SigIgn", "/proc/self/status"};
    const QString script = before + "exec \"$@\"";
    const Ran plain = run("/bin/sh", QStringList{"-c", script, "sh"} + words, m_line->environment());
    QCOMPARE(plain.status, 0);
    QCOMPARE(m_line->throughShell(script, QStringList{"run", "--"} + words).out, plain.out);
    m_line->environment().insert("TRACEBACK", "off");
    QCOMPARE(m_line->throughShell(script, QStringList{"run", "--"} + words).out, plain.out);
  }

  void aProgramThatMayNotBeReadIsSaidToRunUntraced() {
    const QString program = m_line->path("report");
    QVERIFY(QFile::copy(m_report, program));
    QCOMPARE(chmod(program.toUtf8(), 0111), 0);
    QStringList words{CommandLine::program(), "run", "--", program, "exit5"};
    // Root may read anything by capabilities alone.
    if (geteuid() == 0) {
      QCOMPARE(chown(program.toUtf8(), 65534, 65534), 0);
      words = QStringList{"setpriv", "--bounding-set=-dac_override,-dac_read_search"} + words;
    }
    const Ran ran = run("/usr/bin/env", words, m_line->environment());
    QCOMPARE(ran.status, 5);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("runs untraced: ") &&
                 ran.err.contains(program.toUtf8()) && ran.err.contains("Permission denied"),
             ran.err.constData());
  }

  void aCacheThatCannotBeMadeIsNoReasonToFail() {
    m_line->environment().insert("XDG_CACHE_HOME", "/proc/self/nowhere");
    const Ran ran = runIt({m_report, "exit6"});
    QCOMPARE(ran.status, 6);
    QVERIFY2(ran.complainsInOneLine(), ran.err.constData());
    QVERIFY(ran.err.contains("runs untraced") && ran.err.contains("/proc/self/nowhere"));
  }

  void aSnapIsNamedWhereTheCommandsErrorsGo() {
    const Ran ran = runIt({CRASH_PROGRAM});
    QCOMPARE(m_line->snaps().size(), 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains(m_line->snaps()[0].toUtf8()), ran.err.constData());
  }

  void whoeverCatchesAProgramsErrorsSeesNothingOfIt() {
    const QString file = m_line->path("errors");
    const Ran ran = runIt({"/bin/sh", "-c", "\"$0\" 2>\"$1\"; echo $?", CRASH_PROGRAM, file});
    QVERIFY2(ran.out.endsWith("\n139\n"), ran.out.constData());
    QVERIFY2(!readFile(file).contains("traceback"), readFile(file).constData());
    QCOMPARE(m_line->snaps().size(), 1);
  }

  void thePolicySaysWhatIsSnapped() {
    const QString policy = m_line->path("policy");
    QVERIFY(writeFile(policy, "snap exit 7\nmemory none\n"));
    const Ran ran = m_line->traceback({"run", "--policy", policy, "--", m_report, "exit7"});
    QCOMPARE(ran.status, 7);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("exits with status 7"), ran.err.constData());
    QCOMPARE(m_line->snaps().size(), 1);
    const Ran info = m_line->traceback({"info", m_line->snaps()[0]});
    QVERIFY2(info.out.contains("exits with status 7 (snapped by policy)"), info.out.constData());
    // And its children: it goes by the environment.
    runIt({"/bin/sh", "-c", "\"$0\" exit7", m_report});
    QCOMPARE(m_line->snaps().size(), 1);
    m_line->traceback({"run", "--policy", policy, "--", "/bin/sh", "-c", "\"$0\" exit7; :", m_report});
    QCOMPARE(m_line->snaps().size(), 2);
  }

  void theUsersPolicyIsFound() {
    m_line->environment().insert("XDG_CONFIG_HOME", m_line->path("config"));
    QVERIFY(QDir().mkpath(m_line->path("config/traceback")));
    QVERIFY(writeFile(m_line->path("config/traceback/policy"), "snap exit 5\n"));
    QCOMPARE(runIt({m_report, "exit5"}).status, 5);
    QCOMPARE(m_line->snaps().size(), 1);
    const Ran found = m_line->traceback({"policy"});
    QCOMPARE(found.status, 0);
    QVERIFY(found.out.contains("config/traceback/policy"));
  }

  void aWrongLineOfThePolicyIsNamedByNumberAndTheOthersHold() {
    const QString policy = m_line->path("policy");
    QVERIFY(writeFile(policy, "snap everything\nsnap exit 7 # as well\nkeep forever\n"));
    const Ran checked = m_line->traceback({"policy", policy});
    QCOMPARE(checked.status, 1);
    QCOMPARE(checked.err.count('\n'), 2);
    QVERIFY(checked.err.contains("policy:1: takes ") && checked.err.contains("policy:3: takes a time"));
    const Ran ran = m_line->traceback({"run", "--policy", policy, "--", m_report, "exit7"});
    QCOMPARE(ran.status, 7);
    QVERIFY2(ran.err.contains("policy:1: ") && ran.err.contains("exits with status 7"), ran.err.constData());
    QVERIFY(m_line->traceback({"policy", "/nowhere/policy"}).complainsInOneLine());
    QVERIFY(m_line->traceback({"run", "--policy", "/nowhere/policy", "--", m_report}).status != 0);
  }

  void ringsOfKilledProcessesGoInTheTimeThatTheSiteSays() {
    m_line->environment().insert("HOME", m_line->path("home"));
    QVERIFY(QDir().mkpath(m_line->path("home/.config/traceback")));
    QVERIFY(writeFile(m_line->path("home/.config/traceback/site"), "keep rings 1h\n"));
    const QString rings = m_line->environment().value("XDG_RUNTIME_DIR") + "/traceback";
    const auto left = [&rings] { return QDir(rings).entryList(QDir::Dirs | QDir::NoDotAndDotDot); };
    QCOMPARE(runIt({m_report, "kill"}).status, 137);
    QCOMPARE(left().size(), 1);
    const QString mark = rings + '/' + left()[0] + "/ended";
    QCOMPARE(runIt({m_report, "exit0"}).status, 0);
    QVERIFY(QFile::exists(mark));  // it was seen that it is gone
    QCOMPARE(runIt({m_report, "exit0"}).status, 0);
    QCOMPARE(left().size(), 1);
    QFile file(mark);
    QVERIFY(file.open(QIODevice::ReadWrite) &&
            file.setFileTime(QDateTime::currentDateTime().addSecs(-3700), QFileDevice::FileModificationTime));
    file.close();
    QCOMPARE(runIt({m_report, "exit0"}).status, 0);
    QVERIFY(left().isEmpty());
  }

  void quietNamesNoSnap_data() {
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<QString>("variable");
    QTest::newRow("by option") << QStringList{"--quiet"} << QString();
    QTest::newRow("by variable") << QStringList{} << "quiet";
  }
  void quietNamesNoSnap() {
    QFETCH(QStringList, options);
    QFETCH(QString, variable);
    if (!variable.isEmpty()) m_line->environment().insert("TRACEBACK", variable);
    const Ran ran = m_line->traceback(QStringList{"run"} + options + QStringList{"--", CRASH_PROGRAM});
    QCOMPARE(ran.status, 128 + SIGSEGV);
    QCOMPARE(ran.err, QByteArray());
    QCOMPARE(m_line->snaps().size(), 1);
  }

  void tellNamesEverySnap() {
    m_line->environment().insert("TRACEBACK", "tell");
    const QString file = m_line->path("errors");
    runIt({"/bin/sh", "-c", "\"$0\" 2>\"$1\"", CRASH_PROGRAM, file});
    QCOMPARE(m_line->snaps().size(), 1);
    QVERIFY2(readFile(file).contains(m_line->snaps()[0].toUtf8()), readFile(file).constData());
  }

  void theDynamicLinkerAsTheProgramIsToldToNameTheProgramInstead() {
    const Ran ran = runIt({"/lib64/ld-linux-x86-64.so.2", m_report, "exit3"});
    QCOMPARE(ran.status, 3);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("dynamic linker") &&
                 ran.err.contains("traceback run -- PROG"),
             ran.err.constData());
    QCOMPARE(cached(), QStringList());
  }

  void aProgramThatIsNotThereIsAnErrorAsInAShell_data() {
    QTest::addColumn<QString>("program");
    QTest::addColumn<int>("status");
    QTest::newRow("a path") << "/nowhere/prog" << 127;
    QTest::newRow("a name") << "no-such-program" << 127;
    QTest::newRow("a folder") << "/usr" << 126;
    QTest::newRow("not executable") << "/etc/passwd" << 126;
    QTest::newRow("nothing") << "" << 127;
  }
  void aProgramThatIsNotThereIsAnErrorAsInAShell() {
    QFETCH(QString, program);
    QFETCH(int, status);
    const Ran ran = runIt({program});
    QCOMPARE(ran.status, status);
    QCOMPARE(run("/usr/bin/env", {program}, m_line->environment()).status, status);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains(program.toUtf8()), ran.err.constData());
  }

  void aScriptThatNamesNoInterpreterIsTheShells() {
    const QString script = m_line->path("script");
    QVERIFY(writeFile(script, "echo \"$0 $1\"; '" + m_report.toUtf8() + "' exit3\n", true));
    const Ran ran = runIt({script, "a b"});
    QCOMPARE(ran.err, QByteArray());
    QVERIFY2(ran.out.startsWith(script.toUtf8() + " a b\n"), ran.out.constData());
    QCOMPARE(ran.status, 3);
    QCOMPARE(cached().size(), 1);
  }

  void aSnapFolderThatCannotBeMadeIsAnError() {
    const Ran ran = m_line->traceback({"run", "--snap-dir", "/proc/self/nowhere", "--", m_report});
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("/proc/self/nowhere"), ran.err.constData());
    QCOMPARE(ran.out, QByteArray());
  }
};

QTEST_GUILESS_MAIN(RunTest)
#include "tst_run.moc"
