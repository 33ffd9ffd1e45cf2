// Ways to move beyond the steps by line: by instruction, to another execution, to the cursor; and the keys.

#include <QAction>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QStandardPaths>
#include <QStatusBar>
#include <QTest>
#include <QTextBlock>
#include <QTimer>
#include <QTreeWidget>

#include "app/viewer/main_window.h"
#include "app/viewer/seek_actions.h"
#include "app/viewer/shortcuts_dialog.h"
#include "app/viewer/step_actions.h"
#include "sample.h"
#include "tests/builders/trace_text.h"
#include "views/source/code_pane.h"
#include "views/source/code_view.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback;

class Moving : public QObject {
  Q_OBJECT

 private:
  static QString place(app::MainWindow& window) {
    const model::Entry entry = *window.navigator().entry();
    const auto instruction = window.navigator().instruction();
    const bool second = instruction && *instruction != entry.address;
    return QString::number(entry.line) + (second ? QStringLiteral("'") : QString());
  }
  static QTreeWidgetItem* command(const app::ShortcutsDialog& dialog, const QString& name) {
    return dialog.list()->findItems(name, Qt::MatchExactly).value(0);
  }
  static app::ShortcutsDialog* openShortcuts(app::MainWindow& window) {
    QTest::keyClick(&window, Qt::Key_F1);
    return window.findChild<app::ShortcutsDialog*>();
  }

 private slots:
  void initTestCase() { QStandardPaths::setTestModeEnabled(true); }

  void inTheDisassemblyStepsAreByInstruction() {
    const auto trace = tests::sampleTrace();
    const auto window = tests::sampleWindow(trace);
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    QTest::keyClick(window.get(), Qt::Key_D, Qt::ControlModifier);
    QVERIFY(window->codePane()->showsDisassembly());
    const model::EntryIndex calls = tests::lineAt(*trace->threads[0], 63);
    QVERIFY(window->navigator().goTo({0}, calls, views::Navigator::Remember::No));
    views::CodeView* code = window->codePane()->disassemblyView();
    const int first = code->currentLine();
    QTest::keyClick(window.get(), Qt::Key_F10);
    QCOMPARE(place(*window), QStringLiteral("63'"));
    QCOMPARE(code->currentLine(), first + 1);
    QCOMPARE(window->navigator().entryIndex(), std::optional(calls));
    QTest::keyClick(window.get(), Qt::Key_F10);
    QCOMPARE(place(*window), QStringLiteral("61"));
    QTest::keyClick(window.get(), Qt::Key_N, Qt::ShiftModifier);
    QCOMPARE(place(*window), QStringLiteral("63'"));
    QTest::keyClick(window.get(), Qt::Key_F11);
    QCOMPARE(place(*window), QStringLiteral("60"));
    QTest::keyClick(window.get(), Qt::Key_S);
    QCOMPARE(place(*window), QStringLiteral("60'"));
    QTest::keyClick(window.get(), Qt::Key_F, Qt::ShiftModifier);
    QCOMPARE(place(*window), QStringLiteral("63'"));
    QTest::keyClick(window.get(), Qt::Key_S, Qt::ShiftModifier);
    QCOMPARE(place(*window), QStringLiteral("63"));
    // Back at the source they are by line.
    QTest::keyClick(window.get(), Qt::Key_D, Qt::ControlModifier);
    QTest::keyClick(window.get(), Qt::Key_F10);
    QCOMPARE(place(*window), QStringLiteral("61"));
    QVERIFY(!window->navigator().instruction());
  }

  void theLastInstructionOfTheTraceIsTheEndOfSteps() {
    const auto window = tests::sampleWindow(tests::traceOf("call main main.c\n  27\n  31\n"));
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    QAction* step = window->steps()->step(model::Step::Into);
    QVERIFY(!step->isEnabled());
    QTest::keyClick(window.get(), Qt::Key_D, Qt::ControlModifier);
    QVERIFY(step->isEnabled());
    QTest::keyClick(window.get(), Qt::Key_S);
    QCOMPARE(place(*window), QStringLiteral("31'"));
    QVERIFY(!step->isEnabled());
  }

