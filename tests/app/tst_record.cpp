// The whole way, as a user goes it: record, crash or be snapped or killed, print.
#include <signal.h>
#include <unistd.h>

#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRegularExpression>
#include <QTest>

#include "tests/app/command_line.h"

using namespace traceback::test;

class RecordTest : public QObject {
  Q_OBJECT

  CommandLine m_line;
  const QString m_program = QStringLiteral(CRASH_PROGRAM);
  QString m_crash;  // the snap of a crash

  QStringList snapsIn(const QString& folder) const {
    return QDir(m_line.path(folder)).entryList({"*.tbsnap"}, QDir::Files);
  }

  // `traceback run -- crash wait`, once it has said that it is ready.
  std::unique_ptr<QProcess> startWaiting(const QString& snapFolder) const {
    auto process = std::make_unique<QProcess>();
    process->setProcessEnvironment(m_line.environment());
    process->start(CommandLine::program(),
                   {"run", "--snap-dir", m_line.path(snapFolder), "--", m_program, "wait"});
    return process->waitForReadyRead(30'000) ? std::move(process) : nullptr;
  }

  QList<QJsonObject> jsonOf(const QStringList& options) const {
    const Ran ran = m_line.traceback(QStringList{"print", "--format", "json"} + options);
    QList<QJsonObject> objects;
    for (const QByteArray& line : ran.out.split('\n')) {
      if (!line.isEmpty()) objects << QJsonDocument::fromJson(line).object();
    }
    return objects;
  }

 private slots:
  void initTestCase() {
    QVERIFY(m_line.isReady());
    const Ran ran = m_line.throughShell("ulimit -c 0; exec \"$@\"",
                                        {"run", "--snap-dir", m_line.path("crash"), "--", m_program});
    QCOMPARE(ran.status, 128 + SIGSEGV);
    QCOMPARE(ran.out, "6\n");
    const QStringList snaps = snapsIn("crash");
    QCOMPARE(snaps.size(), 1);
    m_crash = m_line.path("crash/" + snaps[0]);
    // Standard error says where and why.
    QVERIFY2(ran.err.contains(m_crash.toUtf8()) && ran.err.contains("signal"), ran.err.constData());
  }

  void theSnapIsNamedForTheProcess() {
    QVERIFY(QRegularExpression("^crash-[0-9]+-[0-9]{8}T[0-9]{6}\\.tbsnap$")
                .match(QFileInfo(m_crash).fileName())
                .hasMatch());
  }

  void theLastLineIsTheFault() {
    const Ran ran = m_line.traceback({"print", "--last", "5", m_crash});
    QCOMPARE(ran.status, 0);
    const auto lines = ran.out.trimmed().split('\n');
    QVERIFY2(lines[0].contains("crash") && lines[0].contains("SIGSEGV"), ran.out.constData());
    QVERIFY2(lines.last().contains("SIGSEGV"), ran.out.constData());
    const QByteArray& fault = lines[lines.size() - 2];
    QVERIFY2(fault.contains("crash.c:18") && fault.contains("sum") &&
                 fault.contains("total += node->value;") && fault.contains("<-- fault"),
             ran.out.constData());
    QCOMPARE(ran.err, QByteArray());
    QCOMPARE(lines.size(), 2 + 5 + 1);  // the program, the thread, five lines and the signal
  }

  void sourcesMayLieElsewhere() {
    QVERIFY(QDir().mkpath(m_line.path("src")));
    const QByteArray moved = QByteArray("\n").repeated(17) + "moved elsewhere\n";
    QVERIFY(writeFile(m_line.path("src/crash.c"), moved));
    const Ran ran = m_line.traceback({"print", "--last", "1", "--source-path",
                                      QFileInfo(CRASH_SOURCE).path() + "=" + m_line.path("src"), m_crash});
    QVERIFY2(ran.out.contains("moved elsewhere"), ran.out.constData());
    // It is newer than the trace, which is no small thing.
    QVERIFY2(ran.err.contains("src/crash.c") && ran.err.contains("changed"), ran.err.constData());
  }

  void theTreeIsIndentedByCalls() {
    const Ran ran = m_line.traceback({"print", "--tree", m_crash});
    QCOMPARE(ran.status, 0);
    const auto column = [&](const char* text) {
      for (const auto& line : ran.out.split('\n')) {
        if (line.contains(text)) return line.indexOf(text);
      }
      return qsizetype{-1};
    };
    QVERIFY2(
        column("sum()") > 0 && column("total += node->value;") > column("printf(\"%d\\n\", sum(nodes, 4));"),
        ran.out.constData());
  }

  void everyJsonLineHasWhatIsPromised() {
    const auto objects = jsonOf({"--thread", "all", m_crash});
    QVERIFY(objects.size() > 10);
    const QStringList kinds{"line", "call", "return", "exception", "signal", "sync", "gap"};
    for (const auto& object : objects) {
      for (const char* key :
           {"thread", "index", "kind", "module", "function", "file", "line", "depth", "address", "time"}) {
        QVERIFY2(object.contains(key), key);
      }
      QVERIFY2(kinds.contains(object["kind"].toString()), qPrintable(object["kind"].toString()));
    }
  }

  void jsonIsOldestFirstAndHasTheWholeStory() {
    const auto objects = jsonOf({"--thread", "1", m_crash});
    QList<int> body;
    for (qsizetype i = 0; i < objects.size(); ++i) {
      QCOMPARE(objects[i]["index"].toInteger(), i);
      if (objects[i]["kind"] == "line" && objects[i]["function"] == "sum") body << objects[i]["line"].toInt();
    }
    // Three rounds of the first call; three rounds and the fault of the second.
    QCOMPARE(body.count(18), 3 + 4);
    QCOMPARE(body.last(), 18);
  }

  void questionsAreAnsweredWithRows() {
    const Ran ran = m_line.traceback({"query", m_crash, "calls(sum)", "--format", "json"});
    QCOMPARE(ran.status, 0);
    const auto rows = ran.out.trimmed().split('\n');
    QCOMPARE(rows.size(), 2);
    const QJsonObject second = QJsonDocument::fromJson(rows[1]).object();
    QCOMPARE(second["kind"].toString(), "call");
    QCOMPARE(second["function"].toString(), "sum");
    // The call leads to its first line, and from there the fault is ahead.
    const QString at = QString::number(second["position"].toInteger());
    const Ran ahead = m_line.traceback(
        {"query", m_crash, "--at", at, "goto last backward block_entry where src=<crash.c,18>"});
    QCOMPARE(ahead.status, 0);
    QVERIFY2(ahead.out.contains("crash.c:18") && ahead.out.contains("fault"), ahead.out.constData());
    const Ran never = m_line.traceback({"query", m_crash, "never(wait_for_never)"});
    QCOMPARE(never.status, 1);
    QVERIFY2(never.out.contains("never"), never.out.constData());
  }

  void lastCountsFromTheEnd() {
    const auto all = jsonOf({m_crash});
    const auto few = jsonOf({"--last", "3", m_crash});
    QCOMPARE(few, all.last(3));
  }

  void aThreadThatIsNotThereIsNamed() {
    const Ran ran = m_line.traceback({"print", "--thread", "99", m_crash});
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("99"), ran.err.constData());
  }

