#include "views/tree_model.h"

#include <algorithm>

#include "model/folding.h"
#include "views/flat_model.h"
#include "views/formatting.h"

namespace traceback::views {

// Rows are Earlier? (Entry | Repeated | Hidden)* Later?, in the order of their entries. `start` tells them
// apart. A Repeated or Hidden node has a span within that of the node above it, and its rows in it.
struct TreeModel::Node {
  enum Kind : std::uint8_t { Entry, Earlier, Later, Outer, Repeated, Hidden } kind = Entry;
  Node* parent = nullptr;
  int row = 0;
  model::Child child;
  std::vector<std::unique_ptr<Node>> rows;
  bool loaded = false;
  std::size_t outerLevels = 0;         // Outer: how many calls are not shown
  model::EntryIndex outerEntry = 0;    // Outer: an entry within all of them
  std::size_t period = 0, times = 0;   // Repeated
  bool atLeast = false;                // Repeated: it may go on

  bool isGroup() const { return kind == Repeated || kind == Hidden; }
  // It, or what is folded in it, begins at `entry`.
  bool holds(model::EntryIndex entry) const {
    return child.index == entry || (isGroup() && entry >= child.call->first && entry < child.call->end);
  }

  model::EntryIndex start() const { return child.index; }
};

TreeModel::TreeModel(SourceCache& sources, QObject* parent)
    : QAbstractItemModel(parent), m_sources(&sources), m_root(std::make_unique<Node>()) {}

TreeModel::~TreeModel() = default;

void TreeModel::setThread(std::shared_ptr<const model::Trace> trace, model::ThreadIndex thread) {
  beginResetModel();
  m_trace = std::move(trace);
  m_threadIndex = thread;
  m_thread =
      m_trace && thread.value < m_trace->threads.size() ? m_trace->threads[thread.value].get() : nullptr;
  m_rules = m_thread != nullptr ? RowRules(*m_trace, *m_thread, m_filter, m_fold) : RowRules();
  m_root = std::make_unique<Node>();
  if (m_thread != nullptr) m_root->child.call = model::wholeTrace(*m_thread);
  endResetModel();
}

void TreeModel::setRules(const TraceFilter& filter, bool fold) {
  m_filter = filter;
  m_fold = fold;
  setThread(m_trace, m_threadIndex);
}

TreeModel::Node* TreeModel::nodeOf(const QModelIndex& index) const {
  return index.isValid() ? static_cast<Node*>(index.internalPointer()) : m_root.get();
}

QModelIndex TreeModel::indexOf(const Node* node, int column) const {
  return node == m_root.get() ? QModelIndex() : createIndex(node->row, column, node);
}

// Goes back over about `count` children from one of them; what is returned begins a child or lies in one.
model::EntryIndex TreeModel::earlier(const model::CallSpan& span, model::EntryIndex from,
                                     std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) {
    const auto edge = m_thread->previousEdge(from, span.depth);
    if (!edge || *edge < span.first) return span.first;
    from = *edge;
  }
  return from;
}

// Children from `from` on, with rows for what is left out at either end.
std::vector<std::unique_ptr<TreeModel::Node>> TreeModel::makeRows(
    Node* parent, model::EntryIndex from, std::size_t count, std::optional<model::EntryIndex> until) const {
  std::vector<std::unique_ptr<Node>> rows;
  const model::CallSpan& span = *parent->child.call;
  std::vector<model::Child> found = model::children(*m_thread, span, from, count + 1);
  if (until) std::erase_if(found, [until](const model::Child& child) { return child.index >= *until; });
  if (from > span.first && !found.empty()) {
    const model::EntryIndex first = found.front().index;
    // A call before this one has two edges, its own and that of its Return.
    const auto before = model::children(*m_thread, span, earlier(span, first, 2), 1);
    if (!before.empty() && before.front().index < first) {
      auto node = std::make_unique<Node>();
      node->kind = Node::Earlier;
      node->child.index = first;
      rows.push_back(std::move(node));
    }
  }
  bool more = found.size() > count;
  model::EntryIndex after = more ? found[count].index : span.end;
  if (more) found.pop_back();
  bool ended = !more;
  const std::size_t before = rows.size();
  arrange(parent, found, more && !until, rows, after, ended);
  // Of a repetition that the rows begin within, it is not known how often it was before.
  if (before > 0 && rows.size() > before && rows[before]->kind == Node::Repeated)
    rows[before]->atLeast = true;
  if (!ended) {
    auto node = std::make_unique<Node>();
    node->kind = Node::Later;
    node->child.index = after;
    rows.push_back(std::move(node));
  }
  return rows;
}

