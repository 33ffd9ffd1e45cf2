// The trace pane's commands and their keys.
#include <QAbstractItemView>
#include <QAction>
#include <QActionGroup>
#include <QClipboard>
#include <QGuiApplication>

#include "views/trace/filter_bar.h"
#include "views/trace/flat_model.h"
#include "views/trace/trace_pane.h"
#include "views/trace/tree_model.h"

namespace traceback::views {

void TracePane::buildActions() {
  m_treeAction->setObjectName(QStringLiteral("tree"));
  m_treeAction->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_1));
  m_treeAction->setStatusTip(tr("Show the trace as a tree of calls"));
  m_flatAction->setObjectName(QStringLiteral("flat"));
  m_flatAction->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_2));
  m_flatAction->setStatusTip(tr("Show the trace line by line"));
  for (QAction* action : {m_treeAction, m_flatAction}) action->setCheckable(true);
  m_treeAction->setActionGroup(new QActionGroup(this));
  m_flatAction->setActionGroup(m_treeAction->actionGroup());
  m_treeAction->setChecked(true);
  connect(m_treeAction, &QAction::triggered, this, [this] { setMode(Mode::Tree); });
  connect(m_flatAction, &QAction::triggered, this, [this] { setMode(Mode::Flat); });
  m_foldAction->setObjectName(QStringLiteral("foldRepeats"));
  m_foldAction->setCheckable(true);
  m_foldAction->setChecked(true);
  m_foldAction->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_R));
  m_foldAction->setStatusTip(tr("Show lines and loops that repeat as one row with a count"));
  connect(m_foldAction, &QAction::toggled, this, &TracePane::applyRules);
  m_filterAction->setObjectName(QStringLiteral("filter"));
  m_filterAction->setCheckable(true);
  m_filterAction->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F));
  m_filterAction->setStatusTip(tr("Show one module, function or file only"));
  connect(m_filterAction, &QAction::triggered, this,
          [this](bool on) { on ? m_filterBar->open() : m_filterBar->close(); });
  connect(m_filterBar, &FilterBar::changed, this, &TracePane::applyRules);
  connect(m_filterBar, &FilterBar::opened, m_filterAction, [this] { m_filterAction->setChecked(true); });
  connect(m_filterBar, &FilterBar::closed, this, [this] {
    m_filterAction->setChecked(false);
    currentView()->setFocus();
  });
  m_copyAction->setObjectName(QStringLiteral("copyRows"));
  m_copyAction->setShortcut(QKeySequence::Copy);
  // Elsewhere the same key copies other things.
  m_copyAction->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  m_copyAction->setStatusTip(tr("Copy the selected rows of the trace as text"));
  connect(m_copyAction, &QAction::triggered, this,
          [this] { QGuiApplication::clipboard()->setText(selectedText()); });
  m_copyCallAction->setObjectName(QStringLiteral("copyCall"));
  m_copyCallAction->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C));
  m_copyCallAction->setStatusTip(tr("Copy the call where one stands, with all that it called, as text"));
  connect(m_copyCallAction, &QAction::triggered, this,
          [this] { QGuiApplication::clipboard()->setText(callText()); });
  addActions({m_copyAction, m_copyCallAction});
  m_tree->setRules({}, true);
  m_flat->setRules({}, true, 0);
}

}  // namespace traceback::views
