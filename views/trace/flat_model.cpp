#include "views/trace/flat_model.h"

#include <algorithm>

#include "model/folding.h"
#include "views/common/formatting.h"

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
    case kThreadColumn:
      return FlatModel::tr("Thread");
    case kTimeColumn:
      return FlatModel::tr("Time");
    case kModuleColumn:
      return FlatModel::tr("Module");
    case kFileColumn:
      return FlatModel::tr("File");
    case kDepthColumn:
      return FlatModel::tr("Depth");
    default:
      return {};
  }
}

FlatModel::FlatModel(SourceCache& sources, QObject* parent)
    : QAbstractTableModel(parent), m_sources(&sources) {}

void FlatModel::setThread(std::shared_ptr<const model::Trace> trace, model::ThreadIndex thread) {
  beginResetModel();
  m_trace = std::move(trace);
  m_threadIndex = thread;
  m_thread =
      m_trace && thread.value < m_trace->threads.size() ? m_trace->threads[thread.value].get() : nullptr;
  m_count = m_thread != nullptr ? m_thread->entryCount() : 0;
  m_rules = m_thread != nullptr ? RowRules(*m_trace, *m_thread, m_filter, m_fold) : RowRules();
  placeWindow(m_count);
  endResetModel();
}

void FlatModel::setRules(const TraceFilter& filter, bool fold, model::EntryIndex around) {
  beginResetModel();
  m_filter = filter;
  m_fold = fold;
  m_rules = m_thread != nullptr ? RowRules(*m_trace, *m_thread, m_filter, m_fold) : RowRules();
  placeWindow(around);
  endResetModel();
}

void FlatModel::moveWindow(model::EntryIndex around) {
  beginResetModel();
  placeWindow(around);
  endResetModel();
}

void FlatModel::placeWindow(model::EntryIndex around) {
  const model::EntryIndex window = arranged() ? kFoldingWindow : kWindow;
  m_first = around > window / 2 ? around - window / 2 : 0;
  m_end = std::min(m_count, m_first + window);
  if (m_end - m_first < window) m_first = m_end > window ? m_end - window : 0;
  arrange();
}

void FlatModel::arrange() {
  m_items.clear();
  if (!arranged() || m_thread == nullptr) return;
  std::vector<std::uint64_t> keys;
  model::EntryIndex at = m_first;
  for (const model::Entry& entry : m_thread->entries(m_first, static_cast<std::size_t>(m_end - m_first))) {
    if (m_rules.shows(entry)) {
      m_items.push_back({Item::Entry, at, 1, 1});
      keys.push_back(m_rules.key(entry));
    } else if (!m_items.empty() && m_items.back().kind == Item::Hidden) {
      ++m_items.back().count;
    } else {
      m_items.push_back({Item::Hidden, at, 1, 1});
      keys.push_back(0);
    }
    ++at;
  }
  if (!m_rules.fold()) return;
  std::vector<Item> folded;
  std::size_t next = 0;
  for (const model::Repeat& repeat : model::findRepeats(keys)) {
    for (; next < repeat.first; ++next) folded.push_back(m_items[next]);
    folded.push_back({Item::Repeated, m_items[next].first, static_cast<std::uint32_t>(repeat.rows()),
                      static_cast<std::uint32_t>(repeat.period)});
    next += repeat.rows();
  }
  for (; next < m_items.size(); ++next) folded.push_back(m_items[next]);
  m_items = std::move(folded);
}

std::size_t FlatModel::itemOf(model::EntryIndex entry) const {
  const auto after = std::ranges::upper_bound(m_items, entry, {}, &Item::first);
  return static_cast<std::size_t>(after - m_items.begin()) - 1;
}

