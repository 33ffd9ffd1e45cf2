// The rows that answer a question.
#pragma once

#include <QHash>
#include <memory>

#include "model/query/answer.h"
#include "model/trace.h"
#include "views/common/rows_model.h"
#include "views/source/source_cache.h"

namespace traceback::views {

class AnswersModel : public RowsModel {
  Q_OBJECT

 public:
  enum Column { kThread, kPlace, kCalls, kWhat, kLength, kColumnCount };

  // The sources outlive it.
  explicit AnswersModel(SourceCache& sources, QObject* parent = nullptr)
      : RowsModel({tr("Thread"), tr("Place"), tr("Calls"), tr("What"), tr("Length")}, parent),
        m_sources(&sources) {}
  void set(std::shared_ptr<const model::Trace> trace, std::vector<model::AnswerRow> rows);
  // row < rowCount()
  const model::AnswerRow& answer(int row) const { return m_rows[static_cast<std::size_t>(row)]; }

  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int rows() const override { return static_cast<int>(m_rows.size()); }

 private:
  // The calls that the row's place is in.
  QString calls(int row) const;

  SourceCache* m_sources;
  std::shared_ptr<const model::Trace> m_trace;
  std::vector<model::AnswerRow> m_rows;
  mutable QHash<int, QString> m_calls;  // of the rows that were looked at: to find them takes longest
};

}  // namespace traceback::views
