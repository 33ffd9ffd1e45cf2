// A damaged snap opens as far as it can, says what is lost, or is refused in one line; it never crashes the
// reader and never passes for a whole one.
#include <QDir>
#include <QRandomGenerator>
#include <QTest>

#include "tests/app/command_line.h"

using namespace traceback::test;

class DamagedSnapTest : public QObject {
  Q_OBJECT

  CommandLine m_line;
  QByteArray m_snap;
  Ran m_whole;

  QString path() const { return m_line.path("damaged.tbsnap"); }
  Ran print() const { return m_line.traceback({"print", "--thread", "all", path()}); }

  void isNeverTakenForWhole(const QByteArray& bytes, const QString& what) {
    QVERIFY(writeFile(path(), bytes));
    const Ran ran = print();
    if (ran.status == 0) {
      QVERIFY2(ran.out == m_whole.out || !ran.err.isEmpty(), qPrintable(what));
    } else {
      QVERIFY2(
          ran.status == 1 && ran.complainsInOneLine() && ran.err.contains(path().toUtf8()),
          qPrintable(QString("%1: status %2: %3").arg(what).arg(ran.status).arg(QString::fromUtf8(ran.err))));
      QVERIFY2(ran.out.isEmpty(), qPrintable(what));
    }
  }

 private slots:
  void initTestCase() {
    QVERIFY(m_line.isReady());
    m_line.throughShell("ulimit -c 0; exec \"$@\"",
                        {"run", "--snap-dir", m_line.path("crash"), "--", QStringLiteral(CRASH_PROGRAM)});
    const QStringList snaps = m_line.snaps();
    QCOMPARE(snaps.size(), 1);
    m_snap = readFile(snaps[0]);
    QVERIFY(writeFile(path(), m_snap));
    m_whole = print();
    QCOMPARE(m_whole.status, 0);
    QVERIFY2(m_whole.err.isEmpty() && m_whole.out.contains("fault"), m_whole.err.constData());
  }

  void whatIsNoSnapIsRefused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("text") << QByteArray(
        "this is not a snap, but it is long enough to hold the header of one");
    QTest::newRow("zeroes") << QByteArray(4096, '\0');
  }
  void whatIsNoSnapIsRefused() {
    QFETCH(QByteArray, bytes);
    QVERIFY(writeFile(path(), bytes));
    const Ran ran = print();
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains(path().toUtf8()), ran.err.constData());
    QCOMPARE(ran.out, QByteArray());
  }

  void cutShort() {
    for (qsizetype size = 0; size < m_snap.size(); size += 97) {
      isNeverTakenForWhole(m_snap.first(size), QString("first %1 bytes").arg(size));
    }
  }

  void oneByteChanged() {
    // A small snap: every 23rd byte is closer than one in each kilobyte of a large one.
    for (qsizetype offset = 0; offset < m_snap.size(); offset += 23) {
      QByteArray bytes = m_snap;
      bytes[offset] = char(~bytes[offset]);
      isNeverTakenForWhole(bytes, QString("byte %1").arg(offset));
    }
  }

  void randomChanges() {
    const quint32 seed = qEnvironmentVariable("TRACEBACK_SEED", "1").toUInt();
    QRandomGenerator random(seed);
    for (int i = 0; i < 100; ++i) {
      QByteArray bytes = m_snap;
      for (int n = random.bounded(1, 20); n > 0; --n)
        bytes[random.bounded(int(bytes.size()))] = char(random.bounded(256));
      isNeverTakenForWhole(bytes, QString("seed %1, round %2").arg(seed).arg(i));
    }
  }

  void infoIsAsCareful() {
    for (qsizetype offset = 0; offset < m_snap.size(); offset += 101) {
      QByteArray bytes = m_snap;
      bytes[offset] = char(~bytes[offset]);
      QVERIFY(writeFile(path(), bytes));
      const Ran ran = m_line.traceback({"info", path()});
      QVERIFY2(ran.status == 0 || (ran.status == 1 && ran.complainsInOneLine()),
               qPrintable(QString::number(offset)));
    }
  }
};

QTEST_GUILESS_MAIN(DamagedSnapTest)
#include "tst_damaged_snap.moc"
