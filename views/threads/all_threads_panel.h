// The list of all threads' entries in one order, in step with the navigator.
#pragma once

#include <QWidget>

#include "views/moving/navigator.h"
#include "views/source/source_cache.h"

namespace traceback::views {

class AllThreadsModel;
class EntryTable;

class AllThreadsPanel : public QWidget {
  Q_OBJECT

 public:
  AllThreadsPanel(Navigator& navigator, SourceCache& sources, QWidget* parent = nullptr);

  AllThreadsModel* model() const { return m_model; }
  EntryTable* table() const { return m_table; }
  QSize sizeHint() const override { return {700, 260}; }

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void showTrace();
  void showPosition();
  void activate(const QModelIndex& index);

  Navigator* m_navigator;
  AllThreadsModel* m_model;
  EntryTable* m_table;
  bool m_stale = true;  // the trace is another one, and nobody has looked since
  bool m_leading = false;
};

}  // namespace traceback::views
