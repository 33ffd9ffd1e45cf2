// The rows below a call: what of its children is there, folded and filtered by the rules.
#include <algorithm>

#include "model/folding.h"
#include "views/trace/tree_model.h"
#include "views/trace/tree_node.h"

namespace traceback::views {

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

}  // namespace traceback::views
