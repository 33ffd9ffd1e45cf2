// Groups and the service as users meet them: the commands, and what a snap tells of the others.
#include <QDir>
#include <QFile>
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
    QVERIFY(writeFile(m_line.path(".config/traceback/site"), "group shop sleep\nredact environment\n"));
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
};

QTEST_GUILESS_MAIN(ServicesTest)
#include "tst_services.moc"
