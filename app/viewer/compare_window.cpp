#include "app/viewer/compare_window.h"

#include <QAction>
#include <QComboBox>
#include <QDropEvent>
#include <QFileInfo>
#include <QLabel>
#include <QMenuBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "app/viewer/dropped_file.h"
#include "app/viewer/shortcuts_dialog.h"
#include "app/viewer/start_pages.h"
#include "views/common/elided_label.h"
#include "views/common/formatting.h"
#include "views/common/pane_header.h"
#include "views/compare/compare_model.h"
#include "views/compare/compare_pane.h"
#include "views/source/code_pane.h"

namespace traceback::app {
namespace {

constexpr int kMessageMs = 6000;
constexpr QSize kDefaultSize(1400, 860);

}  // namespace

CompareWindow::CompareWindow(const Services& services, const QList<SourceMapping>& mappings, bool remember,
                             QWidget* parent)
    : QMainWindow(parent),
      m_shortcuts(remember ? &m_settings : nullptr),
      m_pages(new QStackedWidget(this)),
      m_message(new QLabel(m_pages)) {
  setObjectName(QStringLiteral("compareWindow"));
  setWindowTitle(tr("Comparison \u2014 TraceBack"));
  resize(kDefaultSize);
  setAcceptDrops(true);
  m_message->setAlignment(Qt::AlignCenter);
  m_message->setWordWrap(true);
  m_message->setTextFormat(Qt::PlainText);
  m_message->setContentsMargins(32, 32, 32, 32);

  auto* page = new QSplitter(Qt::Vertical, m_pages);
  auto* sources = new QSplitter(Qt::Horizontal, page);
  for (const auto each : {model::Side::Left, model::Side::Right})
    sources->addWidget(buildSide(each, services, mappings));
  sources->setChildrenCollapsible(false);
  sources->setHandleWidth(3);
  m_pane = new views::ComparePane({navigator(model::Side::Left), side(model::Side::Left).sources},
                                  {navigator(model::Side::Right), side(model::Side::Right).sources}, page);
  page->addWidget(sources);
  page->addWidget(m_pane);
  page->setChildrenCollapsible(false);
  page->setHandleWidth(5);
  page->setStretchFactor(0, 1);
  page->setStretchFactor(1, 1);
  m_pages->addWidget(m_message);
  m_pages->addWidget(page);
  setCentralWidget(m_pages);
  statusBar();

  const auto named = [this](QAction* action, const char* name) {
    action->setObjectName(QString::fromLatin1(name));
    m_shortcuts.add(action);
  };
  QMenu* file = menuBar()->addMenu(tr("&File"));
  named(file->addAction(tr("&Close"), QKeySequence::Close, this, &QWidget::close), "closeComparison");
  QMenu* go = menuBar()->addMenu(tr("&Go"));
  for (QAction* action : {m_pane->firstAction(), m_pane->previousAction(), m_pane->nextAction()}) {
    go->addAction(action);
    m_shortcuts.add(action);
  }
  QMenu* help = menuBar()->addMenu(tr("&Help"));
  named(help->addAction(tr("&Keyboard Shortcuts\u2026"), QKeySequence::HelpContents, this,
                        &CompareWindow::showShortcuts),
        "comparisonShortcuts");
}

CompareWindow::~CompareWindow() {
  // Panes and models look at the navigators and sources until they are gone.
  delete takeCentralWidget();
}

QWidget* CompareWindow::buildSide(model::Side which, const Services& services,
                                  const QList<SourceMapping>& mappings) {
  OneSide& each = side(which);
  const bool left = which == model::Side::Left;
  each.job = std::make_unique<LoadJob>(services.load, LoadJob::Previews::No);
  connect(each.job.get(), &LoadJob::loaded, this,
          [this, which](const SharedTrace& trace) { setTrace(which, trace, side(which).job->file()); });
  connect(each.job.get(), &LoadJob::failed, this, [this, which](const model::Error& error) {
    const QString text = QString::fromStdString(error.text());
    if (m_pane->model(which)->hasRows()) {  // a comparison is there, and stays
      m_pages->setCurrentIndex(1);
      ErrorPage::showBefore(this, side(which).job->file(), text);
    } else {
      side(which).error = text;
      sayWhatIsMissing();
    }
    emit compared(text);
  });
  if (services.sources) each.sources.setProvider(services.sources(mappings));

  auto* widget = new QWidget(this);
  auto* header = new views::PaneHeader(widget);
  each.title = new views::ElidedLabel(header);
  each.title->setTextFormat(Qt::PlainText);
  each.threads = new QComboBox(header);
  each.threads->setObjectName(left ? QStringLiteral("leftThread") : QStringLiteral("rightThread"));
  each.threads->setAccessibleName(left ? tr("Thread of the left side") : tr("Thread of the right side"));
  each.threads->setToolTip(
      tr("The thread that is compared. Choosing one on the left chooses the one that "
         "answers it on the right."));
  each.threads->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  connect(each.threads, &QComboBox::activated, this, [this, which] { chooseThread(which); });
  header->addTitle(each.title, 1);
  header->addWidget(each.threads);
  each.code = new views::CodePane(each.navigator, each.sources, widget);
  if (services.disassembly) each.code->setDisassembly(services.disassembly());
  if (services.codeLines) each.code->setCodeLines(services.codeLines());
  connect(each.code, &views::CodePane::message, this,
          [this](const QString& text) { statusBar()->showMessage(text, kMessageMs); });
  auto* layout = new QVBoxLayout(widget);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(header);
  layout->addWidget(each.code, 1);
  return widget;
}

void CompareWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (!droppedFile(*event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void CompareWindow::dropEvent(QDropEvent* event) {
  const QString file = droppedFile(*event->mimeData());
  if (file.isEmpty()) return;
  event->acceptProposedAction();
  load(event->position().x() < width() / 2.0 ? model::Side::Left : model::Side::Right, file);
}

void CompareWindow::say(const QString& text) {
  m_message->setText(text);
  m_pages->setCurrentWidget(m_message);
}

void CompareWindow::showShortcuts() {
  auto* dialog = new ShortcutsDialog(m_shortcuts, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->open();
}

QString CompareWindow::message() const {
  return m_pages->currentWidget() == m_message ? m_message->text() : QString();
}

void CompareWindow::open(const QString& good, const QString& bad) {
  load(model::Side::Left, good);
  load(model::Side::Right, bad);
}

void CompareWindow::load(model::Side which, const QString& file) {
  side(which).error.clear();
  side(which).job->start(file);
  sayWhatIsMissing();
}

void CompareWindow::sayWhatIsMissing() {
  QStringList errors;
  for (const OneSide& each : m_sides)
    if (!each.error.isEmpty()) errors.append(each.error);
  say(errors.isEmpty() ? tr("Reading the traces\u2026") : errors.join(QLatin1Char('\n')));
}

void CompareWindow::setTrace(model::Side which, const SharedTrace& trace, const QString& file) {
  OneSide& each = side(which);
  m_comparing.cancel();
  m_pane->clear();
  each.file = file;
  each.sources.setTrace(trace);
  each.navigator.setTrace(trace);
  each.title->setFullText(
      QStringLiteral("%1: %2").arg(QFileInfo(file).fileName(), views::reasonText(trace->summary)));
  each.title->setToolTip(file);
  if (!m_sides[0].navigator.trace() || !m_sides[1].navigator.trace()) return sayWhatIsMissing();
  setWindowTitle(tr("%1 and %2 \u2014 TraceBack")
                     .arg(QFileInfo(m_sides[0].file).fileName(), QFileInfo(m_sides[1].file).fileName()));
  fillThreads();
  compareChosen();
}

void CompareWindow::fillThreads() {
  m_pairs = model::matchThreads(*m_sides[0].navigator.trace(), *m_sides[1].navigator.trace());
  for (OneSide& each : m_sides) {
    each.threads->clear();
    const auto& threads = each.navigator.trace()->threads;
    for (std::size_t i = 0; i < threads.size(); ++i)
      each.threads->addItem(views::threadName(threads[i]->info(), i + 1));
  }
  // The thread at fault of the bad run, which comes first, else the first that both have.
  const auto both = [](const model::ThreadPair& pair) { return pair.left && pair.right; };
  auto chosen = std::ranges::find_if(
      m_pairs, [&both](const auto& pair) { return both(pair) && pair.right->value == 0; });
  if (chosen == m_pairs.end()) chosen = std::ranges::find_if(m_pairs, both);
  m_sides[0].threads->setCurrentIndex(chosen == m_pairs.end() ? 0 : static_cast<int>(chosen->left->value));
  m_sides[1].threads->setCurrentIndex(chosen == m_pairs.end() ? 0 : static_cast<int>(chosen->right->value));
}

void CompareWindow::chooseThread(model::Side which) {
  if (which == model::Side::Left) {
    const model::ThreadIndex left{static_cast<std::uint32_t>(side(which).threads->currentIndex())};
    const auto pair = std::ranges::find(m_pairs, std::optional(left), &model::ThreadPair::left);
    if (pair != m_pairs.end() && pair->right)
      side(model::Side::Right).threads->setCurrentIndex(static_cast<int>(pair->right->value));
    else
      statusBar()->showMessage(tr("No thread on the right is known to answer this one: choose one there."),
                               kMessageMs);
  }
  compareChosen();
}

void CompareWindow::compareChosen() {
  model::ThreadIndex chosen[2];
  m_pane->clear();
  for (const int i : {0, 1}) {
    const int index = m_sides[i].threads->currentIndex();
    if (index < 0) {
      const QString text = tr("%1 holds no threads.").arg(m_sides[i].file);
      say(text);
      emit compared(text);
      return;
    }
    chosen[i] = {static_cast<std::uint32_t>(index)};
    m_sides[i].navigator.goToThread(chosen[i]);
  }
  say(tr("Comparing\u2026"));
  auto found = std::make_shared<model::Comparison>();
  m_comparing.start(
      [found, left = m_sides[0].navigator.trace(), right = m_sides[1].navigator.trace(), one = chosen[0],
       other = chosen[1]](std::stop_token stop) {
        *found = model::compareThreads(*left, one, *right, other, std::move(stop));
      },
      [this, found] {
        m_pages->setCurrentIndex(1);
        m_pane->show(std::move(*found));
        m_pane->view(model::Side::Right)->setFocus();
        emit compared({});
      });
}

}  // namespace traceback::app
