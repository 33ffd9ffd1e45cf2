// What was wrong with the snap.
#pragma once

#include <memory>

#include "model/trace.h"
#include "views/common/rows_model.h"

namespace traceback::views {

class NotesModel : public RowsModel {
  Q_OBJECT

 public:
  enum Column { kKind, kText, kCount, kColumnCount };

  explicit NotesModel(QObject* parent = nullptr)
      : RowsModel({tr("Kind"), tr("What was found"), tr("Times")}, parent) {}
  void setTrace(std::shared_ptr<const model::Trace> trace);

  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int rows() const override { return m_trace ? static_cast<int>(m_trace->report.notes().size()) : 0; }

 private:
  std::shared_ptr<const model::Trace> m_trace;
};

}  // namespace traceback::views
