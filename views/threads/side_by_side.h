// The traces of several threads in columns. Going about in one of them lights in the others what they may
// have been doing then, as far as the readings of the clock tell.
#pragma once

#include <QComboBox>
#include <QList>
#include <QWidget>
#include <vector>

#include "views/moving/navigator.h"
#include "views/source/source_cache.h"

class QSplitter;
class QToolButton;

namespace traceback::views {

class ElidedLabel;
class EntryTable;
class FlatModel;

class ThreadColumn : public QWidget {
  Q_OBJECT

 public:
  ThreadColumn(Navigator& navigator, SourceCache& sources, model::ThreadIndex thread,
               QWidget* parent = nullptr);

  model::ThreadIndex thread() const { return m_thread; }
  void setThread(model::ThreadIndex thread);
  QComboBox* chooser() const { return m_chooser; }
  EntryTable* table() const { return m_table; }
  FlatModel* model() const { return m_model; }
  // How the thread stands to the current entry, as it says above the rows.
  QString standing() const;

 signals:
  void closeRequested();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void showPosition();

  Navigator* m_navigator;
  model::ThreadIndex m_thread;
  FlatModel* m_model;
  QComboBox* m_chooser;
  ElidedLabel* m_standing;
  EntryTable* m_table;
  bool m_leading = false;
};

class SideBySidePanel : public QWidget {
  Q_OBJECT

 public:
  static constexpr int kAtFirst = 3;

  SideBySidePanel(Navigator& navigator, SourceCache& sources, QWidget* parent = nullptr);

  const QList<ThreadColumn*>& columns() const { return m_columns; }
  void addColumn(model::ThreadIndex thread);
  QToolButton* addButton() const { return m_add; }
  QSize sizeHint() const override { return {700, 260}; }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void reset();
  void addNext();
  void remove(ThreadColumn* column);

  Navigator* m_navigator;
  SourceCache* m_sources;
  QSplitter* m_splitter;
  QToolButton* m_add;
  QList<ThreadColumn*> m_columns;
  bool m_stale = true;  // the trace is another one, and nobody has looked since
  std::vector<std::uint32_t> m_threads;  // of the trace that the columns are of, by tid
};

}  // namespace traceback::views
