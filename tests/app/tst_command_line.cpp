// The command line itself: help, versions, exit statuses, what it says when it is called wrongly.
#include <QRegularExpression>
#include <QTest>

#include "tests/app/command_line.h"

using namespace traceback::test;

class CommandLineTest : public QObject {
  Q_OBJECT

  CommandLine m_line;

 private slots:
  void initTestCase() { QVERIFY(m_line.isReady()); }

  void everyCommandExplainsItself_data() {
    QTest::addColumn<QString>("command");
    QTest::addColumn<QStringList>("mentions");
    QTest::newRow("traceback") << QString() << QStringList{"instrument", "run",  "snap", "recover",
                                                           "print",      "info", "view", "doctor"};
    QTest::newRow("instrument") << "instrument"
                                << QStringList{"FILE", "--output", "--output-dir", "--report", "--null"};
    QTest::newRow("run") << "run"
                         << QStringList{"-- PROG", "--snap-dir", "--buffer-size", "--memory", "--policy"};
    QTest::newRow("plan") << "plan" << QStringList{"PROGRAM", "PID", "--only", "--exclude", "--format"};
    QTest::newRow("snap") << "snap" << QStringList{"PID", "--memory", "--group"};
    QTest::newRow("services") << "services" << QStringList{"--format", "tracebackd(8)"};
    QTest::newRow("policy") << "policy" << QStringList{"FILE", "--site", "traceback-policy(5)"};
    QTest::newRow("recover") << "recover" << QStringList{"DIR"};
    QTest::newRow("profile") << "profile" << QStringList{"SNAP",  "--output", "--add",   "run --profile",
                                                         "--pid", "--for",    "-- PROG", "--forget"};
    QTest::newRow("print") << "print"
                           << QStringList{"SNAP",      "--thread",      "--last",   "--tree",  "--format",
                                          "json",      "--source-path", "--values", "--frame", "--global",
                                          "--history", "--to-fault",    "--lines"};
    QTest::newRow("query") << "query" << QStringList{"SNAP",    "QUESTION", "--thread", "--at",
                                                     "--limit", "--format", "goto"};
    QTest::newRow("compare") << "compare" << QStringList{"GOOD", "BAD", "--thread", "--context", "--format"};
    QTest::newRow("export") << "export" << QStringList{"SNAP",    "--format", "--output", "--thread",
                                                       "--first", "--last",   "--core"};
    QTest::newRow("info") << "info" << QStringList{"FILE"};
    QTest::newRow("view") << "view" << QStringList{"SNAP"};
    QTest::newRow("doctor") << "doctor" << QStringList{"machine"};
  }
  void everyCommandExplainsItself() {
    QFETCH(QString, command);
    QFETCH(QStringList, mentions);
    QStringList arguments{"--help"};
    if (!command.isEmpty()) arguments.prepend(command);
    const Ran ran = m_line.traceback(arguments);
    QCOMPARE(ran.status, 0);
    QCOMPARE(ran.err, QByteArray());
    for (const QString& word : mentions) QVERIFY2(ran.out.contains(word.toUtf8()), qPrintable(word));
  }

  // That the shells complete them is shown by check_desktop.py.
  void everyOptionIsInTheManual() {
    const QByteArray manual = readFile(QStringLiteral(RESOURCES "/man/traceback.1")).replace("\\-", "-");
    const QRegularExpression option("--[a-z][a-z-]*");
    for (const char* command : {"instrument", "run", "plan", "snap", "services", "recover", "policy",
                                "profile", "print", "query", "compare", "export", "info", "view", "doctor"}) {
      QVERIFY2(manual.contains(command), command);
      const QString help = QString::fromUtf8(m_line.traceback({command, "--help"}).out);
      for (auto found = option.globalMatch(help); found.hasNext();) {
        const QByteArray name = found.next().captured().toUtf8();
        if (name != "--help") QVERIFY2(manual.contains(name), (QByteArray(command) + " " + name).constData());
      }
    }
  }

  void theVersionIsPrinted() {
    const Ran ran = m_line.traceback({"--version"});
    QCOMPARE(ran.status, 0);
    QVERIFY(ran.out.startsWith("traceback 0."));
  }

