// The entries of all threads in one list, in an order that contradicts nothing that is known (model/order.h).
// A row in front of each stretch says whose it is, and to which threads its order is not known. Every entry
// tells how it stands to the current one.
#pragma once

#include <QAbstractTableModel>
#include <memory>
#include <optional>

#include "model/order.h"
#include "model/trace.h"
#include "views/trace/entry_text.h"

namespace traceback::views {

class AllThreadsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  // Those of a trace pane (entry_text.h), and this.
  static constexpr int kOrderColumn = kTraceColumnCount;
  static constexpr int kColumns = kTraceColumnCount + 1;
  // Rows in the model; of more, those around the place that was asked for last.
  static constexpr std::uint64_t kWindow = 1'000'000;

  explicit AllThreadsModel(SourceCache& sources, QObject* parent = nullptr)
      : QAbstractTableModel(parent), m_sources(&sources) {}

  void setTrace(std::shared_ptr<const model::Trace> trace);
  // What "before" and "after" are about.
  void setPosition(std::optional<model::TracePlace> position);
  // The row of an entry; invalid if there is no such.
  QModelIndex reveal(model::TracePlace place);
  // Nothing for the row of a stretch, or one that stands for more.
  std::optional<model::TracePlace> placeAt(const QModelIndex& index) const;
  // Brings what lies beyond the end that the row stands for; gives where that row was.
  QModelIndex showMore(const QModelIndex& index);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : kColumns; }
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    enum Kind : std::uint8_t { More, Stretch, Entry } kind = More;
    std::size_t stretch = 0;
    model::EntryIndex entry = 0;
  };

  std::uint64_t allRows() const { return m_order.entryCount() + m_order.stretches().size(); }
  Row rowAt(int row) const;
  std::uint64_t rowOf(std::size_t stretch) const;  // among all rows
  void moveWindow(std::uint64_t around);
  QString stretchText(const model::ThreadStretch& stretch) const;
  // To which threads its order is not known; empty if it is to all.
  QString unorderedText(const model::ThreadStretch& stretch) const;
  QVariant stretchData(const model::ThreadStretch& stretch, int column, int role) const;
  QVariant moreData(int row, int column, int role) const;

  SourceCache* m_sources;
  std::shared_ptr<const model::Trace> m_trace;
  model::Interleaving m_order;
  std::optional<model::TracePlace> m_position;
  std::uint64_t m_first = 0, m_end = 0;  // the window
};

}  // namespace traceback::views
