#include "app/viewer/main_window.h"

#include <QAbstractItemView>
#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QFileDialog>
#include <QLabel>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTimer>
#include <QVBoxLayout>

#include "app/viewer/dropped_file.h"
#include "app/viewer/loading_note.h"
#include "app/viewer/seek_actions.h"
#include "app/viewer/start_pages.h"
#include "app/viewer/step_actions.h"
#include "views/common/formatting.h"
#include "views/common/pane_header.h"
#include "views/search/answers_panel.h"
#include "views/search/search_box.h"
#include "views/source/code_pane.h"
#include "views/source/code_view.h"
#include "views/summary/summary_strip.h"
#include "views/trace/side_panels.h"
#include "views/trace/trace_pane.h"
#include "views/values/values_panel.h"

namespace traceback::app {
namespace {

constexpr int kMessageMs = 6000;
// A file that opens faster than this needs no page of its own.
constexpr int kLoadingPageAfterMs = 150;
constexpr QSize kDefaultSize(1200, 800);

}  // namespace

MainWindow::MainWindow(Services services, const Options& options, bool remember, QWidget* parent)
    : QMainWindow(parent),
      m_services(std::move(services)),
      m_options(options),
      m_remember(remember),
      m_shortcuts(remember ? &m_settings : nullptr),
      m_incoming(m_services.summary),
      // What is asked for by number, or pictured, is of the whole trace.
      m_job(m_services.load,
            options.screenshot.isEmpty() && !options.entry ? LoadJob::Previews::Yes : LoadJob::Previews::No),
      m_steps(new StepActions(m_navigator, this)) {
  setObjectName(QStringLiteral("mainWindow"));
  setWindowTitle(QStringLiteral("TraceBack"));
  setAcceptDrops(true);
  buildCentral();
  m_steps->setCodePane(m_code);
  m_seeks = new SeekActions(m_navigator, *m_code, this);
  for (views::CodeView* view : {m_code->sourceView(), m_code->disassemblyView()})
    for (const auto what : {SeekActions::Cursor, SeekActions::Line})
      for (const auto direction : {views::Finder::Direction::Backward, views::Finder::Direction::Forward})
        view->addAction(m_seeks->action(what, direction));
  m_code->sourceView()->setWordHelp(
      [this](const QString& word) { return views::valueAtEnd(m_navigator, m_values, word); });
  buildPanels();
  buildToolBar();
  buildMenus();
  m_place = new QLabel(this);
  m_reading = new LoadingNote(this);
  connect(m_reading, &LoadingNote::cancelRequested, this, &MainWindow::cancelLoading);
  statusBar()->addPermanentWidget(m_reading);
  statusBar()->addPermanentWidget(m_place);
  watchAnnotations();
  watchHistory();
  watchIncoming();
  useSourceMappings();
  if (m_services.disassembly) m_code->setDisassembly(m_services.disassembly());
  if (m_services.codeLines) m_code->setCodeLines(m_services.codeLines());

  connect(&m_navigator, &views::Navigator::moved, this, &MainWindow::showStatus);
  connect(m_code, &views::CodePane::message, this, &MainWindow::say);
  connect(m_seeks, &SeekActions::message, this, &MainWindow::say);
  connect(m_code, &views::CodePane::executionRequested, m_seeks, [this](int line, bool after) {
    m_seeks->seekInView(line, after ? views::Finder::Direction::Forward : views::Finder::Direction::Backward);
  });
  connect(m_code, &views::CodePane::locateRequested, this, &MainWindow::locateSource);
  connect(m_code, &views::CodePane::sourceFetched, m_traces, &views::TracePane::refreshSources);
  connect(m_search, &views::SearchBox::asked, answersPanel(), &views::AnswersPanel::ask);
  connect(m_search, &views::SearchBox::textAsked, answersPanel(), &views::AnswersPanel::askForText);
  connect(m_search, &views::SearchBox::cancelled, answersPanel(), &views::AnswersPanel::cancel);
  answersPanel()->setSources(
      [this] { return m_services.sources ? m_services.sources(sourceMappings()) : nullptr; });
  connect(answersPanel(), &views::AnswersPanel::listed, answersDock(), &QDockWidget::show);
  connect(answersPanel(), &views::AnswersPanel::message, m_search, &views::SearchBox::message);
  connect(m_summary, &views::SummaryStrip::notesRequested, notesDock(), &QDockWidget::show);
  connect(m_summary, &views::SummaryStrip::placeRequested, this, [this](model::TracePlace place) {
    m_navigator.goTo(place.thread, place.entry, views::Navigator::Remember::Yes);
  });
  connect(&m_job, &LoadJob::progress, m_loading, &LoadingPage::setProgress);
  connect(&m_job, &LoadJob::progress, m_reading, &LoadingNote::setProgress);
  connect(&m_job, &LoadJob::partLoaded, this, &MainWindow::partLoaded);
  connect(&m_job, &LoadJob::loaded, this, &MainWindow::loaded);
  connect(&m_job, &LoadJob::failed, this, [this](const model::Error& error) {
    const QString message = QString::fromStdString(error.text());
    m_reading->hide();
    m_error->show(m_job.file(), message);
    if (m_navigator.trace()) {
      showTraceAgain();
      ErrorPage::showBefore(this, m_job.file(), message);
    } else {
      showPage(Showing::Error);
    }
    emit finishedLoading(message);
  });

  showPage(Showing::Welcome);
  resize(m_options.size.value_or(kDefaultSize));
  if (m_remember) {
    if (!m_options.size) restoreGeometry(m_settings.state(QStringLiteral("geometry")));
    m_traces->restoreColumns(m_settings.state(QStringLiteral("traceColumns")));
    m_welcome->setRecent(m_settings.recentFiles());
  }
  if (m_options.flat)
    m_traces->setMode(*m_options.flat ? views::TracePane::Mode::Flat : views::TracePane::Mode::Tree);
  if (m_options.disassembly) m_code->disassemblyAction()->setChecked(true);
}

MainWindow::~MainWindow() = default;

void MainWindow::buildCentral() {
  m_pages = new QStackedWidget(this);
  m_welcome = new WelcomePage(m_incoming, m_pages);
  m_loading = new LoadingPage(m_pages);
  m_error = new ErrorPage(m_pages);
  connect(m_welcome, &WelcomePage::openRequested, this, &MainWindow::askForFile);
  connect(m_welcome, &WelcomePage::recordRequested, this, &MainWindow::recordProgram);
  connect(m_welcome, &WelcomePage::fileRequested, this, &MainWindow::openFile);
  connect(m_error, &ErrorPage::openRequested, this, &MainWindow::askForFile);
  connect(m_loading, &LoadingPage::cancelRequested, this, &MainWindow::cancelLoading);

  m_tracePage = new QWidget(m_pages);
  m_tracePage->resize(kDefaultSize);  // its panels are arranged before it is shown
  m_summary = new views::SummaryStrip(m_tracePage);
  m_docks = new QMainWindow(m_tracePage);
  m_docks->setWindowFlags(Qt::Widget);
  m_docks->setDockNestingEnabled(true);
  m_docks->setContextMenuPolicy(Qt::NoContextMenu);
  m_splitter = new QSplitter(Qt::Vertical, m_docks);
  m_docks->setCentralWidget(m_splitter);
  m_code = new views::CodePane(m_navigator, m_sources, m_splitter);
  m_traces = new views::TracePane(m_navigator, m_sources, m_splitter);
  m_splitter->addWidget(m_code);
  m_splitter->addWidget(m_traces);
  m_splitter->setStretchFactor(0, 11);
  m_splitter->setStretchFactor(1, 9);
  m_splitter->setHandleWidth(5);
  m_splitter->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(m_tracePage);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_summary);
  layout->addWidget(m_docks, 1);
  for (QWidget* page : {static_cast<QWidget*>(m_welcome), static_cast<QWidget*>(m_loading),
                        static_cast<QWidget*>(m_error), m_tracePage})
    m_pages->addWidget(page);
  m_tracePage->installEventFilter(this);
  setCentralWidget(m_pages);
}

