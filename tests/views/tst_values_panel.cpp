// The panel of values: what it shows at the end of a thread, and that it shows nothing anywhere else.
#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QGuiApplication>
#include <QPushButton>
#include <QTest>
#include <QTreeView>

#include "sample.h"
#include "tests/builders/trace_text.h"
#include "views/source/code_pane.h"
#include "views/source/code_view.h"
#include "views/values/values_model.h"
#include "views/values/values_panel.h"

using namespace traceback;
using views::ValuesModel;

namespace {

QString cell(const ValuesModel& model, const QModelIndex& parent, int row, int column) {
  return model.data(model.index(row, column, parent), Qt::DisplayRole).toString();
}

}  // namespace

class ValuesPanelTest : public QObject {
  Q_OBJECT

  std::unique_ptr<app::MainWindow> m_window;
  std::shared_ptr<tests::MemoryValues> m_values;

  views::ValuesPanel* panel() { return m_window->panels().find<views::ValuesPanel>(); }
  const ValuesModel& model() { return *panel()->values(); }
  QDockWidget* dock() { return m_window->panels().dockOf(panel()); }
  void showPanel() {
    dock()->show();
    dock()->raise();
    QVERIFY(QTest::qWaitFor([this] { return panel()->isVisible(); }));
  }
  bool hasValues() {
    return QTest::qWaitFor([this] { return model().rowCount() > 0; });
  }

 private slots:
  void init() {
    m_window = tests::sampleWindow(tests::sampleTrace());
    m_values = std::make_shared<tests::MemoryValues>();
    m_window->values().setProvider(m_values);
  }
  void cleanup() {
    m_window.reset();
    m_values.reset();
  }

  void nobodyIsAskedWhileNobodyLooks() {
    dock()->hide();
    QVERIFY(!panel()->isVisible());
    const int asked = m_values->asked();
    for (int i = 0; i < 20; ++i) m_window->navigator().step(model::Step::Back);
    for (int i = 0; i < 20; ++i) m_window->navigator().step(model::Step::Over);
    m_window->navigator().goToFault();
    QTest::qWait(30);
    QCOMPARE(m_values->asked(), asked);
  }

  void theValuesOfTheEndAreShownThere() {
    m_values->answer();
    showPanel();
    QVERIFY(hasValues());
    QCOMPARE(panel()->message(), QString());
    QCOMPARE(model().rowCount(), 3);
    const QModelIndex arguments = model().index(0, 0);
    QCOMPARE(cell(model(), {}, 0, ValuesModel::kName), "Arguments");
    QCOMPARE(cell(model(), arguments, 0, ValuesModel::kName), "node");
    QCOMPARE(cell(model(), arguments, 0, ValuesModel::kValue), "0x0");
    QCOMPARE(cell(model(), arguments, 0, ValuesModel::kType), "struct node *");
    QCOMPARE(cell(model(), model().index(2, 0), 1, ValuesModel::kName), "rip");
    QVERIFY(panel()->list()->isExpanded(arguments));
  }

  void anywhereElseItSaysThatNothingIsKnown() {
    m_values->answer();
    showPanel();
    QVERIFY(hasValues());
    QVERIFY(m_window->navigator().step(model::Step::Back));
    QCOMPARE(model().rowCount(), 0);
    QVERIFY(panel()->list()->isHidden());
    QVERIFY2(panel()->message().contains("only where the thread stood"), qPrintable(panel()->message()));
    QVERIFY(panel()->button()->isVisible());
    panel()->button()->click();
    QVERIFY(views::standsAtEnd(m_window->navigator()));
    QVERIFY(hasValues());
    QCOMPARE(m_values->asked(), 1);
  }

  void anotherFrameCanBeChosen() {
    m_values->answer();
    showPanel();
    QVERIFY(hasValues());
    QCOMPARE(panel()->frames()->count(), 2);
    QCOMPARE(panel()->frames()->itemText(1), "1  parse  parser.c:80");
    panel()->frames()->setCurrentIndex(1);
    QCOMPARE(model().rowCount(), 1);
    const QModelIndex list = model().index(0, 0, model().index(0, 0));
    QCOMPARE(model().rowCount(list), 3);
    QCOMPARE(cell(model(), list, 1, ValuesModel::kName), "count");
    QCOMPARE(cell(model(), list, 2, ValuesModel::kValue), "further parts are not shown");
  }

