// What exceptions say is in the trace as the program itself prints it, or not at all.
#include <signal.h>

#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include "tests/app/command_line.h"

using namespace traceback::test;

namespace {

constexpr qsizetype kMostOfText = 255;  // and dots, if there was more

QByteArray asKept(const QByteArray& text) {
  return text.size() < kMostOfText ? text : text.left(kMostOfText) + "...";
}

}  // namespace

class ThrownTextsTest : public QObject {
  Q_OBJECT

  std::unique_ptr<CommandLine> m_line;

  // The messages of the exceptions in the only snap, in their order; null where one has none.
  QList<QByteArray> messages() {
    const QStringList snaps = m_line->snaps();
    if (snaps.size() != 1) return {};
    QList<QByteArray> found;
    for (const QByteArray& line :
         m_line->traceback({"print", "--format", "json", snaps[0]}).out.split('\n')) {
      const QJsonObject entry = QJsonDocument::fromJson(line).object();
      if (entry["kind"].toString() != "exception") continue;
      found.append(entry.contains("message") ? entry["message"].toString().toUtf8() : QByteArray());
    }
    return found;
  }

  Ran record(const QString& program, const QString& how) {
    return m_line->throughShell("ulimit -c 0; exec \"$@\"", {"run", "--", program, how});
  }

  static QList<QByteArray> linesOf(const QByteArray& text) { return text.trimmed().split('\n'); }

 private slots:
  void init() {
    m_line = std::make_unique<CommandLine>();
    QVERIFY(m_line->isReady());
  }

  void whatIsSaidIsWhatTheProgramPrints_data() {
    QTest::addColumn<QString>("program");
    QTest::newRow("not optimised") << SAYS_O0;
    QTest::newRow("optimised") << SAYS_O2;
    QTest::newRow("at a fixed place, without symbols") << SAYS_FIXED;
  }
  void whatIsSaidIsWhatTheProgramPrints() {
    QFETCH(QString, program);
    const Ran ran = record(program, "says all");
    QCOMPARE(ran.status, 128 + SIGABRT);
    const QList<QByteArray> printed = linesOf(ran.out), told = messages();
    QCOMPARE(told.size(), printed.size());
    for (qsizetype i = 0; i < printed.size(); ++i) {
      const QByteArray text = asKept(printed[i].sliced(1));
      if (printed[i].startsWith('+') || !told[i].isEmpty()) QCOMPARE(told[i], text);
      if (text.isEmpty()) QVERIFY2(told[i].isEmpty(), told[i].constData());
    }
  }

  void ofManyTheLastOnesAreThere() {
    const Ran ran = record(SAYS_O2, "says much");
    const QList<QByteArray> printed = linesOf(ran.out), told = messages();
    QCOMPARE(printed.size(), 300);
    QVERIFY(told.size() <= printed.size() && told.size() > 128);  // the ring may have gone round
    for (qsizetype back = 1; back <= told.size(); ++back)
      QCOMPARE(told[told.size() - back],
               back <= 128 ? printed[printed.size() - back].sliced(1) : QByteArray());
  }

  void aKilledProcessLeavesItToo() {
    const Ran ran = record(SAYS_O2, "is killed");
    QCOMPARE(ran.status, 128 + SIGKILL);
    QCOMPARE(m_line->traceback({"recover"}).status, 0);
    const QList<QByteArray> told = messages();
    QVERIFY(told.size() > 3);
    QCOMPARE(told[0], QByteArray("short"));
    QCOMPARE(told[2], QByteArray("a constant"));
  }
};

QTEST_GUILESS_MAIN(ThrownTextsTest)
#include "tst_thrown_texts.moc"
