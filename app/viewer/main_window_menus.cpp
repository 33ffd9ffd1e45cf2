// The window's menus and tool bar.

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QDockWidget>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QStatusBar>
#include <QToolBar>
#include <QToolButton>

#include "app/viewer/main_window.h"
#include "app/viewer/seek_actions.h"
#include "app/viewer/shortcuts_dialog.h"
#include "app/viewer/step_actions.h"
#include "views/common/icons.h"
#include "views/notes/annotations_panel.h"
#include "views/search/answers_panel.h"
#include "views/search/search_box.h"
#include "views/source/code_pane.h"
#include "views/source/code_view.h"
#include "views/source/find_bar.h"
#include "views/trace/trace_pane.h"

namespace traceback::app {

void MainWindow::buildToolBar() {
  auto* bar = addToolBar(tr("Steps"));
  bar->setObjectName(QStringLiteral("stepBar"));
  bar->setMovable(false);
  bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  bar->setIconSize(QSize(16, 16));
  bar->setContextMenuPolicy(Qt::PreventContextMenu);
  using model::Step;
  for (const Step how : {Step::BackOut, Step::BackOver, Step::Back}) bar->addAction(m_steps->step(how));
  bar->addSeparator();
  for (const Step how : {Step::Into, Step::Over, Step::Out}) bar->addAction(m_steps->step(how));
  bar->addSeparator();
  for (QAction* action : {m_steps->historyBack(), m_steps->historyForward(), m_steps->fault()}) {
    bar->addAction(action);
    if (auto* button = qobject_cast<QToolButton*>(bar->widgetForAction(action)))
      button->setToolButtonStyle(Qt::ToolButtonIconOnly);
  }
  auto* space = new QWidget(bar);
  space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  bar->addWidget(space);
  m_search = new views::SearchBox(m_navigator, bar);
  m_search->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  bar->addWidget(m_search);
  connect(m_search, &views::SearchBox::message, this, &MainWindow::say);
}

void MainWindow::buildMenus() {
  // Every command has a name by which its keys are remembered.
  const auto named = [this](QAction* action, const char* name, const QKeySequence& key = {}) {
    action->setObjectName(QString::fromLatin1(name));
    if (!key.isEmpty()) action->setShortcut(key);
    m_shortcuts.add(action);
    return action;
  };
  QMenu* file = menuBar()->addMenu(tr("&File"));
  named(
      file->addAction(views::icon(QStringLiteral("open")), tr("&Open\u2026"), this, &MainWindow::askForFile),
      "open", QKeySequence::Open);
  m_recentMenu = file->addMenu(tr("Open Re&cent"));
  connect(m_recentMenu, &QMenu::aboutToShow, this, &MainWindow::fillRecentMenu);
  fillRecentMenu();
  named(file->addAction(tr("Open &Newest Snap"), this, &MainWindow::openNewest), "openNewest",
        Qt::CTRL | Qt::SHIFT | Qt::Key_N);
  named(file->addAction(tr("&Record a Program\u2026"), this, &MainWindow::recordProgram), "record",
        Qt::CTRL | Qt::SHIFT | Qt::Key_R);
  named(file->addAction(tr("Co&mpare With\u2026"), this, &MainWindow::askForComparison), "compare",
        Qt::CTRL | Qt::SHIFT | Qt::Key_O);
  named(file->addAction(tr("E&xport\u2026"), this, &MainWindow::askForExport), "export",
        Qt::CTRL | Qt::SHIFT | Qt::Key_E);
  file->addSeparator();
  QAction* editor = named(file->addAction(tr("Open Source in &Editor"), this, &MainWindow::openEditor),
                          "openEditor", Qt::CTRL | Qt::Key_E);
  m_code->sourceView()->addAction(editor);
  named(file->addAction(tr("Choose E&ditor\u2026"), this, &MainWindow::chooseEditor), "chooseEditor");
  named(file->addAction(tr("Source &Folders\u2026"), this, &MainWindow::showSourceFolders), "sourceFolders");
  file->addSeparator();
  named(file->addAction(tr("&Quit"), this, &QWidget::close), "quit", QKeySequence::Quit);

  QMenu* edit = menuBar()->addMenu(tr("&Edit"));
  for (QAction* action : {m_traces->copyAction(), m_traces->copyCallAction()}) {
    edit->addAction(action);
    m_shortcuts.add(action);
  }

  edit->addSeparator();
  views::AnnotationsPanel* notes = annotationsPanel();
  named(edit->addAction(views::icon(QStringLiteral("bookmark")), tr("&Bookmark"), notes,
                        &views::AnnotationsPanel::toggleHere),
        "bookmark", Qt::CTRL | Qt::Key_B);
  named(edit->addAction(tr("&Note\u2026"), notes, &views::AnnotationsPanel::noteHere), "note",
        Qt::CTRL | Qt::SHIFT | Qt::Key_B);

  QMenu* go = menuBar()->addMenu(tr("&Go"));
  using model::Step;
  for (const Step how : {Step::BackOut, Step::BackOver, Step::Back}) go->addAction(m_steps->step(how));
  go->addSeparator();
  for (const Step how : {Step::Into, Step::Over, Step::Out}) go->addAction(m_steps->step(how));
  go->addSeparator();
  for (QAction* action : m_seeks->all()) go->addAction(action);
  QAction* list =
      named(go->addAction(tr("List E&xecutions of the Line"), m_code, &views::CodePane::listExecutions),
            "listExecutions", Qt::Key_W);
  m_code->sourceView()->addAction(list);
  go->addSeparator();
  for (QAction* action : {m_steps->historyBack(), m_steps->historyForward(), m_steps->fault()})
    go->addAction(action);
  for (QAction* action : m_steps->all()) m_shortcuts.add(action);
  for (QAction* action : m_seeks->all()) m_shortcuts.add(action);

  QMenu* find = menuBar()->addMenu(tr("F&ind"));
  views::FindBar* bar = m_code->findBar();
  named(find->addAction(tr("&Go to or Ask"), this,
                        [this] {
                          m_search->setFocus();
                          m_search->selectAll();
                        }),
        "ask", Qt::CTRL | Qt::Key_P);
  named(find->addAction(views::icon(QStringLiteral("search")), tr("&Find in This File"), bar,
                        &views::FindBar::open),
        "find", QKeySequence::Find);
  named(find->addAction(tr("Find &Next"), bar, [bar] { bar->find(false); }), "findNext", Qt::Key_F3);
  named(find->addAction(tr("Find &Previous"), bar, [bar] { bar->find(true); }), "findPrevious",
        Qt::SHIFT | Qt::Key_F3);
  named(find->addAction(tr("List &Exceptions"), this,
                        [this] { answersPanel()->ask(model::Throws{}, tr("Exceptions")); }),
        "listExceptions", Qt::CTRL | Qt::SHIFT | Qt::Key_X);

  QMenu* view = menuBar()->addMenu(tr("&View"));
  for (QAction* action :
       {m_traces->treeAction(), m_traces->flatAction(), m_traces->foldAction(), m_traces->filterAction()}) {
    view->addAction(action);
    m_shortcuts.add(action);
  }
  named(view->addAction(views::icon(QStringLiteral("fold")), tr("Fold &Other Calls"), m_traces,
                        &views::TracePane::foldOthers),
        "foldOthers", Qt::CTRL | Qt::Key_0);
  view->addAction(m_code->disassemblyAction());
  m_shortcuts.add(m_code->disassemblyAction());
  view->addSeparator();
  for (QDockWidget* dock : m_panels->docks()) {
    view->addAction(dock->toggleViewAction());
    connect(dock->toggleViewAction(), &QAction::triggered, dock, [dock](bool on) {
      if (on) dock->raise();
    });
    m_shortcuts.add(dock->toggleViewAction());
  }
  view->addSeparator();
  QMenu* layout = view->addMenu(tr("La&yout"));
  m_layoutActions = new QActionGroup(this);
  for (const Layouts::Kind kind : Layouts::kKinds) {
    QAction* action = layout->addAction(Layouts::title(kind), this, [this, kind] { useLayout(kind); });
    action->setCheckable(true);
    action->setChecked(kind == m_layouts->current());
    action->setData(static_cast<int>(kind));
    m_layoutActions->addAction(action);
    named(action, Layouts::name(kind).toLatin1().constData());
  }
  layout->addSeparator();
  named(layout->addAction(tr("&Reset This Layout"), this, [this] { m_layouts->reset(); }), "restoreLayout");

  QMenu* help = menuBar()->addMenu(tr("&Help"));
  named(help->addAction(tr("&Keyboard Shortcuts\u2026"), this, &MainWindow::showShortcuts), "shortcuts",
        QKeySequence::HelpContents);
  connect(m_search, &views::SearchBox::offerTaken, this, &MainWindow::doOffered);
  offerCommands();
  help->addAction(tr("&About TraceBack"), this, &MainWindow::showAbout);
}

// Panels are shown, and commands done, by their names, too.
void MainWindow::offerCommands() {
  using Kind = views::SearchOffer::Kind;
  const QList<QAction*>& actions = m_shortcuts.actions();
  std::vector<views::SearchOffer> offers;
  for (int i = 0; i < actions.size(); ++i) {
    const bool isView = dockOf(actions[i]) != nullptr;
    offers.push_back({isView ? Kind::View : Kind::Command, commandName(*actions[i]),
                      actions[i]->shortcut().toString(QKeySequence::NativeText), i});
  }
  m_search->setOffers(std::move(offers));
}

QDockWidget* MainWindow::dockOf(const QAction* toggle) const {
  for (QDockWidget* dock : m_panels->docks())
    if (dock->toggleViewAction() == toggle) return dock;
  return nullptr;
}

void MainWindow::doOffered(int number) {
  QAction* action = m_shortcuts.actions().value(number);
  if (action == nullptr) return;
  if (QDockWidget* dock = dockOf(action)) {
    if (showing() != Showing::Trace) return say(tr("No snap is open."));
    dock->show();
    dock->raise();
    dock->widget()->setFocus();
  } else if (action->isEnabled()) {
    action->trigger();
  } else {
    say(tr("%1 is not possible here.").arg(commandName(*action)));
  }
}

void MainWindow::fillRecentMenu() {
  m_recentMenu->clear();
  const QStringList files = m_remember ? m_settings.recentFiles() : QStringList();
  for (const QString& name : files) {
    QString text = QFileInfo(name).fileName();
    QAction* action = m_recentMenu->addAction(text.replace(u'&', QStringLiteral("&&")));
    action->setToolTip(name);
    connect(action, &QAction::triggered, this, [this, name] { openFile(name); });
  }
  m_recentMenu->setToolTipsVisible(true);
  m_recentMenu->setEnabled(!files.isEmpty());
  if (files.isEmpty()) return;
  m_recentMenu->addSeparator();
  m_recentMenu->addAction(tr("&Clear List"), this, [this] {
    m_settings.clearRecentFiles();
    fillRecentMenu();
  });
}

void MainWindow::showShortcuts() {
  auto* dialog = new ShortcutsDialog(m_shortcuts, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::finished, this, &MainWindow::offerCommands);
  dialog->open();
}

void MainWindow::showAbout() {
  QMessageBox box(this);
  box.setWindowTitle(tr("About TraceBack"));
  box.setIconPixmap(views::programIcon().pixmap(QSize(64, 64), devicePixelRatioF()));
  box.setText(QStringLiteral("<b>TraceBack %1</b>").arg(QApplication::applicationVersion()));
  box.setInformativeText(tr("Shows how a program got where it is: line by line, backwards from its fault."));
  box.exec();
}

}  // namespace traceback::app