  // In a library without lines, in which the values that matter are not.
  void whoGaveUpIsLookedAtInTheCallThatIsShown() {
    m_window = tests::sampleWindow(tests::traceOf(R"(
      thread 4711 main
      call parse parser.c
        79
        80
        call give_up
          0 fault
          signal 6
    )"));
    m_window->values().setProvider(m_values);
    m_values->answer();
    showPanel();
    QVERIFY(hasValues());
    QCOMPARE(m_window->navigator().entry()->line, 80U);
    QCOMPARE(panel()->frames()->currentIndex(), 1);
    QCOMPARE(views::valueAtEnd(m_window->navigator(), m_window->values(), "list"),
             "list = {head = 0x4052a0, count = 3}  (at the end)");
    QVERIFY(m_window->navigator().step(model::Step::Back));
    QVERIFY(m_window->navigator().goToFault());
    QCOMPARE(panel()->frames()->currentIndex(), 1);
  }

  void whatCannotBeHadIsSaid() {
    m_values->answer();
    showPanel();
    QVERIFY(hasValues());
    m_window->navigator().goToThread({1});
    QVERIFY(QTest::qWaitFor([this] { return panel()->message().contains("no memory"); }));
    m_window->values().setProvider(nullptr);
    QCOMPARE(panel()->message(), "This trace has no values.");
  }

  void readingCanBeCancelled() {
    showPanel();
    QVERIFY(QTest::qWaitFor([this] { return m_values->asked() == 1; }));
    QVERIFY(panel()->message().contains("Reading"));
    panel()->button()->click();
    QVERIFY(panel()->message().contains("cancelled"));
    QVERIFY(QTest::qWaitFor([this] { return m_values->stopped() == 1; }));
    m_values->answer();
    panel()->button()->click();
    QVERIFY(hasValues());
  }

  void closingThePanelGivesUpReading() {
    showPanel();
    QVERIFY(QTest::qWaitFor([this] { return m_values->asked() == 1; }));
    dock()->hide();
    QVERIFY(QTest::qWaitFor([this] { return m_values->stopped() == 1; }));
  }

  void aRowIsCopiedAsText() {
    m_values->answer();
    showPanel();
    QVERIFY(hasValues());
    QTreeView* list = panel()->list();
    list->setFocus();
    list->setCurrentIndex(model().index(0, 0, model().index(0, 0)));
    QTest::keyClick(list, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QGuiApplication::clipboard()->text(), "node = 0x0");
    QCOMPARE(model().textOf(model().index(2, 0)), "rax = 0x0\nrip = 0x401136");
  }

  void aVariableUnderTheMouseTellsItsValueAtTheEnd() {
    m_values->answer();
    QCOMPARE(views::valueAtEnd(m_window->navigator(), m_window->values(), "node"), QString());
    QVERIFY(QTest::qWaitFor([this] {
      return views::valueAtEnd(m_window->navigator(), m_window->values(), "node").startsWith("node = 0x0");
    }));
    // Another function's variable is not this one's, and before the end nothing is known.
    QCOMPARE(views::valueAtEnd(m_window->navigator(), m_window->values(), "list"), QString());
    QVERIFY(m_window->navigator().step(model::Step::Back));
    QCOMPARE(views::valueAtEnd(m_window->navigator(), m_window->values(), "node"), QString());
  }

  void theWordUnderTheMouseIsFound() {
    views::CodeView view;
    view.setLines({"int total = node->value;"});
    view.resize(800, 200);
    view.show();
    const QRect line = view.whereIs(0);
    QString found;
    for (int x = line.left(); x < line.right(); ++x)
      if (view.wordAt({x, line.center().y()}) == "node") found = "node";
    QCOMPARE(found, "node");
    QCOMPARE(view.wordAt({view.viewport()->width() - 2, line.center().y()}), QString());
    QCOMPARE(view.wordAt({line.left() + 5, view.viewport()->height() - 2}), QString());
  }

  void theModelKeepsQtsRules() {
    ValuesModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    tests::MemoryValues values;
    values.answer();
    const auto all = values.values(4711, {});
    for (const auto& frame : all->threads.front().frames) model.setFrame(frame);
    model.clear();
    model.setFrame({});
    QCOMPARE(model.rowCount(), 0);
  }
};

QTEST_MAIN(ValuesPanelTest)
#include "tst_values_panel.moc"
