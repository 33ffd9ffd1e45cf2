#include "views/flat_model.h"

#include <algorithm>

#include "views/formatting.h"

namespace traceback::views {

QString traceColumnTitle(int column) {
  switch (column) {
    case kWhatColumn:
      return FlatModel::tr("Source");
    case kPlaceColumn:
      return FlatModel::tr("Line");
    case kFunctionColumn:
      return FlatModel::tr("Function");
    case kNoteColumn:
      return FlatModel::tr("Notes");
    default:
      return {};
  }
}

FlatModel::FlatModel(SourceCache& sources, QObject* parent)
    : QAbstractTableModel(parent), m_sources(&sources) {}

void FlatModel::setThread(std::shared_ptr<const model::Trace> trace, model::ThreadIndex thread) {
  beginResetModel();
  m_trace = std::move(trace);
  m_thread =
      m_trace && thread.value < m_trace->threads.size() ? m_trace->threads[thread.value].get() : nullptr;
  m_count = m_thread != nullptr ? m_thread->entryCount() : 0;
  m_end = m_count;
  m_first = m_count > kWindow ? m_count - kWindow : 0;
  endResetModel();
}

void FlatModel::moveWindow(model::EntryIndex around) {
  beginResetModel();
  m_first = around > kWindow / 2 ? around - kWindow / 2 : 0;
  m_end = std::min(m_count, m_first + kWindow);
  if (m_end - m_first < kWindow) m_first = m_end > kWindow ? m_end - kWindow : 0;
  endResetModel();
}

QModelIndex FlatModel::reveal(model::EntryIndex entry) {
  if (entry >= m_count) return {};
  if (entry < m_first || entry >= m_end) moveWindow(entry);
  return index(static_cast<int>(entry - m_first) + (hasEarlier() ? 1 : 0), 0);
}

std::optional<model::EntryIndex> FlatModel::showMore(const QModelIndex& index) {
  if (!index.isValid() || entryAt(index.row())) return std::nullopt;
  const model::EntryIndex beside = index.row() == 0 ? m_first : m_end - 1;
  moveWindow(beside);
  return beside;
}

void FlatModel::refreshSources() {
  if (rowCount() > 0) emit dataChanged(index(0, 0), index(rowCount() - 1, kTraceColumnCount - 1));
}

int FlatModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid()) return 0;
  return static_cast<int>(m_end - m_first) + (hasEarlier() ? 1 : 0) + (hasLater() ? 1 : 0);
}

int FlatModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kTraceColumnCount;
}

std::optional<model::EntryIndex> FlatModel::entryAt(int row) const {
  const int offset = row - (hasEarlier() ? 1 : 0);
  if (offset < 0 || static_cast<model::EntryIndex>(offset) >= m_end - m_first) return std::nullopt;
  return m_first + static_cast<model::EntryIndex>(offset);
}

QVariant FlatModel::moreData(int row, int column, int role) const {
  if (role == kStyleRole) return static_cast<int>(RowStyle::More);
  if (column != kWhatColumn || (role != Qt::DisplayRole && role != Qt::AccessibleTextRole)) return {};
  return row == 0 && hasEarlier() ? tr("%1 earlier entries").arg(count(m_first))
                                  : tr("%1 later entries").arg(count(m_count - m_end));
}

QVariant FlatModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || m_thread == nullptr) return {};
  const auto at = entryAt(index.row());
  if (!at) return moreData(index.row(), index.column(), role);
  switch (role) {
    case kEntryRole:
      return static_cast<qulonglong>(*at);
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
    case Qt::AccessibleTextRole:
    case kBadgesRole:
    case kStyleRole:
    case kDepthRole:
      break;
    default:
      return {};
  }
  const model::Entry entry = m_thread->entry(*at);
  const EntryText text(*m_trace, *m_sources);
  if (role == kStyleRole) return static_cast<int>(text.style(entry, nullptr));
  if (role == kDepthRole) return entry.depth;
  if (role == Qt::ToolTipRole) return text.toolTip(entry, nullptr);
  if (role == Qt::AccessibleTextRole && index.column() == kWhatColumn) return text.spoken(entry, nullptr);
  if (role == kBadgesRole)
    return index.column() == kNoteColumn ? QVariant::fromValue(text.badges(entry, nullptr)) : QVariant();
  switch (index.column()) {
    case kWhatColumn:
      return entry.kind == model::EntryKind::Call ? tr("call %1").arg(text.what(entry, nullptr))
                                                  : text.what(entry, nullptr);
    case kPlaceColumn:
      return text.place(entry, nullptr);
    case kFunctionColumn:
      return text.function(entry, nullptr);
    case kNoteColumn: {
      QStringList words;
      for (const Badge& badge : text.badges(entry, nullptr)) words.append(badge.text);
      return words.join(QStringLiteral(", "));
    }
    default:
      return {};
  }
}

QVariant FlatModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return traceColumnTitle(section);
}

}  // namespace traceback::views
