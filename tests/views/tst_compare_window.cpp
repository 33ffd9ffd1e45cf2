// Two recorded runs of a real program, side by side in the window.

#include <QAbstractItemModelTester>
#include <QAction>
#include <QComboBox>
#include <QDropEvent>
#include <QMessageBox>
#include <QMimeData>
#include <QScopeGuard>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTableView>
#include <QTest>
#include <QTextBlock>

#include "app/viewer/color_scheme.h"
#include "app/viewer/compare_window.h"
#include "app/viewer/loader_services.h"
#include "app/viewer/main_window.h"
#include "tests/app/recorded_runs.h"
#include "tests/builders/trace_text.h"
#include "views/compare/compare_model.h"
#include "views/compare/compare_pane.h"
#include "views/source/code_pane.h"
#include "views/source/code_view.h"
#include "views/trace/entry_text.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback;
using model::Side;
using test::CommandLine;

namespace {

QString currentLine(const views::CodePane* pane) {
  const views::CodeView* source = pane->sourceView();
  return source->document()->findBlockByNumber(source->currentLine()).text();
}

QString sign(const views::ComparePane* pane, Side side, int row) {
  return pane->model(side)->headerData(row, Qt::Vertical, Qt::DisplayRole).toString();
}

QString what(const views::ComparePane* pane, Side side, int row) {
  return pane->model(side)->index(row, views::kWhatColumn).data().toString();
}

}  // namespace

class CompareView : public QObject {
  Q_OBJECT

  CommandLine m_line;
  QString m_good, m_bad, m_even, m_odd, m_few, m_together, m_apart;

  // A compiler's cache may have made the program in another folder, whose name is in its debug information.
  QList<app::SourceMapping> mappings(const QString& snap) const {
    QList<app::SourceMapping> result;
    const auto trace = app::loaderServices().load(
        snap.toStdString(), {.progress = [](double, const std::string&) {}, .preview = {}}, {});
    if (!trace) return result;
    for (const model::SourceFile& file : (*trace)->files)
      if (const auto mapping =
              app::mappingBetween(QString::fromStdString(file.path), QStringLiteral(COMPARE_RUNS_SOURCE)))
        result.append(*mapping);
    return result;
  }