void FlatModel::replace(std::size_t item, const std::vector<Item>& with) {
  const int row = static_cast<int>(item) + rowsBefore();
  const auto at = [this](std::size_t i) { return m_items.begin() + static_cast<std::ptrdiff_t>(i); };
  // The first takes the row's place, so that views which stand on it stay there.
  m_items[item] = with.front();
  emit dataChanged(index(row, 0), index(row, kTraceColumnCount - 1));
  if (with.size() == 1) return;
  beginInsertRows({}, row + 1, row + static_cast<int>(with.size()) - 1);
  m_items.insert(at(item + 1), with.begin() + 1, with.end());
  endInsertRows();
}

QModelIndex FlatModel::reveal(model::EntryIndex entry) {
  if (entry >= m_count) return {};
  if (entry < m_first || entry >= m_end) moveWindow(entry);
  if (!arranged()) return index(static_cast<int>(entry - m_first) + rowsBefore(), 0);
  const Item item = m_items[itemOf(entry)];
  if (item.kind != Item::Entry) {
    // The round that it is in comes out, with what is before and after it left as it is.
    std::vector<Item> parts;
    const auto offset = static_cast<std::uint32_t>(entry - item.first);
    const std::uint32_t from = item.kind == Item::Hidden ? offset : offset - offset % item.period;
    const std::uint32_t to = from + (item.kind == Item::Hidden ? 1 : item.period);
    const auto add = [&](std::uint32_t begin, std::uint32_t end) {
      const std::uint32_t fewest = item.kind == Item::Hidden ? 1 : item.period == 1 ? 3 : 2 * item.period;
      if (end - begin >= fewest)
        parts.push_back({item.kind, item.first + begin, end - begin, item.period});
      else
        for (; begin < end; ++begin) parts.push_back({Item::Entry, item.first + begin, 1, 1});
    };
    add(0, from);
    for (std::uint32_t i = from; i < to; ++i) parts.push_back({Item::Entry, item.first + i, 1, 1});
    add(to, item.count);
    replace(itemOf(entry), parts);
  }
  return index(static_cast<int>(itemOf(entry)) + rowsBefore(), 0);
}

std::optional<model::EntryIndex> FlatModel::showMore(const QModelIndex& index) {
  if (!index.isValid() || entryAt(index.row()) || isFolded(index)) return std::nullopt;
  const model::EntryIndex beside = index.row() == 0 ? m_first : m_end - 1;
  moveWindow(beside);
  return beside;
}

bool FlatModel::isFolded(const QModelIndex& index) const {
  const Item* item = index.isValid() ? itemAt(index.row()) : nullptr;
  return item != nullptr && item->kind != Item::Entry;
}

QModelIndex FlatModel::unfold(const QModelIndex& index) {
  if (!isFolded(index)) return index;
  const Item item = *itemAt(index.row());
  std::vector<Item> parts;
  for (std::uint32_t i = 0; i < item.count; ++i) parts.push_back({Item::Entry, item.first + i, 1, 1});
  replace(itemOf(item.first), parts);
  return this->index(index.row(), 0);
}

void FlatModel::refreshSources() {
  if (rowCount() > 0) emit dataChanged(index(0, 0), index(rowCount() - 1, kTraceColumnCount - 1));
}

void FlatModel::setWhereabouts(std::optional<model::Whereabouts> where) {
  if (where == m_where) return;
  m_where = where;
  if (rowCount() > 0) emit dataChanged(index(0, 0), index(rowCount() - 1, kTraceColumnCount - 1));
}

// Of a row for several entries it is known only if it is the same of all.
QVariant FlatModel::orderData(model::EntryIndex first, model::EntryIndex end) const {
  if (!m_where) return {};
  const model::Order order = m_where->orderOf(first), last = m_where->orderOf(end - 1);
  return static_cast<int>(order == last ? order : model::Order::Unknown);
}

int FlatModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid()) return 0;
  const auto rows = arranged() ? static_cast<int>(m_items.size()) : static_cast<int>(m_end - m_first);
  return rows + (hasEarlier() ? 1 : 0) + (hasLater() ? 1 : 0);
}

int FlatModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kTraceColumnCount;
}

