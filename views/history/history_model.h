// What a thread did before its trace begins: the stretches of time that there are samples of, and what was
// found in one of them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/history.h"
#include "model/trace.h"
#include "views/common/rows_model.h"

namespace traceback::views {

// "visit 70 %, load 20 %, 3 more"
QString busiestText(const model::Trace& trace, const model::HistoryStretch& stretch);

class HistoryModel : public RowsModel {
  Q_OBJECT

 public:
  enum Column { kWhen, kBefore, kBusiest, kRead, kColumnCount };

  explicit HistoryModel(QObject* parent = nullptr)
      : RowsModel({tr("When"), tr("Before the end"), tr("Busiest"), tr("Read")}, parent) {}
  void show(std::shared_ptr<const model::Trace> trace, const model::ThreadTrace* thread);
  const model::HistoryStretch* stretch(int row) const;

  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int rows() const override { return m_history ? static_cast<int>(m_history->stretches.size()) : 0; }

 private:
  QString cell(const model::HistoryStretch& stretch, int column) const;

  std::shared_ptr<const model::Trace> m_trace;
  std::shared_ptr<const model::ThreadHistory> m_history;
  std::optional<model::Ticks> m_end;
};

// The places of a stretch, most frequent first, each with the function that it is in.
class HistoryPlacesModel : public RowsModel {
  Q_OBJECT

 public:
  enum Column { kShare, kFunction, kPlace, kKind, kTimes, kColumnCount };

  explicit HistoryPlacesModel(QObject* parent = nullptr)
      : RowsModel({tr("Share"), tr("Function"), tr("Place"), tr("What"), tr("Times")}, parent) {}
  void show(std::shared_ptr<const model::Trace> trace, const model::HistoryStretch* stretch);
  // The code of a row, as if it had run; nothing where it is not known.
  std::optional<model::Entry> code(int row) const;

  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int rows() const override { return static_cast<int>(m_rows.size()); }

 private:
  struct Row {
    const model::HistoryFunction* function;
    const model::HistoryPlace* place;  // null if nothing says where in it
    std::uint64_t times;
  };
  QString cell(const Row& row, int column) const;

  std::shared_ptr<const model::Trace> m_trace;  // which keeps the rows' functions and places
  std::vector<Row> m_rows;
  std::uint64_t m_counted = 1;
};

}  // namespace traceback::views
