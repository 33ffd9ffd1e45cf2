#include "views/compare/compare_model.h"

#include <QGuiApplication>

#include "views/common/formatting.h"
#include "views/common/theme.h"
#include "views/trace/entry_text.h"
#include "views/trace/flat_model.h"

namespace traceback::views {
namespace {

using Kind = Stretch::Kind;

}  // namespace

CompareModel::CompareModel(model::Side side, SourceCache& sources, QObject* parent)
    : QAbstractTableModel(parent), m_side(side), m_sources(&sources) {}

void CompareModel::setRows(std::shared_ptr<const model::Trace> trace, model::ThreadIndex thread,
                           const CompareRows* rows) {
  beginResetModel();
  m_trace = std::move(trace);
  m_thread = thread;
  m_rows = rows;
  endResetModel();
}

int CompareModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || m_rows == nullptr ? 0 : m_rows->count();
}

int CompareModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kTraceColumnCount;
}

QString CompareModel::sign(int row) const {
  const bool missing = m_rows->cell(row, m_side).missing;
  switch (m_rows->kind(row)) {
    case Kind::Same:
      return {};
    case Kind::Left:
    case Kind::Right:
      if (missing) return {};
      return m_side == model::Side::Left ? QStringLiteral("<") : QStringLiteral(">");
    case Kind::Unknown:
      return missing ? QString() : QStringLiteral("?");
    case Kind::Before:
      return missing ? QString() : QStringLiteral("\u00b7");
  }
  return {};
}

QString CompareModel::meaning(int row) const {
  const std::uint64_t rounds = m_rows->rounds(row, m_side);
  switch (m_rows->kind(row)) {
    case Kind::Same:
      return tr("the same on both sides");
    case Kind::Left:
    case Kind::Right:
      if (rounds > 0) return tr("one of %1 more rounds of the loop on this side").arg(count(rounds));
      return tr("only on this side");
    case Kind::Unknown:
      return tr("no alignment is known here");
    case Kind::Before:
      return tr("older than what the other trace holds");
  }
  return {};
}

QVariant CompareModel::background(int row) const {
  const Theme theme(QGuiApplication::palette());
  if (m_rows->cell(row, m_side).missing) return theme.margin;
  const double share = theme.dark ? 0.22 : 0.14;
  switch (m_rows->kind(row)) {
    case Kind::Same:
      return {};
    case Kind::Left:
    case Kind::Right:
      return mix(theme.base, m_side == model::Side::Left ? theme.infoMark : theme.warningMark, share);
    case Kind::Unknown:
    case Kind::Before:
      return mix(theme.base, theme.text, 0.07);
  }
  return {};
}

QVariant CompareModel::foldedData(int row, int column, int role) const {
  if (role == kStyleRole) return static_cast<int>(RowStyle::More);
  if (column != kWhatColumn || (role != Qt::DisplayRole && role != Qt::AccessibleTextRole)) return {};
  const QString rows = count(m_rows->folded(row));
  return m_rows->kind(row) == Kind::Same ? tr("%1 rows that are the same").arg(rows)
                                         : tr("%1 more rows").arg(rows);
}

QVariant CompareModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || m_rows == nullptr) return {};
  const int row = index.row(), column = index.column();
  if (role == Qt::BackgroundRole) return background(row);
  if (m_rows->folded(row) > 0) return foldedData(row, column, role);
  const auto at = m_rows->cell(row, m_side).entry;
  if (!at) {
    if (role == kStyleRole) return static_cast<int>(RowStyle::Quiet);
    return role == Qt::AccessibleTextRole && column == kWhatColumn ? QVariant(tr("nothing on this side"))
                                                                   : QVariant();
  }
  if (role == kEntryRole) return static_cast<qulonglong>(*at);
  const model::Entry entry = m_trace->threads[m_thread.value]->entry(*at);
  const EntryText text(*m_trace, *m_sources);
  switch (role) {
    case kStyleRole:
      return static_cast<int>(text.style(entry, nullptr));
    case kDepthRole:
      return entry.depth;
    case kBadgesRole: {
      if (column != kNoteColumn) return {};
      QList<Badge> badges = text.badges(entry, nullptr);
      // Said once, where they begin.
      const auto rounds = m_rows->rounds(row, m_side);
      if (rounds > 0 && m_rows->beginsStretch(row, m_side))
        badges.append({Badge::Info,
                       rounds == 1 ? tr("one more round") : tr("%1 more rounds").arg(count(rounds)),
                       meaning(row)});
      return QVariant::fromValue(badges);
    }
    case Qt::ToolTipRole:
      return QStringLiteral("%1\n%2").arg(text.toolTip(entry, nullptr), meaning(row));
    case Qt::AccessibleTextRole:
      return column == kWhatColumn
                 ? QVariant(QStringLiteral("%1, %2").arg(text.spoken(entry, nullptr), meaning(row)))
                 : QVariant();
    case Qt::DisplayRole:
      if (column == kWhatColumn)
        return entry.kind == model::EntryKind::Call ? tr("call %1").arg(text.what(entry, nullptr))
                                                    : text.what(entry, nullptr);
      return text.cell(column, entry, nullptr, m_thread);
    default:
      return {};
  }
}

QVariant CompareModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation == Qt::Vertical) {
    if (m_rows == nullptr || section >= m_rows->count()) return {};
    if (role == Qt::DisplayRole) return sign(section);
    return role == Qt::ToolTipRole || role == Qt::AccessibleTextRole ? QVariant(meaning(section))
                                                                     : QVariant();
  }
  return role == Qt::DisplayRole ? QVariant(traceColumnTitle(section)) : QVariant();
}

}  // namespace traceback::views