const FlatModel::Item* FlatModel::itemAt(int row) const {
  const int item = row - rowsBefore();
  if (!arranged() || item < 0 || static_cast<std::size_t>(item) >= m_items.size()) return nullptr;
  return &m_items[static_cast<std::size_t>(item)];
}

std::optional<model::EntryIndex> FlatModel::entryAt(int row) const {
  if (arranged()) {
    const Item* item = itemAt(row);
    return item != nullptr && item->kind == Item::Entry ? std::optional(item->first) : std::nullopt;
  }
  const int offset = row - rowsBefore();
  if (offset < 0 || static_cast<model::EntryIndex>(offset) >= m_end - m_first) return std::nullopt;
  return m_first + static_cast<model::EntryIndex>(offset);
}

QVariant FlatModel::moreData(int row, int column, int role) const {
  if (role == kStyleRole) return static_cast<int>(RowStyle::More);
  if (column != kWhatColumn || (role != Qt::DisplayRole && role != Qt::AccessibleTextRole)) return {};
  return row == 0 && hasEarlier() ? tr("%1 earlier entries").arg(count(m_first))
                                  : tr("%1 later entries").arg(count(m_count - m_end));
}

QVariant FlatModel::foldedData(const Item& item, int column, int role) const {
  if (role == kOrderRole) return orderData(item.first, item.first + item.count);
  const EntryText text(*m_trace, *m_sources);
  if (item.kind == Item::Hidden) {
    if (role == kStyleRole) return static_cast<int>(RowStyle::Folded);
    if (column != kWhatColumn || (role != Qt::DisplayRole && role != Qt::AccessibleTextRole)) return {};
    return hiddenText(item.count);
  }
  const std::vector<model::Entry> round = m_thread->entries(item.first, item.period);
  const RepeatText repeat = text.repeated(round, item.count / item.period, false);
  if (role == kStyleRole) return static_cast<int>(RowStyle::Folded);
  if (role == kDepthRole) return round.front().depth;
  if (role == kDetailRole) return column == kWhatColumn ? QVariant(repeat.detail) : QVariant();
  if (role == Qt::ToolTipRole || (role == Qt::AccessibleTextRole && column == kWhatColumn))
    return QStringLiteral("%1, %2").arg(repeat.what, repeat.detail);
  if (role != Qt::DisplayRole) return {};
  if (column == kWhatColumn) return repeat.what;
  return column == kNoteColumn ? QVariant() : text.cell(column, round.front(), nullptr, m_threadIndex);
}

QVariant FlatModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || m_thread == nullptr) return {};
  const auto at = entryAt(index.row());
  if (const Item* item = at ? nullptr : itemAt(index.row())) return foldedData(*item, index.column(), role);
  if (!at) return moreData(index.row(), index.column(), role);
  switch (role) {
    case kEntryRole:
      return static_cast<qulonglong>(*at);
    case kOrderRole:
      return orderData(*at, *at + 1);
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
  const QString order = m_where ? orderText(m_where->orderOf(*at)) : QString();
  if (role == Qt::ToolTipRole)
    return order.isEmpty() ? text.toolTip(entry, nullptr)
                           : text.toolTip(entry, nullptr) + u'\n' + tr("To the current entry: %1").arg(order);
  if (role == Qt::AccessibleTextRole && index.column() == kWhatColumn)
    return order.isEmpty() ? text.spoken(entry, nullptr)
                           : QStringLiteral("%1, %2").arg(text.spoken(entry, nullptr), order);
  if (role == kBadgesRole)
    return index.column() == kNoteColumn ? QVariant::fromValue(text.badges(entry, nullptr)) : QVariant();
  if (index.column() == kWhatColumn)
    return entry.kind == model::EntryKind::Call ? tr("call %1").arg(text.what(entry, nullptr))
                                                : text.what(entry, nullptr);
  return text.cell(index.column(), entry, nullptr, m_threadIndex);
}

QVariant FlatModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return traceColumnTitle(section);
}

}  // namespace traceback::views
