#include <QRandomGenerator>
#include <QTest>

#include "model/folding.h"

using namespace traceback::model;

class FoldingTest : public QObject {
  Q_OBJECT

 private:
  // Letters are rows; "." is like no other.
  static QString folded(const QString& rows) {
    std::vector<std::uint64_t> keys;
    for (const QChar c : rows) keys.push_back(c == u'.' ? 0 : c.unicode());
    QString text;
    qsizetype at = 0;
    for (const Repeat& repeat : findRepeats(keys)) {
      const auto first = static_cast<qsizetype>(repeat.first);
      text +=
          rows.sliced(at, first - at) + QStringLiteral("(%1)%2")
                                            .arg(rows.sliced(first, static_cast<qsizetype>(repeat.period)))
                                            .arg(repeat.times);
      at = first + static_cast<qsizetype>(repeat.rows());
    }
    return text + rows.sliced(at);
  }

 private slots:
  void repeatedRowsAndRoundsAreFound_data() {
    QTest::addColumn<QString>("rows");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* rows, const char* expected) {
      QTest::newRow(rows) << QString::fromLatin1(rows) << QString::fromLatin1(expected);
    };
    row("", "");
    row("abc", "abc");
    row("aab", "aab");
    row("aaab", "(a)3b");
    row("xababy", "x(ab)2y");
    row("xabababy", "x(ab)3y");
    row("ababa", "(ab)2a");
    row("aabaabaab", "(aab)3");
    row("abcdabceabce", "abcd(abce)2");
    row("....", "....");
    row("ab.ab.ab", "ab.ab.ab");
    row("abab.abab", "(ab)2.(ab)2");
  }
  void repeatedRowsAndRoundsAreFound() {
    QFETCH(QString, rows);
    QFETCH(QString, expected);
    QCOMPARE(folded(rows), expected);
  }
  void roundsHaveALimit() {
    for (const std::size_t period : {kLongestRound, kLongestRound + 1}) {
      std::vector<std::uint64_t> keys;
      for (std::size_t i = 0; i < 4 * period; ++i) keys.push_back(1 + i % period);
      QCOMPARE(findRepeats(keys).size(), std::size_t(period == kLongestRound ? 1 : 0));
    }
  }
  void whatIsFoundRepeats() {
    QRandomGenerator random(7);
    for (int tries = 0; tries < 500; ++tries) {
      std::vector<std::uint64_t> keys;
      for (int i = 0; i < 60; ++i) keys.push_back(random.bounded(3));
      std::size_t end = 0;
      for (const Repeat& repeat : findRepeats(keys)) {
        QVERIFY(repeat.first >= end);
        end = repeat.first + repeat.rows();
        QVERIFY(end <= keys.size());
        for (std::size_t i = repeat.first; i < end; ++i) {
          QVERIFY(keys[i] != 0);
          QCOMPARE(keys[i], keys[repeat.first + (i - repeat.first) % repeat.period]);
        }
      }
    }
  }
};

QTEST_GUILESS_MAIN(FoldingTest)
#include "tst_folding.moc"