void MainWindow::buildPanels() {
  m_panels = std::make_unique<Panels>(
      *m_docks, PanelContext{m_navigator, m_sources, m_annotations, m_incoming, m_values,
                             [this](const QString& text) { say(text); }, this});
  m_layouts = std::make_unique<Layouts>(*m_docks, *m_splitter, *m_panels, m_remember ? &m_settings : nullptr);
}

views::ThreadsPanel* MainWindow::threadsPanel() const { return m_panels->find<views::ThreadsPanel>(); }
views::CallsPanel* MainWindow::callsPanel() const { return m_panels->find<views::CallsPanel>(); }
views::AnswersPanel* MainWindow::answersPanel() const { return m_panels->find<views::AnswersPanel>(); }
QDockWidget* MainWindow::answersDock() const { return m_panels->dockOf(answersPanel()); }
QDockWidget* MainWindow::notesDock() const { return m_panels->dock(QStringLiteral("notesDock")); }

void MainWindow::say(const QString& text) { statusBar()->showMessage(text, kMessageMs); }

void MainWindow::showPage(Showing what) {
  m_pages->setCurrentIndex(static_cast<int>(what));
  const bool trace = what == Showing::Trace;
  if (!trace) setWindowTitle(QStringLiteral("TraceBack"));
  if (!trace) m_place->clear();
}

