// The threads of a trace: name, what happened to it, and where it stands at the end.
#pragma once

#include <QString>
#include <vector>

#include "model/trace.h"
#include "views/common/rows_model.h"

namespace traceback::views {

class ThreadsModel : public RowsModel {
  Q_OBJECT

 public:
  enum Column { kName, kState, kWhere, kColumnCount };

  explicit ThreadsModel(QObject* parent = nullptr)
      : RowsModel({tr("Thread"), tr("State"), tr("Last in")}, parent) {}
  void setTrace(std::shared_ptr<const model::Trace> trace);

  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int rows() const override { return m_trace ? static_cast<int>(m_trace->threads.size()) : 0; }

 private:
  QString state(const model::ThreadTrace::Info& info) const;
  QString where(std::size_t thread) const;

  std::shared_ptr<const model::Trace> m_trace;
  mutable std::vector<std::optional<QString>> m_where;  // found when looked at
};

}  // namespace traceback::views
