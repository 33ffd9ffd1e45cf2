// From a file to the window: progress, cancelling, errors, closing in the middle; and what is remembered.

#include <QAbstractItemView>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <atomic>
#include <memory>
#include <semaphore>

#include "app/viewer/load_job.h"
#include "app/viewer/main_window.h"
#include "app/viewer/options.h"
#include "app/viewer/settings.h"
#include "sample.h"
#include "tests/builders/trace_text.h"
#include "views/notes/annotations_panel.h"
#include "views/summary/summary_strip.h"
#include "views/trace/trace_pane.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback;
using app::MainWindow;

namespace {

// A loader that stands still until it is told to go on or to stop.
struct Gate {
  std::atomic<int> started = 0, stopped = 0, ended = 0;
  std::atomic<bool> open = false;

  // With a part, that is seen before.
  app::LoadFunction load(const app::SharedTrace& trace, const app::SharedTrace& part = {}) {
    return [this, trace, part](const std::filesystem::path& file, const app::LoadProgress& progress,
                               const std::stop_token& stop) -> model::Result<app::SharedTrace> {
      ++started;
      if (part) progress.preview(part);
      progress(0.25, "Reading records");
      while (!open && !stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++ended;
      if (!stop.stop_requested()) return trace;
      ++stopped;
      return model::fail("cancelled", file.string());
    };
  }
};

app::Services servicesWith(app::LoadFunction load) {
  app::Services services = tests::sampleServices(tests::sampleTrace());
  services.load = std::move(load);
  return services;
}

}  // namespace

class Loading : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    app::Settings settings;
    settings.clearState();
    settings.clearRecentFiles();
  }

  void windowStaysAliveWhileAFileLoads() {
    Gate gate;
    MainWindow window(servicesWith(gate.load(tests::sampleTrace())), {}, false);
    QSignalSpy finished(&window, &MainWindow::finishedLoading);
    window.show();
    window.openFile(QStringLiteral("/some/file.tbsnap"));
    QTRY_COMPARE(gate.started, 1);
    QCOMPARE(window.showing(), MainWindow::Showing::Loading);
    QVERIFY(finished.isEmpty());
    gate.open = true;
    QVERIFY(finished.wait());
    QCOMPARE(finished.first().first().toString(), QString());
    QCOMPARE(window.showing(), MainWindow::Showing::Trace);
  }

  void cancellingStopsTheLoaderAndGoesBack() {
    Gate gate;
    MainWindow window(servicesWith(gate.load(tests::sampleTrace())), {}, false);
    QSignalSpy finished(&window, &MainWindow::finishedLoading);
    window.show();
    window.openFile(QStringLiteral("/some/file.tbsnap"));
    QTRY_COMPARE(gate.started, 1);
    QTest::mouseClick(window.findChild<QPushButton*>(QStringLiteral("cancelLoading")), Qt::LeftButton);
    QCOMPARE(window.showing(), MainWindow::Showing::Welcome);
    QTRY_COMPARE(gate.stopped, 1);
    QTest::qWait(50);
    QVERIFY(finished.isEmpty());
    QCOMPARE(window.showing(), MainWindow::Showing::Welcome);
  }

  void cancellingASecondFileKeepsTheFirstTrace() {
    Gate gate;
    gate.open = true;
    MainWindow window(servicesWith(gate.load(tests::sampleTrace())), {}, false);
    QSignalSpy finished(&window, &MainWindow::finishedLoading);
    window.show();
    window.openFile(QStringLiteral("/first.tbsnap"));
    QVERIFY(finished.wait());
    gate.open = false;
    window.openFile(QStringLiteral("/second.tbsnap"));
    QTRY_COMPARE(window.showing(), MainWindow::Showing::Loading);
    QTest::mouseClick(window.findChild<QPushButton*>(QStringLiteral("cancelLoading")), Qt::LeftButton);
    QCOMPARE(window.showing(), MainWindow::Showing::Trace);
    QVERIFY(window.windowTitle().startsWith(QStringLiteral("shelf: SIGSEGV")));
  }

  void closingWhileLoadingWaitsForTheLoader() {
    Gate gate;
    {
      MainWindow window(servicesWith(gate.load(tests::sampleTrace())), {}, false);
      window.show();
      window.openFile(QStringLiteral("/some/file.tbsnap"));
      QTRY_COMPARE(gate.started, 1);
      window.close();
    }
    QCOMPARE(gate.stopped, 1);
    QCOMPARE(gate.ended, gate.started);
  }

  void openingAnotherFileDropsTheFirst() {
    Gate gate;
    app::LoadJob job(gate.load(tests::sampleTrace()));
    QSignalSpy loaded(&job, &app::LoadJob::loaded);
    QSignalSpy failed(&job, &app::LoadJob::failed);
    job.start(QStringLiteral("/first"));
    job.start(QStringLiteral("/second"));
    QTRY_COMPARE(gate.stopped, 1);
    gate.open = true;
    QVERIFY(loaded.wait());
    QTest::qWait(30);
    QCOMPARE(loaded.size(), 1);
    QVERIFY(failed.isEmpty());
    QCOMPARE(job.file(), QStringLiteral("/second"));
  }

  void progressReachesTheWindow() {
    Gate gate;
    app::LoadJob job(gate.load(tests::sampleTrace()));
    QSignalSpy progress(&job, &app::LoadJob::progress);
    job.start(QStringLiteral("/some/file.tbsnap"));
    QVERIFY(progress.wait());
    QCOMPARE(progress.first().at(0).toDouble(), 0.25);
    QCOMPARE(progress.first().at(1).toString(), QStringLiteral("Reading records"));
  }

  void whoIsToldOfProgressMayCancel() {
    const auto trace = tests::sampleTrace();
    std::atomic<bool> ended = false;
    const app::LoadFunction load = [&](const std::filesystem::path&, const app::LoadProgress& progress,
                                       const std::stop_token&) -> model::Result<app::SharedTrace> {
      progress.preview(trace);
      progress(0.5, "Reading records");
      ended = true;
      return trace;
    };
    app::LoadJob job(load);
    QSignalSpy parts(&job, &app::LoadJob::partLoaded), loaded(&job, &app::LoadJob::loaded);
    int told = 0;
    connect(&job, &app::LoadJob::progress, &job, [&] {
      ++told;
      job.cancel();
    });
    job.start(QStringLiteral("/one"));
    while (!ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    QTRY_COMPARE(told, 1);
    QTest::qWait(50);
    QVERIFY(parts.isEmpty() && loaded.isEmpty());
  }

  void whoIsToldOfProgressMayEndTheJob() {
    Gate gate;
    auto job = std::make_unique<app::LoadJob>(gate.load(tests::sampleTrace()));
    connect(job.get(), &app::LoadJob::progress, this, [&job] { job.reset(); });
    job->start(QStringLiteral("/one"));
    QTRY_VERIFY(job == nullptr);
    QCOMPARE(gate.stopped, 1);
  }

  void theNewestIsShownWhileTheRestIsRead() {
    const auto part = tests::traceOf("gap not-read\nin main main.c\n  2 x3\n  4\n");
    const auto whole = tests::traceOf("call main main.c\n  1\n  2 x50\n  3\n  2 x50\n  4\n");
    Gate gate;
    const auto load = gate.load(whole, part);
    MainWindow window(servicesWith(load), {}, false);
    QSignalSpy finished(&window, &MainWindow::finishedLoading);
    window.show();
    window.openFile(QStringLiteral("/large.tbsnap"));
    QTRY_COMPARE(window.showing(), MainWindow::Showing::Trace);
    const auto* reading = window.findChild<QWidget*>(QStringLiteral("loadingNote"));
    QVERIFY(reading->isVisible());
    views::Navigator& navigator = window.navigator();
    const auto depthOf = [&] { return navigator.thread()->entryCount() - *navigator.entryIndex(); };
    QVERIFY(navigator.step(model::Step::Back));
    QVERIFY(navigator.step(model::Step::Back));
    const auto fromEnd = depthOf();
    QVERIFY(finished.isEmpty());
    gate.open = true;
    QVERIFY(finished.wait());
    QVERIFY(!reading->isVisible());
    QCOMPARE(navigator.thread()->entryCount(), whole->threads[0]->entryCount());
    QCOMPARE(depthOf(), fromEnd);
    QCOMPARE(navigator.entry()->line, 2U);
    for (int i = 0; i < 60; ++i) QVERIFY(navigator.step(model::Step::Back));
  }

  void stoppingKeepsWhatIsShown() {
    const auto part = tests::traceOf("gap not-read\nin main main.c\n  2 x3\n  4\n");
    Gate gate;
    MainWindow window(servicesWith(gate.load(part, part)), {}, false);
    window.show();
    window.openFile(QStringLiteral("/large.tbsnap"));
    QTRY_COMPARE(window.showing(), MainWindow::Showing::Trace);
    auto* reading = window.findChild<QWidget*>(QStringLiteral("loadingNote"));
    QTest::mouseClick(reading->findChild<QToolButton*>(), Qt::LeftButton);
    QTRY_COMPARE(gate.stopped, 1);
    QCOMPARE(window.showing(), MainWindow::Showing::Trace);
    QVERIFY(!reading->isVisible());
    QCOMPARE(window.navigator().trace(), app::SharedTrace(part));
  }

  void notesMadeWhileTheRestIsReadStayAtTheirPlaces() {
    QTemporaryDir folder;
    const QString snap = folder.filePath(QStringLiteral("large.tbsnap"));
    const auto part = tests::traceOf("gap not-read\nin main main.c\n  2 x3\n  4\n");
    const auto whole = tests::traceOf("call main main.c\n  1\n  2 x50\n  3\n  2 x50\n  4\n");
    Gate gate;
    const auto load = gate.load(whole, part);
    MainWindow window(servicesWith(load), {}, false);
    QSignalSpy finished(&window, &MainWindow::finishedLoading);
    window.show();
    window.openFile(snap);
    QTRY_COMPARE(window.showing(), MainWindow::Showing::Trace);
    window.annotations().set({0}, part->threads[0]->entryCount() - 1, QStringLiteral("the last"));
    gate.open = true;
    QVERIFY(finished.wait());
    QCOMPARE(window.annotations().all().size(), 1);
    const auto last = whole->threads[0]->entryCount() - 1;
    QVERIFY(window.annotations().at({0}, last) != nullptr);
    // They are in the file, too.
    MainWindow another(servicesWith(load), {}, false);
    QSignalSpy again(&another, &MainWindow::finishedLoading);
    another.show();
    another.openFile(snap);
    QVERIFY(again.wait());
    QVERIFY(another.annotations().at({0}, last) != nullptr);
    QCOMPARE(another.annotations().at({0}, last)->text, QStringLiteral("the last"));
  }

  void whatIsBeingWrittenWhenTheRestHasComeIsKeptBesideWhatTheFileSays() {
    const QTemporaryDir folder;
    const QString snap = folder.filePath(QStringLiteral("large.tbsnap"));
    const auto part = tests::traceOf("gap not-read\nin main main.c\n  2 x3\n  4\n");
    const auto whole = tests::traceOf("call main main.c\n  1\n  2 x50\n  3\n  2 x50\n  4\n");
    const auto last = whole->threads[0]->entryCount() - 1;
    {
      views::Annotations before;
      before.setTrace(whole, snap);
      before.set({0}, last, QStringLiteral("as before"));
    }
    Gate gate;
    const auto load = gate.load(whole, part);
    MainWindow window(servicesWith(load), {}, false);
    QSignalSpy finished(&window, &MainWindow::finishedLoading);
    window.show();
    window.openFile(snap);
    QTRY_COMPARE(window.showing(), MainWindow::Showing::Trace);
    window.navigator().goTo({0}, part->threads[0]->entryCount() - 1, views::Navigator::Remember::No);
    window.annotationsPanel()->noteHere();
    auto* editor = window.annotationsPanel()->findChild<QLineEdit*>();
    QVERIFY(editor != nullptr);
    QTest::keyClicks(editor, QStringLiteral("and now"));
    gate.open = true;
    QVERIFY(finished.wait());
    const views::Annotation* note = window.annotations().at({0}, last);
    QVERIFY(note != nullptr);
    QCOMPARE(note->text, QStringLiteral("as before\nand now"));
    QCOMPARE(window.annotations().all().size(), 1);
  }

  void ofWhatWasNotReadToItsEndNoNotesAreTaken() {
    const auto part = tests::traceOf("gap not-read\nin main main.c\n  2 x3\n  4\n");
    Gate gate;
    MainWindow window(servicesWith(gate.load(part, part)), {}, false);
    window.show();
    window.openFile(QStringLiteral("/large.tbsnap"));
    QTRY_COMPARE(window.showing(), MainWindow::Showing::Trace);
    auto* reading = window.findChild<QWidget*>(QStringLiteral("loadingNote"));
    QTest::mouseClick(reading->findChild<QToolButton*>(), Qt::LeftButton);
    QSignalSpy problem(&window.annotations(), &views::Annotations::problemMet);
    window.annotations().set({0}, 0, {});
    QVERIFY(window.annotations().all().isEmpty());
    QCOMPARE(problem.size(), 1);
    QVERIFY(problem[0][0].toString().contains(QStringLiteral("open it again")));
  }

  void theTraceStaysInSightIfAnotherFileCannotBeOpened() {
    const auto trace = tests::sampleTrace();
    const auto load = [&](const std::filesystem::path& file, const app::LoadProgress&,
                          const std::stop_token&) -> model::Result<app::SharedTrace> {
      if (file == "/good.tbsnap") return trace;
      return model::fail("not a snap", file.string(), 0);
    };
    MainWindow window(servicesWith(load), {}, false);
    QSignalSpy finished(&window, &MainWindow::finishedLoading);
    window.show();
    window.openFile(QStringLiteral("/good.tbsnap"));
    QVERIFY(finished.wait());
    const QString title = window.windowTitle();
    window.openFile(QStringLiteral("/bad.tbsnap"));
    QVERIFY(finished.wait());
    QCOMPARE(window.showing(), MainWindow::Showing::Trace);
    QCOMPARE(window.navigator().trace(), app::SharedTrace(trace));
    QCOMPARE(window.windowTitle(), title);
    const auto* box = window.findChild<QMessageBox*>(QStringLiteral("openError"));
    QVERIFY(box != nullptr && box->isVisible());
    QVERIFY(box->text().contains(QStringLiteral("/bad.tbsnap")) &&
            box->text().contains(QStringLiteral("not a snap")));
  }

  void whereOneStandsIsInSightInEveryLayout_data() {
    QTest::addColumn<int>("kind");
    for (const auto kind : {app::Layouts::Kind::Fault, app::Layouts::Kind::Hang, app::Layouts::Kind::Request,
                            app::Layouts::Kind::Killed})
      QTest::addRow("%d", static_cast<int>(kind)) << static_cast<int>(kind);
  }
  void whereOneStandsIsInSightInEveryLayout() {
    QFETCH(int, kind);
    app::Options options;
    options.layout = static_cast<app::Layouts::Kind>(kind);
    MainWindow window(tests::sampleServices(tests::sampleTrace()), options, false);
    window.resize(1200, 800);
    window.show();
    QString lines;
    for (int i = 1; i < 200; ++i) lines += QStringLiteral("  %1\n").arg(i);
    window.setTrace(tests::traceOf(("call main main.c\n" + lines).toStdString()));
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    QAbstractItemView* view = window.tracePane()->currentView();
    QTRY_VERIFY(view->viewport()->rect().contains(view->visualRect(view->currentIndex()).center()));
    QTest::qWait(50);
    QVERIFY(view->viewport()->rect().contains(view->visualRect(view->currentIndex()).center()));
  }

  void badFileIsOneClearMessage() {
    const auto load = [](const std::filesystem::path& file, const app::LoadProgress&,
                         const std::stop_token&) -> model::Result<app::SharedTrace> {
      return model::fail("not a snap", file.string(), 0);
    };
    MainWindow window(servicesWith(load), {}, false);
    QSignalSpy finished(&window, &MainWindow::finishedLoading);
    window.show();
    window.openFile(QStringLiteral("/some/file.tbsnap"));
    QVERIFY(finished.wait());
    QCOMPARE(window.showing(), MainWindow::Showing::Error);
    QVERIFY(window.errorMessage().contains(QStringLiteral("/some/file.tbsnap")));
    QVERIFY(window.errorMessage().contains(QStringLiteral("not a snap")));
    QCOMPARE(finished.first().first().toString(), window.errorMessage());
  }

  void damagedSnapOpensWithANote() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    QCOMPARE(window->summaryStrip()->notes(), QStringLiteral("2 notes, data lost"));
    auto whole = tests::sampleTrace();
    whole->report = {};
    window->setTrace(whole);
    QCOMPARE(window->summaryStrip()->notes(), QString());
  }

  void commandLinePutsTheUserWhereItSays() {
    app::Options options;
    options.thread = 2;
    options.entry = 2;
    options.flat = true;
    MainWindow window(tests::sampleServices(tests::sampleTrace()), options, false);
    window.show();
    window.setTrace(tests::sampleTrace());
    QCOMPARE(window.navigator().threadIndex().value, 1U);
    QCOMPARE(window.navigator().entryIndex(), std::optional<model::EntryIndex>(2));
    QCOMPARE(window.tracePane()->mode(), views::TracePane::Mode::Flat);
    // Of the next file they mean nothing.
    window.setTrace(tests::sampleTrace());
    QCOMPARE(window.navigator().threadIndex().value, 0U);
  }

  void optionsAreChecked_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("names");  // in the error; empty: none
    const auto row = [](const char* name, const QStringList& arguments, const char* names) {
      QTest::newRow(name) << (QStringList{QStringLiteral("traceback-viewer")} + arguments)
                          << QString::fromLatin1(names);
    };
    row("nothing", {}, "");
    row("a file", {QStringLiteral("a.tbsnap")}, "");
    row("two files", {QStringLiteral("a"), QStringLiteral("b")}, "more than one file");
    row("all",
        {QStringLiteral("--thread=2"), QStringLiteral("--goto=7"), QStringLiteral("--size=800x600"),
         QStringLiteral("--source-path=/a=/b"), QStringLiteral("--colors=dark"), QStringLiteral("a")},
        "");
    row("unknown", {QStringLiteral("--wrong")}, "wrong");
    row("thread 0", {QStringLiteral("--thread=0"), QStringLiteral("a")}, "--thread");
    row("goto a word", {QStringLiteral("--goto=end"), QStringLiteral("a")}, "--goto");
    row("size of one", {QStringLiteral("--size=800")}, "--size");
    row("path without =", {QStringLiteral("--source-path=/a")}, "--source-path");
    row("no such colour", {QStringLiteral("--colors=red")}, "--colors");
    row("picture of nothing", {QStringLiteral("--screenshot=a.png")}, "--screenshot");
  }

  void optionsAreChecked() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, names);
    const auto options = app::parseOptions(arguments);
    QCOMPARE(options.has_value(), names.isEmpty());
    if (!options) QVERIFY2(options.error().contains(names), qPrintable(options.error()));
  }

  void mappingIsWhatTheTwoPathsDifferIn() {
    QCOMPARE(app::mappingBetween(QStringLiteral("/build/lua/src/lgc.c"),
                                 QStringLiteral("/elsewhere/lua/src/lgc.c")),
             (app::SourceMapping{QStringLiteral("/build"), QStringLiteral("/elsewhere")}));
    QCOMPARE(app::mappingBetween(QStringLiteral("/a/x.c"), QStringLiteral("/a/y.c")),
             std::optional<app::SourceMapping>());
    QCOMPARE(app::mappingBetween(QStringLiteral("/x.c"), QStringLiteral("/elsewhere/x.c")),
             (app::SourceMapping{QStringLiteral("/"), QStringLiteral("/elsewhere")}));
  }

  void recentFilesAreRememberedNewestFirst() {
    app::Settings settings;
    for (int i = 0; i < 12; ++i) settings.addRecentFile(QStringLiteral("/snaps/%1.tbsnap").arg(i));
    settings.addRecentFile(QStringLiteral("/snaps/5.tbsnap"));
    const QStringList files = app::Settings().recentFiles();
    QCOMPARE(files.size(), 10);
    QCOMPARE(files.at(0), QStringLiteral("/snaps/5.tbsnap"));
    QCOMPARE(files.at(1), QStringLiteral("/snaps/11.tbsnap"));
    QCOMPARE(files.count(QStringLiteral("/snaps/5.tbsnap")), 1);
  }

  void windowComesBackAsItWasLeft() {
    {
      MainWindow window(tests::sampleServices(tests::sampleTrace()), {}, true);
      window.resize(701, 502);
      window.tracePane()->setMode(views::TracePane::Mode::Flat);
      window.show();
      window.close();
    }
    MainWindow window(tests::sampleServices(tests::sampleTrace()), {}, true);
    QCOMPARE(window.size(), QSize(701, 502));
    QCOMPARE(window.tracePane()->mode(), views::TracePane::Mode::Flat);
  }
};

QTEST_MAIN(Loading)
#include "tst_loading.moc"
