// Failures that a debugger comes too late for, each followed back to its cause in the viewer's window, from a
// snap that is recorded here.
#include <QProcess>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>
#include <QTextBlock>
#include <QTreeView>

#include "app/viewer/loader_services.h"
#include "app/viewer/main_window.h"
#include "app/viewer/seek_actions.h"
#include "app/viewer/step_actions.h"
#include "tests/app/command_line.h"
#include "views/search/answers_model.h"
#include "views/search/answers_panel.h"
#include "views/search/search_box.h"
#include "views/source/code_pane.h"
#include "views/source/code_view.h"
#include "views/summary/summary_strip.h"
#include "views/trace/trace_pane.h"
#include "views/trace/tree_model.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback;
using app::MainWindow;
using test::CommandLine;
using test::Ran;

namespace {

constexpr int kLoadMs = 60'000;

QString program(const char* name) { return QStringLiteral(STORIES) + QString::fromLatin1(name); }

class Story {
 public:
  explicit Story(const QString& snap) : m_window(app::loaderServices(), optionsFor(snap), false) {
    QSignalSpy finished(&m_window, &MainWindow::finishedLoading);
    m_window.show();
    m_window.openFile(snap);
    m_open = finished.wait(kLoadMs) && finished.first().first().toString().isEmpty();
  }

  bool isOpen() const { return m_open; }
  MainWindow& window() { return m_window; }
  views::Navigator& navigator() { return m_window.navigator(); }
  QString headline() const { return m_window.summaryStrip()->headline(); }

  QString line() const {
    if (!m_window.codePane()->showsSource()) return {};
    const views::CodeView* source = m_window.codePane()->sourceView();
    return source->document()->findBlockByNumber(source->currentLine()).text();
  }
  model::Entry entry() { return navigator().entry().value_or(model::Entry()); }
  QString function() {
    const auto entry = navigator().entry();
    const auto* found = entry ? navigator().trace()->function(entry->function) : nullptr;
    return found != nullptr ? QString::fromStdString(found->name) : QString();
  }
  bool step(model::Step how) {
    QAction* action = m_window.steps()->step(how);
    if (!action->isEnabled()) return false;
    action->trigger();
    return true;
  }
  // Steps until the line has such text; false if the trace ends before.
  bool stepTo(const char* text, model::Step how, int most = 5000) {
    for (int i = 0; i < most; ++i) {
      if (line().contains(QLatin1String(text))) return true;
      if (!step(how)) return false;
    }
    return false;
  }

 private:
  // A compiler's cache may have made the program in another folder, whose name is in its debug information.
  static app::Options optionsFor(const QString& snap) {
    app::Options options;
    const auto trace =
        app::loaderServices().load(snap.toStdString(), {[](double, const std::string&) {}, {}}, {});
    if (!trace) return options;
    for (const model::SourceFile& file : (*trace)->files) {
      const QString path = QString::fromStdString(file.path);
      const QString name = path.section(u'/', -1);
      if (const auto mapping = app::mappingBetween(path, QStringLiteral(STORY_SOURCES) + name))
        options.sourceMappings.append(*mapping);
    }
    return options;
  }

  MainWindow m_window;
  bool m_open = false;
};

}  // namespace

class Stories : public QObject {
  Q_OBJECT

  CommandLine m_line;

  // The snap of a program that dies.
  QString recorded(const char* name) {
    const QString folder = m_line.path(QString::fromLatin1(name));
    m_line.throughShell(
        QStringLiteral("ulimit -c 0; exec \"$@\""),
        {QStringLiteral("run"), QStringLiteral("--snap-dir"), folder, QStringLiteral("--"), program(name)});
    const QStringList snaps = QDir(folder).entryList({QStringLiteral("*.tbsnap")}, QDir::Files);
    return snaps.isEmpty() ? QString() : QDir(folder).filePath(snaps.first());
  }