// A node for rows that stand together; `end` is one past the last entry in them.
std::unique_ptr<TreeModel::Node> TreeModel::makeGroup(const Node* parent,
                                                      std::span<const model::Child> children,
                                                      model::EntryIndex end) const {
  auto node = std::make_unique<Node>();
  node->child.index = children.front().index;
  node->child.entry = children.front().entry;
  model::CallSpan span;
  span.first = children.front().index;
  span.end = end;
  span.depth = parent->child.call->depth;
  span.function = parent->child.call->function;
  node->child.call = span;
  return node;
}

// Makes nodes of children, by the rules. `after` is where the first child after them begins, or the span's
// end; if the last of them repeat and there are `more`, it is followed on, which moves `after` and may come
// to the end.
void TreeModel::arrange(Node* parent, std::vector<model::Child>& children, bool more,
                        std::vector<std::unique_ptr<Node>>& rows, model::EntryIndex& after,
                        bool& ended) const {
  constexpr std::size_t kFollowed = 2'000;  // children of a repetition that are counted beyond a batch
  const auto plain = [&rows](const model::Child& child) {
    auto node = std::make_unique<Node>();
    node->child = child;
    rows.push_back(std::move(node));
  };
  const auto shown = [this](const model::Child& child) {
    return child.call ? m_rules.showsCall(*child.call) : m_rules.shows(child.entry);
  };
  const auto key = [this](const model::Child& child) {
    return child.call ? m_rules.key(*child.call) : m_rules.key(child.entry);
  };
  // What is hidden is shown in full once it is unfolded.
  bool filters = m_rules.filters();
  for (const Node* up = parent; up != nullptr && filters; up = up->parent) filters = up->kind != Node::Hidden;
  const bool folds = m_rules.fold() && !parent->isGroup();
  const auto endOf = [](const model::Child& child) { return child.call ? child.call->end : child.index + 1; };
  std::vector<std::uint64_t> keys(children.size(), 0);
  std::vector<bool> hidden(children.size(), false);
  for (std::size_t i = 0; i < children.size(); ++i) {
    hidden[i] = filters && !shown(children[i]);
    if (folds && !hidden[i]) keys[i] = key(children[i]);
  }
  const std::vector<model::Repeat> repeats = folds ? model::findRepeats(keys) : std::vector<model::Repeat>();
  auto repeat = repeats.begin();
  for (std::size_t i = 0; i < children.size();) {
    if (repeat != repeats.end() && repeat->first == i) {
      const std::span<const model::Child> run(children.data() + i, repeat->rows());
      auto node = makeGroup(parent, run, endOf(run.back()));
      node->kind = Node::Repeated;
      node->period = repeat->period;
      node->times = repeat->times;
      i += repeat->rows();
      // What is left of it at the end of the batch may be the beginning of another round.
      const std::size_t left = children.size() - i;
      bool goesOn = more && left < repeat->period;
      for (std::size_t k = 0; k < left && goesOn; ++k) goesOn = keys[i + k] == keys[repeat->first + k];
      if (goesOn) {
        std::vector<model::EntryIndex> partial;  // where the rows begin of a round that is not complete
        for (std::size_t k = 0; k < left; ++k) partial.push_back(children[i + k].index);
        std::size_t followed = 0;
        bool alike = true;
        while (alike && followed < kFollowed) {
          const auto next = model::children(*m_thread, *parent->child.call, after, kBatch);
          if (next.empty()) {
            ended = true;
            after = parent->child.call->end;
            break;
          }
          for (std::size_t k = 0; k < next.size(); ++k) {
            alike = (!filters || shown(next[k])) && key(next[k]) == keys[repeat->first + partial.size()];
            if (!alike) {
              after = next[k].index;
              break;
            }
            partial.push_back(next[k].index);
            ++followed;
            if (partial.size() == repeat->period) {
              ++node->times;
              partial.clear();
            }
            after = endOf(next[k]);
          }
        }
        node->atLeast = alike && !ended;
        if (!partial.empty()) {
          after = partial.front();
          ended = false;
        }
        node->child.call->end = after;
        rows.push_back(std::move(node));
        return;
      }
      ++repeat;
      rows.push_back(std::move(node));
      continue;
    }
    if (!hidden[i]) {
      plain(children[i++]);
      continue;
    }
    const std::size_t first = i;
    while (i < children.size() && hidden[i]) ++i;
    auto node = makeGroup(parent, std::span(children.data() + first, i - first), endOf(children[i - 1]));
    node->kind = Node::Hidden;
    rows.push_back(std::move(node));
  }
}

