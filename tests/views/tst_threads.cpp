// Several threads in the window: over time, side by side, in one list, and what they wait for; and the
// arrangement of the panels by what the snap is of. On snaps of programs that were just recorded.

#include <QAbstractItemModelTester>
#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QProcess>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>
#include <QToolButton>

#include "app/viewer/color_scheme.h"
#include "app/viewer/loader_services.h"
#include "app/viewer/main_window.h"
#include "model/order.h"
#include "model/waits.h"
#include "picture.h"
#include "sample.h"
#include "tests/app/command_line.h"
#include "tests/builders/trace_text.h"
#include "views/threads/all_threads_model.h"
#include "views/threads/all_threads_panel.h"
#include "views/threads/lanes_panel.h"
#include "views/threads/side_by_side.h"
#include "views/threads/waits_model.h"
#include "views/trace/entry_table.h"
#include "views/trace/flat_model.h"
#include "views/trace/side_panels.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback;
using app::Layouts;
using test::CommandLine;
using test::Ran;

namespace {

std::shared_ptr<const model::Trace> loaded(const QString& snap) {
  const auto trace =
      app::loaderServices().load(snap.toStdString(), {[](double, const std::string&) {}, {}}, {});
  return trace ? *trace : nullptr;
}

std::unique_ptr<app::MainWindow> windowOn(const std::shared_ptr<const model::Trace>& trace,
                                          app::Services services) {
  auto window = std::make_unique<app::MainWindow>(std::move(services), app::Options{}, false);
  window->resize(1200, 800);
  window->setTrace(trace);
  window->show();
  return window;
}

std::unique_ptr<app::MainWindow> windowOn(const std::shared_ptr<const model::Trace>& trace) {
  return windowOn(trace, tests::sampleServices(trace));
}

QDockWidget* dock(app::MainWindow& window, const char* name) {
  return window.panels().dock(QString::fromLatin1(name));
}

template <typename Panel>
Panel* shown(app::MainWindow& window) {
  auto* panel = window.panels().find<Panel>();
  QDockWidget* dock = window.panels().dockOf(panel);
  dock->show();
  dock->raise();
  QCoreApplication::processEvents();
  return panel;
}

std::shared_ptr<const model::Trace> faultOf(const CommandLine& line) {
  const Ran ran = line.throughShell(QStringLiteral("ulimit -c 0; exec \"$@\""),
                                    {QStringLiteral("run"), QStringLiteral("--"),
                                     QStringLiteral(THREADS_PROGRAM), QStringLiteral("fault")});
  if (line.snaps().size() == 1) return loaded(line.snaps().first());
  qWarning("%s", ran.err.constData());
  return nullptr;
}

std::uint32_t threadIn(const model::Trace& trace, const char* function) {
  for (std::uint32_t i = 0; i < trace.threads.size(); ++i) {
    const model::ThreadTrace& thread = *trace.threads[i];
    for (model::EntryIndex at = 0; at < std::min<model::EntryIndex>(thread.entryCount(), 200); ++at) {
      const model::Function* called = trace.function(thread.entry(at).function);
      if (called != nullptr && called->name == function) return i;
    }
  }
  return UINT32_MAX;
}

}  // namespace

class Threads : public QObject {
  Q_OBJECT

  CommandLine m_line;
  std::shared_ptr<const model::Trace> m_fault, m_deadlock, m_killed;