  void infoTellsWhatASnapHolds() {
    const Ran ran = m_line.traceback({"info", m_crash});
    QCOMPARE(ran.status, 0);
    for (const char* text : {"snap", "crash", "SIGSEGV", "module", "thread"})
      QVERIFY2(ran.out.contains(text), text);
  }

  void infoTellsWhatAnInstrumentedFileHolds() {
    const QString output = m_line.path("crash-instrumented");
    QCOMPARE(m_line.traceback({"instrument", m_program, "-o", output}).status, 0);
    const Ran ran = m_line.traceback({"info", output});
    QCOMPARE(ran.status, 0);
    QVERIFY2(ran.out.contains("instrumented  yes") && ran.out.contains("map id"), ran.out.constData());
    QVERIFY(m_line.traceback({"info", m_program}).out.contains("instrumented  no"));
  }

  void theReportCountsEveryFunction() {
    const Ran ran =
        m_line.traceback({"instrument", m_program, "-o", m_line.path("reported"), "--report", "json"});
    const QJsonObject report = QJsonDocument::fromJson(ran.out).object();
    qint64 skipped = 0;
    for (const auto& count : report["skipped"].toObject()) skipped += count.toInteger();
    QVERIFY(report["instrumented"].toInteger() > 0);
    QCOMPARE(report["instrumented"].toInteger() + skipped, report["functions"].toInteger());
    QCOMPARE(report["file"].toString(), m_program);
    QVERIFY(report["text_bytes"].toInteger() > 0 && report["new_text_bytes"].toInteger() > 0);
    QVERIFY(report["table_bytes"].isDouble());
  }

