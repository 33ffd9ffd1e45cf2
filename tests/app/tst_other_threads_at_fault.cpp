// Where other threads were when one met its fault, against what that one itself read of them.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include "tests/app/command_line.h"

using namespace traceback::test;

namespace {

constexpr qulonglong kNowhere = 0x100000000000;

// Calls of count_one() in a snap, before the place that is marked and in all; and how many there were by the
// address of the fault.
struct Counts {
  int marks = 0;
  qulonglong read = 0, before = 0, all = 0;
};

}  // namespace

class OtherThreadsAtFaultTest : public QObject {
  Q_OBJECT

  CommandLine m_line;

  Counts countsOf(const QString& snap) const {
    Counts counts;
    const QByteArray info = m_line.traceback({"info", snap}).out;
    const auto address = info.indexOf("0x", info.indexOf("reason"));
    counts.read = QByteArray(info.mid(address, 14)).toULongLong(nullptr, 16) - kNowhere;
    const QByteArray entries = m_line.traceback({"print", "--format", "json", "--thread", "all", snap}).out;
    for (const QByteArray& line : entries.split('\n')) {
      const QJsonObject entry = QJsonDocument::fromJson(line).object();
      const QString kind = entry["kind"].toString();
      if (kind == "call" && entry["function"].toString() == "count_one") ++counts.all;
      if (!entry["flags"].toArray().contains("other-fault")) continue;
      ++counts.marks;
      counts.before = counts.all;
    }
    return counts;
  }

 private slots:
  void init() { QVERIFY(m_line.isReady()); }

  void theyAreShownWhereTheyWereThen_data() {
    QTest::addColumn<QStringList>("handling");
    QTest::addColumn<int>("status");
    QTest::newRow("of a fault that nobody handles") << QStringList() << 128 + 11;
    QTest::newRow("and is raised again") << QStringList{"raise"} << 128 + 11;
    QTest::newRow("and is met again") << QStringList{"return"} << 128 + 11;
    QTest::newRow("and ends the process") << QStringList{"_exit"} << 3;
  }
  void theyAreShownWhereTheyWereThen() {
    QFETCH(QStringList, handling);
    bool stoodStill = false, ranOn = false;
    // The kernel may let the other thread run in between.
    for (int run = 0; run < 10 && !(stoodStill && ranOn); ++run) {
      const Ran ran = m_line.traceback(QStringList{"run", "--quiet", "--", COUNTS_BESIDE_PROGRAM} + handling);
      QTEST(ran.status, "status");
      const QStringList snaps = m_line.snaps();
      QCOMPARE(snaps.size(), 1);
      const Counts counts = countsOf(snaps.front());
      QVERIFY(QFile::remove(snaps.front()));
      QCOMPARE(counts.marks, 1);
      QVERIFY(counts.read >= 1000);
      QVERIFY2(counts.before >= counts.read, "it had come so far before the fault");
      QVERIFY(counts.all >= counts.before);
      stoodStill = stoodStill || counts.before - counts.read <= 1;
      ranOn = ranOn || counts.all > counts.before + 10;
    }
    QVERIFY2(stoodStill, "and no further");
    QVERIFY2(ranOn, "but further until all was stopped");
  }
};

QTEST_GUILESS_MAIN(OtherThreadsAtFaultTest)
#include "tst_other_threads_at_fault.moc"