MainWindow::Showing MainWindow::showing() const { return static_cast<Showing>(m_pages->currentIndex()); }

QString MainWindow::errorMessage() const { return m_error->message(); }

void MainWindow::openFile(const QString& file) {
  m_job.start(file);
  m_partShown = false;
  refuseNotesOfPart();
  m_reading->hide();
  m_loading->start(file);
  // A trace that is open already stays in sight for a moment, so that small files do not flicker.
  if (showing() != Showing::Trace) {
    showPage(Showing::Loading);
    return;
  }
  QTimer::singleShot(kLoadingPageAfterMs, this, [this, file] {
    if (m_job.running() && m_job.file() == file && !m_partShown) showPage(Showing::Loading);
  });
}

void MainWindow::cancelLoading() {
  m_job.cancel();
  m_reading->hide();
  if (m_navigator.trace())
    showTraceAgain();
  else
    showPage(Showing::Welcome);
  say(m_isPart && !m_annotations.all().isEmpty()
          ? tr("Loading was cancelled. The notes that were made meanwhile are not kept.")
          : tr("Loading was cancelled."));
}

void MainWindow::showTraceAgain() {
  showPage(Showing::Trace);
  setWindowTitle(tr("%1 \u2014 TraceBack").arg(views::traceTitle(*m_navigator.trace())));
  showStatus();
  refuseNotesOfPart();
}

void MainWindow::refuseNotesOfPart() {
  if (m_isPart) m_annotations.refuse(tr("The trace was not read to its end: open it again to make notes."));
}

void MainWindow::partLoaded(const SharedTrace& trace) {
  if (m_partShown) return setFullerTrace(trace);
  setTrace(trace);
  m_partShown = m_isPart = true;
  m_shownFile = m_job.file();
  m_reading->show();
}

