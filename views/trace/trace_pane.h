// The trace of one thread, as a call tree or as a flat list, in step with the navigator.
#pragma once

#include <QWidget>

#include "views/moving/navigator.h"
#include "views/source/source_cache.h"
#include "views/trace/trace_filter.h"

class QAbstractItemView;
class QAction;
class QHeaderView;
class QLabel;
class QStackedWidget;
class QTableView;
class QTreeView;

namespace traceback::views {

class FilterBar;
class FlatModel;
class TraceDelegate;
class TraceHeader;
class TreeModel;

class TracePane : public QWidget {
  Q_OBJECT

 public:
  enum class Mode : std::uint8_t { Tree, Flat };

  TracePane(Navigator& navigator, SourceCache& sources, QWidget* parent = nullptr);

  Mode mode() const;
  void setMode(Mode mode);
  QAction* treeAction() const { return m_treeAction; }
  QAction* flatAction() const { return m_flatAction; }
  // Whether rows that repeat are one row.
  QAction* foldAction() const { return m_foldAction; }
  QAction* filterAction() const { return m_filterAction; }
  QAction* copyAction() const { return m_copyAction; }
  QAction* copyCallAction() const { return m_copyCallAction; }
  FilterBar* filterBar() const { return m_filterBar; }
  // The selected rows as they stand there, a line each, with tabs between the columns.
  QString selectedText() const;
  // The call at the position with everything in it, as text.
  QString callText() const;
  // Folds everything but the calls around the position.
  void foldOthers();
  void refreshSources();

  QTreeView* treeView() const { return m_treeView; }
  QTableView* flatView() const { return m_flatView; }
  QAbstractItemView* currentView() const;
  TreeModel* treeModel() const { return m_tree; }
  FlatModel* flatModel() const { return m_flat; }

  // Widths and order of the columns.
  QByteArray saveColumns() const;
  void restoreColumns(const QByteArray& state);

 signals:
  void modeChanged();
  // The user wants to know what was before.
  void historyRequested();

 protected:
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void buildTree();
  void buildFlat();
  void applyFonts();
  void applyRules();
  void buildActions();
  void showThread();
  void showPosition();
  void userMoved(const QModelIndex& current);
  bool leadsBefore(const QModelIndex& index) const;
  void activate(const QModelIndex& index);
  void select(QAbstractItemView* view, const QModelIndex& index);

  Navigator* m_navigator;
  SourceCache* m_sources;
  TreeModel* m_tree;
  FlatModel* m_flat;
  TraceDelegate* m_delegate;
  QTreeView* m_treeView;
  QTableView* m_flatView;
  TraceHeader* m_treeHeader;
  TraceHeader* m_flatHeader;
  QStackedWidget* m_stack;
  QLabel* m_title;
  QLabel* m_empty;
  QAction* m_treeAction;
  QAction* m_flatAction;
  QAction* m_foldAction;
  QAction* m_filterAction;
  QAction* m_copyAction;
  QAction* m_copyCallAction;
  FilterBar* m_filterBar;
  TraceFilter m_filter;     // that the rows are put together by
  bool m_syncing = false;   // the views follow; their changes are not the user's
  bool m_leading = false;   // a view moved the navigator and need not follow
};

}  // namespace traceback::views
