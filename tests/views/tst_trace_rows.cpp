// The rows of the trace pane: what is folded and filtered and how it comes back, the columns, and copies.

#include <QAbstractItemModelTester>
#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QTableView>
#include <QTest>
#include <QTimer>
#include <QTreeView>

#include "app/viewer/main_window.h"
#include "large_trace.h"
#include "sample.h"
#include "tests/builders/trace_text.h"
#include "views/common/formatting.h"
#include "views/trace/entry_text.h"
#include "views/trace/filter_bar.h"
#include "views/trace/flat_model.h"
#include "views/trace/trace_pane.h"
#include "views/trace/tree_model.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback;
using views::FlatModel;
using views::SourceCache;
using views::TreeModel;

namespace {

constexpr const char* kLoop = R"(
call main main.c
  10
  11
  call f f.c
    20
  12
  11
  call f f.c
    20
  12
  11
  call f f.c
    20
  12
  13 x4
  14 fault
)";

QString name(const QAbstractItemModel& model, const QModelIndex& row) {
  const auto style = static_cast<views::RowStyle>(row.data(views::kStyleRole).toInt());
  if (style == views::RowStyle::Folded || style == views::RowStyle::More)
    return QStringLiteral("[%1]").arg(row.data().toString());
  const QString place = model.index(row.row(), views::kPlaceColumn, row.parent()).data().toString();
  return style == views::RowStyle::Code || style == views::RowStyle::Words ? place.section(u':', 1)
                                                                           : row.data().toString();
}

QString rows(const FlatModel& model) {
  QStringList names;
  for (int row = 0; row < model.rowCount(); ++row) names.append(name(model, model.index(row, 0)));
  return names.join(QStringLiteral(" | "));
}

QString shape(TreeModel& model, const QModelIndex& node = {}) {
  while (model.canFetchMore(node)) model.fetchMore(node);
  QStringList names;
  for (int row = 0; row < model.rowCount(node); ++row) {
    const QModelIndex child = model.index(row, 0, node);
    QString text = name(model, child);
    if (model.hasChildren(child)) text += QStringLiteral("(%1)").arg(shape(model, child));
    names.append(text);
  }
  return names.join(u' ');
}

class Rules {
 public:
  explicit Rules(QAbstractItemModel& model)
      : m_tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest) {
    m_tester.setUseFetchMore(false);
  }

 private:
  QAbstractItemModelTester m_tester;
};

}  // namespace

class TraceRows : public QObject {
  Q_OBJECT

 private slots:
  void flatRowsThatRepeatAreOneWithACount() {
    const auto trace = tests::traceOf(kLoop);
    SourceCache sources;
    FlatModel flat(sources);
    const Rules tester(flat);
    flat.setThread(trace, {0});
    flat.setRules({}, true, 0);
    QCOMPARE(rows(flat), QStringLiteral("call main | 10 | [loop, 3 times] | [line 13] | 14"));
    const QModelIndex loop = flat.index(2, 0), lines = flat.index(3, 0);
    QVERIFY(flat.isFolded(loop));
    QVERIFY(!loop.data(views::kEntryRole).isValid());
    QCOMPARE(loop.data(views::kDetailRole).toString(), QStringLiteral("5 rows: 11, f(), 20, 12"));
    QCOMPARE(lines.data(views::kDetailRole).toString(), QStringLiteral("4 times in a row"));
    QVERIFY(loop.data(Qt::AccessibleTextRole).toString().contains(QStringLiteral("3 times")));
    // The round that is revealed comes out, the others stay.
    const QModelIndex shown = flat.reveal(tests::lineAt(*trace->threads[0], 20, 2));
    QCOMPARE(shown.siblingAtColumn(views::kPlaceColumn).data().toString(), QStringLiteral("f.c:20"));
    QVERIFY(rows(flat).startsWith(QStringLiteral("call main | 10 | 11 | call f | 20 ")));
    QVERIFY(!rows(flat).contains(QStringLiteral("loop")));  // one round on either side is no loop
    // The row unfolds to all that it stands for.
    const int before = flat.rowCount();
    const QModelIndex first = flat.unfold(flat.index(before - 2, 0));
    QCOMPARE(flat.rowCount(), before + 3);
    QCOMPARE(name(flat, first), QStringLiteral("13"));
    QCOMPARE(flat.rowCount(), static_cast<int>(trace->threads[0]->entryCount()));
  }