 private slots:
  void initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QVERIFY(m_line.isReady());
  }

  // The stack is gone, and with it every backtrace; the trace still knows who called.
  void theSmashedStackLeadsBackToTheCopying() {
    Story story(recorded("smash"));
    QVERIFY(story.isOpen());
    QVERIFY2(story.headline().contains(QStringLiteral("SIGSEGV")), qPrintable(story.headline()));
    QCOMPARE(story.function(), QStringLiteral("parse"));
    QVERIFY2(story.stepTo("the smash", model::Step::Back), qPrintable(story.line()));
    QCOMPARE(story.function(), QStringLiteral("copyName"));
    QVERIFY(story.step(model::Step::BackOut));
    QVERIFY2(story.line().contains(QStringLiteral("copyName(name, line)")), qPrintable(story.line()));
    QVERIFY(story.step(model::Step::BackOut));
    QVERIFY2(story.line().contains(QStringLiteral("the call")), qPrintable(story.line()));
    QVERIFY(story.step(model::Step::BackOut));
    QVERIFY2(story.line().contains(QStringLiteral("serve(line)")), qPrintable(story.line()));
    // The call before that one came back.
    QVERIFY(story.step(model::Step::BackOver));
    QVERIFY2(story.line().contains(QStringLiteral("serve(\"short\")")), qPrintable(story.line()));
  }

  void theSwallowedExceptionIsFoundByOneQuestion() {
    Story story(recorded("swallowed"));
    QVERIFY(story.isOpen());
    QVERIFY2(story.headline().contains(QStringLiteral("SIGFPE")), qPrintable(story.headline()));
    QVERIFY2(story.line().contains(QStringLiteral("the fault")), qPrintable(story.line()));
    // A thousand rounds of a loop lie between; the question steps over them.
    auto* search = story.window().searchBox();
    search->setText(QStringLiteral("goto current backward exception"));
    QTest::keyClick(search, Qt::Key_Return);
    const auto isCaught = [&] {
      const auto entry = story.navigator().entry();
      return entry && (entry->flags & model::kEntryCatch) != 0;
    };
    QTRY_VERIFY(isCaught());
    QVERIFY2(story.function().contains(QStringLiteral("load(")), qPrintable(story.function()));
    // The unwinder ran in between, some thousand lines of it.
    QVERIFY(story.step(model::Step::BackOver));
    QVERIFY2(story.line().contains(QStringLiteral("number(line)")), qPrintable(story.line()));
    QVERIFY2(story.stepTo("the throw", model::Step::Into, 20), qPrintable(story.line()));
    while (story.entry().kind != model::EntryKind::Exception) QVERIFY(story.step(model::Step::Into));
    QCOMPARE(QString::fromUtf8(story.navigator().trace()->exceptionType(story.entry().detail)),
             QStringLiteral("std::invalid_argument"));
  }

  // Hanging, not dead: a snap of the running process, and each thread's last line.
  void theDeadlockShowsWhoWaitsWhere() {
    const QString folder = m_line.path(QStringLiteral("deadlock"));
    QProcess process;
    process.setProcessEnvironment(m_line.environment());
    process.start(CommandLine::program(), {QStringLiteral("run"), QStringLiteral("--"), program("deadlock")});
    QVERIFY(process.waitForReadyRead(kLoadMs));
    QTest::qWait(200);  // from there to the locks
    const Ran snap = m_line.traceback(
        {QStringLiteral("snap"), QStringLiteral("--snap-dir"), folder, QString::number(process.processId())});
    process.kill();
    process.waitForFinished();
    QCOMPARE(snap.status, 0);
    const QStringList snaps = QDir(folder).entryList({QStringLiteral("*.tbsnap")}, QDir::Files);
    QCOMPARE(snaps.size(), 1);
    Story story(QDir(folder).filePath(snaps.first()));
    QVERIFY(story.isOpen());
    QStringList waiting;
    for (std::uint32_t i = 0; i < story.navigator().trace()->threads.size(); ++i) {
      if (!story.navigator().goToThread({i})) continue;
      // Out of the library's functions, to the program's own line.
      for (int outward = 0; outward < 20 && !story.line().contains(QStringLiteral("waits")); ++outward)
        if (!story.step(model::Step::BackOut)) break;
      if (story.line().contains(QStringLiteral("waits")))
        waiting << story.line().section(QStringLiteral("// "), 1);
    }
    waiting.sort();
    QCOMPARE(waiting, (QStringList{QStringLiteral("report waits"), QStringLiteral("transfer waits")}));
  }

  void theOverwrittenNeighbourLeadsBackToTheLongKey() {
    Story story(recorded("neighbour"));
    QVERIFY(story.isOpen());
    QVERIFY2(story.line().contains(QStringLiteral("the fault")) ||
                 story.line().contains(QStringLiteral("while (entry != NULL)")),
             qPrintable(story.line()));
    QCOMPARE(story.function(), QStringLiteral("count"));
    // Who wrote keys before this? The last one did so most often.
    QVERIFY(story.step(model::Step::BackOut));
    QVERIFY2(story.line().contains(QStringLiteral("count(table)")), qPrintable(story.line()));
    QVERIFY(story.step(model::Step::BackOver));
    QVERIFY2(story.line().contains(QStringLiteral("the culprit")), qPrintable(story.line()));
    QVERIFY2(story.stepTo("the overwriting", model::Step::Into, 10), qPrintable(story.line()));
    int letters = 0;
    while (story.function() == QStringLiteral("setKey")) {
      if (story.line().contains(QStringLiteral("the overwriting"))) ++letters;
      QVERIFY(story.step(model::Step::Into));
    }
    QCOMPARE(letters, 33);  // of a key that has room for eight
  }

  // The viewer, recorded, does not answer any more; a snap of it is opened in the viewer.
  void theViewerThatDoesNotAnswerShowsItsQuadraticLoop() {
    const QString folder = m_line.path(QStringLiteral("slow_viewer"));
    QProcess process;
    process.setProcessEnvironment(m_line.environment());
    process.start(CommandLine::program(),
                  {QStringLiteral("run"), QStringLiteral("--only"), QStringLiteral("slow_viewer"),
                   QStringLiteral("--buffer-size"), QStringLiteral("16M"), QStringLiteral("--"),
                   program("slow_viewer")});
    QByteArray said;
    while (!said.contains("listing") && process.waitForReadyRead(kLoadMs)) said += process.readAll();
    QVERIFY2(said.contains("listing"), process.readAllStandardError().constData());
    QVERIFY(said.contains("answering"));
    // Each place is looked for among ever more others.
    QTest::qWait(2000);
    process.readAll();
    QVERIFY(!process.waitForReadyRead(1000));
    QCOMPARE(process.state(), QProcess::Running);
    const Ran snap = m_line.traceback(
        {QStringLiteral("snap"), QStringLiteral("--snap-dir"), folder, QString::number(process.processId())});
    process.kill();
    process.waitForFinished();
    QVERIFY2(snap.status == 0, snap.err.constData());
    const QStringList snaps = QDir(folder).entryList({QStringLiteral("*.tbsnap")}, QDir::Files);
    QCOMPARE(snaps.size(), 1);

    Story story(QDir(folder).filePath(snaps.first()));
    QVERIFY(story.isOpen());
    // It opens in the loop, whatever line of that it is; the margin says how often the loop went round.
    QVERIFY2(story.stepTo("the culprit", model::Step::Back, 10), qPrintable(story.line()));
    QVERIFY2(story.function().contains(QStringLiteral("isListed")), qPrintable(story.function()));
    // Who calls it, and how long does that take? Each call goes round once more than the one before. To its
    // caller's line: behind that a list may grow.
    auto* search = story.window().searchBox();
    views::AnswersPanel* panel = story.window().answersPanel();
    search->setText(QStringLiteral("between(isListed, slow_viewer.cpp:51)"));
    QTest::keyClick(search, Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(!panel->asking() && panel->answers()->rowCount() >= 4, kLoadMs);
    std::vector<model::EntryIndex> lengths;
    // The first was under way as the trace begins, so that not all of it is there.
    for (int i = 1; i < panel->answers()->rowCount(); ++i) {
      const model::AnswerRow& answer = panel->answers()->answer(i);
      if (answer.end) lengths.push_back(*answer.end - answer.match);
    }
    QVERIFY(lengths.size() >= 2);
    const model::EntryIndex more = lengths[1] - lengths[0];
    QVERIFY2(more >= 1 && more <= 4, qPrintable(QString::number(more)));
    for (std::size_t i = 1; i < lengths.size(); ++i) QCOMPARE(lengths[i] - lengths[i - 1], more);
    // In one of them the margin says how often the line ran; in the trace its rounds are one row.
    panel->list()->setCurrentIndex(panel->answers()->index(1, 0));
    QTest::keyClick(panel->list(), Qt::Key_Return);
    QVERIFY2(story.stepTo("the culprit", model::Step::Into, 10), qPrintable(story.line()));
    const views::CodeView* source = story.window().codePane()->sourceView();
    QVERIFY(source->mark(source->currentLine()).hits > 1000);
    const views::TreeModel& tree = *story.window().tracePane()->treeModel();
    QModelIndex row = story.window().tracePane()->treeView()->currentIndex();
    while (row.isValid() && !tree.isFolded(row)) row = row.parent();
    QVERIFY2(row.data().toString().startsWith(QStringLiteral("loop")) ||
                 row.data(views::kDetailRole).toString().contains(QStringLiteral("times in a row")),
             qPrintable(row.data().toString()));
    // Back out: whose fault it is.
    QVERIFY(story.step(model::Step::BackOut));
    QVERIFY2(story.line().contains(QStringLiteral("once for each entry")), qPrintable(story.line()));
    QVERIFY2(story.function().contains(QStringLiteral("PlacesModel::show")), qPrintable(story.function()));
  }
};

QTEST_MAIN(Stories)
#include "tst_stories.moc"