  void lettersGoToOtherExecutions() {
    const auto trace = tests::sampleTrace();
    const auto window = tests::sampleWindow(trace);
    const model::ThreadTrace& thread = *trace->threads[0];
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    views::Navigator& navigator = window->navigator();
    const auto at = [&navigator] { return navigator.entryIndex(); };
    const auto line = [&thread](std::uint32_t number, int nth) {
      return std::optional(tests::lineAt(thread, number, nth));
    };
    QVERIFY(navigator.goTo({0}, *line(42, 2), views::Navigator::Remember::No));
    QTest::keyClick(window.get(), Qt::Key_L);
    QTRY_COMPARE(at(), line(42, 3));
    QTest::keyClick(window.get(), Qt::Key_L, Qt::ShiftModifier);
    QTRY_COMPARE(at(), line(42, 2));
    // In make(): the calls of it before and after, from wherever in it one is.
    QVERIFY(navigator.goTo({0}, *line(13, 2), views::Navigator::Remember::No));
    QTest::keyClick(window.get(), Qt::Key_C, Qt::ShiftModifier);
    QTRY_COMPARE(at(), line(11, 1));
    QTest::keyClick(window.get(), Qt::Key_C);
    QTRY_COMPARE(at(), line(11, 2));
    // Of events: first the fault, then the signal; from the signal there is no other.
    QTest::keyClick(window.get(), Qt::Key_E);
    QTRY_COMPARE(at(), thread.info().fault);
    QTest::keyClick(window.get(), Qt::Key_E);
    QTRY_COMPARE(navigator.entry()->kind, model::EntryKind::Signal);
    QTest::keyClick(window.get(), Qt::Key_E, Qt::ShiftModifier);
    QTRY_VERIFY(window->statusBar()->currentMessage().contains(QStringLiteral("Not before this")));
    QCOMPARE(navigator.entry()->kind, model::EntryKind::Signal);
  }

  void runToCursorGoesBothWays() {
    const auto trace = tests::sampleTrace();
    const auto window = tests::sampleWindow(trace);
    const model::ThreadTrace& thread = *trace->threads[0];
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    views::CodeView* source = window->codePane()->sourceView();
    views::Navigator& navigator = window->navigator();
    QVERIFY(navigator.goTo({0}, tests::lineAt(thread, 42, 2), views::Navigator::Remember::No));
    const auto cursorTo = [source](int line) {
      source->setTextCursor(QTextCursor(source->document()->findBlockByNumber(line - 1)));
    };
    cursorTo(54);
    QTest::keyClick(window.get(), Qt::Key_U);
    QTRY_COMPARE(navigator.entryIndex(), std::optional(tests::lineAt(thread, 54)));
    cursorTo(11);
    QTest::keyClick(window.get(), Qt::Key_U, Qt::ShiftModifier);
    QTRY_COMPARE(navigator.entryIndex(), std::optional(tests::lineAt(thread, 11, 3)));
    cursorTo(37);
    const auto before = navigator.entryIndex();
    QTest::keyClick(window.get(), Qt::Key_U);
    QTRY_VERIFY(window->statusBar()->currentMessage().contains(QStringLiteral("Not after this")));
    QCOMPARE(navigator.entryIndex(), before);
  }

  void menuOfALineRunsThere() {
    const auto trace = tests::sampleTrace();
    const auto window = tests::sampleWindow(trace);
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    views::CodeView* source = window->codePane()->sourceView();
    const QRect line = source->cursorRect(QTextCursor(source->document()->findBlockByNumber(62 - 1)));
    bool found = false;
    QTimer::singleShot(50, window.get(), [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      if (menu == nullptr) return;
      QAction* run = window->seeks()->action(app::SeekActions::Cursor, views::Finder::Direction::Backward);
      found = menu->actions().contains(run);
      menu->close();
      run->trigger();
    });
    QContextMenuEvent event(QContextMenuEvent::Mouse, line.center(),
                            source->viewport()->mapToGlobal(line.center()));
    QApplication::sendEvent(source->viewport(), &event);
    QVERIFY(found);
    QTRY_COMPARE(window->navigator().entryIndex(), std::optional(tests::lineAt(*trace->threads[0], 62, 3)));
  }

  void runToCursorByInstruction() {
    const auto trace = tests::sampleTrace();
    const auto window = tests::sampleWindow(trace);
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    views::Navigator& navigator = window->navigator();
    window->codePane()->disassemblyAction()->setChecked(true);
    QVERIFY(navigator.goTo({0}, tests::lineAt(*trace->threads[0], 36), views::Navigator::Remember::No));
    views::CodeView* code = window->codePane()->disassemblyView();
    const int here = code->currentLine();
    code->setTextCursor(QTextCursor(code->document()->findBlockByNumber(here + 1)));
    QTest::keyClick(window.get(), Qt::Key_U);
    QTRY_COMPARE(place(*window), QStringLiteral("36'"));
    code->setTextCursor(QTextCursor(code->document()->findBlockByNumber(here + 2 * (38 - 36) + 1)));
    QTest::keyClick(window.get(), Qt::Key_U);
    QTRY_COMPARE(place(*window), QStringLiteral("38'"));
    QCOMPARE(code->currentLine(), here + 5);
  }

