// The rows that answer a question.
#pragma once

#include <QAbstractTableModel>
#include <memory>

#include "model/query/answer.h"
#include "model/trace.h"

namespace traceback::views {

class AnswersModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kThread, kPlace, kWhat, kLength, kColumnCount };

  explicit AnswersModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void set(std::shared_ptr<const model::Trace> trace, std::vector<model::AnswerRow> rows);
  // row < rowCount()
  const model::AnswerRow& answer(int row) const { return m_rows[static_cast<std::size_t>(row)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::shared_ptr<const model::Trace> m_trace;
  std::vector<model::AnswerRow> m_rows;
};

}  // namespace traceback::views