  void everyEntryCanBeRevealedInFoldedRows() {
    const auto trace = tests::sampleTrace();
    SourceCache sources;
    FlatModel flat(sources);
    TreeModel tree(sources);
    const Rules flatTester(flat), treeTester(tree);
    for (const QString& function : {QString(), QStringLiteral("visit")}) {
      views::TraceFilter filter;
      filter.function = function;
      const model::ThreadTrace& thread = *trace->threads[0];
      for (model::EntryIndex at = 0; at < thread.entryCount(); ++at) {
        flat.setThread(trace, {0});
        tree.setThread(trace, {0});
        flat.setRules(filter, true, 0);
        tree.setRules(filter, true);
        QCOMPARE(flat.reveal(at).data(views::kEntryRole).toULongLong(), static_cast<qulonglong>(at));
        QVERIFY(tree.covers(tree.reveal(at), at));
      }
      // And one after the other in the same rows.
      for (model::EntryIndex at = thread.entryCount(); at-- > 0;) {
        QCOMPARE(flat.reveal(at).data(views::kEntryRole).toULongLong(), static_cast<qulonglong>(at));
        QVERIFY(tree.covers(tree.reveal(at), at));
      }
    }
  }

  void treeRowsThatRepeatAreOneThatUnfolds() {
    const auto trace = tests::traceOf(kLoop);
    SourceCache sources;
    TreeModel tree(sources);
    const Rules tester(tree);
    tree.setThread(trace, {0});
    tree.setRules({}, true);
    QCOMPARE(shape(tree), QStringLiteral("main(10 [loop, 3 times](11 f(20) 12 11 f(20) 12 11 f(20) 12) "
                                         "[line 13](13 13 13 13) 14)"));
    const QModelIndex loop = tree.index(1, 0, tree.index(0, 0));
    QVERIFY(tree.isFolded(loop));
    QCOMPARE(loop.data(views::kDetailRole).toString(), QStringLiteral("3 rows: 11, f(), 12"));
    // What is revealed lies below it.
    const QModelIndex within = tree.reveal(tests::lineAt(*trace->threads[0], 20, 2));
    QCOMPARE(within.parent().parent(), loop);
    tree.setRules({}, false);
    QVERIFY(!shape(tree).contains(QStringLiteral("loop")));
  }

  void theFaultIsNeverFolded() {
    const auto trace = tests::traceOf("call main main.c\n 10\n 11\n 10\n 11\n 10\n 11 fault\n");
    SourceCache sources;
    FlatModel flat(sources);
    TreeModel tree(sources);
    flat.setThread(trace, {0});
    tree.setThread(trace, {0});
    flat.setRules({}, true, 0);
    tree.setRules({}, true);
    QCOMPARE(rows(flat), QStringLiteral("call main | [loop, 2 times] | 10 | 11"));
    QCOMPARE(shape(tree), QStringLiteral("main([loop, 2 times](10 11 10 11) 10 11)"));
    // Nor the calls that it is in.
    const auto deep = tests::traceOf(
        "call main main.c\n 10\n call f f.c\n  20\n 10\n call f f.c\n  20\n 10\n call f f.c\n  20 fault\n");
    tree.setThread(deep, {0});
    QCOMPARE(shape(tree), QStringLiteral("main([loop, 2 times](10 f(20) 10 f(20)) 10 f(20))"));
  }

  void gapsAndSignalsAreNeverFoldedOrHidden() {
    const auto trace = tests::traceOf(
        "call main main.c\n 10\n gap damaged\n 10\n gap damaged\n 10\n gap damaged\n signal 10\n");
    SourceCache sources;
    FlatModel flat(sources);
    flat.setThread(trace, {0});
    views::TraceFilter filter;
    filter.function = QStringLiteral("nothing");
    flat.setRules(filter, true, 0);
    int events = 0;
    for (int row = 0; row < flat.rowCount(); ++row) {
      const QString note = flat.index(row, views::kNoteColumn).data().toString();
      events += note == QStringLiteral("gap") || note == QStringLiteral("signal") ? 1 : 0;
    }
    QCOMPARE(events, 4);
    QVERIFY(rows(flat).contains(QStringLiteral("1 entry hidden")));
  }

