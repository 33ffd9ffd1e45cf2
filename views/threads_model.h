// The threads of a trace: name, what happened to it, and where it stands at the end.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <vector>

#include "model/trace.h"

namespace traceback::views {

class ThreadsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kName, kState, kWhere, kColumnCount };

  explicit ThreadsModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void setTrace(std::shared_ptr<const model::Trace> trace);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QString state(const model::ThreadTrace::Info& info) const;
  QString where(std::size_t thread) const;

  std::shared_ptr<const model::Trace> m_trace;
  mutable std::vector<std::optional<QString>> m_where;  // found when looked at
};

}  // namespace traceback::views
