#include "views/trace/tree_model.h"

#include <algorithm>

#include "views/trace/tree_node.h"

namespace traceback::views {

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

}  // namespace traceback::views