 private slots:
  void initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QVERIFY(m_line.isReady());
    m_fault = faultOf(m_line);
    QVERIFY(m_fault);
    recordDeadlock();
  }

  void theThreadsThatAreDeadlockedAreFound() {
    const std::uint32_t main = threadIn(*m_deadlock, "main");
    const std::vector<model::Standing> all = model::standings(*m_deadlock);
    QCOMPARE(all.size(), std::size_t(3));
    for (std::uint32_t i = 0; i < 3; ++i) {
      QCOMPARE(all[i].systemCall, std::optional<std::uint32_t>(202));  // futex
      QVERIFY(all[i].waitsFor.has_value());
      QCOMPARE(all[i].waitsForEnd, i == main);
      QCOMPARE(all[i].deadlocked, i != main);
      QCOMPARE(all[i].atMost.has_value(), test::timesAreKnown());
    }
    QVERIFY(all[main].waitsFor != model::ThreadIndex{main});
  }

  void aHangShowsOneLineAThread() {
    const auto window = windowOn(m_deadlock);
    auto* panel = shown<views::WaitsPanel>(*window);
    const views::WaitsModel* waits = panel->waits();
    QAbstractItemModelTester tester(panel->waits(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(waits->rowCount(), 3);
    const std::uint32_t main = threadIn(*m_deadlock, "main");
    for (int row = 0; row < 3; ++row) {
      const auto text = [&](int column) { return waits->index(row, column).data().toString(); };
      QVERIFY(text(views::WaitsModel::kDoing).contains(QStringLiteral("futex")));
      const bool isMain = static_cast<std::uint32_t>(row) == main;
      QVERIFY(text(views::WaitsModel::kWhere)
                  .contains(isMain ? QStringLiteral("main") : QStringLiteral("lockBoth")));
      QCOMPARE(text(views::WaitsModel::kWaitsFor).contains(QStringLiteral("deadlock")), !isMain);
      QCOMPARE(text(views::WaitsModel::kWaitsFor).contains(QStringLiteral("the end of")), isMain);
      QCOMPARE(text(views::WaitsModel::kFor).startsWith(QStringLiteral("at most ")), test::timesAreKnown());
      QCOMPARE(text(views::WaitsModel::kFor).isEmpty(), !test::timesAreKnown());
      // A click goes there.
      QTest::mouseClick(panel->viewport(), Qt::LeftButton, {},
                        panel->visualRect(waits->index(row, 0)).center());
      QCOMPARE(window->navigator().threadIndex().value, static_cast<std::uint32_t>(row));
      QCOMPARE(window->navigator().entryIndex(), waits->standing(row).at);
    }
  }

  void lanesShowEachThreadAndAreGoneAboutIn() {
    const auto window = windowOn(m_fault);
    auto* view = shown<views::LanesPanel>(*window)->view();
    QAbstractItemModelTester tester(view->lanes(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(view->lanes()->rowCount(), static_cast<int>(m_fault->threads.size()));
    QVERIFY(view->axis().valid());
    // A click in a lane goes to that thread, to what it did at that time.
    const auto worker = static_cast<int>(threadIn(*m_fault, "countOn"));
    const QRect lane = view->laneRect(worker);
    QVERIFY(lane.isValid());
    const model::ThreadTimes& times = m_fault->threads[static_cast<std::size_t>(worker)]->times();
    const model::Ticks time = times.readings().front().time;
    const double x = view->axis().xOf(time, lane.width());
    QSignalSpy said(view, &views::LanesView::message);
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {},
                      {lane.left() + static_cast<int>(x) + 20, lane.center().y()});
    QCOMPARE(window->navigator().threadIndex().value, static_cast<std::uint32_t>(worker));
    QCOMPARE(said.count(), 1);
    const model::Ticks clicked = view->axis().timeAt(static_cast<int>(x) + 20, lane.width());
    const model::Whereabouts at = view->lanes()->entriesAt(worker, clicked);
    // While it slept it stood at none: the next to it is gone to.
    const model::EntryIndex there = *window->navigator().entryIndex();
    const bool slept =
        at.certain() &&
        m_fault->threads[static_cast<std::size_t>(worker)]->entry(at.first).kind == model::EntryKind::Sync;
    QVERIFY(at.contains(there) || (slept && there + 1 >= at.first && there <= at.end));
    // By key: zoom, all of it again, another lane, its thread.
    view->setFocus();
    const double whole = view->axis().to() - view->axis().from();
    QTest::keyClick(view, Qt::Key_Plus);
    QVERIFY(view->axis().to() - view->axis().from() < whole);
    const double from = view->axis().from();
    QTest::keyClick(view, Qt::Key_Left);
    QVERIFY(view->axis().from() <= from);
    QTest::keyClick(view, Qt::Key_0);
    QVERIFY(view->axis().showsAll());
    QTest::keyClick(view, Qt::Key_Home);
    QTest::keyClick(view, Qt::Key_Return);
    QCOMPARE(window->navigator().threadIndex().value, 0U);
  }

  // Of few ticks, each for something that happened.
  void lanesOfAClockThatCountsEventsAreZoomedToo() {
    CommandLine line;
    line.environment().insert(QStringLiteral("TRACEBACK_CLOCK"), QStringLiteral("logical"));
    const auto trace = faultOf(line);
    QVERIFY(trace);
    const auto window = windowOn(trace);
    auto* view = shown<views::LanesPanel>(*window)->view();
    QVERIFY(view->axis().valid());
    const double whole = view->axis().to() - view->axis().from();
    view->setFocus();
    for (int presses = 0; presses < 20; ++presses) QTest::keyClick(view, Qt::Key_Plus);
    const double seen = view->axis().to() - view->axis().from();
    QVERIFY2(seen > 0 && seen < whole / 4, qPrintable(QString::number(seen / whole)));
    QTest::keyClick(view, Qt::Key_0);
    QVERIFY(view->axis().showsAll());
  }

  void lanesSayWhetherTheirAxisCountsTimeOrEvents() {
    views::Navigator navigator;
    views::LanesPanel panel(navigator);
    const auto shownUnit = [&](const std::shared_ptr<model::Trace>& of) {
      navigator.setTrace(of);
      return panel.findChild<QLabel*>(QStringLiteral("axisUnit"))->toolTip();
    };
    const auto timed = [] {
      auto all = tests::traceOf("thread 1 main\ntime 1000\ncall main main.c\n  10\n  time 2000\n  11\n");
      all->summary.pid = 100;
      return all;
    };
    QCOMPARE(shownUnit(timed()), QStringLiteral("events before the end; times are not known"));
    auto clocked = timed();
    clocked->clockStart = {{500}, {1'000'000}};
    clocked->clockEnd = {{3000}, {2'000'000}};
    QCOMPARE(shownUnit(clocked), QStringLiteral("time before the end of the trace"));
    auto unsure = timed();
    unsure->summary.pid = 0;  // the section that has the clocks is damaged
    QCOMPARE(shownUnit(unsure), QStringLiteral("clock ticks before the end; times are not known"));
  }

  void lanesSayInWordsWhatTheyDraw() {
    const auto window = windowOn(m_fault);
    const auto* lanes = shown<views::LanesPanel>(*window)->view()->lanes();
    QVERIFY(window->navigator().goToFault());
    const auto text = [&](std::uint32_t row) {
      return lanes->index(static_cast<int>(row), views::LanesModel::kLane)
          .data(Qt::AccessibleTextRole)
          .toString();
    };
    QVERIFY(text(threadIn(*m_fault, "crash")).contains(QStringLiteral("faulted")));
    QVERIFY(text(threadIn(*m_fault, "crash")).contains(QStringLiteral("the current entry is in it")));
    QVERIFY(text(threadIn(*m_fault, "end")).contains(QStringLiteral("had ended by then")));
    const QString other = text(threadIn(*m_fault, "countOn"));
    // It is known only if it was asleep.
    QVERIFY2(other.contains(QStringLiteral("not known")) || other.contains(QStringLiteral("was at entry")),
             qPrintable(other));
    // Before the worker began.
    const std::uint32_t ended = threadIn(*m_fault, "end");
    QVERIFY(window->navigator().goTo({ended}, 3, views::Navigator::Remember::No));
    QVERIFY(text(threadIn(*m_fault, "countOn")).contains(QStringLiteral("had not begun then")));
  }

  void goingAboutInOneThreadLightsWhatTheOthersMayHaveDone() {
    const auto window = windowOn(m_fault);
    auto* panel = shown<views::SideBySidePanel>(*window);
    QCOMPARE(panel->columns().size(), views::SideBySidePanel::kAtFirst);
    QTest::mouseClick(panel->addButton(), Qt::LeftButton);
    QCOMPARE(panel->columns().size(), views::SideBySidePanel::kAtFirst + 1);
    const std::uint32_t crash = threadIn(*m_fault, "crash");
    QVERIFY(window->navigator().goToFault());
    for (int steps = 0; steps < 200; ++steps) {
      for (views::ThreadColumn* column : panel->columns()) {
        const model::ThreadIndex thread = column->thread();
        if (thread.value == crash) {
          QCOMPARE(column->table()->currentIndex().data(views::kEntryRole).toULongLong(),
                   *window->navigator().entryIndex());
          QVERIFY(!column->table()->currentIndex().data(views::kOrderRole).isValid());
          continue;
        }
        const model::Whereabouts where =
            model::whereaboutsAt(*m_fault, {{crash}, *window->navigator().entryIndex()}, thread);
        QCOMPARE(column->standing(), views::whereaboutsText(where, *m_fault->threads[thread.value]));
        const model::EntryIndex count = m_fault->threads[thread.value]->entryCount();
        for (const model::EntryIndex entry : {model::EntryIndex{0}, where.first, where.end, count - 1}) {
          if (entry >= count) continue;
          const QModelIndex row = column->model()->reveal(entry);
          QCOMPARE(row.data(views::kOrderRole).toInt(), static_cast<int>(where.orderOf(entry)));
          if (where.orderOf(entry) == model::Order::Unknown)
            QVERIFY(row.data(Qt::AccessibleTextRole).toString().contains(QStringLiteral("order not known")));
        }
      }
      QVERIFY(window->navigator().step(model::Step::Back));
    }
    // Stepping is in the column that one goes about in.
    views::ThreadColumn* column =
        panel->columns().first()->thread().value == crash ? panel->columns()[1] : panel->columns().first();
    const QModelIndex row = column->model()->index(0, views::kWhatColumn);
    column->table()->scrollTo(row);
    QTest::mouseClick(column->table()->viewport(), Qt::LeftButton, {},
                      column->table()->visualRect(row).center());
    QCOMPARE(window->navigator().threadIndex(), column->thread());
  }

  void columnsAreChosenAndRemoved() {
    const auto window = windowOn(m_fault);
    auto* panel = shown<views::SideBySidePanel>(*window);
    views::ThreadColumn* column = panel->columns().first();
    const int last = column->chooser()->count() - 1;
    column->setThread({static_cast<std::uint32_t>(last)});
    QCOMPARE(column->chooser()->currentIndex(), last);
    QAbstractItemModelTester tester(column->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    emit column->closeRequested();
    QVERIFY(!panel->columns().contains(column));
    // Another trace brings its own threads.
    window->setTrace(m_deadlock);
    QCOMPARE(panel->columns().size(), 3);
    for (const views::ThreadColumn* each : panel->columns()) QCOMPARE(each->chooser()->count(), 3);
  }

  void oneListHasAllThreadsInAnOrderThatContradictsNothing() {
    const auto window = windowOn(m_deadlock);
    auto* panel = shown<views::AllThreadsPanel>(*window);
    views::AllThreadsModel* rows = panel->model();
    QAbstractItemModelTester tester(rows, QAbstractItemModelTester::FailureReportingMode::QtTest);
    std::uint64_t entries = 0;
    for (const auto& thread : m_deadlock->threads) entries += thread->entryCount();
    std::vector<model::TracePlace> places;
    for (int row = 0; row < rows->rowCount(); ++row)
      if (const auto place = rows->placeAt(rows->index(row, 0))) places.push_back(*place);
    QCOMPARE(places.size(), entries);
    for (std::size_t a = 0; a < places.size(); ++a)
      for (std::size_t b = a + 1; b < places.size(); ++b)
        QVERIFY(model::orderOf(*m_deadlock, places[a], places[b]) != model::Order::After);
    // The row of each entry, and what it says of its order to where one stands.
    const auto position = window->navigator().position();
    for (const model::TracePlace& place : places) {
      const QModelIndex row = rows->reveal(place);
      QCOMPARE(rows->placeAt(row), std::optional(place));
      const model::Order order = model::orderOf(*m_deadlock, place, *position);
      const QString words = row.siblingAtColumn(views::AllThreadsModel::kOrderColumn).data().toString();
      QCOMPARE(words, order == model::Order::Same     ? QString()
                      : order == model::Order::Before ? QStringLiteral("before")
                      : order == model::Order::After  ? QStringLiteral("after")
                                                      : QStringLiteral("order not known"));
    }
    // The list follows, and leads.
    QCOMPARE(rows->placeAt(panel->table()->currentIndex()), position);
    panel->table()->setFocus();
    QTest::keyClick(panel->table(), Qt::Key_Home, Qt::ControlModifier);
    for (int presses = 0; presses < 20; ++presses) {
      QTest::keyClick(panel->table(), Qt::Key_Down);
      const auto place = rows->placeAt(panel->table()->currentIndex());
      if (!place || !model::isSteppable(m_deadlock->threads[place->thread.value]->entry(place->entry).kind))
        continue;
      QCOMPARE(window->navigator().position(), place);
    }
  }

  void aListLongerThanTheWindowMoves() {
    views::SourceCache sources;
    views::AllThreadsModel rows(sources);
    QAbstractItemModelTester tester(&rows, QAbstractItemModelTester::FailureReportingMode::QtTest);
    rows.setTrace(m_fault);
    for (std::uint32_t thread = 0; thread < m_fault->threads.size(); ++thread)
      for (const model::EntryIndex entry :
           {model::EntryIndex{0}, m_fault->threads[thread]->entryCount() - 1}) {
        const model::TracePlace place{{thread}, entry};
        QCOMPARE(rows.placeAt(rows.reveal(place)), std::optional(place));
      }
  }

  void theArrangementIsThatOfTheReason() {
    QCOMPARE(windowOn(m_fault)->layouts().current(), Layouts::Kind::Fault);
    const auto asked = windowOn(m_deadlock);
    QCOMPARE(asked->layouts().current(), Layouts::Kind::Request);
    // Of those that share a place, the first is in front.
    QTRY_VERIFY(!dock(*asked, "waitsDock")->visibleRegion().isEmpty());
    QVERIFY(!dock(*asked, "callsDock")->visibleRegion().isEmpty());
    QCOMPARE(windowOn(m_killed)->layouts().current(), Layouts::Kind::Killed);
    const auto hang = tests::sampleTrace();
    hang->summary.reason = model::TraceReason::Hang;
    const auto window = windowOn(hang);
    QCOMPARE(window->layouts().current(), Layouts::Kind::Hang);
    QTRY_VERIFY(dock(*window, "waitsDock")->isVisible());
    QVERIFY(dock(*window, "lanesDock")->isVisible());
    QVERIFY(!dock(*window, "threadsDock")->isVisible());
    window->setTrace(m_fault);
    QTRY_VERIFY(dock(*window, "threadsDock")->isVisible());
    QVERIFY(!dock(*window, "waitsDock")->isVisible());
  }

  void whatTheUserChangesIsKeptForThatReasonAndCanBeReset() {
    const auto remembering = [this](const std::shared_ptr<const model::Trace>& trace) {
      auto window = std::make_unique<app::MainWindow>(tests::sampleServices(trace), app::Options{}, true);
      window->setTrace(trace);
      window->show();
      return window;
    };
    app::Settings().clearState();
    {
      const auto window = remembering(m_fault);
      dock(*window, "lanesDock")->show();
      dock(*window, "callsDock")->hide();
      window->close();
    }
    {
      const auto window = remembering(m_killed);
      QVERIFY(dock(*window, "callsDock")->isVisible());
      window->close();
    }
    const auto window = remembering(m_fault);
    QVERIFY(dock(*window, "lanesDock")->isVisible());
    QVERIFY(!dock(*window, "callsDock")->isVisible());
    // By the menu: another arrangement, back, and this one as it was at first.
    const auto trigger = [&](const char* name) {
      auto* action = window->findChild<QAction*>(QString::fromLatin1(name));
      QVERIFY(action != nullptr);
      action->trigger();
    };
    trigger("layout-hang");
    QVERIFY(dock(*window, "waitsDock")->isVisible());
    trigger("layout-fault");
    QVERIFY(dock(*window, "lanesDock")->isVisible() && !dock(*window, "callsDock")->isVisible());
    trigger("restoreLayout");
    QVERIFY(!dock(*window, "lanesDock")->isVisible() && dock(*window, "callsDock")->isVisible());
    window->close();
    app::Settings().clearState();
  }

  void everyArrangementIsDrawn_data() {
    QTest::addColumn<app::ColorScheme>("colors");
    QTest::addColumn<Layouts::Kind>("kind");
    for (const app::ColorScheme colors : {app::ColorScheme::Light, app::ColorScheme::Dark})
      for (const Layouts::Kind kind : Layouts::kKinds)
        QTest::addRow("%s-%s", qPrintable(Layouts::word(kind)),
                      colors == app::ColorScheme::Light ? "light" : "dark")
            << colors << kind;
  }

  // Of real snaps, and at a size that is small, too.
  void everyArrangementIsDrawn() {
    QFETCH(app::ColorScheme, colors);
    QFETCH(Layouts::Kind, kind);
    app::useColorScheme(colors);
    const auto asItWas = qScopeGuard([] { app::useColorScheme(app::ColorScheme::Light); });
    const QString name = QString::fromLatin1(QTest::currentDataTag());
    const auto window = windowOn(kind == Layouts::Kind::Fault    ? m_fault
                                 : kind == Layouts::Kind::Killed ? m_killed
                                                                 : m_deadlock,
                                 app::loaderServices());
    window->resize(1200, 800);
    window->layouts().use(kind);
    tests::keep(*window, QStringLiteral("layout-") + name);
    for (const char* panel : {"sideBySideDock", "allThreadsDock"}) {
      dock(*window, panel)->show();
      dock(*window, panel)->raise();
      tests::keep(*window, QStringLiteral("%1-%2").arg(QString::fromLatin1(panel), name));
      dock(*window, panel)->hide();
    }
    window->resize(900, 600);
    QCoreApplication::processEvents();
    QVERIFY(window->width() <= 900);
  }

 private:
  // A snap of the hanging program once all of its threads hang; then it is killed, and what is left
  // recovered.
  void recordDeadlock() {
    QProcess process;
    process.setProcessEnvironment(m_line.environment());
    process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    process.start(CommandLine::program(), {QStringLiteral("run"), QStringLiteral("--"),
                                           QStringLiteral(THREADS_PROGRAM), QStringLiteral("deadlock")});
    QVERIFY(process.waitForReadyRead(60'000));
    QVERIFY(process.readAll().contains("ready"));
    for (int tries = 0; tries < 50 && !m_deadlock; ++tries) {
      const QStringList before = m_line.snaps();
      const Ran ran = m_line.traceback({QStringLiteral("snap"), QString::number(process.processId())});
      QVERIFY2(ran.status == 0, ran.err.constData());
      QString snap;
      for (const QString& each : m_line.snaps())
        if (!before.contains(each)) snap = each;
      const auto trace = loaded(snap);
      QVERIFY(trace);
      const auto all = model::standings(*trace);
      if (std::ranges::all_of(all, [](const model::Standing& s) { return s.waitsFor.has_value(); }))
        m_deadlock = trace;
      else
        QTest::qWait(20);
    }
    const QStringList before = m_line.snaps();
    process.kill();
    QVERIFY(process.waitForFinished());
    QVERIFY(m_deadlock);
    const Ran ran = m_line.traceback({QStringLiteral("recover")});
    for (const QString& each : m_line.snaps())
      if (!before.contains(each)) m_killed = loaded(each);
    QVERIFY2(m_killed, ran.err.constData());
  }
};

QTEST_MAIN(Threads)
#include "tst_threads.moc"
