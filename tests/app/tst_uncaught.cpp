// What nobody caught is named, and shown where it was thrown; of other aborts what the C library says.
#include <signal.h>

#include <QTest>

#include "tests/app/command_line.h"

using namespace traceback::test;

class UncaughtTest : public QObject {
  Q_OBJECT

  std::unique_ptr<CommandLine> m_line;

  // The snap of the program that ended so; empty if there are not one, or it ended otherwise.
  QString snapOf(const QString& how, const QStringList& options = {}) {
    const Ran ran = m_line->throughShell(
        "ulimit -c 0; exec \"$@\"", QStringList{"run"} + options + QStringList{"--", GIVES_UP_PROGRAM, how});
    const QStringList snaps = m_line->snaps();
    return ran.status == 128 + SIGABRT && snaps.size() == 1 ? snaps[0] : QString();
  }

  // Of what is printed; the last one is the fault.
  static QList<QByteArray> linesToFault(const QByteArray& text) {
    return text.left(text.lastIndexOf("\n  and ")).split('\n');  // "entries after the fault"
  }

 private slots:
  void init() {
    m_line = std::make_unique<CommandLine>();
    QVERIFY(m_line->isReady());
  }

  void whatNobodyCaughtIsTheFault_data() {
    QTest::addColumn<QByteArray>("type");
    QTest::addColumn<QByteArray>("place");  // empty: in the C++ library
    QTest::addColumn<QByteArray>("said");
    const QByteArray ownLine = "if (wanted > there) throw OutOfStock(what);";
    const QByteArray own = "shop::OutOfStock", said = ": wanted 3";
    QTest::newRow("throws") << own << ownLine << said;
    QTest::newRow("throws through noexcept") << own << ownLine << said;
    QTest::newRow("throws in a thread") << own << ownLine << said;
    QTest::newRow("throws again") << own << ownLine << said;
    QTest::newRow("throws a number") << QByteArray("int") << QByteArray("throw count;") << QByteArray();
    QTest::newRow("throws a text") << QByteArray("const char*") << QByteArray("throw \"nothing\\nleft\\n\";")
                                   << QByteArray(": nothing left");
    QTest::newRow("has the library throw")
        << QByteArray("std::out_of_range") << QByteArray()
        << QByteArray(": vector::_M_range_check: __n (which is 40) >= this->size() (which is 2)");
    QTest::newRow("has the library say what no file is")
        << QByteArray("std::filesystem::filesystem_error") << QByteArray()
        << QByteArray(
               ": filesystem error: cannot get file size: No such file or directory [/nowhere/to/be seen]");
    QTest::newRow("has the library say what no stream is")
        << QByteArray("std::__ios_failure") << QByteArray()
        << QByteArray(": basic_ios::clear: iostream error");
    QTest::newRow("has the library say what no future is")
        << QByteArray("std::future_error") << QByteArray()
        << QByteArray(": std::future_error: Promise already satisfied");
    QTest::newRow("throws what has arguments") << QByteArray("shop::Broken<std::pair<int, char> >")
                                               << QByteArray("throw shop::Broken<") << QByteArray(": a cup");
    QTest::newRow("throws what has two bases")
        << QByteArray("shop::Wrapped") << QByteArray("throw shop::Wrapped(") << QByteArray(": a bowl");
    QTest::newRow("throws what is its own")
        << QByteArray("main::Own") << QByteArray("throw Own()") << QByteArray();
    QTest::newRow("throws what speaks for itself")
        << QByteArray("shop::Closed") << QByteArray("throw shop::Closed(") << QByteArray(": on Sundays");
    QTest::newRow("throws another on the way") << own << ownLine << said;
  }
  void whatNobodyCaughtIsTheFault() {
    QFETCH(QByteArray, type);
    QFETCH(QByteArray, place);
    QFETCH(QByteArray, said);
    const QString snap = snapOf(QTest::currentDataTag());
    QVERIFY(!snap.isEmpty());
    const QByteArray info = m_line->traceback({"info", snap}).out;
    QVERIFY2(info.contains("aborted: " + type + " was thrown and not caught" + said + "\n"),
             info.constData());
    const QByteArray text = m_line->traceback({"print", "--to-fault", snap}).out;
    const QList<QByteArray> lines = linesToFault(text);
    QVERIFY2(lines.last().contains("-- C++ exception " + type), lines.last().constData());
    QVERIFY2(lines.last().endsWith("<-- fault"), lines.last().constData());
    QCOMPARE(text.count("<-- fault"), 1);
    QCOMPARE(m_line->traceback({"print", snap}).out.count("<-- fault"), 1);
    if (place.isEmpty()) return;
    QVERIFY2(lines[lines.size() - 2].contains(place), lines[lines.size() - 2].constData());
    QVERIFY2(lines.last().contains("gives_up.cpp:"), lines.last().constData());
  }

