// What a snap shows of the time before its trace, of a program in three phases.
#include <signal.h>

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include "tests/app/command_line.h"

using namespace traceback::test;

namespace {

constexpr double kSlack = 100e6;  // nanoseconds: clocks are read one after the other

// As the program counted them itself.
struct Phase {
  QString function;
  double begin = 0, end = 0;  // nanoseconds since the epoch
  double calls = 0;
};

QList<Phase> phasesOf(const QByteArray& out) {
  QList<Phase> phases;
  const QStringList names = {"load_table", "sort_table", "write_table"};
  for (const QByteArray& line : out.trimmed().split('\n')) {
    const auto words = line.split(' ');
    if (words.size() == 4 && words[0].toInt() < names.size())
      phases.append({names[words[0].toInt()], words[1].toDouble(), words[2].toDouble(), words[3].toDouble()});
  }
  return phases;
}

QList<QJsonObject> objectsIn(const QByteArray& out) {
  QList<QJsonObject> objects;
  for (const QByteArray& line : out.split('\n'))
    if (!line.isEmpty()) objects << QJsonDocument::fromJson(line).object();
  return objects;
}

}  // namespace

class BeforeTheTraceTest : public QObject {
  Q_OBJECT

  CommandLine m_line;
  const QString m_program = QStringLiteral(PHASES_PROGRAM);

  QByteArray record(const QString& folder, const QString& how, const QString& rounds, int status) {
    const Ran ran = m_line.throughShell(
        "ulimit -c 0; exec \"$@\"", {"run", "--snap-dir", m_line.path(folder), "--", m_program, how, rounds});
    if (ran.status != status) qWarning("%s", ran.err.constData());
    return ran.status == status ? ran.out : QByteArray();
  }
  QString snapIn(const QString& folder) const {
    const auto snaps = QDir(m_line.path(folder)).entryList({"*.tbsnap"}, QDir::Files);
    return snaps.size() == 1 ? m_line.path(folder + "/" + snaps.front()) : QString();
  }

  void showsThePhases(const QString& snap, const QList<Phase>& phases) {
    QCOMPARE(phases.size(), 3);
    const auto stretches = objectsIn(m_line.traceback({"print", "--history", "--format", "json", snap}).out);
    QVERIFY(!stretches.isEmpty());
    QMap<QString, double> counted;
    QStringList order;
    double last = 0;
    for (const QJsonObject& stretch : stretches) {
      QCOMPARE(stretch["kind"].toString(), QString("history"));
      const double begin = stretch["begin"].toDouble(), end = stretch["end"].toDouble();
      QVERIFY(begin >= last && end >= begin);
      last = end;
      QVERIFY(stretch["looked"].toDouble() <= stretch["parts"].toDouble());
      double sum = stretch["unnamed"].toDouble();
      for (const auto& value : stretch["functions"].toArray()) {
        const QJsonObject function = value.toObject();
        const QString name = function["function"].toString();
        sum += function["times"].toDouble();
        double calls = 0;
        for (const auto& place : function["places"].toArray())
          if (place.toObject()["kind"].toString() == "entry") calls += place.toObject()["times"].toDouble();
        counted[name] += calls;
        for (const Phase& phase : phases) {
          if (phase.function != name) continue;
          if (timesAreKnown())
            QVERIFY2(begin <= phase.end + kSlack && end >= phase.begin - kSlack, qPrintable(name));
          else
            QVERIFY(stretch["begin"].isNull() && stretch["end"].isNull());
          if (!order.contains(name)) order << name;
        }
      }
      // A record that goes on through the entry of another function is of both: main's, of which there are
      // few.
      const double sampled = stretch["sampled"].toDouble();
      QVERIFY2(sum >= sampled && sum <= sampled + 20, qPrintable(QString::number(sum - sampled)));
    }
    QCOMPARE(order, QStringList({"load_table", "sort_table", "write_table"}));
    for (const Phase& phase : phases) {
      QVERIFY(counted[phase.function] > 0);
      QVERIFY(counted[phase.function] <= phase.calls);
    }
    // The trace begins behind it.
    const auto entries = objectsIn(m_line.traceback({"print", "--format", "json", snap}).out);
    for (const QJsonObject& entry : entries) {
      if (entry["time"].isNull()) continue;
      QVERIFY(entry["time"].toDouble() >= last - 1e6);  // as a double
      break;
    }
  }

 private slots:
  void initTestCase() { QVERIFY(m_line.isReady()); }

  void theThreePhasesBeforeACrashAreThereInOrder() {
    const auto phases = phasesOf(record("crash", "crash", "5000000", 128 + SIGABRT));
    const QString snap = snapIn("crash");
    QVERIFY(!snap.isEmpty());
    showsThePhases(snap, phases);
  }

  void theyOutliveAKill() {
    const auto phases = phasesOf(record("killed", "killed", "5000000", 128 + SIGKILL));
    QCOMPARE(m_line.traceback({"recover", "--snap-dir", m_line.path("killed")}).status, 0);
    const QString snap = snapIn("killed");
    QVERIFY(!snap.isEmpty());
    showsThePhases(snap, phases);
  }

  void forPeopleItIsText() {
    const Ran ran = m_line.traceback({"print", "--history", snapIn("crash")});
    QCOMPARE(ran.status, 0);
    for (const char* part : {timesAreKnown() ? "before the end" : "at a time that is not known",
                             "records read, in", "load_table", "sort_table", "phases.c:"})
      QVERIFY2(ran.out.contains(part), ran.out.constData());
  }

  void turnedOffThereIsNone() {
    m_line.environment().insert("TRACEBACK_HISTORY", "off");
    record("off", "crash", "2000000", 128 + SIGABRT);
    m_line.environment().remove("TRACEBACK_HISTORY");
    const Ran text = m_line.traceback({"print", "--history", snapIn("off")});
    QCOMPARE(text.status, 0);
    QVERIFY(text.out.contains("nothing is known of the time before its trace"));
    QVERIFY(m_line.traceback({"print", "--history", "--format", "json", snapIn("off")}).out.isEmpty());
  }

  void aShortRunHasNothingBeforeItsTrace() {
    record("short", "crash", "100", 128 + SIGABRT);
    QVERIFY(m_line.traceback({"print", "--history", "--format", "json", snapIn("short")}).out.isEmpty());
  }
};

QTEST_GUILESS_MAIN(BeforeTheTraceTest)
#include "tst_before_the_trace.moc"
