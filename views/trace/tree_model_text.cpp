// How the rows of the tree read.
#include "views/common/formatting.h"
#include "views/trace/flat_model.h"
#include "views/trace/tree_model.h"
#include "views/trace/tree_node.h"

namespace traceback::views {

QVariant TreeModel::moreData(const Node& node, int column, int role) const {
  if (role == kStyleRole) return static_cast<int>(RowStyle::More);
  if (column != kWhatColumn || (role != Qt::DisplayRole && role != Qt::AccessibleTextRole)) return {};
  switch (node.kind) {
    case Node::Earlier:
      return tr("earlier in this call");
    case Node::Later:
      return tr("later in this call");
    default:
      return tr("%1 outer calls").arg(count(node.outerLevels));
  }
}

QVariant TreeModel::groupData(const Node& node, int column, int role) const {
  if (role == kStyleRole) return static_cast<int>(RowStyle::Folded);
  const bool hidden = node.kind == Node::Hidden;
  if (hidden && (column != kWhatColumn || role == kDetailRole)) return {};
  const EntryText text(*m_trace, *m_sources);
  if (role == Qt::DisplayRole && column != kWhatColumn)
    return column == kNoteColumn ? QVariant() : text.cell(column, node.child.entry, nullptr, m_threadIndex);
  if (hidden)
    return role == Qt::DisplayRole || role == Qt::AccessibleTextRole
               ? hiddenText(node.child.call->end - node.child.call->first)
               : QVariant();
  if (role != Qt::DisplayRole && role != kDetailRole && role != Qt::ToolTipRole &&
      role != Qt::AccessibleTextRole)
    return {};
  std::vector<model::Entry> round;
  for (const model::Child& child :
       model::children(*m_thread, *node.child.call, node.child.call->first, node.period))
    round.push_back(child.entry);
  const RepeatText repeat = text.repeated(round, node.times, node.atLeast);
  if (role == Qt::DisplayRole) return repeat.what;
  if (role == kDetailRole) return column == kWhatColumn ? QVariant(repeat.detail) : QVariant();
  return QStringLiteral("%1, %2").arg(repeat.what, repeat.detail);
}

QVariant TreeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || m_thread == nullptr) return {};
  const Node& node = *nodeOf(index);
  if (node.isGroup()) return groupData(node, index.column(), role);
  if (node.kind != Node::Entry) return moreData(node, index.column(), role);
  const model::Entry& entry = node.child.entry;
  const model::CallSpan* call = node.child.call ? &*node.child.call : nullptr;
  const EntryText text(*m_trace, *m_sources);
  switch (role) {
    case kEntryRole:
      return static_cast<qulonglong>(node.start());
    case kStyleRole:
      return static_cast<int>(text.style(entry, call));
    case kDepthRole:
      return entry.depth;
    case Qt::ToolTipRole:
      return text.toolTip(entry, call);
    case Qt::AccessibleTextRole:
      if (index.column() == kWhatColumn) return text.spoken(entry, call);
      [[fallthrough]];
    case Qt::DisplayRole:
      break;
    case kDetailRole:
      return index.column() == kWhatColumn && call != nullptr ? text.detail(*call) : QVariant();
    case kBadgesRole:
      return index.column() == kNoteColumn ? QVariant::fromValue(text.badges(entry, call)) : QVariant();
    default:
      return {};
  }
  return index.column() == kWhatColumn ? text.what(entry, call)
                                       : text.cell(index.column(), entry, call, m_threadIndex);
}

QVariant TreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == kWhatColumn ? tr("Calls and lines") : traceColumnTitle(section);
}

}  // namespace traceback::views