  void aRunningProcessIsSnappedAndGoesOn() {
    const auto process = startWaiting("running");
    QVERIFY(process);
    const Ran ran = m_line.traceback({"snap", QString::number(process->processId())});
    QCOMPARE(ran.err, QByteArray());
    QCOMPARE(ran.status, 0);
    QCOMPARE(ran.out.trimmed(), m_line.path("running/" + snapsIn("running").value(0)).toUtf8());
    QCOMPARE(process->state(), QProcess::Running);
    // Both threads wait, and nobody is at fault: all are printed.
    const Ran printed = m_line.traceback({"print", ran.out.trimmed()});
    QVERIFY2(printed.out.contains("thread 1 ") && printed.out.contains("thread 2 ") &&
                 printed.out.contains("wait_for_ever"),
             printed.out.constData());
    process->kill();
    process->waitForFinished();
  }

  void aSignalThatWasSentIsNotSaidToBeAtAnAddress() {
    const auto process = startWaiting("sent");
    QVERIFY(process);
    ::kill(pid_t(process->processId()), SIGSEGV);
    process->waitForFinished();
    const QStringList snaps = snapsIn("sent");
    QCOMPARE(snaps.size(), 1);
    for (const char* command : {"print", "info"}) {
      const Ran said = m_line.traceback({command, m_line.path("sent/" + snaps[0])});
      QCOMPARE(said.status, 0);
      QVERIFY2(said.out.contains("SIGSEGV, sent by a program"), said.out.constData());
      QVERIFY2(!said.out.contains("at address"), said.out.constData());
    }
  }

  void whatAKilledProcessLeftIsRecoveredOnce() {
    const auto process = startWaiting("killed");
    QVERIFY(process);
    ::kill(pid_t(process->processId()), SIGKILL);
    process->waitForFinished();
    const Ran ran = m_line.traceback({"recover"});
    QCOMPARE(ran.err, QByteArray());
    QCOMPARE(ran.status, 0);
    const QStringList snaps = snapsIn("killed");
    QVERIFY2(snaps.size() == 1 && ran.out.contains(snaps[0].toUtf8()), ran.out.constData());
    const Ran printed = m_line.traceback({"print", "--thread", "1", m_line.path("killed/" + snaps[0])});
    QVERIFY2(printed.out.contains("killed") && printed.out.contains("main"), printed.out.constData());
    const Ran again = m_line.traceback({"recover"});
    QCOMPARE(again.status, 0);
    QCOMPARE(again.out, QByteArray());
  }

  // It could make no file of any size, and so recorded nothing.
  void whatAProcessCouldNotWriteIsClearedAway() {
    QCOMPARE(m_line.throughShell("ulimit -f 64; ulimit -c 0; exec \"$@\"", {"run", "--", m_program}).status,
             128 + SIGSEGV);
    for (int i = 0; i < 2; ++i) {
      const Ran ran = m_line.traceback({"recover"});
      QCOMPARE(ran.err, QByteArray());
      QCOMPARE(ran.status, 0);
      QCOMPARE(ran.out, QByteArray());
    }
    const QString rings = m_line.environment().value("XDG_RUNTIME_DIR") + "/traceback";
    QCOMPARE(QDir(rings).entryList(QDir::Dirs | QDir::NoDotAndDotDot), QStringList());
  }

