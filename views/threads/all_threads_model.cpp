#include "views/threads/all_threads_model.h"

#include <algorithm>

#include "views/common/formatting.h"
#include "views/trace/flat_model.h"

namespace traceback::views {

void AllThreadsModel::setTrace(std::shared_ptr<const model::Trace> trace) {
  beginResetModel();
  m_trace = std::move(trace);
  m_position.reset();
  m_order = {};
  if (m_trace) {
    std::vector<model::ThreadIndex> threads;
    for (std::uint32_t i = 0; i < m_trace->threads.size(); ++i) threads.push_back({i});
    m_order = model::Interleaving(*m_trace, threads);
  }
  m_first = 0;
  m_end = std::min(allRows(), kWindow);
  endResetModel();
}

void AllThreadsModel::setPosition(std::optional<model::TracePlace> position) {
  if (position == m_position) return;
  m_position = position;
  if (rowCount() > 0) emit dataChanged(index(0, 0), index(rowCount() - 1, kColumns - 1));
}

std::uint64_t AllThreadsModel::rowOf(std::size_t stretch) const {
  return m_order.stretches()[stretch].position + stretch;
}

AllThreadsModel::Row AllThreadsModel::rowAt(int row) const {
  const std::uint64_t offset = static_cast<std::uint64_t>(row) - (m_first > 0 ? 1 : 0);
  if ((m_first > 0 && row == 0) || m_first + offset >= m_end) return {};
  const std::uint64_t at = m_first + offset;
  // The last stretch that does not begin behind it.
  std::size_t low = 0, high = m_order.stretches().size();
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (rowOf(middle) <= at ? low : high) = middle;
  }
  const std::uint64_t within = at - rowOf(low);
  if (within == 0) return {.kind = Row::Stretch, .stretch = low};
  return {.kind = Row::Entry, .stretch = low, .entry = m_order.stretches()[low].first + within - 1};
}

void AllThreadsModel::moveWindow(std::uint64_t around) {
  beginResetModel();
  m_first = around > kWindow / 2 ? around - kWindow / 2 : 0;
  m_end = std::min(allRows(), m_first + kWindow);
  m_first = m_end > kWindow ? std::min(m_first, m_end - kWindow) : 0;
  endResetModel();
}

QModelIndex AllThreadsModel::reveal(model::TracePlace place) {
  const std::size_t stretch = m_order.stretchOf(place);
  if (stretch >= m_order.stretches().size()) return {};
  const std::uint64_t row = rowOf(stretch) + 1 + (place.entry - m_order.stretches()[stretch].first);
  if (row < m_first || row >= m_end) moveWindow(row);
  return index(static_cast<int>(row - m_first) + (m_first > 0 ? 1 : 0), 0);
}

std::optional<model::TracePlace> AllThreadsModel::placeAt(const QModelIndex& index) const {
  if (!index.isValid()) return std::nullopt;
  const Row row = rowAt(index.row());
  if (row.kind != Row::Entry) return std::nullopt;
  return model::TracePlace{m_order.stretches()[row.stretch].thread, row.entry};
}

QModelIndex AllThreadsModel::showMore(const QModelIndex& index) {
  if (!index.isValid() || rowAt(index.row()).kind != Row::More) return index;
  const std::uint64_t beside = index.row() == 0 ? m_first : m_end - 1;
  moveWindow(beside);
  return this->index(static_cast<int>(beside - m_first) + (m_first > 0 ? 1 : 0), 0);
}

int AllThreadsModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid()) return 0;
  return static_cast<int>(m_end - m_first) + (m_first > 0 ? 1 : 0) + (m_end < allRows() ? 1 : 0);
}

QString AllThreadsModel::stretchText(const model::ThreadStretch& stretch) const {
  const model::ThreadTrace& thread = *m_trace->threads[stretch.thread.value];
  const model::TimeBounds bounds = thread.times().boundsOf(stretch.first);
  const QString from = bounds.from ? timeOfDay(*m_trace, *bounds.from) : QString();
  return from.isEmpty() ? tr("goes on here") : tr("from %1").arg(from);
}

