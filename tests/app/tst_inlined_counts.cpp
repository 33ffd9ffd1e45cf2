// Calls of inlined functions are as many as the program itself has counted.
#include <signal.h>

#include <QTest>

#include "tests/app/command_line.h"

using namespace traceback::test;

class InlinedCountsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void callsAreAsManyAsTheProgramCounts_data() {
    QTest::addColumn<QString>("program");
    QTest::newRow("-O1") << COUNTS_ITSELF_O1;
    QTest::newRow("-O2") << COUNTS_ITSELF_O2;
  }
  void callsAreAsManyAsTheProgramCounts() {
    QFETCH(const QString, program);
    const CommandLine line;
    QVERIFY(line.isReady());
    const Ran ran = line.throughShell("ulimit -c 0; exec \"$@\"", {"run", "--only", program, "--", program});
    QCOMPARE(ran.status, 128 + SIGABRT);
    QCOMPARE(line.snaps().size(), 1);
    const QList<QByteArray> counted = ran.out.trimmed().split('\n');
    QCOMPARE(counted.size(), 7);
    for (const QByteArray& each : counted) {
      const auto words = each.split(' ');
      const QString question = "calls(" + QString::fromUtf8(words[0]) + ')';
      const Ran answer = line.traceback({"query", "--limit", "100000", line.snaps().front(), question});
      QCOMPARE(answer.status, 0);
      QCOMPARE(answer.out.count("[inlined]"), words[1].toInt());
      QVERIFY(answer.out.count('\n') >= words[1].toInt());
    }
  }
};

QTEST_GUILESS_MAIN(InlinedCountsTest)
#include "tst_inlined_counts.moc"
