// The window's menus and tool bar.

#include <QAction>
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
#include "app/viewer/step_actions.h"
#include "views/code_pane.h"
#include "views/find_bar.h"
#include "views/icons.h"
#include "views/search_box.h"
#include "views/trace_pane.h"

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
  connect(m_search, &views::SearchBox::message, this,
          [this](const QString& text) { statusBar()->showMessage(text, 6000); });
}

void MainWindow::buildMenus() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  QAction* open =
      file->addAction(views::icon(QStringLiteral("open")), tr("&Open\u2026"), this, &MainWindow::askForFile);
  open->setShortcut(QKeySequence::Open);
  m_recentMenu = file->addMenu(tr("Open &Recent"));
  connect(m_recentMenu, &QMenu::aboutToShow, this, &MainWindow::fillRecentMenu);
  fillRecentMenu();
  file->addSeparator();
  QAction* quit = file->addAction(tr("&Quit"), this, &QWidget::close);
  quit->setShortcut(QKeySequence::Quit);

  QMenu* go = menuBar()->addMenu(tr("&Go"));
  using model::Step;
  for (const Step how : {Step::BackOut, Step::BackOver, Step::Back}) go->addAction(m_steps->step(how));
  go->addSeparator();
  for (const Step how : {Step::Into, Step::Over, Step::Out}) go->addAction(m_steps->step(how));
  go->addSeparator();
  for (QAction* action : {m_steps->historyBack(), m_steps->historyForward(), m_steps->fault()})
    go->addAction(action);

  QMenu* find = menuBar()->addMenu(tr("F&ind"));
  views::FindBar* bar = m_code->findBar();
  find->addAction(tr("&Go to or Ask"), this,
                  [this] {
                    m_search->setFocus();
                    m_search->selectAll();
                  })
      ->setShortcut(Qt::CTRL | Qt::Key_P);
  find->addAction(views::icon(QStringLiteral("search")), tr("&Find in This File"), bar, &views::FindBar::open)
      ->setShortcut(QKeySequence::Find);
  find->addAction(tr("Find &Next"), bar, [bar] { bar->find(false); })->setShortcut(Qt::Key_F3);
  find->addAction(tr("Find &Previous"), bar, [bar] { bar->find(true); })->setShortcut(Qt::SHIFT | Qt::Key_F3);

  QMenu* view = menuBar()->addMenu(tr("&View"));
  view->addAction(m_traces->treeAction());
  view->addAction(m_traces->flatAction());
  view->addAction(views::icon(QStringLiteral("fold")), tr("Fold &Other Calls"), m_traces,
                  &views::TracePane::foldOthers)
      ->setShortcut(Qt::CTRL | Qt::Key_0);
  view->addAction(m_code->disassemblyAction());
  view->addSeparator();
  for (QDockWidget* dock : {m_threadsDock, m_callsDock, m_answersDock, m_notesDock})
    view->addAction(dock->toggleViewAction());
  view->addSeparator();
  view->addAction(tr("&Restore Default Layout"), this, &MainWindow::restoreDefaultLayout);

  QMenu* help = menuBar()->addMenu(tr("&Help"));
  help->addAction(tr("&Keyboard Shortcuts"), this, &MainWindow::showShortcuts)
      ->setShortcut(QKeySequence::HelpContents);
  help->addAction(tr("&About TraceBack"), this, &MainWindow::showAbout);
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
  QString rows;
  const auto add = [&rows](const QAction* action) {
    QStringList keys;
    for (const QKeySequence& key : action->shortcuts()) keys.append(key.toString(QKeySequence::NativeText));
    if (keys.isEmpty()) return;
    QString name = action->text();
    rows += QStringLiteral("<tr><td style=\"padding-right:24px\">%1</td><td>%2</td></tr>")
                .arg(name.remove(u'&').toHtmlEscaped(), keys.join(QStringLiteral(", ")).toHtmlEscaped());
  };
  for (const QAction* menu : menuBar()->actions())
    for (const QAction* action : menu->menu()->actions()) add(action);
  QMessageBox box(this);
  box.setWindowTitle(tr("Keyboard Shortcuts"));
  box.setText(QStringLiteral("<table cellspacing=\"3\">%1</table>").arg(rows));
  box.setInformativeText(
      tr("The letters work wherever no text is typed. In the call tree the arrow keys move and "
         "fold, and Enter folds or brings more."));
  box.exec();
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
