// A thread's entries one below another, oldest first. Rows are made when they are looked at; of a trace of
// more entries than kWindow only a window is in the model, with a row at either end that says what lies
// beyond and moves the window when it is activated.
#pragma once

#include <QAbstractTableModel>

#include "model/trace.h"
#include "views/entry_text.h"

namespace traceback::views {

class FlatModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  static constexpr model::EntryIndex kWindow = 1'000'000;

  explicit FlatModel(SourceCache& sources, QObject* parent = nullptr);

  // Null for none.
  void setThread(std::shared_ptr<const model::Trace> trace, model::ThreadIndex thread);
  // The row of an entry, moving the window to it if need be; invalid if there is no such entry.
  QModelIndex reveal(model::EntryIndex entry);
  // Moves the window if the row is one of the two at the ends; says which entry stood beside it.
  std::optional<model::EntryIndex> showMore(const QModelIndex& index);
  void refreshSources();

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  bool hasEarlier() const { return m_first > 0; }
  bool hasLater() const { return m_end < m_count; }
  std::optional<model::EntryIndex> entryAt(int row) const;
  void moveWindow(model::EntryIndex around);
  QVariant moreData(int row, int column, int role) const;

  SourceCache* m_sources;
  std::shared_ptr<const model::Trace> m_trace;
  const model::ThreadTrace* m_thread = nullptr;
  model::EntryIndex m_count = 0;
  model::EntryIndex m_first = 0, m_end = 0;  // the window
};

// Texts of the columns' headers, which both models share.
QString traceColumnTitle(int column);

}  // namespace traceback::views
