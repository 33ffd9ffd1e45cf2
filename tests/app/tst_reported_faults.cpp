// Faults that the program handles itself, in order to report them: the snap tells of the fault, whatever the
// handler did then.
#include <signal.h>

#include <QTest>

#include "tests/app/command_line.h"

using namespace traceback::test;

class ReportedFaultsTest : public QObject {
  Q_OBJECT

  std::unique_ptr<CommandLine> m_line;

  Ran runIt(int lines, const QString& ending, const QString& fault = {}, const QStringList& options = {}) {
    return m_line->throughShell(
        "ulimit -c 0; exec \"$@\"",
        QStringList{"run"} + options +
            QStringList{"--", REPORTING_PROGRAM, QString::number(lines), ending, fault});
  }

 private slots:
  void init() {
    m_line = std::make_unique<CommandLine>();
    QVERIFY(m_line->isReady());
  }

  // However much it did to report it.
  void theFaultIsShown_data() {
    QTest::addColumn<int>("lines");
    QTest::addColumn<QString>("ending");
    QTest::addColumn<QString>("fault");
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("reason");
    constexpr int kFew = 10, kMoreThanAreKept = 200000;
    const QByteArray access("SIGSEGV at address 0x8"), ended("; its handler ended the process");
    QTest::newRow("it aborts") << kFew << "abort" << "" << 128 + SIGABRT
                               << access + "; its handler raised SIGABRT";
    QTest::newRow("it aborts later") << kMoreThanAreKept << "abort" << "" << 128 + SIGABRT
                                     << access + "; its handler raised SIGABRT";
    QTest::newRow("it raises it again")
        << kFew << "raise" << "" << 128 + SIGSEGV << access + "; its handler raised it again";
    QTest::newRow("it raises it again later")
        << kMoreThanAreKept << "raise" << "" << 128 + SIGSEGV << access + "; its handler raised it again";
    QTest::newRow("it ends the process") << kFew << "_exit" << "" << 3 << access + ended;
    QTest::newRow("it ends the process later") << kMoreThanAreKept << "_exit" << "" << 3 << access + ended;
    QTest::newRow("it exits") << kFew << "exit" << "" << 4 << access + ended;
    QTest::newRow("it exits quickly") << kFew << "quick_exit" << "" << 5 << access + ended;
    QTest::newRow("it meets others meanwhile")
        << kFew << "_exit after looking around" << "" << 3 << access + ended;
    QTest::newRow("it ends the process that aborted") << kFew << "_exit" << "abort" << 3 << "aborted" + ended;
  }
  void theFaultIsShown() {
    QFETCH(int, lines);
    QFETCH(QString, ending);
    QFETCH(QString, fault);
    QFETCH(QByteArray, reason);
    const Ran ran = runIt(lines, ending, fault);
    QTEST(ran.status, "status");
    QVERIFY2(ran.err.contains("met a fatal signal; its trace is in "), ran.err.constData());
    const QStringList snaps = m_line->snaps();
    QCOMPARE(snaps.size(), 1);
    const QByteArray text = m_line->traceback({"print", snaps[0]}).out;
    QVERIFY2(text.contains(reason + '\n'), text.left(200).constData());
    QCOMPARE(text.count(", at fault\n"), 1);
    QCOMPARE(text.count("<-- fault"), ending.contains("around") ? 2 : 1);
    const QByteArray first = text.left(text.indexOf("<-- fault"));
    QVERIFY2(first.mid(first.lastIndexOf('\n')).contains("// the fault"), first.right(200).constData());
    const int handlers = ending == "abort" ? 2 : 1;  // that did so much
    QCOMPARE(text.count("gap: older records were overwritten"), lines > 1000 ? handlers : 0);
    QCOMPARE(m_line->traceback({"recover"}).out, QByteArray());
  }

  void itsHandlersStepsAreShownBehindIt() {
    runIt(10, "_exit");
    const QByteArray text = m_line->traceback({"print", m_line->snaps().value(0)}).out;
    const QByteArray behind = text.mid(text.indexOf("<-- fault"));
    QVERIFY2(behind.contains("-- SIGSEGV"), behind.constData());
    QCOMPARE(behind.count("if (i % 3 != 0)"), 10);
    QVERIFY2(behind.contains("_exit(3);"), behind.right(200).constData());
    QVERIFY2(!behind.contains("exit(4)") && !behind.contains("main"), behind.right(200).constData());
  }

