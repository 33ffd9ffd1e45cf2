// The panel of what was before the trace, and the ways to it and from it.
#include <QAbstractItemModelTester>
#include <QDockWidget>
#include <QSignalSpy>
#include <QTest>
#include <QTreeView>

#include "sample.h"
#include "tests/builders/trace_text.h"
#include "views/history/history_model.h"
#include "views/history/history_panel.h"
#include "views/source/code_pane.h"
#include "views/source/code_view.h"
#include "views/threads/lanes_panel.h"
#include "views/threads/order_marks.h"
#include "views/trace/entry_text.h"
#include "views/trace/trace_pane.h"

using namespace traceback;
using views::HistoryModel;
using views::HistoryPlacesModel;

namespace {

// One thread, the beginning of which was overwritten, with a history of two stretches; and one without.
std::shared_ptr<model::Trace> traceWithHistory() {
  auto trace = tests::traceOf(R"(thread 7 main
gap overwritten
time 5000000000
in visit parser.c
  50
  51
thread 8 worker
in load main.c
  15
)");
  trace->clockStart = {{1'000'000'000}, {1'763'712'000'000'000'000}};
  trace->clockEnd = {{6'000'000'000}, {1'763'712'005'000'000'000}};
  const auto& first = *trace->threads[0];
  const model::Entry visit = first.entry(1), load = trace->threads[1]->entry(0);
  const auto stretch = [&](const model::Entry& code, std::uint64_t begin, std::uint64_t end) {
    model::HistoryStretch result;
    result.begin = {begin};
    result.end = {end};
    result.parts = 38;
    result.looked = 1;
    result.words = 38 * 1000;
    result.sampled = 100;
    result.unnamed = 10;
    model::HistoryPlace loop;
    loop.kind = model::HistoryPlace::Kind::Loop;
    loop.file = code.file;
    loop.line = code.line;
    loop.address = code.address;
    loop.times = 70;
    model::HistoryPlace entry = loop;
    entry.kind = model::HistoryPlace::Kind::Entry;
    entry.line = code.line - 2;
    entry.times = 20;
    result.functions.push_back(
        {.module = code.module, .function = code.function, .times = 90, .places = {loop, entry}});
    return result;
  };
  auto history = std::make_shared<model::ThreadHistory>();
  history->stretches = {stretch(load, 2'000'000'000, 3'000'000'000),
                        stretch(visit, 3'000'000'000, 4'500'000'000)};
  auto info = first.info();
  info.history = history;
  trace->threads[0] = tests::threadOf(first.entries(0, 100), 4, info);
  return trace;
}

QString cell(const QAbstractItemModel& model, int row, int column) {
  return model.index(row, column).data().toString();
}

}  // namespace

class HistoryPanelTest : public QObject {
  Q_OBJECT

  std::unique_ptr<app::MainWindow> m_window;

  views::HistoryPanel* panel() { return m_window->panels().find<views::HistoryPanel>(); }
  QDockWidget* dock() { return m_window->panels().dockOf(panel()); }

 private slots:
  void init() {
    m_window = tests::sampleWindow(traceWithHistory());
    m_window->navigator().goToThread({0});
  }
  void cleanup() { m_window.reset(); }

  void stretchesAreShownOldestFirstAndTheLastOneIsLookedAt() {
    const HistoryModel& model = *panel()->history();
    const QAbstractItemModelTester tester(panel()->history());
    QCOMPARE(model.rowCount(), 2);
    QVERIFY(cell(model, 0, HistoryModel::kBusiest).contains("load 90 %"));
    QVERIFY(cell(model, 1, HistoryModel::kBusiest).contains("visit 90 %"));
    QCOMPARE(cell(model, 0, HistoryModel::kRead), QString("1 of 38 parts"));
    QVERIFY(!cell(model, 0, HistoryModel::kWhen).isEmpty());
    QCOMPARE(panel()->stretchList()->currentIndex().row(), 1);
    QVERIFY(panel()->note().contains("Samples"));
  }

  void placesAreShownMostFrequentFirst() {
    const HistoryPlacesModel& model = *panel()->places();
    const QAbstractItemModelTester tester(panel()->places());
    QCOMPARE(model.rowCount(), 3);
    QCOMPARE(cell(model, 0, HistoryPlacesModel::kShare), QString("70 %"));
    QCOMPARE(cell(model, 0, HistoryPlacesModel::kFunction), QString("visit"));
    QCOMPARE(cell(model, 0, HistoryPlacesModel::kKind), QString("loop"));
    QVERIFY(cell(model, 0, HistoryPlacesModel::kPlace).startsWith("parser.c:"));
    QCOMPARE(cell(model, 1, HistoryPlacesModel::kKind), QString("called"));
    QCOMPARE(cell(model, 2, HistoryPlacesModel::kTimes), QString("10"));
    QCOMPARE(cell(model, 2, HistoryPlacesModel::kFunction), QString("other code"));
    panel()->stretchList()->setCurrentIndex(panel()->history()->index(0, 0));
    QCOMPARE(cell(model, 0, HistoryPlacesModel::kFunction), QString("load"));
  }

  void aPlaceLeadsToItsSourceUntilOneMoves() {
    dock()->show();
    panel()->stretchList()->setCurrentIndex(panel()->history()->index(0, 0));
    const auto before = m_window->navigator().position();
    emit panel() -> placeList()->activated(panel()->places()->index(0, 0));
    auto* code = m_window->findChild<views::CodePane*>();
    QVERIFY(code->spot().has_value());
    QCOMPARE(code->spot()->path, QString("/src/main.c"));
    QCOMPARE(code->spot()->line, 15);
    // Nobody has moved.
    QVERIFY(m_window->navigator().position() == before);
    QVERIFY(m_window->navigator().step(model::Step::Back));
    QCOMPARE(code->spot()->path, QString("/src/parser.c"));
  }

  void aStretchLeadsToItsBusiestPlace() {
    panel()->stretchList()->setCurrentIndex(panel()->history()->index(0, 0));
    emit panel() -> stretchList()->activated(panel()->history()->index(0, 0));
    QCOMPARE(m_window->findChild<views::CodePane*>()->spot()->line, 15);
  }

  void codeThatIsNotKnownLeadsNowhere() {
    const auto before = m_window->findChild<views::CodePane*>()->spot()->path;
    emit panel() -> placeList()->activated(panel()->places()->index(2, 0));
    QCOMPARE(m_window->findChild<views::CodePane*>()->spot()->path, before);
  }

  void aThreadWithoutHistorySaysSo() {
    m_window->navigator().goToThread({1});
    QCOMPARE(panel()->history()->rowCount(), 0);
    QCOMPARE(panel()->places()->rowCount(), 0);
    QVERIFY(panel()->note().contains("Nothing is known"));
  }

  void whereRecordsWereOverwrittenTheTraceLeadsThere() {
    dock()->hide();
    auto* traces = m_window->findChild<views::TracePane*>();
    for (const auto mode : {views::TracePane::Mode::Flat, views::TracePane::Mode::Tree}) {
      traces->setMode(mode);
      const QAbstractItemModel& model = *traces->currentView()->model();
      traces->treeView()->expandAll();
      const QModelIndexList found =
          model.match(model.index(0, 0), Qt::DisplayRole, QStringLiteral("Before the trace"), 1,
                      Qt::MatchContains | Qt::MatchRecursive);
      QCOMPARE(found.size(), 1);
      const QModelIndex first = found.front();
      traces->currentView()->setCurrentIndex(first);
      QTest::keyClick(traces->currentView(), Qt::Key_Return);
      QVERIFY(QTest::qWaitFor([this] { return dock()->isVisible(); }));
      dock()->hide();
      emit traces->currentView()->doubleClicked(first);
      QVERIFY(QTest::qWaitFor([this] { return dock()->isVisible(); }));
      dock()->hide();
    }
  }

  void theLanesShowWhenThatWas() {
    auto* lanes = m_window->panels().find<views::LanesPanel>();
    m_window->panels().dockOf(lanes)->show();
    views::LanesView* view = lanes->view();
    // From its beginning on.
    QVERIFY(view->axis().from() <= 2e9 && view->axis().to() >= 5e9);
    QVERIFY(view->lanes()->stretchAt(0, {1'900'000'000}) == nullptr);
    QCOMPARE(view->lanes()->stretchAt(0, {2'500'000'000})->begin.value, 2'000'000'000u);
    QCOMPARE(view->lanes()->stretchAt(0, {3'000'000'000})->begin.value, 3'000'000'000u);
    QVERIFY(view->lanes()->stretchAt(0, {4'700'000'000}) == nullptr);
    QVERIFY(view->lanes()->stretchAt(0, {5'100'000'000}) == nullptr);
    QVERIFY(view->lanes()->stretchAt(1, {2'500'000'000}) == nullptr);
    const auto* legend = lanes->findChild<views::OrderLegend*>();
    QVERIFY2(legend->accessibleName().contains("Thin: samples from before the trace"),
             qPrintable(legend->accessibleName()));
    views::OrderLegend without;
    QVERIFY(!without.accessibleName().contains("Thin"));
    const QSize wanted = without.sizeHint();
    without.setShowsSampled(true);
    QVERIFY(without.sizeHint().width() > wanted.width());
    without.resize(without.sizeHint());
    const QImage drawn = without.grab().toImage();
    without.setShowsSampled(false);
    const QImage plain = without.grab().toImage();
    // It is behind the others.
    QVERIFY(drawn != plain);
    QCOMPARE(drawn.copy({{}, wanted}), plain.copy({{}, wanted}));
    const QString words = view->lanes()->describe(0, {2'500'000'000});
    QVERIFY2(words.contains("by 100 samples: load 90 %"), qPrintable(words));
    QVERIFY(view->lanes()
                ->index(0, views::LanesModel::kLane)
                .data(Qt::AccessibleTextRole)
                .toString()
                .contains("samples of before its trace"));
    // A click there leads to where the trace begins, and says what was.
    const QRect lane = view->laneRect(0);
    QVERIFY(lane.isValid());
    QSignalSpy said(view, &views::LanesView::message);
    m_window->navigator().goTo({0}, 2, views::Navigator::Remember::No);
    const double x = view->axis().xOf({2'500'000'000}, lane.width());
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {},
                      {lane.left() + static_cast<int>(x), lane.center().y()});
    QCOMPARE(said.count(), 1);
    QVERIFY(said[0][0].toString().contains("load 90 %"));
    QCOMPARE(m_window->navigator().entryIndex(), model::EntryIndex{0});
  }

  void bothListsHaveNamesAndTakeTheFocus() {
    for (QTreeView* list : {panel()->stretchList(), panel()->placeList()}) {
      QVERIFY(!list->accessibleName().isEmpty());
      QVERIFY((list->focusPolicy() & Qt::TabFocus) != 0);
    }
  }
};

QTEST_MAIN(HistoryPanelTest)
#include "tst_history_panel.moc"
