// The active calls at a moment, innermost first, each with the line at which it stands.
#pragma once

#include <optional>
#include <vector>

#include "model/call_tree.h"
#include "model/trace.h"
#include "views/common/rows_model.h"

namespace traceback::views {

class CallsModel : public RowsModel {
  Q_OBJECT

 public:
  enum Column { kFunction, kLine, kColumnCount };

  explicit CallsModel(QObject* parent = nullptr) : RowsModel({tr("Function"), tr("Line")}, parent) {}

  // The calls around an entry; none without one.
  void show(std::shared_ptr<const model::Trace> trace, model::ThreadIndex thread,
            std::optional<model::EntryIndex> at);
  // Where the call of a row stands: the position for the innermost, the calling line for the others. Nothing
  // if the trace does not show it.
  std::optional<model::EntryIndex> position(int row) const;

  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int rows() const override { return static_cast<int>(m_calls.size()); }

 private:
  std::optional<model::Entry> inlinedFrom(int row) const;

  std::shared_ptr<const model::Trace> m_trace;
  const model::ThreadTrace* m_thread = nullptr;
  model::EntryIndex m_at = 0;
  std::vector<model::CallSpan> m_calls;
};

}  // namespace traceback::views