void TreeModel::replace(Node* node, std::size_t first, std::size_t count,
                        std::vector<std::unique_ptr<Node>> rows) {
  const QModelIndex parent = indexOf(node);
  const auto at = [node](std::size_t i) { return node->rows.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto renumber = [node](std::size_t from) {
    for (std::size_t i = from; i < node->rows.size(); ++i) {
      node->rows[i]->row = static_cast<int>(i);
      node->rows[i]->parent = node;
    }
  };
  if (count > 0) {
    beginRemoveRows(parent, static_cast<int>(first), static_cast<int>(first + count - 1));
    // The views may ask about the removed rows' parents until the end.
    std::vector<std::unique_ptr<Node>> removed(std::make_move_iterator(at(first)),
                                               std::make_move_iterator(at(first + count)));
    node->rows.erase(at(first), at(first + count));
    renumber(first);
    endRemoveRows();
  }
  if (rows.empty()) return;
  beginInsertRows(parent, static_cast<int>(first), static_cast<int>(first + rows.size() - 1));
  node->rows.insert(at(first), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
  renumber(first);
  endInsertRows();
}

// Loads a run of the node's children with the one that starts at `around` in it.
void TreeModel::load(Node* node, model::EntryIndex around) {
  const model::CallSpan span = *node->child.call;
  const bool fresh = !node->loaded;
  node->loaded = true;
  const model::EntryIndex from = earlier(span, std::max(around, span.first), kBatch);
  std::vector<std::unique_ptr<Node>> rows = makeRows(node, from, 2 * kBatch);
  const bool found = std::ranges::any_of(rows, [around](const auto& row) {
    return (row->kind == Node::Entry && row->start() == around) || (row->isGroup() && row->holds(around));
  });
  // Where many calls come between two lines, the way back was too long.
  if (!found && around > span.first) rows = makeRows(node, around, kBatch);
  replace(node, 0, fresh ? 0 : node->rows.size(), std::move(rows));
}

TreeModel::Node* TreeModel::childAt(Node* node, model::EntryIndex start) const {
  for (const auto& row : node->rows)
    if (row->kind == Node::Entry && row->start() == start) return row.get();
  return nullptr;
}

// The row in which the child that starts there is folded.
TreeModel::Node* TreeModel::groupAt(Node* node, model::EntryIndex start) const {
  for (const auto& row : node->rows)
    if (row->isGroup() && row->holds(start)) return row.get();
  return nullptr;
}

// Makes the `levels` innermost of the calls the top of the tree; all of them if there are no more.
void TreeModel::setRoot(const std::vector<model::CallSpan>& path, std::size_t levels) {
  beginResetModel();
  m_root = std::make_unique<Node>();
  if (levels >= path.size()) {
    m_root->child.call = model::wholeTrace(*m_thread);
  } else {
    const model::CallSpan& top = path[levels - 1];
    m_root->child.call = path[levels];
    m_root->loaded = true;
    auto outer = std::make_unique<Node>();
    outer->kind = Node::Outer;
    outer->parent = m_root.get();
    outer->outerLevels = path.size() - levels;
    outer->outerEntry = path.front().first;
    auto call = std::make_unique<Node>();
    call->parent = m_root.get();
    call->row = 1;
    const model::EntryIndex start = top.call.value_or(top.first);
    call->child = {start, m_thread->entry(start), top};
    m_root->rows.push_back(std::move(outer));
    m_root->rows.push_back(std::move(call));
  }
  endResetModel();
}

QModelIndex TreeModel::reveal(model::EntryIndex entry) {
  if (m_thread == nullptr || entry >= m_thread->entryCount()) return {};
  const std::vector<model::CallSpan> path = model::activeCalls(*m_thread, entry);
  // Is the top of the tree around the entry, and near enough to it?
  const std::int32_t top = m_root->child.call->depth;
  const auto innermost = path.empty() ? top : path.front().depth;
  bool inside = innermost - top <= static_cast<std::int32_t>(kDeepest);
  if (inside && !m_root->rows.empty() && m_root->rows.front()->kind == Node::Outer) {
    const model::CallSpan& shown = *m_root->rows[1]->child.call;
    const model::EntryIndex start = shown.call.value_or(shown.first);
    inside = std::ranges::any_of(
        path, [start](const model::CallSpan& span) { return span.call.value_or(span.first) == start; });
  }
  if (!inside) setRoot(path, path.size() > kDeepest ? kKeptLevels : path.size());

  Node* node = m_root.get();
  const auto descend = [this, &node](model::EntryIndex start) {
    for (bool tried = false;;) {
      if (Node* child = childAt(node, start)) {
        node = child;
        return true;
      }
      if (Node* group = groupAt(node, start)) {
        node = group;
        tried = false;
      } else if (tried) {
        return false;
      } else {
        load(node, start);
        tried = true;
      }
    }
  };
  for (auto span = path.rbegin(); span != path.rend(); ++span) {
    if (span->depth <= m_root->child.call->depth) continue;
    if (!descend(span->call.value_or(span->first))) return indexOf(node);
  }
  const model::Entry target = m_thread->entry(entry);
  // A Return or a Sync has no row of its own: the call that it lies in stands for it.
  if (target.kind != model::EntryKind::Return && target.kind != model::EntryKind::Sync) descend(entry);
  return indexOf(node);
}

bool TreeModel::covers(const QModelIndex& index, model::EntryIndex entry) const {
  if (!index.isValid()) return false;
  const Node* node = nodeOf(index);
  if (node->kind != Node::Entry) return false;
  if (node->start() == entry) return true;
  return node->child.call && entry >= node->child.call->first && entry < node->child.call->end;
}

bool TreeModel::isMore(const QModelIndex& index) const {
  if (!index.isValid()) return false;
  const Node* node = nodeOf(index);
  return node->kind != Node::Entry && !node->isGroup();
}

bool TreeModel::isFolded(const QModelIndex& index) const {
  return index.isValid() && nodeOf(index)->isGroup();
}

QModelIndex TreeModel::showMore(const QModelIndex& index) {
  if (!isMore(index)) return index;
  Node* row = nodeOf(index);
  Node* node = row->parent;
  if (row->kind == Node::Outer) {
    const model::EntryIndex within = row->outerEntry;
    const std::vector<model::CallSpan> path = model::activeCalls(*m_thread, within);
    const std::size_t shown = path.size() - std::min(path.size(), row->outerLevels);
    setRoot(path, shown + kKeptLevels);
    if (!m_root->loaded) load(m_root.get(), 0);
    return this->index(0, 0);
  }
  const model::EntryIndex start = row->start();
  const model::CallSpan span = *node->child.call;
  if (row->kind == Node::Later) {
    std::vector<std::unique_ptr<Node>> rows = makeRows(node, start, kBatch);
    if (!rows.empty() && rows.front()->kind == Node::Earlier) rows.erase(rows.begin());
    replace(node, static_cast<std::size_t>(row->row), 1, std::move(rows));
    const Node* next = childAt(node, start);
    if (next == nullptr) next = groupAt(node, start);
    return indexOf(next != nullptr ? next : node);
  }
  // Backwards as far as a batch, but no further than the rows that are there already.
  std::vector<std::unique_ptr<Node>> rows;
  for (std::size_t back = kBatch; rows.empty() && back > 1; back /= 2) {
    rows = makeRows(node, earlier(span, start, back), 4 * kBatch, start);
    // Too many calls between the lines there: try nearer.
    if (!rows.empty() && rows.back()->kind == Node::Later && back > 3) rows.clear();
  }
  const model::EntryIndex last = rows.empty() ? start : rows.back()->start();
  replace(node, 0, 1, std::move(rows));
  Node* shown = childAt(node, last);
  if (shown == nullptr) shown = groupAt(node, last);
  return shown != nullptr ? indexOf(shown) : indexOf(node);
}

void TreeModel::refreshSources() {
  const auto announce = [this](const auto& self, const Node* node) -> void {
    if (node->rows.empty()) return;
    emit dataChanged(indexOf(node->rows.front().get()),
                     indexOf(node->rows.back().get(), kTraceColumnCount - 1));
    for (const auto& row : node->rows) self(self, row.get());
  };
  announce(announce, m_root.get());
}

QModelIndex TreeModel::index(int row, int column, const QModelIndex& parent) const {
  if (parent.column() > 0 || column < 0 || column >= kTraceColumnCount) return {};
  const Node* node = nodeOf(parent);
  if (row < 0 || static_cast<std::size_t>(row) >= node->rows.size()) return {};
  return createIndex(row, column, node->rows[static_cast<std::size_t>(row)].get());
}

QModelIndex TreeModel::parent(const QModelIndex& index) const {
  if (!index.isValid()) return {};
  const Node* parent = nodeOf(index)->parent;
  return parent == nullptr ? QModelIndex() : indexOf(parent);
}

int TreeModel::rowCount(const QModelIndex& parent) const {
  return parent.column() > 0 ? 0 : static_cast<int>(nodeOf(parent)->rows.size());
}

int TreeModel::columnCount(const QModelIndex&) const { return kTraceColumnCount; }

bool TreeModel::hasChildren(const QModelIndex& parent) const {
  if (parent.column() > 0) return false;
  const Node* node = nodeOf(parent);
  if (node->loaded) return !node->rows.empty();
  return node->child.call && node->child.call->end > node->child.call->first;
}

bool TreeModel::canFetchMore(const QModelIndex& parent) const {
  if (parent.column() > 0 || m_thread == nullptr) return false;
  const Node* node = nodeOf(parent);
  return !node->loaded && node->child.call && node->child.call->end > node->child.call->first;
}

void TreeModel::fetchMore(const QModelIndex& parent) {
  if (!canFetchMore(parent)) return;
  Node* node = nodeOf(parent);
  load(node, node->child.call->first);
}

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
