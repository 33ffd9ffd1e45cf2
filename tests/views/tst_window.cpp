// The window as a user has it: keys and buttons on one side, source line, trace row and active calls on the
// other.

#include <QAction>
#include <QCompleter>
#include <QDockWidget>
#include <QMainWindow>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QToolBar>
#include <QToolButton>
#include <QTreeView>

#include "app/viewer/main_window.h"
#include "app/viewer/step_actions.h"
#include "large_trace.h"
#include "sample.h"
#include "tests/builders/trace_text.h"
#include "views/search/answers_model.h"
#include "views/search/answers_panel.h"
#include "views/search/search_box.h"
#include "views/source/code_pane.h"
#include "views/source/code_view.h"
#include "views/summary/summary_strip.h"
#include "views/trace/calls_model.h"
#include "views/trace/entry_text.h"
#include "views/trace/side_panels.h"
#include "views/trace/trace_pane.h"
#include "views/trace/tree_model.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback;

// What each pane says about where the user stands.
struct Seen {
  int sourceLine = 0;  // from 1
  QString row;         // place of the trace pane's current row
  QString calls;       // "visit main"
  friend bool operator==(const Seen&, const Seen&) = default;
};

static Seen see(app::MainWindow& window) {
  Seen seen;
  seen.sourceLine = window.codePane()->sourceView()->currentLine() + 1;
  const QModelIndex row = window.tracePane()->currentView()->currentIndex();
  seen.row = row.siblingAtColumn(views::kPlaceColumn).data().toString();
  const views::CallsModel* calls = window.callsPanel()->calls();
  QStringList names;
  for (int i = 0; i < calls->rowCount(); ++i) names.append(calls->index(i, 0).data().toString());
  seen.calls = names.join(u' ');
  return seen;
}

static char* toString(const Seen& seen) {
  return QTest::toString(
      QStringLiteral("line %1, row %2, calls %3").arg(seen.sourceLine).arg(seen.row, seen.calls));
}

