// `traceback compare` on two runs of a real program.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include "tests/app/recorded_runs.h"

using namespace traceback::test;

namespace {

// The lines of a report that begin with a mark, joined.
QByteArray marked(const QByteArray& report, char mark) {
  QByteArray result;
  // The first two say what is compared.
  for (const QByteArray& line : report.split('\n').sliced(2))
    if (line.startsWith(mark)) result += line + '\n';
  return result;
}

}  // namespace

class CompareRuns : public QObject {
  Q_OBJECT

  CommandLine m_line;

  QString record(const QString& name, const QStringList& arguments) {
    const QString snap = recordRun(m_line, name, arguments);
    if (snap.isEmpty()) qWarning("no snap of %s", qPrintable(arguments.join(u' ')));
    return snap;
  }

  Ran compare(const QString& good, const QString& bad, const QStringList& options = {}) const {
    return m_line.traceback(QStringList{"compare"} + options + whereTheSourceIs(m_line, good) +
                            QStringList{good, bad});
  }

 private slots:
  void initTestCase() { QVERIFY(m_line.isReady()); }

  void twoRunsOnOneInputAreTheSame() {
    const Ran ran =
        m_line.traceback({"compare", record("a1", {"words", "12", "7"}), record("a2", {"words", "12", "7"})});
    QVERIFY2(ran.status == 0, (ran.out + ran.err).constData());
    QVERIFY2(ran.out.contains(": the same, "), ran.out.constData());
  }

  void aSwallowedExceptionIsFound() {
    const QString good = record("good", {"words", "12", "34", "5"}),
                  bad = record("bad", {"words", "12", "3x", "5"});
    const Ran ran = compare(good, bad);
    QCOMPARE(ran.status, 1);
    QVERIFY2(marked(ran.out, '>').contains("no number"), ran.out.constData());
    QVERIFY2(marked(ran.out, '<').contains("value = 10 * value"), ran.out.constData());
    QVERIFY2(!marked(ran.out, '<').contains("no number"), ran.out.constData());
    // The other way round.
    const Ran turned = compare(bad, good);
    QCOMPARE(turned.status, 1);
    QVERIFY2(marked(turned.out, '<').contains("no number"), turned.out.constData());
  }

  void aBranchAfterManyEqualRoundsIsFound() {
    const QString good = record("even", {"rounds", "3000", "-1"}),
                  bad = record("odd", {"rounds", "3000", "2000"});
    const Ran ran = m_line.traceback({"compare", "--format", "json", good, bad});
    QCOMPARE(ran.status, 1);
    const QJsonObject found = QJsonDocument::fromJson(ran.out).object();
    QCOMPARE(found["differences"].toInt(), 1);
    QVERIFY(found["parting"].toObject()["known"].toBool());
    QCOMPARE(found["parting"].toObject()["left"].toInt(), found["parting"].toObject()["right"].toInt());
    const Ran text = compare(good, bad, {"--context", "3"});
    QVERIFY2(marked(text.out, '<').contains("usual(i)") && marked(text.out, '>').contains("unusual(i)"),
             text.out.constData());
  }

  void furtherDifferencesAreShownIfAskedFor() {
    const QString good = record("calm", {"words", "12", "34", "5", "6", "78", "9"}),
                  bad = record("rough", {"words", "12", "3x", "5", "6", "7y", "9"});
    const auto partings = [&](const QStringList& options) {
      const Ran ran =
          m_line.traceback(QStringList{"compare", "--format", "json"} + options + QStringList{good, bad});
      return QJsonDocument::fromJson(ran.out).object()["partings"].toArray().size();
    };
    QCOMPARE(partings({}), 1);
    QCOMPARE(partings({"--differences", "2"}), 2);
    const Ran one = compare(good, bad, {"--context", "2"});
    QCOMPARE(marked(one.out, '>').count("no number"), 1);
    const Ran both = compare(good, bad, {"--context", "2", "--differences", "9"});
    QCOMPARE(marked(both.out, '>').count("no number"), 2);
    QVERIFY2(both.out.contains(" equal entries\n"), both.out.constData());
    QVERIFY(both.out.startsWith(one.out.trimmed()));
  }

  void moreRoundsAreCounted() {
    const Ran ran = m_line.traceback(
        {"compare", record("few", {"rounds", "10", "-1"}), record("many", {"rounds", "25", "-1"})});
    QCOMPARE(ran.status, 1);
    QVERIFY2(marked(ran.out, '>').contains("(15 more rounds of the loop)"), ran.out.constData());
  }

  void theOneThreadThatDiffersIsFound() {
    const QString good = record("none", {"threads", "0"}), bad = record("second", {"threads", "2"});
    const Ran ran = compare(good, bad);
    QCOMPARE(ran.status, 1);
    int same = 0;
    QByteArray parted;
    for (const QByteArray& line : ran.out.split('\n')) {
      if (line.contains(": the same, ")) ++same;
      if (line.contains(": part after ")) parted += line;
    }
    QVERIFY2(same == 3, ran.out.constData());
    QVERIFY2(parted.count("part after") == 1 && parted.contains("worker-2"), ran.out.constData());
    QVERIFY(marked(ran.out, '>').contains("unusual(i)"));
  }

  void troubleEndsWithTwo() {
    const QString good = record("there", {"rounds", "1", "-1"});
    const Ran missing = m_line.traceback({"compare", good, m_line.path("missing.tbsnap")});
    QVERIFY2(missing.status == 2, (missing.out + missing.err).constData());
    QVERIFY(missing.complainsInOneLine());
    for (const char* thread : {"9", "1:9", "x", ""}) {
      const Ran wrong = m_line.traceback({"compare", "--thread", thread, good, good});
      QCOMPARE(wrong.status, *thread != 0 ? 2 : 0);
      QVERIFY(*thread == 0 || wrong.complainsInOneLine());
    }
  }
};

QTEST_GUILESS_MAIN(CompareRuns)
#include "tst_compare_runs.moc"
