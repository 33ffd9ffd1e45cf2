// One side of a comparison as a table, with the columns and roles of a trace (entry_text.h); both sides have
// the same rows.
#pragma once

#include <QAbstractTableModel>
#include <memory>

#include "model/trace.h"
#include "views/compare/compare_rows.h"
#include "views/source/source_cache.h"

namespace traceback::views {

class CompareModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  CompareModel(model::Side side, SourceCache& sources, QObject* parent = nullptr);

  // Null for none. The rows outlive it or the next call.
  void setRows(std::shared_ptr<const model::Trace> trace, model::ThreadIndex thread, const CompareRows* rows);
  bool hasRows() const { return m_rows != nullptr; }
  // Around a change of the rows.
  void beginChange() { beginResetModel(); }
  void endChange() { endResetModel(); }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  // The vertical header says, in a sign, how the row compares: < > | ? and nothing for the same.
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QString sign(int row) const;
  QString meaning(int row) const;
  QVariant background(int row) const;
  QVariant foldedData(int row, int column, int role) const;

  model::Side m_side;
  SourceCache* m_sources;
  std::shared_ptr<const model::Trace> m_trace;
  model::ThreadIndex m_thread;
  const CompareRows* m_rows = nullptr;
};

}  // namespace traceback::views
