// What was wrong with the snap.
#pragma once

#include <QAbstractTableModel>
#include <memory>

#include "model/trace.h"

namespace traceback::views {

class NotesModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kKind, kText, kCount, kColumnCount };

  explicit NotesModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void setTrace(std::shared_ptr<const model::Trace> trace);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::shared_ptr<const model::Trace> m_trace;
};

}  // namespace traceback::views