  void whatTheHandlerDidIsLeftOutIfAskedFor() {
    runIt(10, "_exit");
    const QString snap = m_line->snaps().value(0);
    const QByteArray text = m_line->traceback({"print", "--to-fault", "--last", "2", snap}).out;
    const QList<QByteArray> lines = text.split('\n');
    QCOMPARE(lines.size(), 7);  // the reason, the thread, two lines, the signal, what is left out
    QVERIFY2(lines[3].contains("// the fault") && lines[4].contains("-- SIGSEGV"), text.constData());
    const QByteArray json = m_line->traceback({"print", "--to-fault", "--format", "json", snap}).out;
    const auto all = m_line->traceback({"print", "--format", "json", snap}).out.count('\n');
    QCOMPARE(lines[5], "  and " + QByteArray::number(all - json.count('\n')) + " entries after the fault");
    QVERIFY2(json.trimmed().endsWith('}') && json.contains("\"fault\""), json.right(200).constData());
  }

  void codeWithoutLinesIsLeftOutIfAskedFor() {
    runIt(10, "_exit");
    const QString snap = m_line->snaps().value(0);
    const QByteArray all = m_line->traceback({"print", "--tree", snap}).out;
    QVERIFY2(all.contains("libwithout_lines.so") && all.contains("without_lines()"), all.constData());
    const QByteArray known = m_line->traceback({"print", "--tree", "--lines", snap}).out;
    QVERIFY2(!known.contains("libwithout_lines.so") && !known.contains("without_lines()"), known.constData());
    QVERIFY2(known.contains("report()") && known.contains("<-- fault"), known.constData());
    // What is left is as it was.
    const auto everything = all.split('\n');
    for (const QByteArray& line : known.split('\n')) QVERIFY2(everything.contains(line), line.constData());
    const QByteArray few = m_line->traceback({"print", "--to-fault", "--lines", "--last", "2", snap}).out;
    QCOMPARE(few.count("reporting.c:"), 2);
    const QByteArray json = m_line->traceback({"print", "--format", "json", "--lines", snap}).out;
    QVERIFY(json.contains("\"reporting.c\"") || json.contains("reporting.c\""));
    for (const QByteArray& line : json.split('\n'))
      QVERIFY2(!line.contains("\"kind\":\"line\"") || line.contains("\"line\":"), line.constData());
  }

  // Whoever jumps out of the handler goes on, and what somebody else sent is no fault of this program's.
  void aProgramThatGetsOverItIsNotSnapped() {
    QCOMPARE(runIt(10, "jump").status, 6);
    QCOMPARE(runIt(10, "_exit", "sent").status, 3);
    QCOMPARE(m_line->snaps(), QStringList());
  }

  // Handlers that wait for a lock which the fault left taken are ended by somebody else.
  void aProcessThatWasKilledInItsHandlerShowsTheFault() {
    QCOMPARE(runIt(10, "kill").status, 128 + SIGKILL);
    QCOMPARE(m_line->snaps(), QStringList());
    QCOMPARE(m_line->traceback({"recover"}).status, 0);
    QCOMPARE(m_line->snaps().size(), 1);
    const QByteArray text = m_line->traceback({"print", m_line->snaps()[0]}).out;
    QVERIFY2(text.contains(
                 "recovered after it was killed; thread 1 was in its handler of SIGSEGV at address 0x8\n"),
             text.left(200).constData());
    QCOMPARE(text.count("<-- fault"), 1);
    const QByteArray toFault = m_line->traceback({"print", "--to-fault", m_line->snaps()[0]}).out;
    QVERIFY2(toFault.contains("// the fault") && toFault.contains(" entries after the fault"),
             toFault.constData());
  }

  void thePolicyHoldsForItToo() {
    const QString policy = m_line->path("policy");
    QVERIFY(writeFile(policy, "ignore signal SEGV\n"));
    QCOMPARE(runIt(10, "_exit", {}, {"--policy", policy}).status, 3);
    QCOMPARE(m_line->snaps(), QStringList());
    QVERIFY(writeFile(policy, "snap exit 3\n"));
    const Ran ran = runIt(10, "_exit", {}, {"--policy", policy});
    QCOMPARE(ran.status, 3);
    QCOMPARE(m_line->snaps().size(), 1);
    const QByteArray info = m_line->traceback({"info", m_line->snaps()[0]}).out;
    QVERIFY2(info.contains("its handler ended the process"), info.constData());
  }
};

QTEST_GUILESS_MAIN(ReportedFaultsTest)
#include "tst_reported_faults.moc"