QString AllThreadsModel::unorderedText(const model::ThreadStretch& stretch) const {
  QStringList others;
  for (const model::ThreadIndex other : model::unorderedWith(*m_trace, stretch))
    others.append(threadName(m_trace->threads[other.value]->info(), other.value + 1));
  return others.isEmpty() ? QString() : tr("not known to %1").arg(others.join(QStringLiteral(", ")));
}

QVariant AllThreadsModel::stretchData(const model::ThreadStretch& stretch, int column, int role) const {
  if (role == kStyleRole) return static_cast<int>(RowStyle::Quiet);
  if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole && role != Qt::ToolTipRole) return {};
  const QString name = threadName(m_trace->threads[stretch.thread.value]->info(), stretch.thread.value + 1);
  if (role != Qt::DisplayRole) {
    const QString unordered = unorderedText(stretch);
    const QString begins = tr("Thread %1, %2").arg(name, stretchText(stretch));
    return unordered.isEmpty() ? begins : tr("%1; order %2").arg(begins, unordered);
  }
  if (column == kThreadColumn) return name;
  if (column == kOrderColumn) return unorderedText(stretch);
  return column == kWhatColumn ? stretchText(stretch) : QVariant();
}

QVariant AllThreadsModel::moreData(int row, int column, int role) const {
  if (role == kStyleRole) return static_cast<int>(RowStyle::More);
  if (column != kWhatColumn || (role != Qt::DisplayRole && role != Qt::AccessibleTextRole)) return {};
  return row == 0 && m_first > 0 ? tr("%1 earlier rows").arg(count(m_first))
                                 : tr("%1 later rows").arg(count(allRows() - m_end));
}

QVariant AllThreadsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !m_trace) return {};
  const Row row = rowAt(index.row());
  if (row.kind == Row::More) return moreData(index.row(), index.column(), role);
  const model::ThreadStretch& stretch = m_order.stretches()[row.stretch];
  if (row.kind == Row::Stretch) return stretchData(stretch, index.column(), role);
  if (role == kEntryRole) return static_cast<qulonglong>(row.entry);
  const model::TracePlace place{stretch.thread, row.entry};
  const model::Order order = m_position ? model::orderOf(*m_trace, place, *m_position) : model::Order::Same;
  if (role == kOrderRole) return m_position ? QVariant(static_cast<int>(order)) : QVariant();
  const model::Entry entry = m_trace->threads[stretch.thread.value]->entry(row.entry);
  const EntryText text(*m_trace, *m_sources);
  const QString words = orderText(order);
  switch (role) {
    case kStyleRole:
      return static_cast<int>(text.style(entry, nullptr));
    case kDepthRole:
      return entry.depth;
    case kBadgesRole:
      return index.column() == kNoteColumn ? QVariant::fromValue(text.badges(entry, nullptr)) : QVariant();
    case Qt::ToolTipRole:
      return words.isEmpty()
                 ? text.toolTip(entry, nullptr)
                 : text.toolTip(entry, nullptr) + u'\n' + tr("To the current entry: %1").arg(words);
    case Qt::AccessibleTextRole:
      if (index.column() == kWhatColumn)
        return QStringLiteral("%1, %2, %3")
            .arg(threadName(m_trace->threads[stretch.thread.value]->info(), stretch.thread.value + 1),
                 text.spoken(entry, nullptr), words.isEmpty() ? tr("the current entry") : words);
      break;
    case Qt::DisplayRole:
      break;
    default:
      return {};
  }
  if (index.column() == kOrderColumn) return words;
  if (index.column() == kWhatColumn)
    return entry.kind == model::EntryKind::Call ? tr("call %1").arg(text.what(entry, nullptr))
                                                : text.what(entry, nullptr);
  return text.cell(index.column(), entry, nullptr, stretch.thread);
}

QVariant AllThreadsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == kOrderColumn ? tr("Order") : traceColumnTitle(section);
}

}  // namespace traceback::views
