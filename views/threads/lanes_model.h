// The threads of a trace as lanes over time, each with how it stands to the entry where the user is: what of
// it ran before, what after, and of what that is not known.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/order.h"
#include "model/trace.h"
#include "views/common/rows_model.h"

namespace traceback::views {

class LanesModel : public RowsModel {
  Q_OBJECT

 public:
  enum Column { kThread, kLane, kColumnCount };

  explicit LanesModel(QObject* parent = nullptr)
      : RowsModel({tr("Thread"), tr("Time before the end")}, parent) {}

  void setTrace(std::shared_ptr<const model::Trace> trace);
  void setPosition(std::optional<model::TracePlace> position);

  struct Lane {
    const model::ThreadTrace* thread = nullptr;
    model::Whereabouts where;  // at the position; nothing known if there is none
    model::TimeBounds band;    // of the entries in `where`
    bool current = false;      // the position is in it
  };
  const Lane& lane(int row) const { return m_lanes[static_cast<std::size_t>(row)]; }
  const std::shared_ptr<const model::Trace>& trace() const { return m_trace; }
  const std::optional<model::TracePlace>& position() const { return m_position; }

  // Where the thread may have been at that time: the entries between the readings around it.
  model::Whereabouts entriesAt(int row, model::Ticks time) const;
  // What was sampled then, before the thread's trace begins; null if nothing was.
  const model::HistoryStretch* stretchAt(int row, model::Ticks time) const;
  // In words: what is at that time in the lane, and how that stands to the position.
  QString describe(int row, model::Ticks time) const;
  QString describeEvent(int row, const model::TimedEvent& event) const;

  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int rows() const override { return static_cast<int>(m_lanes.size()); }

 private:
  QString name(int row) const;
  QString standing(int row) const;

  std::shared_ptr<const model::Trace> m_trace;
  std::optional<model::TracePlace> m_position;
  std::vector<Lane> m_lanes;
};

// "entry 7", "one of the entries 7 to 120"
QString entriesText(const model::Whereabouts& where);
// How a thread stands to the current entry as a whole: "had ended", "was at one of the entries 7 to 120
// then".
QString whereaboutsText(const model::Whereabouts& where, const model::ThreadTrace& thread);

}  // namespace traceback::views