  void whatIsThrownAgainIsToldWithWhereItWasThrownFirst_data() {
    QTest::addColumn<QByteArray>("said");
    QTest::addColumn<QByteArray>("again");  // where
    QTest::addColumn<QByteArray>("first");  // empty: nowhere
    QTest::newRow("throws what was kept")
        << QByteArray("wanted 3") << QByteArray("std::rethrow_exception(kept);") << QByteArray("thread 1");
    QTest::newRow("asks for what a thread threw")
        << QByteArray("wanted 3") << QByteArray() << QByteArray("thread 2");
    QTest::newRow("throws what it made")
        << QByteArray("made") << QByteArray("std::rethrow_exception(std::make_exception_ptr(")
        << QByteArray();
  }
  void whatIsThrownAgainIsToldWithWhereItWasThrownFirst() {
    QFETCH(QByteArray, said);
    QFETCH(QByteArray, again);
    QFETCH(QByteArray, first);
    const QString snap = snapOf(QTest::currentDataTag());
    QVERIFY(!snap.isEmpty());
    const QByteArray info = m_line->traceback({"info", snap}).out;
    QVERIFY2(info.contains("aborted: shop::OutOfStock was thrown and not caught: " + said + "\n"),
             info.constData());
    const QList<QByteArray> lines = linesToFault(m_line->traceback({"print", "--to-fault", snap}).out);
    QVERIFY2(lines.last().contains("-- C++ exception shop::OutOfStock"), lines.last().constData());
    QVERIFY2(lines.last().contains("thrown again") && lines.last().endsWith("<-- fault"),
             lines.last().constData());
    QVERIFY2(lines[lines.size() - 2].contains(again), lines[lines.size() - 2].constData());
    QCOMPARE(info.contains("\nthrown first"), !first.isEmpty());
    if (first.isEmpty()) return;
    const auto row = info.sliced(info.indexOf("\nthrown first") + 1);
    const QByteArray told = row.left(row.indexOf('\n'));
    QVERIFY2(told.contains("in " + first + ", gives_up.cpp:") && told.endsWith(" in shop::take(int, int)"),
             told.constData());
  }

  void whatTheCLibrarySaysOfItIsTold_data() {
    QTest::addColumn<QByteArray>("message");
    QTest::newRow("asserts") << QByteArray("Assertion `count == 1' failed.\n");
    QTest::newRow("frees twice") << QByteArray("aborted: free(): double free detected in tcache 2\n");
  }
  void whatTheCLibrarySaysOfItIsTold() {
    QFETCH(QByteArray, message);
    const QString snap = snapOf(QTest::currentDataTag());
    QVERIFY(!snap.isEmpty());
    const QByteArray info = m_line->traceback({"info", snap}).out;
    QVERIFY2(info.contains(" aborted: ") && info.contains(message), info.constData());
  }

  void whatItSaysIsNotKeptWhereNoMemoryIs() {
    const QString snap = snapOf("throws", {"--memory", "none"});
    const QByteArray info = m_line->traceback({"info", snap}).out;
    QVERIFY2(info.contains("OutOfStock was thrown and not caught\n"), info.constData());
    const QByteArray text = m_line->traceback({"print", snap}).out;
    QVERIFY2(text.contains("C++ exception shop::OutOfStock") && !text.contains("OutOfStock: wanted"),
             text.constData());
  }

  void whatASnapIsMadeForAsItIsThrownSaysWhatItSaid_data() {
    QTest::addColumn<QByteArray>("memory");
    QTest::addColumn<QByteArray>("told");
    QTest::newRow("with memory") << QByteArray("memory stacks\n")
                                 << QByteArray("threw shop::OutOfStock: wanted 2 (snapped by policy)\n");
    QTest::newRow("without") << QByteArray("memory none\n")
                             << QByteArray("threw shop::OutOfStock (snapped by policy)\n");
  }
  void whatASnapIsMadeForAsItIsThrownSaysWhatItSaid() {
    QFETCH(QByteArray, memory);
    QFETCH(QByteArray, told);
    const QString policy = m_line->path("policy");
    QVERIFY(writeFile(policy, "snap exception shop::OutOfStock\nignore signal ABRT\n" + memory));
    m_line->throughShell("ulimit -c 0; exec \"$@\"",
                         {"run", "--policy", policy, "--", GIVES_UP_PROGRAM, "throws"});
    const QStringList snaps = m_line->snaps();
    QCOMPARE(snaps.size(), 1);
    const QByteArray info = m_line->traceback({"info", snaps[0]}).out;
    QVERIFY2(info.contains(told), info.constData());
  }

  void otherEndsAreNotOfAnException_data() {
    QTest::addColumn<QStringList>("options");
    QTest::newRow("terminates") << QStringList();
    QTest::newRow("aborts") << QStringList();
    QTest::newRow("aborts in a catch") << QStringList();
    QTest::newRow("throws, survives and aborts") << QStringList();
    // Where the C++ library left no records, it is not known whether anybody caught it.
    QTest::newRow("throws") << QStringList{"--only", "gives_up"};
  }
  void otherEndsAreNotOfAnException() {
    QFETCH(QStringList, options);
    const QString snap = snapOf(QTest::currentDataTag(), options);
    QVERIFY(!snap.isEmpty());
    const QByteArray info = m_line->traceback({"info", snap}).out;
    QVERIFY2(info.contains(" aborted\n"), info.constData());
    const QByteArray text = m_line->traceback({"print", snap}).out;
    QVERIFY2(text.contains("-- C++ exception shop::OutOfStock"), text.right(2000).constData());
  }
};

QTEST_GUILESS_MAIN(UncaughtTest)
#include "tst_uncaught.moc"