  void aLongLoopIsCountedBeyondWhatIsShown() {
    std::string text = "call main main.c\n 9\n";
    const int rounds = 900;
    for (int i = 0; i < rounds; ++i) text += " 10\n 11\n";
    text += " 12\n";
    const auto trace = tests::traceOf(text, 64);
    SourceCache sources;
    TreeModel tree(sources);
    const Rules tester(tree);
    tree.setThread(trace, {0});
    tree.setRules({}, true);
    tree.fetchMore({});
    tree.fetchMore(tree.index(0, 0));
    const QModelIndex top = tree.index(0, 0);
    QCOMPARE(tree.index(1, 0, top).data().toString(),
             QStringLiteral("loop, %1 times").arg(views::count(rounds)));
    QCOMPARE(tree.rowCount(top), 3);
    // From its end it is not known how often it ran before, and the row says so.
    tree.setThread(trace, {0});
    const QModelIndex last = tree.reveal(trace->threads[0]->entryCount() - 1);
    const QModelIndex loop = last.siblingAtRow(last.row() - 1);
    QVERIFY2(loop.data().toString().startsWith(QStringLiteral("loop, at least")),
             qPrintable(loop.data().toString()));
    // Below it the rows come a batch at a time.
    tree.setThread(trace, {0});
    const QModelIndex middle = tree.reveal(tests::lineAt(*trace->threads[0], 11, rounds / 2));
    QVERIFY(tree.isFolded(middle.parent()));
    QVERIFY(tree.rowCount(middle.parent()) < rounds);
  }

