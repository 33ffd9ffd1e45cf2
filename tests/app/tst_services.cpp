// Groups and the service as users meet them: the commands, and what a snap tells of the others.
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTest>

#include "tests/app/command_line.h"

using namespace traceback::test;

class ServicesTest : public QObject {
  Q_OBJECT

  CommandLine m_line;

  std::unique_ptr<QProcess> start(const QString& program, const QStringList& arguments) const {
    auto process = std::make_unique<QProcess>();
    process->setProcessEnvironment(m_line.environment());
    process->start(program, arguments);
    process->waitForStarted();
    return process;
  }
  bool listed(const QByteArray& text) const {
    return QTest::qWaitFor([&] { return m_line.traceback({"services"}).out.contains(text); }, 60'000);
  }

 private slots:
  void initTestCase() {
    QVERIFY(m_line.isReady());
    m_line.environment().insert("HOME", m_line.folder());
    QVERIFY(QDir(m_line.folder()).mkpath(".config/traceback"));
    QVERIFY(writeFile(m_line.path(".config/traceback/site"),
                      "group shop sleep\nredact environment\nprofile 1s " +
                          QFileInfo(PHASES_PROGRAM).fileName().toUtf8() + '\n'));
    QVERIFY(QDir().mkpath(m_line.path("tmp")));
    m_line.environment().insert("TMPDIR", m_line.path("tmp"));
  }

  void withoutTheServiceTheyAreListedAllTheSame() {
    const Ran ran = m_line.traceback({"services"});
    QCOMPARE(ran.status, 0);
    QVERIFY(ran.out.startsWith("     PID  PROGRAM"));
    QVERIFY(ran.out.contains("service: not running"));
    QCOMPARE(m_line.traceback({"services", "--format", "json"}).out, QByteArray("{\"service\":null}\n"));
    const Ran group = m_line.traceback({"snap", "--group", "shop"});
    QCOMPARE(group.status, 1);
    QVERIFY(group.complainsInOneLine());
  }

  void aServiceWhoseErrorsCannotBeWrittenGoesOn() {
    const QStringList call{"-c", "\"$0\" --frobnicate 2>/dev/full", TRACEBACKD};
    QCOMPARE(run("/bin/sh", call, m_line.environment()).status, 2);
  }

  void aWrongLineOfTheSiteFileIsNamed() {
    QVERIFY(m_line.traceback({"policy", "--site"}).out.contains("site: nothing is wrong"));
    QVERIFY(writeFile(m_line.path("bad"), "redact stacks\ngroup\n"));
    const Ran ran = m_line.traceback({"policy", "--site", m_line.path("bad")});
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("bad:2: takes a name"), ran.err.constData());
  }

  void aGroupIsSnappedAndItsSnapsTellOfEachOther() {
    const auto service = start(TRACEBACKD, {});
    QVERIFY(listed("service: process"));
    const Ran nobody = m_line.traceback({"snap", "--group", "shop"});
    QCOMPARE(nobody.status, 1);
    QVERIFY2(nobody.err.contains("no process of the group shop"), nobody.err.constData());

    const QStringList words{"run", "--only", "*/sleep", "--", "/bin/sleep"};
    const auto one = start(CommandLine::program(), words + QStringList("100"));
    const auto two = start(CommandLine::program(), words + QStringList("101"));
    const auto watched = [&] {
      unsigned count = 0;
      for (const QByteArray& line : m_line.traceback({"services", "--format", "json"}).out.split('\n')) {
        const QJsonObject each = QJsonDocument::fromJson(line).object();
        count += each["group"] == "shop" && each["program"] == "sleep";
      }
      return count == 2;
    };
    QVERIFY(QTest::qWaitFor(watched, 90'000));
    const Ran snapped = m_line.traceback({"snap", "--group", "shop"});
    QCOMPARE(snapped.err, QByteArray());
    QCOMPARE(snapped.status, 0);
    QList<QByteArray> snaps = snapped.out.trimmed().split('\n');
    QCOMPARE(snaps.size(), 2);
    for (int i = 0; i < 2; ++i) {
      const QString snap = QString::fromUtf8(snaps[i]);
      const Ran printed = m_line.traceback({"print", "--last", "1", snap});
      QCOMPARE(printed.status, 0);
      QVERIFY2(printed.out.contains("is of the group shop, which was snapped by hand"),
               printed.out.constData());
      QVERIFY2(printed.out.contains("snapped together, group shop: sleep (pid "), printed.out.constData());
      QVERIFY2(printed.out.contains(snaps[1 - i]), printed.out.constData());
      const Ran info = m_line.traceback({"info", snap});
      QVERIFY2(info.out.contains("kept out") && info.out.contains("environment"), info.out.constData());
    }
    // Without the other file the snap says so.
    QVERIFY(QFile::remove(QString::fromUtf8(snaps[1])));
    QVERIFY(m_line.traceback({"print", QString::fromUtf8(snaps[0])}).out.contains("(not here)"));
    for (const auto& process : {one.get(), two.get(), service.get()}) {
      process->terminate();
      QVERIFY(process->waitForFinished(60'000));
    }
    QCOMPARE(service->exitCode(), 0);
  }

  void aBusyProgramIsProfiledAndItsBuildNeverAgain() {
    const auto service = start(TRACEBACKD, {});
    QVERIFY(listed("service: process"));
    const auto busy = start(CommandLine::program(), {"run", "--", PHASES_PROGRAM, "kill", "1000000000000"});
    const auto idle = start(CommandLine::program(), {"run", "--only", "*/sleep", "--", "/bin/sleep", "100"});
    const QByteArray told = "process " + QByteArray::number(busy->processId()) + " (";
    QByteArray log;
    QVERIFY(QTest::qWaitFor(
        [&] {
          service->waitForReadyRead(10);
          log += service->readAllStandardError();
          return log.contains(told) && !listing(m_line.path("tmp")).filter("traceback-profile-").isEmpty();
        },
        60'000));
    QCOMPARE(log.count(" is profiled"), 1);
    service->terminate();
    QVERIFY(service->waitForFinished(60'000));
    QCOMPARE(service->exitCode(), 0);
    // What it had counted until then is kept.
    const QDir kept(m_line.path("data/traceback/profiles"));
    const QStringList files = kept.entryList({"*.tbprofile"}, QDir::Files);
    QCOMPARE(files.size(), 1);
    const QByteArray counts = readFile(kept.filePath(files.front()));
    QVERIFY(counts.startsWith("traceback-profile 3\nmodule "));

    const QString pid = QString::number(busy->processId());
    const Ran again = m_line.traceback({"profile", "--pid", pid, "--for", "1", "--unless-kept"});
    QVERIFY2(again.status == 0 && again.out.contains("something is kept"),
             (again.out + again.err).constData());
    QCOMPARE(readFile(kept.filePath(files.front())), counts);
    QCOMPARE(m_line.traceback({"profile", "--pid", pid, "--for", "1"}).status, 0);
    QVERIFY(readFile(kept.filePath(files.front())) != counts);
    for (const auto& process : {busy.get(), idle.get()}) {
      process->kill();
      QVERIFY(process->waitForFinished(60'000));
    }
  }
};

QTEST_GUILESS_MAIN(ServicesTest)
#include "tst_services.moc"
