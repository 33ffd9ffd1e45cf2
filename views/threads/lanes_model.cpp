#include "views/threads/lanes_model.h"

#include <algorithm>

#include "views/common/formatting.h"
#include "views/history/history_model.h"

namespace traceback::views {

QString entriesText(const model::Whereabouts& where) {
  if (where.end <= where.first + 1) return LanesModel::tr("entry %1").arg(count(where.first + 1));
  return LanesModel::tr("one of the entries %1 to %2").arg(count(where.first + 1), count(where.end));
}

QString whereaboutsText(const model::Whereabouts& where, const model::ThreadTrace& thread) {
  if (where.notBegun) return LanesModel::tr("had not begun then");
  if (where.over) return LanesModel::tr("had ended by then");
  if (where.first == where.end) return LanesModel::tr("recorded nothing");
  // A gap at the beginning stands for all that was before.
  const model::Entry first = thread.entry(where.first);
  if (where.first == 0 && first.kind == model::EntryKind::Gap && where.certain())
    return first.detail == static_cast<std::uint32_t>(model::GapCause::NotRead)
               ? LanesModel::tr("what it did then has not been read yet")
               : LanesModel::tr("what it did then has been overwritten");
  if (where.certain()) return LanesModel::tr("was at %1 then").arg(entriesText(where));
  return LanesModel::tr("was at %1 then; at which is not known").arg(entriesText(where));
}

void LanesModel::setTrace(std::shared_ptr<const model::Trace> trace) {
  beginResetModel();
  m_trace = std::move(trace);
  m_position.reset();
  m_lanes.clear();
  if (m_trace)
    for (const auto& thread : m_trace->threads) m_lanes.emplace_back().thread = thread.get();
  endResetModel();
}

void LanesModel::setPosition(std::optional<model::TracePlace> position) {
  if (m_lanes.empty() || position == m_position) return;
  m_position = position;
  for (std::uint32_t i = 0; i < m_lanes.size(); ++i) {
    Lane& lane = m_lanes[i];
    lane.where = position ? model::whereaboutsAt(*m_trace, *position, {i}) : model::Whereabouts{};
    lane.current = position && position->thread.value == i;
    lane.band = {};
    if (!position || lane.where.first >= lane.where.end) continue;
    const model::ThreadTimes& times = lane.thread->times();
    lane.band = {.from = times.boundsOf(lane.where.first).from, .to = times.boundsOf(lane.where.end - 1).to};
  }
  emit dataChanged(index(0, kLane), index(rowCount() - 1, kLane));
}

model::Whereabouts LanesModel::entriesAt(int row, model::Ticks time) const {
  const model::ThreadTrace& thread = *lane(row).thread;
  const model::ThreadTimes& times = thread.times();
  const model::EntryIndex count = thread.entryCount();
  if (times.began() && time < *times.began()) return {.notBegun = true};
  if (thread.info().ended && times.ended() && time > *times.ended())
    return {.first = count, .end = count, .over = true};
  const auto readings = times.readings();
  const auto after = std::ranges::upper_bound(readings, time, {}, &model::ClockReading::time);
  model::Whereabouts where;
  where.first = after == readings.begin() ? 0 : (after - 1)->next;
  where.end = after == readings.end() ? count : after->next;
  if (where.first >= where.end) where.first = where.end > 0 ? where.end - 1 : 0;
  return where;
}

const model::HistoryStretch* LanesModel::stretchAt(int row, model::Ticks time) const {
  const auto& history = lane(row).thread->info().history;
  const auto readings = lane(row).thread->times().readings();
  if (!history || (!readings.empty() && time >= readings.front().time)) return nullptr;
  const auto found = std::ranges::find_if(history->stretches, [time](const model::HistoryStretch& each) {
    return each.begin <= time && time < each.end;
  });
  return found == history->stretches.end() ? nullptr : &*found;
}

QString LanesModel::name(int row) const {
  return threadName(lane(row).thread->info(), static_cast<std::size_t>(row) + 1);
}

QString LanesModel::standing(int row) const {
  if (!m_position) return {};
  return lane(row).current ? tr("the current entry is in it")
                           : whereaboutsText(lane(row).where, *lane(row).thread);
}

QString LanesModel::describe(int row, model::Ticks time) const {
  const model::Whereabouts where = entriesAt(row, time);
  QStringList lines{tr("Thread %1").arg(name(row))};
  if (const QString when = timeOfDay(*m_trace, time); !when.isEmpty())
    lines[0] += QStringLiteral(", ") + when;
  if (const model::HistoryStretch* stretch = stretchAt(row, time)) {
    lines.append(tr("Before its trace, by %1 samples: %2")
                     .arg(count(stretch->sampled), busiestText(*m_trace, *stretch)));
    return lines.join(u'\n');
  }
  if (where.notBegun || where.over || where.first == where.end) {
    lines.append(whereaboutsText(where, *lane(row).thread));
  } else {
    lines.append(where.certain() ? entriesText(where)
                                 : tr("%1: the clock was not read between them").arg(entriesText(where)));
    const model::TracePlace first{{static_cast<std::uint32_t>(row)}, where.first};
    const model::TracePlace last{{static_cast<std::uint32_t>(row)}, where.end - 1};
    if (m_position) {
      const model::Order from = model::orderOf(*m_trace, first, *m_position);
      const model::Order to = model::orderOf(*m_trace, last, *m_position);
      lines.append(
          from == to
              ? tr("To the current entry: %1").arg(orderText(to).isEmpty() ? tr("the same") : orderText(to))
              : tr("Some of it is around the current entry"));
    }
  }
  return lines.join(u'\n');
}

QString LanesModel::describeEvent(int row, const model::TimedEvent& event) const {
  const model::Entry entry = lane(row).thread->entry(event.entry);
  QString what;
  switch (event.kind) {
    case model::EntryKind::Signal:
      what = signalName(event.detail);
      break;
    case model::EntryKind::Exception:
      what = exceptionText(*m_trace, entry);
      break;
    case model::EntryKind::Gap:
      what = gapText(event.detail);
      break;
    case model::EntryKind::Sync:
      what = syncText(event.detail);
      break;
    default:
      break;
  }
  if (lane(row).thread->info().fault == event.entry) what = tr("fault");
  const QString when = timeOfDay(*m_trace, entry.time);
  return tr("Thread %1, entry %2: %3").arg(name(row), count(event.entry + 1), what) +
         (when.isEmpty() ? QString() : tr(", not before %1").arg(when));
}

QVariant LanesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const int row = index.row();
  if (index.column() == kThread)
    return role == Qt::DisplayRole || role == Qt::ToolTipRole ? QVariant(name(row)) : QVariant();
  // What the picture shows, for those who cannot see it.
  if (role != Qt::AccessibleTextRole) return {};
  QStringList parts{tr("Thread %1").arg(name(row))};
  const model::ThreadTimes& times = lane(row).thread->times();
  const auto say = [&](const QString& words, std::optional<model::Ticks> time) {
    const QString when = time ? timeOfDay(*m_trace, *time) : QString();
    if (!when.isEmpty()) parts.append(words.arg(when));
  };
  say(tr("began at %1"), times.began());
  say(lane(row).thread->info().ended ? tr("ended at %1") : tr("recorded until %1"), times.ended());
  if (const auto& history = lane(row).thread->info().history; history && !history->stretches.empty())
    say(tr("samples of before its trace from %1 on"), history->stretches.front().begin);
  if (lane(row).thread->info().fault) parts.append(tr("faulted"));
  if (!times.trusted()) parts.append(tr("its clock ran backwards"));
  if (const QString where = standing(row); !where.isEmpty()) parts.append(where);
  return parts.join(QStringLiteral(", "));
}

}  // namespace traceback::views
