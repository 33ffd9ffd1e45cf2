// What the window says on top of what happened.
#include <QStandardPaths>
#include <QTest>
#include <QToolButton>
#include <csignal>

#include "app/viewer/main_window.h"
#include "model/stepping.h"
#include "sample.h"
#include "views/summary/summary_strip.h"

using namespace traceback;

class Headline : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { QStandardPaths::setTestModeEnabled(true); }

  void titleSaysWhatHappened() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    QCOMPARE(window->windowTitle(), QStringLiteral("shelf: SIGSEGV in visit \u2014 TraceBack"));
    QVERIFY(window->summaryStrip()->headline().contains(QStringLiteral("invalid memory reference at 0x18")));
    QVERIFY(window->summaryStrip()->details().contains(QStringLiteral("PID 4711")));
  }

  void theHeadlineSaysWhyItWasAborted_data() {
    QTest::addColumn<QString>("uncaught");  // null: nothing was
    QTest::addColumn<QString>("said");
    QTest::addColumn<QString>("headline");
    QTest::newRow("an assertion") << QString()
                                  << QStringLiteral("shelf: a.c:3: put: Assertion `n > 0' failed.")
                                  << QStringLiteral("SIGABRT: shelf: a.c:3: put: Assertion `n > 0' failed.");
    QTest::newRow("an exception") << QStringLiteral("shelf::Full") << QStringLiteral("of books")
                                  << QStringLiteral(
                                         "SIGABRT: shelf::Full was thrown and not caught: of books");
    QTest::newRow("one that says nothing")
        << QStringLiteral("int") << QString() << QStringLiteral("SIGABRT: int was thrown and not caught");
    QTest::newRow("one of a type that is not known")
        << QStringLiteral("") << QString()
        << QStringLiteral("SIGABRT: a C++ exception was thrown and not caught");
  }
  void theHeadlineSaysWhyItWasAborted() {
    QFETCH(QString, uncaught);
    QFETCH(QString, said);
    QFETCH(QString, headline);
    const auto trace = tests::sampleTrace();
    trace->summary.reason = model::TraceReason::Abort;
    trace->summary.signal = SIGABRT;
    if (uncaught.isNull()) {
      trace->summary.abortMessage = said.toStdString();
    } else {
      trace->summary.uncaught = uncaught.toStdString();
      trace->summary.uncaughtMessage = said.toStdString();
    }
    const auto window = tests::sampleWindow(trace);
    const QString shown = window->summaryStrip()->headline();
    QVERIFY2(shown.contains(headline) && !shown.contains(headline + ':'), qPrintable(shown));
  }

  void theWayToWhereItWasThrownFirstIsBesideIt() {
    const auto trace = tests::sampleTrace();
    auto window = tests::sampleWindow(trace);
    QCOMPARE(window->summaryStrip()->thrownFirst(), QString());

    const auto thrown = std::make_shared<model::Trace>(*trace);
    const model::TracePlace fault{.thread = {0}, .entry = thrown->threads[0]->info().fault.value()};
    const model::TracePlace first{.thread = {1},
                                  .entry = model::initialPosition(*thrown->threads[1]).value()};
    thrown->summary.uncaught = "shelf::Full";
    thrown->thrownAgain.push_back({.at = fault, .first = first});
    window = tests::sampleWindow(thrown);
    const QString told = window->summaryStrip()->thrownFirst();
    QVERIFY2(told.startsWith(QStringLiteral("Thrown in thread 2 ")), qPrintable(told));
    for (auto* button : window->summaryStrip()->findChildren<QToolButton*>())
      if (button->text() == told) button->click();
    QCOMPARE(window->navigator().position(), std::optional(first));
    window->navigator().historyBack();
    QCOMPARE(window->navigator().position(), std::optional(fault));
  }
};

QTEST_MAIN(Headline)
#include "tst_headline.moc"