class Window : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { QStandardPaths::setTestModeEnabled(true); }

  void opensAtTheFaultWithTheActiveCallsUnfolded() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    QCOMPARE(window->showing(), app::MainWindow::Showing::Trace);
    QCOMPARE(see(*window), (Seen{61, QStringLiteral("parser.c:61"), QStringLiteral("visit main")}));
    QVERIFY(window->codePane()->sourceView()->mark(60).fault);
    const QTreeView* tree = window->tracePane()->treeView();
    for (const QWidget* part :
         {static_cast<const QWidget*>(tree), static_cast<const QWidget*>(window->callsPanel()),
          static_cast<const QWidget*>(window->codePane()->sourceView())})
      QVERIFY(part->isVisible());
    const QModelIndex fault = tree->currentIndex();
    for (QModelIndex up = fault.parent(); up.isValid(); up = up.parent()) QVERIFY(tree->isExpanded(up));
    QCOMPARE(fault.parent().data().toString(), QStringLiteral("visit"));
    QCOMPARE(fault.parent().parent().data().toString(), QStringLiteral("main"));
    QVERIFY(tree->viewport()->rect().contains(tree->visualRect(fault).center()));
    QVERIFY(fault.siblingAtColumn(views::kNoteColumn).data().toString().contains(QStringLiteral("SIGSEGV")));
  }

  void everyStepWorksByKeyAndByButton_data() {
    QTest::addColumn<model::Step>("how");
    QTest::addColumn<Qt::Key>("key");
    QTest::addColumn<Qt::KeyboardModifiers>("modifiers");
    QTest::addColumn<int>("line");  // of a file in the sample where the step starts, and the execution of it
    QTest::addColumn<int>("nth");
    QTest::addColumn<int>("toLine");
    QTest::addColumn<QString>("toRow");
    QTest::addColumn<QString>("toCalls");
    const Qt::KeyboardModifiers none = Qt::NoModifier, shift = Qt::ShiftModifier;
    using model::Step;
    const auto row = [](const char* name, Step how, Qt::Key key, Qt::KeyboardModifiers modifiers, int line,
                        int nth, int toLine, const char* toRow, const char* toCalls) {
      QTest::newRow(name) << how << key << modifiers << line << nth << toLine << QString::fromLatin1(toRow)
                          << QString::fromLatin1(toCalls);
    };
    // visit's line 63 calls visit again.
    row("F11 steps into", Step::Into, Qt::Key_F11, none, 63, 1, 60, "parser.c:60", "visit visit main");
    row("s steps into", Step::Into, Qt::Key_S, none, 63, 1, 60, "parser.c:60", "visit visit main");
    row("F10 steps over", Step::Over, Qt::Key_F10, none, 63, 1, 61, "parser.c:61", "visit main");
    row("n steps over", Step::Over, Qt::Key_N, none, 63, 1, 61, "parser.c:61", "visit main");
    row("Shift+F11 steps out", Step::Out, Qt::Key_F11, shift, 66, 1, 61, "parser.c:61", "visit main");
    row("f steps out", Step::Out, Qt::Key_F, none, 66, 1, 61, "parser.c:61", "visit main");
    row("S steps back", Step::Back, Qt::Key_S, shift, 60, 2, 63, "parser.c:63", "visit main");
    row("N steps back over", Step::BackOver, Qt::Key_N, shift, 33, 1, 31, "main.c:31", "main");
    row("F steps back out", Step::BackOut, Qt::Key_F, shift, 65, 1, 63, "parser.c:63", "visit main");
  }

  void everyStepWorksByKeyAndByButton() {
    QFETCH(model::Step, how);
    QFETCH(Qt::Key, key);
    QFETCH(Qt::KeyboardModifiers, modifiers);
    QFETCH(int, line);
    QFETCH(int, nth);
    QFETCH(int, toLine);
    QFETCH(QString, toRow);
    QFETCH(QString, toCalls);
    const auto trace = tests::sampleTrace();
    const model::EntryIndex from = tests::lineAt(*trace->threads[0], static_cast<std::uint32_t>(line), nth);
    const Seen expected{toLine, toRow, toCalls};
    const auto window = tests::sampleWindow(trace);
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    for (const auto mode : {views::TracePane::Mode::Tree, views::TracePane::Mode::Flat}) {
      window->tracePane()->setMode(mode);
      QVERIFY(window->navigator().goTo({0}, from, views::Navigator::Remember::No));
      window->tracePane()->currentView()->setFocus();
      QTest::keyClick(window.get(), key, modifiers);
      QCOMPARE(see(*window), expected);

      QVERIFY(window->navigator().goTo({0}, from, views::Navigator::Remember::No));
      auto* bar = window->findChild<QToolBar*>(QStringLiteral("stepBar"));
      auto* button = qobject_cast<QToolButton*>(bar->widgetForAction(window->steps()->step(how)));
      QVERIFY(button != nullptr);
      QTest::mouseClick(button, Qt::LeftButton);
      QCOMPARE(see(*window), expected);
    }
  }

  void changingTheModeKeepsThePlace() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    for (int i = 0; i < 30; ++i) QVERIFY(window->navigator().step(model::Step::Back));
    const Seen before = see(*window);
    QTest::keyClick(window.get(), Qt::Key_2, Qt::ControlModifier);
    QCOMPARE(window->tracePane()->mode(), views::TracePane::Mode::Flat);
    QCOMPARE(see(*window), before);
    QTest::keyClick(window.get(), Qt::Key_1, Qt::ControlModifier);
    QCOMPARE(window->tracePane()->mode(), views::TracePane::Mode::Tree);
    QCOMPARE(see(*window), before);
  }

  void foldingHidesWhatACallDidAndSteppingUnfoldsIt() {
    const auto trace = tests::sampleTrace();
    const auto window = tests::sampleWindow(trace);
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    QTreeView* tree = window->tracePane()->treeView();
    const model::EntryIndex within = tests::lineAt(*trace->threads[0], 66);
    QVERIFY(window->navigator().goTo({0}, within, views::Navigator::Remember::No));
    const QModelIndex call = tree->currentIndex().parent();
    QCOMPARE(call.data().toString(), QStringLiteral("visit"));
    tree->setFocus();
    QTest::keyClick(tree, Qt::Key_Left);
    QTest::keyClick(tree, Qt::Key_Left);
    QVERIFY(!tree->isExpanded(call));
    QCOMPARE(tree->currentIndex(), call);
    // On the folded call one stands at its first line.
    QCOMPARE(see(*window).sourceLine, 60);
    QTest::keyClick(tree, Qt::Key_S);
    QVERIFY(tree->isExpanded(call));
    QCOMPARE(see(*window), (Seen{61, QStringLiteral("parser.c:61"), QStringLiteral("visit visit main")}));
  }

  void enterAndDoubleClickFoldACall() {
    const auto trace = tests::sampleTrace();
    const auto window = tests::sampleWindow(trace);
    QTreeView* tree = window->tracePane()->treeView();
    QVERIFY(
        window->navigator().goTo({0}, tests::lineAt(*trace->threads[0], 33), views::Navigator::Remember::No));
    const QModelIndex call = tree->currentIndex().siblingAtRow(tree->currentIndex().row() + 1);
    QCOMPARE(call.data().toString(), QStringLiteral("visit"));
    QVERIFY(tree->isExpanded(call));
    tree->setCurrentIndex(call);
    QTest::keyClick(tree, Qt::Key_Return);
    QVERIFY(!tree->isExpanded(call));
    QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualRect(call).center());
    QTest::mouseDClick(tree->viewport(), Qt::LeftButton, {}, tree->visualRect(call).center());
    QVERIFY(tree->isExpanded(call));
  }

  void rowForMoreBringsMoreAndGoesThere() {
    const int lines = static_cast<int>(views::TreeModel::kBatch) * 6;
    const auto trace = tests::traceOf("call main main.c\n  27 x" + std::to_string(lines) + "\n", 64);
    const auto window = tests::sampleWindow(trace);
    window->tracePane()->foldAction()->setChecked(false);
    QTreeView* tree = window->tracePane()->treeView();
    const QPersistentModelIndex main = tree->currentIndex().parent();
    const QModelIndex more = main.model()->index(0, 0, main);
    QVERIFY(window->tracePane()->treeModel()->isMore(more));
    const int before = main.model()->rowCount(main);
    tree->setFocus();
    tree->scrollTo(more);
    QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualRect(more).center());
    QVERIFY(main.model()->rowCount(main) > before);
    QCOMPARE(tree->currentIndex().data(views::kEntryRole).toULongLong(),
             static_cast<qulonglong>(*window->navigator().entryIndex()));
  }

  void movingInTheTraceMovesTheSource() {
    const auto trace = tests::sampleTrace();
    const auto window = tests::sampleWindow(trace);
    for (const auto mode : {views::TracePane::Mode::Tree, views::TracePane::Mode::Flat}) {
      window->tracePane()->setMode(mode);
      QVERIFY(window->navigator().goTo({0}, tests::lineAt(*trace->threads[0], 36),
                                       views::Navigator::Remember::No));
      QAbstractItemView* view = window->tracePane()->currentView();
      view->setFocus();
      QTest::keyClick(view, Qt::Key_Down);
      QCOMPARE(see(*window), (Seen{37, QStringLiteral("parser.c:37"), QStringLiteral("parse load main")}));
    }
  }

  void clickOnALineThatRanGoesToItsNearestExecution() {
    const auto trace = tests::sampleTrace();
    const auto window = tests::sampleWindow(trace);
    const model::ThreadTrace& thread = *trace->threads[0];
    views::CodeView* source = window->codePane()->sourceView();
    QVERIFY(window->navigator().goTo({0}, tests::lineAt(thread, 47, 2), views::Navigator::Remember::No));
    QCOMPARE(source->mark(46).hits, std::size_t(2));
    QCOMPARE(source->mark(42).hits, std::size_t(1));
    QCOMPARE(source->mark(40).hits, std::size_t(0));
    emit source->lineActivated(41);  // line 42 ran four times; the fourth is nearest
    QCOMPARE(window->navigator().entryIndex(), std::optional(tests::lineAt(thread, 42, 4)));
    const Seen before = see(*window);
    emit source->lineActivated(40);  // did not run
    QCOMPARE(see(*window), before);
    // By mouse, where the line is drawn.
    const QRect line = source->cursorRect(QTextCursor(source->document()->findBlockByNumber(46)));
    QTest::mouseClick(source->viewport(), Qt::LeftButton, {}, line.center());
    QCOMPARE(see(*window).sourceLine, 47);
  }

  void currentLineStaysInSightAsTheWindowGrowsAndShrinks() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    QVERIFY(window->navigator().step(model::Step::BackOver));
    const views::CodeView* source = window->codePane()->sourceView();
    for (const QSize size : {QSize(1200, 900), QSize(700, 420), QSize(1000, 700)}) {
      window->resize(size);
      QTest::qWait(10);
      QTextCursor line(source->document()->findBlockByNumber(source->currentLine()));
      QVERIFY(source->viewport()->rect().contains(source->cursorRect(line).center()));
    }
  }

  void historyIsOfJumpsAndNotOfSteps() {
    const auto trace = tests::sampleTrace();
    const auto window = tests::sampleWindow(trace);
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    QVERIFY(!window->steps()->historyBack()->isEnabled());
    QTest::keyClick(window.get(), Qt::Key_N, Qt::ShiftModifier);
    QVERIFY(!window->steps()->historyBack()->isEnabled());
    const Seen stepped = see(*window);
    emit window->codePane()->sourceView()->lineActivated(59);
    const Seen jumped = see(*window);
    QCOMPARE(jumped.sourceLine, 60);
    QTest::keyClick(window.get(), Qt::Key_Left, Qt::AltModifier);
    QCOMPARE(see(*window), stepped);
    QTest::keyClick(window.get(), Qt::Key_Right, Qt::AltModifier);
    QCOMPARE(see(*window), jumped);
    QVERIFY(!window->steps()->historyForward()->isEnabled());
  }

  void rowsOfTheActiveCallsJumpAndStay() {
    const auto trace = tests::sampleTrace();
    const auto window = tests::sampleWindow(trace);
    views::CallsPanel* calls = window->callsPanel();
    const QRect caller = calls->visualRect(calls->calls()->index(1, 0));
    QTest::mouseClick(calls->viewport(), Qt::LeftButton, {}, caller.center());
    QCOMPARE(see(*window), (Seen{33, QStringLiteral("main.c:33"), QStringLiteral("visit main")}));
    const QRect inner = calls->visualRect(calls->calls()->index(0, 0));
    QTest::mouseClick(calls->viewport(), Qt::LeftButton, {}, inner.center());
    QCOMPARE(see(*window).sourceLine, 61);
    // A step is of the trace again.
    QTest::mouseClick(calls->viewport(), Qt::LeftButton, {}, caller.center());
    QVERIFY(window->navigator().step(model::Step::BackOver));
    QCOMPARE(see(*window).calls, QStringLiteral("main"));
  }

  void threadsKeepTheirPlaces() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    views::ThreadsPanel* threads = window->threadsPanel();
    QVERIFY(window->navigator().step(model::Step::BackOver));
    const Seen first = see(*window);
    const auto click = [threads](int row) {
      const QRect rect = threads->visualRect(threads->model()->index(row, 0));
      QTest::mouseClick(threads->viewport(), Qt::LeftButton, {}, rect.center());
    };
    click(1);
    QCOMPARE(see(*window), (Seen{15, QStringLiteral("main.c:15"), QStringLiteral("writer_loop")}));
    click(0);
    QCOMPARE(see(*window), first);
  }

  void withoutSourceTheInstructionsAreShownAndLit() {
    const auto window = tests::sampleWindow(tests::sampleTrace(), tests::Code::Disassembly);
    QVERIFY(window->codePane()->showsDisassembly());
    views::CodeView* code = window->codePane()->disassemblyView();
    const int current = code->currentLine();
    QVERIFY(current >= 0);
    QVERIFY(code->mark(current).hits > 0);
    QVERIFY(code->mark(current).fault);
    QVERIFY(window->navigator().step(model::Step::BackOver));
    QVERIFY(code->currentLine() != current);
    emit code->lineActivated(current);
    QCOMPARE(code->currentLine(), current);
  }

  void withoutSourceAndBinaryItSaysSoAndGoesOn() {
    const auto window = tests::sampleWindow(tests::sampleTrace(), tests::Code::Nothing);
    const QString notice = window->codePane()->notice();
    QVERIFY2(
        notice.contains(QStringLiteral("/src/parser.c")) && notice.contains(QStringLiteral("no such file")),
        qPrintable(notice));
    QVERIFY(window->navigator().step(model::Step::BackOver));
    QCOMPARE(see(*window).row, QStringLiteral("parser.c:65"));
  }

  void gapsAndEmptyThreadsAreSaidInWords() {
    auto trace = tests::traceOf("thread 1 main\ncall main main.c\n  27\n  gap damaged\nthread 2 idle\n");
    const auto window = tests::sampleWindow(trace);
    QVERIFY(window->codePane()->notice().contains(QStringLiteral("damaged")));
    QVERIFY(window->navigator().goToThread({1}));
    QVERIFY(window->codePane()->notice().contains(QStringLiteral("recorded nothing")));
    QVERIFY(!window->steps()->step(model::Step::Back)->isEnabled());
    QVERIFY(window->navigator().goToThread({0}));
    QCOMPARE(window->navigator().entryIndex(), std::optional<model::EntryIndex>(2));
  }

  void millionsOfEntriesAreSteppedThroughWithoutExpandingThem() {
    const auto large = tests::largeTrace(500'000);
    const auto window = tests::sampleWindow(large.trace);
    const auto chunks = static_cast<int>(large.source->chunkCount());
    QTest::qWait(20);
    using model::Step;
    for (const auto mode : {views::TracePane::Mode::Tree, views::TracePane::Mode::Flat}) {
      window->tracePane()->setMode(mode);
      for (const Step how :
           {Step::BackOver, Step::Back, Step::BackOut, Step::Into, Step::Over, Step::Out, Step::Back})
        window->navigator().step(how);
      QTest::qWait(20);
    }
    QVERIFY2(large.source->expanded() < chunks / 3,
             qPrintable(QStringLiteral("%1 of %2").arg(large.source->expanded()).arg(chunks)));
  }

  // Of a window that was open before there was a trace in it.
  void theSidePanelsKeepTheirWidthWhenOthersOpen() {
    const auto trace = tests::sampleTrace();
    const QTemporaryDir folder;
    for (const char* name : {"a.tbsnap", "b.tbsnap"}) {
      QFile file(folder.filePath(QString::fromLatin1(name)));
      QVERIFY(file.open(QIODevice::WriteOnly));
    }
    app::Services services = tests::sampleServices(trace);
    services.summary = [](const std::filesystem::path& file) -> model::Result<model::Trace::Summary> {
      return model::fail("not a snap: its first bytes are others", file.string());
    };
    app::MainWindow window(services, app::Options(), false);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    window.incoming().setFolder(folder.path());
    QTRY_COMPARE(window.incoming().rowCount(), 2);
    QVERIFY(!window.grab().isNull());  // which lays hidden pages out, too
    window.setTrace(trace);
    const QDockWidget* side = window.panels().dock(QStringLiteral("threadsDock"));
    QTest::qWait(20);
    QVERIFY2(side->width() > 200, qPrintable(QString::number(side->width())));
    for (QDockWidget* dock : window.panels().docks()) {
      dock->show();
      QTest::qWait(20);
      QVERIFY2(side->width() > 200,
               qPrintable(QStringLiteral("%1: %2").arg(dock->objectName()).arg(side->width())));
    }
  }

  void questionsFillTheAnswersAndTheirRowsJump() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    QVERIFY(!window->answersDock()->isVisible());
    window->searchBox()->setText(QStringLiteral("calls(visit) where stack=<*,visit,visit>"));
    QTest::keyClick(window->searchBox(), Qt::Key_Return);
    QTRY_VERIFY(window->answersDock()->isVisible());
    QTreeView* list = window->answersPanel()->list();
    QVERIFY(list->model()->rowCount() > 0);
    QVERIFY(list->model()
                ->index(0, views::AnswersModel::kCalls)
                .data()
                .toString()
                .startsWith("visit \u2190 visit"));
    const QString place = list->model()->index(0, views::AnswersModel::kPlace).data().toString();
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                      list->visualRect(list->model()->index(0, 0)).center());
    QCOMPARE(see(*window).row, place);
    QVERIFY(see(*window).calls.startsWith(QStringLiteral("visit visit")));
  }

  void gotoMovesAndNeverSaysSo() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    window->searchBox()->setText(QStringLiteral("goto first forward func_enter 1 where func=visit"));
    QTest::keyClick(window->searchBox(), Qt::Key_Return);
    QTRY_VERIFY(see(*window).calls.startsWith(QStringLiteral("visit")) && see(*window).sourceLine == 60);
    window->searchBox()->setText(QStringLiteral("never(parser.c:9999)"));
    QTest::keyClick(window->searchBox(), Qt::Key_Return);
    QTRY_VERIFY(window->answersPanel()->note().contains(QStringLiteral("never, in what the trace holds")));
  }

  void exceptionsAreListedAndFoundByWhatTheySaid() {
    const auto trace = tests::traceOf(R"(
        call main main.c
          10
          time 5
          exception shop::Empty
          11 catch
        thread 2 worker
        call work work.c
          5
          time 6
          exception std::bad_alloc
    )");
    trace->thrownTexts = {{5, "No room for 3"}};
    const auto window = tests::sampleWindow(trace);
    QTreeView* const list = window->answersPanel()->list();
    const auto rows = [&] {
      QStringList texts;
      for (int row = 0; row < list->model()->rowCount(); ++row)
        texts += list->model()->index(row, views::AnswersModel::kWhat).data().toString();
      return texts;
    };
    window->findChild<QAction*>(QStringLiteral("listExceptions"))->trigger();
    const QString said = QStringLiteral("shop::Empty was thrown: No room for 3");
    QTRY_COMPARE(rows(), QStringList({said, QStringLiteral("std::bad_alloc was thrown")}));
    window->searchBox()->setText(QStringLiteral("\"no room\""));
    QTest::keyClick(window->searchBox(), Qt::Key_Return);
    QTRY_COMPARE(rows(), QStringList(said));
  }

  void aQuestionThatCannotBeSaysWhereItIsWrong() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    QSignalSpy said(window->searchBox(), &views::SearchBox::message);
    window->searchBox()->setText(QStringLiteral("next exception where stak=<a>"));
    QTest::keyClick(window->searchBox(), Qt::Key_Return);
    QCOMPARE(said.size(), 1);
    QVERIFY(said[0][0].toString().contains(QStringLiteral("not 'stak'")));
    QCOMPARE(window->searchBox()->cursorPosition(), 21);
  }

  void searchGoesToTheLastExecutionBeforeNow() {
    const auto trace = tests::sampleTrace();
    const auto window = tests::sampleWindow(trace);
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    QTest::keyClick(window.get(), Qt::Key_P, Qt::ControlModifier);
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(window->searchBox()));
    window->searchBox()->setText(QStringLiteral("parser.c:47"));
    QTest::keyClick(window->searchBox(), Qt::Key_Return);
    QTRY_COMPARE(window->navigator().entryIndex(), std::optional(tests::lineAt(*trace->threads[0], 47, 2)));
    QTest::keyClick(window->searchBox(), Qt::Key_Return);
    QTRY_COMPARE(window->navigator().entryIndex(), std::optional(tests::lineAt(*trace->threads[0], 47, 1)));
    window->searchBox()->setText(QStringLiteral("visit"));
    QTest::keyClick(window->searchBox(), Qt::Key_Return, Qt::ShiftModifier);
    QTRY_COMPARE(see(*window).sourceLine, 60);
  }

  void theSearchBoxShowsPanelsAndDoesCommands() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    views::SearchBox* box = window->searchBox();
    QWidget* lanes = window->panels().dock(QStringLiteral("lanesDock"));
    QVERIFY(!lanes->isVisible());
    // Chosen in the list, by keys.
    QTest::keyClick(window.get(), Qt::Key_P, Qt::ControlModifier);
    QTest::keyClicks(box, QStringLiteral("over time"));
    QAbstractItemView* list = box->completions()->popup();
    QTRY_VERIFY(list->isVisible());
    QCOMPARE(list->model()->rowCount(), 1);
    QVERIFY(list->model()->index(0, views::SearchModel::kWhat).data().toString().startsWith("view"));
    QTest::keyClick(list, Qt::Key_Down);
    QTest::keyClick(list, Qt::Key_Return);
    QTRY_VERIFY(lanes->isVisible());
    QTRY_COMPARE(box->text(), QString());
    // Named in full.
    box->setText(QStringLiteral("back over"));
    const auto before = window->navigator().entryIndex();
    QTest::keyClick(box, Qt::Key_Return);
    QVERIFY(window->navigator().entryIndex() < before);
    // A function of the trace comes before a command of its name: `visit` is one.
    QSignalSpy taken(box, &views::SearchBox::offerTaken);
    box->setOffers({{views::SearchOffer::Kind::Command, QStringLiteral("visit"), {}, 0}});
    box->setText(QStringLiteral("visit"));
    QTest::keyClick(box, Qt::Key_Return);
    QTRY_COMPARE(see(*window).sourceLine, 60);
    QCOMPARE(taken.size(), 0);
    // What cannot be done now is said.
    QSignalSpy said(box, &views::SearchBox::message);
    app::MainWindow empty(tests::sampleServices(tests::sampleTrace()), app::Options(), false);
    empty.show();
    empty.searchBox()->setText(QStringLiteral("Threads over time"));
    QTest::keyClick(empty.searchBox(), Qt::Key_Return);
    QTRY_COMPARE(empty.statusBar()->currentMessage(), QStringLiteral("No snap is open."));
  }

  void textsAreFoundInTheSourcesWhereTheyRan() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    window->searchBox()->setText(QStringLiteral("DEPTH--"));
    QTest::keyClick(window->searchBox(), Qt::Key_Return);
    QTRY_VERIFY(window->answersDock()->isVisible());
    const QAbstractItemModel* rows = window->answersPanel()->list()->model();
    QCOMPARE(rows->rowCount(), 2);
    QCOMPARE(rows->index(0, views::AnswersModel::kPlace).data().toString(), QStringLiteral("parser.c:47"));
    // In quotes it is a text though a function is called so; of what did not run it says so.
    window->searchBox()->setText(QStringLiteral("\"visit(n)\""));
    QTest::keyClick(window->searchBox(), Qt::Key_Return);
    QTRY_COMPARE(rows->index(0, views::AnswersModel::kPlace).data().toString(),
                 QStringLiteral("parser.c:63"));
    for (const auto& [text, says] : {std::pair("cannot be opened", "ran, in what the trace holds"),
                                     std::pair("no such text", "no line of the sources")}) {
      window->searchBox()->setText(QString::fromLatin1(text));
      QTest::keyClick(window->searchBox(), Qt::Key_Return);
      QTRY_VERIFY2(window->statusBar()->currentMessage().contains(QString::fromLatin1(says)),
                   qPrintable(window->statusBar()->currentMessage()));
    }
  }

  void findBarFindsInTheFile() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    QTest::keyClick(window.get(), Qt::Key_F, Qt::ControlModifier);
    QWidget* typing = QApplication::focusWidget();
    QTest::keyClicks(typing, QStringLiteral("DEEPEST"));
    const views::CodeView* source = window->codePane()->sourceView();
    const int first = source->textCursor().blockNumber();
    QVERIFY(source->textCursor().selectedText() == QStringLiteral("DEEPEST"));
    QTest::keyClick(window.get(), Qt::Key_F3);
    QVERIFY(source->textCursor().blockNumber() != first);
    QTest::keyClick(window.get(), Qt::Key_F3, Qt::ShiftModifier);
    QCOMPARE(source->textCursor().blockNumber(), first);
  }

  void everyPartHasANameForAScreenReader() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    for (const QWidget* part : {static_cast<const QWidget*>(window->tracePane()->treeView()),
                                static_cast<const QWidget*>(window->threadsPanel()),
                                static_cast<const QWidget*>(window->callsPanel()),
                                static_cast<const QWidget*>(window->codePane()->sourceView()),
                                static_cast<const QWidget*>(window->codePane()->disassemblyView()),
                                static_cast<const QWidget*>(window->searchBox())})
      QVERIFY2(!part->accessibleName().isEmpty(), qPrintable(part->objectName()));
    for (const QAction* action : window->steps()->all()) {
      QVERIFY(!action->shortcuts().isEmpty());
      QVERIFY(action->toolTip().contains(action->shortcut().toString(QKeySequence::NativeText)));
    }
  }

  void coloursFollowThePalette() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    QTest::qWait(100);
    const auto colourOfFirstWord = [&window] {
      const QTextBlock block = window->codePane()->sourceView()->document()->findBlockByNumber(57);
      const auto formats = block.layout()->formats();
      return formats.isEmpty() ? QColor() : formats.first().format.foreground().color();
    };
    const QColor light = colourOfFirstWord();
    QVERIFY(light.isValid());
    const QPalette before = QApplication::palette();
    QPalette dark(QColor(0x33373c), QColor(0x2a2d31));
    QApplication::setPalette(dark);
    QTest::qWait(100);
    const QColor other = colourOfFirstWord();
    QApplication::setPalette(before);
    QVERIFY(other.isValid());
    QVERIFY(other.lightnessF() > light.lightnessF());
  }

  void lettersAreTextWhereTextIsTyped() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    const Seen before = see(*window);
    QTest::keyClick(window.get(), Qt::Key_F, Qt::ControlModifier);
    QWidget* typing = QApplication::focusWidget();
    QVERIFY(typing != nullptr);
    QTest::keyClick(typing, Qt::Key_S, Qt::ShiftModifier);
    QTest::keyClick(typing, Qt::Key_N);
    QCOMPARE(see(*window).row, before.row);
  }
};

QTEST_MAIN(Window)
#include "tst_window.moc"