  std::unique_ptr<app::CompareWindow> opened(const QString& good, const QString& bad) {
    auto window = std::make_unique<app::CompareWindow>(app::loaderServices(), mappings(good), false);
    QSignalSpy compared(window.get(), &app::CompareWindow::compared);
    window->show();
    window->open(good, bad);
    if (!compared.wait(30'000) || !compared.first().first().toString().isEmpty()) qWarning("not compared");
    return window;
  }

  void keep(QWidget& window, const QString& name) {
    const QString folder = qEnvironmentVariable("TRACEBACK_PICTURES");
    if (folder.isEmpty()) return;
    QTest::qWait(300);
    QVERIFY(window.grab().toImage().save(QStringLiteral("%1/%2.png").arg(folder, name)));
  }

 private slots:
  void initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QVERIFY(m_line.isReady());
    m_good = test::recordRun(m_line, "good", {"words", "12", "34", "5", "67"});
    m_bad = test::recordRun(m_line, "bad", {"words", "12", "3x", "5", "6x"});
    m_even = test::recordRun(m_line, "even", {"rounds", "3000", "-1"});
    m_odd = test::recordRun(m_line, "odd", {"rounds", "3000", "2000"});
    m_few = test::recordRun(m_line, "few", {"rounds", "100", "-1"});
    m_together = test::recordRun(m_line, "together", {"threads", "0"});
    m_apart = test::recordRun(m_line, "apart", {"threads", "2"});
    for (const QString& each : {m_good, m_bad, m_even, m_odd, m_few, m_together, m_apart})
      QVERIFY(!each.isEmpty());
  }

  void opensWhereTheTwoFirstPart() {
    const auto window = opened(m_good, m_bad);
    const views::ComparePane* pane = window->pane();
    const int row = pane->currentRow();
    QCOMPARE(row, pane->rows().rowOf(0));
    QCOMPARE(sign(pane, Side::Left, row), QStringLiteral("<"));
    QCOMPARE(sign(pane, Side::Right, row), QStringLiteral(">"));
    QCOMPARE(sign(pane, Side::Left, row - 1), QString());
    QVERIFY2(currentLine(window->code(Side::Left)).contains("value = 10 * value"),
             qPrintable(currentLine(window->code(Side::Left))));
    QVERIFY2(currentLine(window->code(Side::Right)).contains("no number"),
             qPrintable(currentLine(window->code(Side::Right))));
    QVERIFY(what(pane, Side::Right, row).contains("throw"));
    QVERIFY(pane->status().contains("Difference 1 of "));
    keep(*window, QStringLiteral("compare-light"));
  }

  void followsAChangeOfColours() {
    const auto window = opened(m_good, m_bad);
    const auto restore = qScopeGuard([] { app::useColorScheme(app::ColorScheme::Light); });
    app::useColorScheme(app::ColorScheme::Dark);
    for (const Side side : {Side::Left, Side::Right}) {
      const QTableView* view = window->pane()->view(side);
      QTRY_VERIFY(view->palette().color(QPalette::Base).lightnessF() < 0.5F);
      QTRY_VERIFY(view->palette().color(QPalette::Inactive, QPalette::Highlight).lightnessF() < 0.6F);
      QVERIFY(view->palette().color(QPalette::Inactive, QPalette::HighlightedText).lightnessF() > 0.5F);
    }
    keep(*window, QStringLiteral("compare-dark"));
  }

  void rowsOfBothSidesStandAtOneHeight() {
    const auto window = opened(m_good, m_bad);
    const views::ComparePane* pane = window->pane();
    const QTableView *left = pane->view(Side::Left), *right = pane->view(Side::Right);
    QCOMPARE(left->model()->rowCount(), right->model()->rowCount());
    for (int row = 0; row < left->model()->rowCount(); ++row) {
      QCOMPARE(left->rowViewportPosition(row), right->rowViewportPosition(row));
      QCOMPARE(left->rowHeight(row), right->rowHeight(row));
      if (sign(pane, Side::Left, row).isEmpty() && sign(pane, Side::Right, row).isEmpty() &&
          pane->rows().folded(row) == 0)
        QCOMPARE(what(pane, Side::Left, row), what(pane, Side::Right, row));
    }
    right->verticalScrollBar()->setValue(right->verticalScrollBar()->maximum());
    QCOMPARE(left->verticalScrollBar()->value(), right->verticalScrollBar()->value());
    left->verticalScrollBar()->setValue(0);
    QCOMPARE(right->verticalScrollBar()->value(), 0);
  }

  void differencesAreWalkedByKey() {
    const auto window = opened(m_good, m_bad);
    const views::ComparePane* pane = window->pane();
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    QCOMPARE(pane->rows().differences(), 2);
    QTableView* right = pane->view(Side::Right);
    right->setFocus();
    QTest::keyClick(right, Qt::Key_F8);
    QCOMPARE(pane->currentRow(), pane->rows().rowOf(1));
    QVERIFY(!pane->nextAction()->isEnabled());
    QTest::keyClick(right, Qt::Key_F8, Qt::ShiftModifier);
    QCOMPARE(pane->currentRow(), pane->rows().rowOf(0));
    QTest::keyClick(right, Qt::Key_N);
    QCOMPARE(pane->currentRow(), pane->rows().rowOf(1));
    QTest::keyClick(right, Qt::Key_Home, Qt::ShiftModifier);
    QCOMPARE(pane->currentRow(), pane->rows().rowOf(0));
    // A row of one list is the row of the other, and of the sources.
    QTest::keyClick(right, Qt::Key_Up);
    QCOMPARE(pane->view(Side::Left)->currentIndex().row(), pane->currentRow());
    QCOMPARE(currentLine(window->code(Side::Left)), currentLine(window->code(Side::Right)));
  }

  void keysAreListedAndCanBeChanged() {
    const auto window = opened(m_good, m_bad);
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    QAction* next = window->pane()->nextAction();
    QVERIFY(window->shortcuts().actions().contains(next));
    window->shortcuts().setKeys(next, {QKeySequence(Qt::Key_J)});
    QTableView* right = window->pane()->view(Side::Right);
    right->setFocus();
    QTest::keyClick(right, Qt::Key_N);
    QCOMPARE(window->pane()->currentRow(), window->pane()->rows().rowOf(0));
    QTest::keyClick(right, Qt::Key_J);
    QCOMPARE(window->pane()->currentRow(), window->pane()->rows().rowOf(1));
  }

  void sameRowsAreFoldedAndUnfold() {
    const auto window = opened(m_even, m_odd);
    const views::ComparePane* pane = window->pane();
    QVERIFY(pane->rows().count() < 200);
    QVERIFY(currentLine(window->code(Side::Right)).contains("unusual(i)"));
    int folded = -1;
    for (int row = 0; row < pane->rows().count() && folded < 0; ++row)
      if (pane->rows().folded(row) > 0) folded = row;
    QVERIFY(folded >= 0);
    const int before = pane->rows().count();
    const auto hidden = static_cast<int>(pane->rows().folded(folded));
    QTableView* left = pane->view(Side::Left);
    left->setCurrentIndex(left->model()->index(folded, views::kWhatColumn));
    QTest::keyClick(left, Qt::Key_Return);
    QCOMPARE(pane->rows().count(), before + hidden - 1);
    QCOMPARE(pane->currentRow(), folded);
  }

  void furtherRoundsAreSaidOnce() {
    const auto window = opened(m_few, m_even);
    const views::ComparePane* pane = window->pane();
    QCOMPARE(pane->rows().differences(), 1);
    int said = 0;
    for (int row = 0; row < pane->rows().count(); ++row)
      for (const auto& badge : pane->model(Side::Right)
                                   ->index(row, views::kNoteColumn)
                                   .data(views::kBadgesRole)
                                   .value<QList<views::Badge>>())
        if (badge.text.contains("more rounds")) ++said;
    QCOMPARE(said, 1);
    QVERIFY(pane->model(Side::Right)
                ->index(pane->currentRow(), 0)
                .data(Qt::AccessibleTextRole)
                .toString()
                .contains("more rounds"));
  }

  void aMoveInTheSourceMovesTheRows() {
    const auto window = opened(m_even, m_odd);
    QVERIFY(window->navigator(Side::Left)
                .goTo(window->navigator(Side::Left).threadIndex(), 500, views::Navigator::Remember::No));
    const auto entry = window->pane()->rows().cell(window->pane()->currentRow(), Side::Left).entry;
    QCOMPARE(entry, window->navigator(Side::Left).entryIndex());
  }

  void threadsAnswerEachOtherAndMayBeChosen() {
    const auto window = opened(m_together, m_apart);
    QComboBox *left = window->threads(Side::Left), *right = window->threads(Side::Right);
    QCOMPARE(left->count(), 4);
    const int second = left->findText(QStringLiteral("worker-2"), Qt::MatchContains);
    QVERIFY(second >= 0);
    QSignalSpy compared(window.get(), &app::CompareWindow::compared);
    left->setCurrentIndex(second);
    emit left->activated(second);
    QVERIFY(compared.wait(30'000));
    QVERIFY(right->currentText().contains("worker-2"));
    QCOMPARE(window->pane()->rows().differences(), 1);
    QVERIFY(currentLine(window->code(Side::Right)).contains("unusual(i)"));
    const int third = left->findText(QStringLiteral("worker-3"), Qt::MatchContains);
    left->setCurrentIndex(third);
    emit left->activated(third);
    QVERIFY(compared.wait(30'000));
    QVERIFY(window->pane()->status().contains("The same path"));
    // Against another thread than the one that answers.
    right->setCurrentIndex(right->findText(QStringLiteral("worker-2"), Qt::MatchContains));
    emit right->activated(right->currentIndex());
    QVERIFY(compared.wait(30'000));
    QVERIFY(left->currentText().contains("worker-3"));
    QVERIFY(window->pane()->rows().differences() > 0);
  }

  void aSideThatCannotBeReadIsToldOfUntilItIsAnotherFile() {
    const QString bad = m_line.path(QStringLiteral("none.tbsnap"));
    QVERIFY(test::writeFile(bad, "no snap"));
    for (const bool first : {true, false}) {
      app::CompareWindow window(app::loaderServices(), {}, false);
      QSignalSpy compared(&window, &app::CompareWindow::compared);
      window.show();
      const Side broken = first ? Side::Left : Side::Right, whole = first ? Side::Right : Side::Left;
      window.open(first ? bad : m_good, first ? m_bad : bad);
      QTRY_VERIFY_WITH_TIMEOUT(window.navigator(whole).trace() != nullptr && !compared.isEmpty(), 30'000);
      QVERIFY2(window.message().contains(QStringLiteral("none.tbsnap")), qPrintable(window.message()));
      window.load(broken, first ? m_good : m_bad);
      QTRY_VERIFY_WITH_TIMEOUT(window.message().isEmpty(), 30'000);
    }
  }

  void theOpenSnapIsComparedFromItsWindow() {
    app::MainWindow main(app::loaderServices(), app::Options(), false);
    QSignalSpy loaded(&main, &app::MainWindow::finishedLoading);
    main.openFile(m_bad);
    QVERIFY(loaded.wait(30'000));
    app::CompareWindow* window = main.compareWith(m_good);
    QSignalSpy compared(window, &app::CompareWindow::compared);
    QVERIFY(compared.wait(30'000));
    QCOMPARE(compared.first().first().toString(), QString());
    QCOMPARE(window->pane()->rows().differences(), 2);
  }

  void aDroppedSnapTakesThePlaceOfASide() {
    const auto window = opened(m_good, m_bad);
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(m_good)});
    QSignalSpy compared(window.get(), &app::CompareWindow::compared);
    QDragEnterEvent enter(QPoint(window->width() - 20, 200), Qt::CopyAction, &data, Qt::LeftButton,
                          Qt::NoModifier);
    QApplication::sendEvent(window.get(), &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(QPointF(window->width() - 20, 200), Qt::CopyAction, &data, Qt::LeftButton,
                    Qt::NoModifier);
    QApplication::sendEvent(window.get(), &drop);
    QVERIFY(drop.isAccepted());
    QVERIFY(compared.wait(30'000));
    QVERIFY(window->pane()->status().contains("The same path"));
  }

  void aBadFileThatIsDroppedLeavesTheComparisonInSight() {
    const QString bad = m_line.path(QStringLiteral("dropped.tbsnap"));
    QVERIFY(test::writeFile(bad, "no snap"));
    const auto window = opened(m_good, m_bad);
    const QString status = window->pane()->status();
    QSignalSpy compared(window.get(), &app::CompareWindow::compared);
    window->load(Side::Right, bad);
    QVERIFY(compared.wait(30'000));
    QCOMPARE(window->message(), QString());
    QCOMPARE(window->pane()->status(), status);
    const auto* box = window->findChild<QMessageBox*>(QStringLiteral("openError"));
    QVERIFY(box != nullptr && box->isVisible());
    QVERIFY(box->text().contains(QStringLiteral("dropped.tbsnap")));
    // Another one takes the side's place as ever.
    window->load(Side::Right, m_good);
    QVERIFY(compared.wait(30'000));
    QVERIFY(window->pane()->status().contains("The same path"));
  }

  void aBadFileIsSaid() {
    app::CompareWindow window(app::loaderServices(), {}, false);
    QSignalSpy compared(&window, &app::CompareWindow::compared);
    window.open(m_good, m_line.path("none.tbsnap"));
    QVERIFY(compared.wait(30'000));
    QVERIFY(compared.first().first().toString().contains("none.tbsnap"));
    QVERIFY(window.message().contains("none.tbsnap"));
  }

  void modelsKeepTheirPromises_data() {
    QTest::addColumn<QString>("left");
    QTest::addColumn<QString>("right");
    QTest::newRow("parted") << "call main main.c\n  1\n  2\n  3\n" << "call main main.c\n  1\n  4\n  3\n";
    QTest::newRow("same") << "call main main.c\n  1\n" << "call main main.c\n  1\n";
    QTest::newRow("gaps") << "gap overwritten\nin main main.c\n  1 x90\n  2\n"
                          << "gap overwritten\nin main main.c\n  1 x70\n  gap damaged\n  3\n";
    QTest::newRow("empty") << "thread 1 main\n" << "thread 1 main\n";
  }
  void modelsKeepTheirPromises() {
    QFETCH(QString, left);
    QFETCH(QString, right);
    views::Navigator navigators[2];
    views::SourceCache sources[2];
    const std::shared_ptr<model::Trace> traces[] = {tests::traceOf(left.toStdString()),
                                                    tests::traceOf(right.toStdString())};
    for (const int i : {0, 1}) {
      navigators[i].setTrace(traces[i]);
      sources[i].setTrace(traces[i]);
    }
    views::ComparePane pane({navigators[0], sources[0]}, {navigators[1], sources[1]});
    const QAbstractItemModelTester leftTester(pane.model(Side::Left),
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
    const QAbstractItemModelTester rightTester(pane.model(Side::Right),
                                               QAbstractItemModelTester::FailureReportingMode::QtTest);
    pane.show(model::compareThreads(*traces[0], {0}, *traces[1], {0}));
    for (int row = 0; row < pane.rows().count(); ++row)
      for (const Side side : {Side::Left, Side::Right})
        QVERIFY(!pane.model(side)->index(row, 0).data(Qt::AccessibleTextRole).toString().isEmpty());
    pane.clear();
    QCOMPARE(pane.model(Side::Left)->rowCount(), 0);
  }
};

QTEST_MAIN(CompareView)
#include "tst_compare_window.moc"