void MainWindow::loaded(const SharedTrace& trace) {
  if (m_remember) {
    m_settings.addRecentFile(m_job.file());
    m_welcome->setRecent(m_settings.recentFiles());
  }
  m_reading->hide();
  if (m_partShown)
    setFullerTrace(trace);
  else
    setTrace(trace);
  m_partShown = m_isPart = false;
  m_shownFile = m_job.file();
  m_annotations.keepBeside(m_shownFile);
  if (m_services.values) m_values.setProvider(m_services.values(m_shownFile));
  const model::ThreadTrace* thread = m_navigator.thread();
  if (m_remember && !m_placeAsked && thread != nullptr &&
      m_navigator.entryIndex() == model::initialPosition(*thread))
    restoreSession();
  emit finishedLoading({});
}

void MainWindow::setFullerTrace(const SharedTrace& trace) {
  m_sources.setTrace(trace);
  m_summary->setTrace(trace);
  m_annotations.setFullerTrace(trace);
  m_navigator.setFullerTrace(trace);
}

void MainWindow::setTrace(const SharedTrace& trace) {
  keepSession();
  m_painted = m_isPart = false;
  m_shownFile.clear();
  m_annotations.setTrace(trace, {});
  m_values.setProvider(nullptr);
  m_sources.setTrace(trace);
  m_summary->setTrace(trace);
  m_navigator.setTrace(trace);
  showPage(Showing::Trace);
  useLayout(m_options.layout.value_or(Layouts::kindFor(trace->summary.reason)));
  // Once the panels of the layout have taken their room.
  QTimer::singleShot(0, m_traces, [this] {
    QAbstractItemView* view = m_traces->currentView();
    view->scrollTo(view->currentIndex());
  });
  setWindowTitle(tr("%1 \u2014 TraceBack").arg(views::traceTitle(*trace)));
  // What the command line asks for holds for the file that it names.
  m_placeAsked = !m_optionsUsed && (m_options.thread || m_options.entry);
  if (!m_optionsUsed) {
    m_optionsUsed = true;
    if (m_options.thread && !m_navigator.goToThread({*m_options.thread - 1}))
      say(tr("There is no thread %1.").arg(*m_options.thread));
    if (m_options.entry &&
        !m_navigator.goTo(m_navigator.threadIndex(), *m_options.entry, views::Navigator::Remember::Yes))
      say(tr("The thread has no entry %1.").arg(*m_options.entry));
  }
  m_traces->currentView()->setFocus();
  update();
}

void MainWindow::showStatus() {
  const auto entry = m_navigator.entryIndex();
  if (!entry) return m_place->clear();
  const auto instruction = m_navigator.instruction();
  m_place->setText(
      tr("%4Entry %1 of %2, depth %3")
          .arg(views::count(*entry + 1), views::count(m_navigator.thread()->entryCount()))
          .arg(m_navigator.entry()->depth)
          .arg(instruction ? tr("Instruction %1, ").arg(views::hex(instruction->value)) : QString()));
}

void MainWindow::askForFile() {
  const QString file = QFileDialog::getOpenFileName(this, tr("Open Snap"), {},
                                                    tr("TraceBack snaps (*.tbsnap);;All files (*)"));
  if (!file.isEmpty()) openFile(file);
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
  if (!m_painted && event->type() == QEvent::Paint && showing() == Showing::Trace) {
    m_painted = true;
    // After what is being painted now.
    QTimer::singleShot(0, this, &MainWindow::tracePainted);
  }
  return QMainWindow::eventFilter(watched, event);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  m_job.cancel();
  keepSession();
  if (m_remember) {
    m_settings.setState(QStringLiteral("geometry"), saveGeometry());
    m_layouts->keep();
    m_settings.setState(QStringLiteral("traceColumns"), m_traces->saveColumns());
  }
  QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (!droppedFile(*event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const QString file = droppedFile(*event->mimeData());
  if (file.isEmpty()) return;
  event->acceptProposedAction();
  openFile(file);
}

void MainWindow::useLayout(Layouts::Kind kind) {
  m_layouts->use(kind);
  for (QAction* action : m_layoutActions->actions())
    action->setChecked(action->data() == static_cast<int>(kind));
}

}  // namespace traceback::app