  void theInputIsNotReplacedByWhatIsMadeOfIt_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("a core file") << QStringList{"export", "--core"};
    QTest::newRow("an export") << QStringList{"export", "--format", "text", "-o"};
    QTest::newRow("a profile") << QStringList{"profile", "-o"};
  }
  void theInputIsNotReplacedByWhatIsMadeOfIt() {
    QFETCH(QStringList, arguments);
    const QString input = m_line.path("input.tbsnap"), link = m_line.path("link.tbsnap");
    QFile::remove(input);
    QFile::remove(link);
    QVERIFY(QFile::copy(m_crash, input));
    QCOMPARE(::symlink("input.tbsnap", qPrintable(link)), 0);
    const QByteArray bytes = readFile(input);
    for (const QString& output : {input, link}) {
      const Ran ran = m_line.traceback(arguments + QStringList{output, input});
      QCOMPARE(ran.status, 1);
      QVERIFY2(ran.complainsInOneLine() && ran.err.contains(input.toUtf8() + ": would be overwritten"),
               ran.err.constData());
      QVERIFY(readFile(input) == bytes);
      QCOMPARE(QFile::symLinkTarget(link), input);
    }
  }

  void entriesThatThereAreNotAreNamed() {
    const Ran beyond = m_line.traceback({"export", "--format", "text", "--first", "99999", m_crash});
    QCOMPARE(beyond.status, 1);
    QCOMPARE(beyond.out, QByteArray());
    QVERIFY2(beyond.complainsInOneLine() && beyond.err.contains("99999"), beyond.err.constData());
    const Ran reversed =
        m_line.traceback({"export", "--format", "text", "--first", "5", "--last", "2", m_crash});
    QCOMPARE(reversed.status, 2);
    QCOMPARE(reversed.out, QByteArray());
    QVERIFY2(reversed.complainsInOneLine() && reversed.err.contains("--last"), reversed.err.constData());
    QCOMPARE(m_line.traceback({"export", "--format", "text", "--first", "2", "--last", "2", m_crash}).status,
             0);
  }

  void aProcessThatIsNotTracedIsNamed() {
    const Ran ran = m_line.traceback({"snap", QString::number(QCoreApplication::applicationPid())});
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine(), ran.err.constData());
  }

  void aSnapThatCannotBeWrittenIsToldAndLeavesNothing() {
    const auto process = startWaiting("full");
    QVERIFY(process);
    const QString pid = QString::number(process->processId());
    const Ran full = m_line.throughShell("ulimit -f 1; exec \"$@\"", {"snap", pid});
    QCOMPARE(full.status, 1);
    QVERIFY2(full.complainsInOneLine() && full.err.contains("/full"), full.err.constData());
    QCOMPARE(listing(m_line.path("full")), QStringList());
    QCOMPARE(process->state(), QProcess::Running);
    const Ran nowhere = m_line.traceback({"snap", "--snap-dir", "/proc/self/nowhere", pid});
    QCOMPARE(nowhere.status, 1);
    QVERIFY2(nowhere.complainsInOneLine() && nowhere.err.contains("/proc/self/nowhere"),
             nowhere.err.constData());
    process->kill();
    process->waitForFinished();
  }

  void doctorFindsNothingWrong() {
    const Ran ran = m_line.traceback({"doctor"});
    QVERIFY2(ran.status == 0, ran.out.constData());
    QVERIFY2(ran.out.contains("recording") && ran.out.contains("recorded"), ran.out.constData());
  }
};

QTEST_GUILESS_MAIN(RecordTest)
#include "tst_record.moc"