  void whatTheRuntimeUsesIsNotAdvertised() { QVERIFY(!m_line.traceback({"--help"}).out.contains("collect")); }

  void aWrongCallEndsWithTwo_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("no command") << QStringList{};
    QTest::newRow("unknown command") << QStringList{"frobnicate"};
    QTest::newRow("unknown option") << QStringList{"print", "--frobnicate", "a.tbsnap"};
    QTest::newRow("instrument nothing") << QStringList{"instrument"};
    QTest::newRow("instrument to nowhere") << QStringList{"instrument", "/bin/true"};
    QTest::newRow("instrument to two places")
        << QStringList{"instrument", "/bin/true", "-o", "a", "--output-dir", "b"};
    QTest::newRow("instrument two into one")
        << QStringList{"instrument", "/bin/true", "/bin/false", "-o", "a"};
    QTest::newRow("instrument --report")
        << QStringList{"instrument", "/bin/true", "-o", "a", "--report", "xml"};
    QTest::newRow("run nothing") << QStringList{"run"};
    QTest::newRow("run nothing behind --") << QStringList{"run", "--"};
    QTest::newRow("run --buffer-size, no number")
        << QStringList{"run", "--buffer-size", "many", "--", "true"};
    QTest::newRow("run --buffer-size, too small") << QStringList{"run", "--buffer-size", "1", "--", "true"};
    QTest::newRow("run --buffer-size, too great")
        << QStringList{"run", "--buffer-size", "99999999999G", "--", "true"};
    QTest::newRow("run, unknown option") << QStringList{"run", "--frobnicate", "--", "true"};
    QTest::newRow("plan nothing") << QStringList{"plan"};
    QTest::newRow("plan --format") << QStringList{"plan", "--format", "xml", "true"};
    QTest::newRow("snap nothing") << QStringList{"snap"};
    QTest::newRow("snap a group and a process") << QStringList{"snap", "--group", "shop", "12"};
    QTest::newRow("services, unknown format") << QStringList{"services", "--format", "xml"};
    QTest::newRow("snap a name") << QStringList{"snap", "sleep"};
    QTest::newRow("snap a negative number") << QStringList{"snap", "--", "-1"};
    QTest::newRow("print nothing") << QStringList{"print"};
    QTest::newRow("print --format") << QStringList{"print", "--format", "yaml", "a.tbsnap"};
    QTest::newRow("print --last 0") << QStringList{"print", "--last", "0", "a.tbsnap"};
    QTest::newRow("print --source-path") << QStringList{"print", "--source-path", "/a", "a.tbsnap"};
    QTest::newRow("profile of nothing") << QStringList{"profile", "-o", "a"};
    QTest::newRow("profile --add to what is kept") << QStringList{"profile", "--add", "a.tbsnap"};
    QTest::newRow("profile --forget and a snap") << QStringList{"profile", "--forget", "a.tbsnap"};
    QTest::newRow("profile of a snap and a process")
        << QStringList{"profile", "-o", "a", "a.tbsnap", "--pid", "1"};
    QTest::newRow("profile of a process and a program")
        << QStringList{"profile", "-o", "a", "--pid", "1", "--", "true"};
    QTest::newRow("profile --for without --pid")
        << QStringList{"profile", "-o", "a", "--for", "1", "--", "true"};
    QTest::newRow("query without a question") << QStringList{"query", "a.tbsnap"};
    QTest::newRow("query, no question") << QStringList{"query", "a.tbsnap", "when?"};
    QTest::newRow("compare with nothing") << QStringList{"compare", "a.tbsnap"};
    QTest::newRow("compare --source-path")
        << QStringList{"compare", "--source-path", "/a", "a.tbsnap", "b.tbsnap"};
    QTest::newRow("export without a format") << QStringList{"export", "a.tbsnap"};
    QTest::newRow("export --format") << QStringList{"export", "--format", "pdf", "a.tbsnap"};
    QTest::newRow("info on nothing") << QStringList{"info"};
    QTest::newRow("view nothing") << QStringList{"view"};
  }
  void aWrongCallEndsWithTwo() {
    QFETCH(QStringList, arguments);
    const Ran ran = m_line.traceback(arguments);
    QCOMPARE(ran.status, 2);
    QCOMPARE(ran.out, QByteArray());
    QVERIFY2(ran.complainsInOneLine(), ran.err.constData());
  }

  void aWordThatIsNoCommandIsNamed_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("a command") << QStringList{"frobnicate"};
    QTest::newRow("with arguments") << QStringList{"frobnicate", "--into", "a.tbsnap"};
    QTest::newRow("an option") << QStringList{"--frobnicate"};
  }
  void aWordThatIsNoCommandIsNamed() {
    QFETCH(QStringList, arguments);
    const Ran ran = m_line.traceback(arguments);
    QCOMPARE(ran.status, 2);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("frobnicate"), ran.err.constData());
  }

  void aNumberThatIsNoneIsNamed_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("negative") << QStringList{"query", "--at", "-3", "a.tbsnap", "next signal"};
    QTest::newRow("a word") << QStringList{"export", "--first", "-3", "--format", "text", "a.tbsnap"};
  }
  void aNumberThatIsNoneIsNamed() {
    QFETCH(QStringList, arguments);
    const Ran ran = m_line.traceback(arguments);
    QCOMPARE(ran.status, 2);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains(arguments[1].toUtf8() + " takes a whole number") &&
                 ran.err.contains("not -3"),
             ran.err.constData());
  }

  void noNameIsTheNameOfNoFunction() {
    const Ran ran = m_line.traceback({"info", "--why", "", "/bin/true"});
    QCOMPARE(ran.status, 2);
    QCOMPARE(ran.out, QByteArray());
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("--why"), ran.err.constData());
  }

  void outputThatCannotBeWrittenIsAnError_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("redirection");
    const QString program = CommandLine::program();
    for (const char* where : {">/dev/full", ">&-"}) {
      QTest::addRow("a line %s", where) << QStringList{"info", "/bin/true"} << where;
      QTest::addRow("help %s", where) << QStringList{"--help"} << where;
      QTest::addRow("much %s", where) << QStringList{"info", "--functions", program} << where;
      QTest::addRow("much at once %s", where)
          << QStringList{"info", "--functions", "--format", "json", program} << where;
      // Which lets what it has be seen after each file.
      QTest::addRow("bit by bit %s", where) << QStringList{"plan", "--format", "json", "/bin/true"} << where;
    }
  }
  void outputThatCannotBeWrittenIsAnError() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, redirection);
    const Ran ran = m_line.throughShell("\"$@\" " + redirection, arguments);
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine(), ran.err.constData());
    QVERIFY2(ran.err.contains("standard output: cannot write: "), ran.err.constData());
    QVERIFY2(ran.err.contains(redirection == ">&-" ? "Bad file" : "No space left"), ran.err.constData());
  }

  void anErrorThatCannotBeSaidIsOneStill_data() {
    QTest::addColumn<QString>("redirection");
    QTest::newRow("closed") << "2>&-";
    QTest::newRow("full") << "2>/dev/full";
  }
  void anErrorThatCannotBeSaidIsOneStill() {
    QFETCH(QString, redirection);
    QCOMPARE(m_line.throughShell("\"$@\" " + redirection, {"print", "/nowhere/at-all"}).status, 1);
    QCOMPARE(m_line.throughShell("\"$@\" " + redirection, {"frobnicate"}).status, 2);
    // Nor does it get into what the command opens in place of it.
    QCOMPARE(m_line.throughShell("\"$@\" >&- " + redirection, {"info", "/bin/true"}).status, 1);
  }
  void anErrorThatNobodyReadsIsOneStill() {
    const Ran ran =
        run(CommandLine::program(), {"print", "/nowhere/at-all"}, m_line.environment(), giveErrorsToNobody);
    QCOMPARE(ran.status, 1);
  }

  void aReaderThatGoesAwayIsNoError() {
    const Ran ran = m_line.throughShell("\"$@\" | true", {"--help"});
    QCOMPARE(ran.status, 0);
    QCOMPARE(ran.err, QByteArray());
  }
};

QTEST_GUILESS_MAIN(CommandLineTest)
#include "tst_command_line.moc"