  void keysCanBeChangedAndConflictsAreTold() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    QAction* over = window->steps()->step(model::Step::Over);
    QAction* into = window->steps()->step(model::Step::Into);
    app::ShortcutsDialog* dialog = openShortcuts(*window);
    QVERIFY(dialog != nullptr);
    dialog->list()->setCurrentItem(command(*dialog, QStringLiteral("Over")));
    QCOMPARE(dialog->edit(0)->keySequence(), QKeySequence(Qt::Key_F10));
    QTest::keyClick(dialog->edit(0), Qt::Key_F8);
    QTRY_COMPARE(over->shortcuts(), (QList<QKeySequence>{Qt::Key_F8, Qt::Key_N}));
    QVERIFY(over->toolTip().contains(QStringLiteral("F8")));
    // A key of another command is not taken unasked.
    QTest::keyClick(dialog->edit(1), Qt::Key_F11);
    QTRY_VERIFY(dialog->note()->text().contains(QStringLiteral("Step")));
    QCOMPARE(over->shortcuts(), (QList<QKeySequence>{Qt::Key_F8, Qt::Key_N}));
    QTest::mouseClick(dialog->takeButton(), Qt::LeftButton);
    QCOMPARE(over->shortcuts(), (QList<QKeySequence>{Qt::Key_F8, Qt::Key_F11}));
    QCOMPARE(into->shortcuts(), (QList<QKeySequence>{Qt::Key_S}));
    // What desktops keep is refused.
    QTest::keyClick(dialog->edit(0), Qt::Key_F10, Qt::AltModifier);
    QTRY_VERIFY(dialog->note()->text().contains(QStringLiteral("desktops")));
    QCOMPARE(over->shortcut(), QKeySequence(Qt::Key_F8));
    QTest::mouseClick(dialog->resetButton(), Qt::LeftButton);
    QCOMPARE(over->shortcuts(), (QList<QKeySequence>{Qt::Key_F10, Qt::Key_N}));
    QTest::mouseClick(dialog->resetAllButton(), Qt::LeftButton);
    QCOMPARE(into->shortcuts(), (QList<QKeySequence>{Qt::Key_F11, Qt::Key_S}));
  }

  void keysAreRememberedAndWork() {
    const auto trace = tests::sampleTrace();
    {
      app::MainWindow window(tests::sampleServices(trace), app::Options(), true);
      window.shortcuts().setKeys(window.steps()->step(model::Step::Back), {Qt::Key_F9});
    }
    {
      app::MainWindow window(tests::sampleServices(trace), app::Options(), true);
      window.show();
      window.setTrace(trace);
      QVERIFY(QTest::qWaitForWindowActive(&window));
      const auto before = *window.navigator().entryIndex();
      QTest::keyClick(&window, Qt::Key_F9);
      QVERIFY(*window.navigator().entryIndex() < before);
      window.shortcuts().resetAll();
    }
    app::MainWindow window(tests::sampleServices(trace), app::Options(), true);
    QCOMPARE(window.steps()->step(model::Step::Back)->shortcut(), QKeySequence(Qt::SHIFT | Qt::Key_S));
  }

  void noTwoCommandsHaveOneKeyAndNoneIsTheDesktops() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    QVERIFY(window->shortcuts().actions().size() > 25);
    QStringList names;
    for (QAction* action : window->shortcuts().actions()) {
      QVERIFY2(!names.contains(action->objectName()), qPrintable(action->objectName()));
      names.append(action->objectName());
      for (const QKeySequence& key : action->shortcuts()) {
        QVERIFY2(window->shortcuts().holder(key, action) == nullptr, qPrintable(key.toString()));
        QVERIFY2(app::Shortcuts::refusal(key).isEmpty(), qPrintable(key.toString()));
      }
    }
    for (const char* taken : {"Alt+F10", "Ctrl+Alt+T", "Meta+L", "Ctrl+F10", "Alt+Tab", "Return"})
      QVERIFY2(!app::Shortcuts::refusal(QKeySequence(QLatin1String(taken))).isEmpty(), taken);
  }
};

QTEST_MAIN(Moving)
#include "tst_moving.moc"
