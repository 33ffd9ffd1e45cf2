// The signal interface behaves with the runtime as it does without.
#include <QRegularExpression>
#include <QTest>

#include "traced_run.h"

using namespace traceback::testing;

class SignalInterfaceTest : public QObject {
  Q_OBJECT
 private slots:
  void behavesAsWithoutTheRuntime_data() {
    QTest::addColumn<QString>("kind");
    for (const char* kind :
         {"actions", "old", "delivery", "nesting", "stacks", "overflow", "children", "threads", "unwinding",
          "abort", "raw", "restart", "masks", "cores", "registers"})
      QTest::newRow(kind) << kind;
  }
  void behavesAsWithoutTheRuntime() {
    QFETCH(QString, kind);
    TracedRun plain("signals"), traced("signals");
    plain.setTraced(false);
    const Outcome expected = plain.run({kind});
    const Outcome actual = traced.run({kind});
    const auto expectedLines = expected.output.split('\n'), lines = actual.output.split('\n');
    for (qsizetype i = 0; i < std::min(lines.size(), expectedLines.size()); ++i)
      QVERIFY2(lines[i] == expectedLines[i],
               "line " + QByteArray::number(i) + ": " + lines[i] + " instead of " + expectedLines[i]);
    QCOMPARE(actual.output.size(), expected.output.size());
    QVERIFY(expected.output.size() > 5);
    QCOMPARE(actual.killed, expected.killed);
    QCOMPARE(actual.status, expected.status);
    // It did run with the runtime.
    QVERIFY(std::filesystem::exists(traced.ringFolder()));
  }
};

QTEST_GUILESS_MAIN(SignalInterfaceTest)
#include "signal_interface_test.moc"
