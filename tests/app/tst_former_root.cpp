// Sessions that a server of root's forks once it has given up its rights: their rings are another user's, and
// root's commands find them.
#include <unistd.h>

#include <QFile>
#include <QTest>
#include <csignal>
#include <memory>

#include "tests/app/command_line.h"

using namespace traceback::test;

class FormerRootTest : public QObject {
  Q_OBJECT
  std::unique_ptr<CommandLine> m_line;

  // With a /dev/shm of its own. $1 is traceback, $2 the server.
  Ran inOwnMemory(const QByteArray& commands) const {
    constexpr char kStart[] =
        "unset XDG_RUNTIME_DIR\n"
        "left() { find /dev/shm -mindepth 2 -maxdepth 2 -name '[1-9]*' -path \"$1\" | wc -l; }\n";
    QFile script(m_line->path("script"));
    if (!script.open(QIODevice::WriteOnly)) return {};
    script.write(kStart + commands);
    script.close();
    return run(SERVER, {"in own memory", "sh", script.fileName(), CommandLine::program(), SERVER},
               m_line->environment());
  }

 private slots:
  void init() {
    m_line = std::make_unique<CommandLine>();
    QVERIFY(m_line->isReady());
    if (geteuid() != 0 || inOwnMemory("exit 0").status != 0)
      QSKIP("it is not root, or may not mount anything");
  }

  void whatTheyDieOfIsRecovered_data() {
    QTest::addColumn<QByteArray>("how");
    QTest::addColumn<int>("signal");
    QTest::newRow("at a fault") << QByteArray("at a fault") << SIGSEGV;
    QTest::newRow("killed") << QByteArray("killed") << SIGKILL;
  }
  void whatTheyDieOfIsRecovered() {
    QFETCH(QByteArray, how);
    QFETCH(int, signal);
    const Ran ran =
        inOwnMemory("\"$1\" run --quiet -- \"$2\" '" + how + "' 1\n\"$1\" recover\nleft '*65534*'\n");
    const QByteArrayList lines = ran.out.split('\n');
    QVERIFY2(lines.size() == 4, (ran.out + ran.err).constData());
    QCOMPARE(lines[0], QByteArray::number(signal));
    QVERIFY2(lines[1].startsWith(m_line->snapFolder().toUtf8()), lines[1].constData());
    QCOMPARE(lines[2], QByteArray("0"));
    const Ran print = m_line->traceback({"print", QString::fromUtf8(lines[1])});
    QVERIFY2(print.out.contains("gives_up_rights.c") && print.out.contains("work"), print.out.constData());
  }

  void whatTheyLeaveDoesNotAddUp() {
    const Ran ran = inOwnMemory(
        "\"$1\" run --quiet -- \"$2\" 'as another' 6\nleft '*65534*'\n"
        // What is to be learned from goes while the program runs, and behind it.
        "\"$1\" run --quiet -- true\n"
        "for i in $(seq 300); do [ $(left '*') = 0 ] && break; sleep 0.1; done\nleft '*'\n");
    QCOMPARE(ran.out, QByteArray("0\n1\n0\n"));
  }

  void theyCanBeSnappedWhileTheyRun() {
    QFile client(m_line->path("client"));
    QVERIFY(client.open(QIODevice::WriteOnly));
    client.write("\"$1\" services | grep -c gives_up_rights\n\"$1\" snap $SESSION\n");
    client.close();
    const Ran ran = inOwnMemory("export TOOL=\"$1\"\n\"$1\" run --quiet -- \"$2\" waiting 1 'sh " +
                                client.fileName().toUtf8() + " \"$TOOL\"'\n");
    const QByteArrayList lines = ran.out.split('\n');
    QVERIFY2(lines.size() == 4, (ran.out + ran.err).constData());
    QCOMPARE(lines[0], QByteArray("2"));
    QVERIFY2(QFile::exists(QString::fromUtf8(lines[1])), lines[1].constData());
    QCOMPARE(lines[2], QByteArray::number(SIGTERM));
  }
};

QTEST_GUILESS_MAIN(FormerRootTest)
#include "tst_former_root.moc"