  void millionsOfEntriesAreFoldedWithoutExpandingThem() {
    const auto large = tests::largeTrace(500'000);
    SourceCache sources;
    FlatModel flat(sources);
    TreeModel tree(sources);
    flat.setThread(large.trace, {0});
    tree.setThread(large.trace, {0});
    const model::EntryIndex fault = *large.trace->threads[0]->info().fault;
    flat.setRules({}, true, fault);
    tree.setRules({}, true);
    for (const model::EntryIndex at : {fault, fault / 2, model::EntryIndex{1}, fault}) {
      QVERIFY(tree.covers(tree.reveal(at), at));
      QCOMPARE(flat.reveal(at).data(views::kEntryRole).toULongLong(), static_cast<qulonglong>(at));
    }
    QVERIFY(flat.rowCount() < 100);
    const auto chunks = static_cast<int>(large.source->chunkCount());
    QVERIFY2(large.source->expanded() < chunks / 3,
             qPrintable(QStringLiteral("%1 of %2").arg(large.source->expanded()).arg(chunks)));
  }

  void filtersLeaveRowsThatSayWhatIsHidden() {
    const auto trace = tests::traceOf(R"(
call main main.c
  10
  call f f.c
    20
    call g g.c
      30
    21
  11
  call h h.c
    40
  12
)");
    SourceCache sources;
    FlatModel flat(sources);
    TreeModel tree(sources);
    const Rules flatTester(flat), treeTester(tree);
    flat.setThread(trace, {0});
    tree.setThread(trace, {0});
    views::TraceFilter filter;
    filter.function = QStringLiteral("G");
    flat.setRules(filter, false, 0);
    tree.setRules(filter, false);
    QCOMPARE(rows(flat), QStringLiteral("[4 entries hidden by the filter] | call g | 30 | g returned | "
                                        "[7 entries hidden by the filter]"));
    QCOMPARE(shape(tree),
             QStringLiteral("main([1 entry hidden by the filter](10) f([1 entry hidden by the filter](20) "
                            "g(30) [1 entry hidden by the filter](21)) [5 entries hidden by the "
                            "filter](11 h(40) 12))"));
    filter = {};
    filter.file = QStringLiteral("h.c");
    flat.setRules(filter, false, 0);
    QVERIFY(rows(flat).contains(QStringLiteral("| call h | 40 | h returned |")));
    filter = {};
    filter.module = model::ModuleId{0};
    flat.setRules(filter, false, 0);
    QVERIFY(!rows(flat).contains(QStringLiteral("hidden")));
    // A hidden entry that is revealed comes out.
    filter.function = QStringLiteral("g");
    flat.setRules(filter, false, 0);
    QVERIFY(flat.reveal(tests::lineAt(*trace->threads[0], 11)).isValid());
    QVERIFY(rows(flat).contains(QStringLiteral("| 11 |")));
  }

  void theFilterBarFilters() {
    const auto trace = tests::sampleTrace();
    const auto window = tests::sampleWindow(trace);
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    views::TracePane* pane = window->tracePane();
    QTest::keyClick(window.get(), Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
    views::FilterBar* bar = pane->filterBar();
    QVERIFY(bar->isVisible());
    QVERIFY(bar->function()->hasFocus());
    const auto position = window->navigator().entryIndex();
    pane->setMode(views::TracePane::Mode::Flat);
    bar->function()->setFocus();
    QTest::keyClicks(bar->function(), QStringLiteral("make"));
    QTRY_VERIFY(rows(*pane->flatModel()).contains(QStringLiteral("hidden by the filter")));
    // Where one stands is in sight nevertheless.
    QCOMPARE(pane->currentView()->currentIndex().data(views::kEntryRole).toULongLong(),
             static_cast<qulonglong>(*position));
    QCOMPARE(window->navigator().entryIndex(), position);
    bar->threads()->setCurrentIndex(1);
    QCOMPARE(window->navigator().threadIndex(), model::ThreadIndex{1});
    window->navigator().goToThread({0});
    QCOMPARE(bar->threads()->currentIndex(), 0);
    QTest::keyClick(bar->function(), Qt::Key_Escape);
    QVERIFY(!bar->isVisible());
    QVERIFY(!pane->filterAction()->isChecked());
    QVERIFY(!rows(*pane->flatModel()).contains(QStringLiteral("hidden by the filter")));
  }

  void foldedRowsUnfoldByEnterAndClick() {
    const auto trace = tests::traceOf(kLoop);
    const auto window = tests::sampleWindow(trace);
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    views::TracePane* pane = window->tracePane();
    pane->setMode(views::TracePane::Mode::Flat);
    QTableView* flat = pane->flatView();
    const int before = pane->flatModel()->rowCount();
    flat->setCurrentIndex(pane->flatModel()->index(2, 0));
    QVERIFY(pane->flatModel()->isFolded(flat->currentIndex()));
    QTest::keyClick(flat, Qt::Key_Return);
    QCOMPARE(pane->flatModel()->rowCount(), before + 14);
    QVERIFY(flat->currentIndex().data(views::kEntryRole).isValid());
    QTest::keyClick(window.get(), Qt::Key_R, Qt::ControlModifier);
    QVERIFY(!pane->foldAction()->isChecked());
    QCOMPARE(pane->flatModel()->rowCount(), static_cast<int>(trace->threads[0]->entryCount()));
    pane->setMode(views::TracePane::Mode::Tree);
    pane->foldAction()->setChecked(true);
    QTreeView* tree = pane->treeView();
    const QModelIndex loop = tree->currentIndex().siblingAtRow(1);
    QVERIFY(pane->treeModel()->isFolded(loop));
    tree->setCurrentIndex(loop);
    QTest::keyClick(tree, Qt::Key_Return);
    QVERIFY(tree->isExpanded(loop));
    // Steps lead into it.
    QVERIFY(window->navigator().goTo({0}, tests::lineAt(*trace->threads[0], 12, 2),
                                     views::Navigator::Remember::No));
    QCOMPARE(tree->currentIndex().parent(), QModelIndex(loop));
  }

  void columnsAreChosenInTheHeader() {
    auto trace = tests::traceOf("call main main.c\n time 1000\n 10\n time 2000\n 11\n");
    trace->clockStart = {{1000}, {1'763'712'000'123'456'000}};
    trace->clockEnd = {{2000}, {1'763'712'001'123'456'000}};
    const auto window = tests::sampleWindow(trace);
    views::TracePane* pane = window->tracePane();
    pane->setMode(views::TracePane::Mode::Flat);
    QHeaderView* header = pane->flatView()->horizontalHeader();
    QVERIFY(header->isSectionHidden(views::kTimeColumn));
    QTimer::singleShot(50, window.get(), [] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      if (menu == nullptr) return;
      for (QAction* action : menu->actions())
        if (action->text() == QStringLiteral("Time")) action->trigger();
      menu->close();
    });
    emit header->customContextMenuRequested(QPoint(5, 5));
    QVERIFY(!header->isSectionHidden(views::kTimeColumn));
    const QModelIndex row = pane->flatModel()->reveal(tests::lineAt(*trace->threads[0], 11));
    const auto cell = [&row](int column) { return row.siblingAtColumn(column).data().toString(); };
    QVERIFY2(cell(views::kTimeColumn).endsWith(QStringLiteral(":01.123456")),
             qPrintable(cell(views::kTimeColumn)));
    QCOMPARE(cell(views::kThreadColumn), QStringLiteral("1 main"));
    QCOMPARE(cell(views::kModuleColumn), QStringLiteral("prog"));
    QCOMPARE(cell(views::kFileColumn), QStringLiteral("/src/main.c"));
    QCOMPARE(cell(views::kDepthColumn), QStringLiteral("0"));
    // And kept.
    const QByteArray state = pane->saveColumns();
    const auto other = tests::sampleWindow(trace);
    other->tracePane()->restoreColumns(state);
    QVERIFY(!other->tracePane()->flatView()->horizontalHeader()->isSectionHidden(views::kTimeColumn));
    QVERIFY(other->tracePane()->flatView()->horizontalHeader()->isSectionHidden(views::kDepthColumn));
  }

  void rowsAndCallsAreCopiedAsText() {
    const auto trace = tests::sampleTrace();
    const auto window = tests::sampleWindow(trace);
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    views::TracePane* pane = window->tracePane();
    pane->setMode(views::TracePane::Mode::Flat);
    QVERIFY(
        window->navigator().goTo({0}, tests::lineAt(*trace->threads[0], 36), views::Navigator::Remember::No));
    pane->currentView()->setFocus();
    QTest::keyClick(pane->currentView(), Qt::Key_Down, Qt::ShiftModifier);
    QTest::keyClick(pane->currentView(), Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QGuiApplication::clipboard()->text(),
             QStringLiteral("parse\tparser.c:36\tint depth = 0;\n"
                            "parse\tparser.c:37\topen[0] = make(LIST);\n"));
    // The tree has its indentation.
    pane->setMode(views::TracePane::Mode::Tree);
    QVERIFY(
        window->navigator().goTo({0}, tests::lineAt(*trace->threads[0], 12), views::Navigator::Remember::No));
    QTreeView* tree = pane->treeView();
    const QModelIndex call = tree->currentIndex().parent();
    tree->selectionModel()->select(call, QItemSelectionModel::Select | QItemSelectionModel::Rows);
    QVERIFY(pane->selectedText().startsWith(QStringLiteral("make (4 entries)\t")));
    QVERIFY(pane->selectedText().contains(QStringLiteral("\n  made->kind = kind;\tparser.c:12\n")));
    QTest::keyClick(window.get(), Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
    const QStringList lines = QGuiApplication::clipboard()->text().split(u'\n');
    QVERIFY2(lines.value(0).startsWith(QStringLiteral("call make")), qPrintable(lines.value(0)));
    QVERIFY2(lines.value(1).startsWith(QStringLiteral("  parser.c:11")), qPrintable(lines.value(1)));
    QVERIFY(lines.value(4).contains(QStringLiteral("return from make")));
    QCOMPARE(lines.size(), 6);
  }
};

QTEST_MAIN(TraceRows)
#include "tst_trace_rows.moc"
