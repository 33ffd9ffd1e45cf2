// A thread's entries one below another, oldest first. Rows are made when they are looked at; of a trace of
// more entries than a window only a window is in the model, with a row at either end that says what lies
// beyond and moves the window when it is activated.
//
// Rows that repeat are folded into one with a count, and rows that the filter leaves out into one that says
// how many they are; both unfold. An entry that is revealed is never within such a row. Folding looks at all
// of the window, which is then a smaller one.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "model/order.h"
#include "model/trace.h"
#include "views/trace/entry_text.h"
#include "views/trace/trace_filter.h"

namespace traceback::views {

class FlatModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  static constexpr model::EntryIndex kWindow = 1'000'000;
  static constexpr model::EntryIndex kFoldingWindow = 20'000;

  explicit FlatModel(SourceCache& sources, QObject* parent = nullptr);

  // Null for none.
  void setThread(std::shared_ptr<const model::Trace> trace, model::ThreadIndex thread);
  // Puts the rows together anew, around an entry.
  void setRules(const TraceFilter& filter, bool fold, model::EntryIndex around);
  // The row of an entry, moving the window to it and unfolding it if need be; invalid if there is no such
  // entry.
  QModelIndex reveal(model::EntryIndex entry);
  // Moves the window if the row is one of the two at the ends; says which entry stood beside it.
  std::optional<model::EntryIndex> showMore(const QModelIndex& index);
  // True if the row stands for several entries.
  bool isFolded(const QModelIndex& index) const;
  // Shows the entries of such a row; gives the first of them.
  QModelIndex unfold(const QModelIndex& index);
  void refreshSources();
  // Where the thread may have been at the moment that the other rows are told apart by; nothing: they are
  // not.
  void setWhereabouts(std::optional<model::Whereabouts> where);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  // Entries that are one row, if there are rules.
  struct Item {
    enum Kind : std::uint8_t { Entry, Repeated, Hidden } kind = Entry;
    model::EntryIndex first = 0;
    std::uint32_t count = 1;
    std::uint32_t period = 1;
  };

  bool hasEarlier() const { return m_first > 0; }
  bool hasLater() const { return m_end < m_count; }
  bool arranged() const { return m_rules.fold() || m_rules.filters(); }
  int rowsBefore() const { return hasEarlier() ? 1 : 0; }
  std::optional<model::EntryIndex> entryAt(int row) const;
  const Item* itemAt(int row) const;
  std::size_t itemOf(model::EntryIndex entry) const;
  void moveWindow(model::EntryIndex around);
  void placeWindow(model::EntryIndex around);
  void arrange();
  void replace(std::size_t item, const std::vector<Item>& with);
  QVariant moreData(int row, int column, int role) const;
  QVariant foldedData(const Item& item, int column, int role) const;
  QVariant orderData(model::EntryIndex first, model::EntryIndex end) const;

  SourceCache* m_sources;
  std::shared_ptr<const model::Trace> m_trace;
  const model::ThreadTrace* m_thread = nullptr;
  model::ThreadIndex m_threadIndex;
  model::EntryIndex m_count = 0;
  model::EntryIndex m_first = 0, m_end = 0;  // the window
  TraceFilter m_filter;
  bool m_fold = false;
  RowRules m_rules;
  std::optional<model::Whereabouts> m_where;
  std::vector<Item> m_items;  // of the window, if there are rules
};

// Texts of the columns' headers, which both models share.
QString traceColumnTitle(int column);

}  // namespace traceback::views
