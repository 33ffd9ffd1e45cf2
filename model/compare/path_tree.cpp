#include "model/compare/path_tree.h"

#include <algorithm>

#include "model/call_tree.h"
#include "model/trace.h"

namespace traceback::model {

namespace {

constexpr std::size_t kBatch = 8192;
// Deeper calls are taken to be this deep.
constexpr std::int32_t kDeepest = 50'000;

std::size_t levelOf(std::int32_t depth) {
  return static_cast<std::size_t>(std::clamp(depth, 0, kDeepest)) + 1;
}

}  // namespace

PathTree::PathTree(const ThreadTrace& thread, EntryIndex first, EntryIndex end, Side side,
                   const EntryKeys& keys, Effort& effort)
    : m_first(first), m_keysFirst(first - std::min(first, kLongestLoopRound)) {
  for (const Entry& entry : thread.entries(m_keysFirst, static_cast<std::size_t>(first - m_keysFirst)))
    m_keys.push_back(keys.key(side, entry));
  m_nodes.push_back({.begin = first});
  m_open.push_back({});
  for (const CallSpan& call : activeCalls(thread, first)) {
    if (call.depth < 0 || call.depth > kDeepest) continue;
    const auto depth = static_cast<std::size_t>(call.depth);
    if (m_active.size() <= depth) m_active.resize(depth + 1);
    m_active[depth] = keys.function(side, call.function);
  }
  for (EntryIndex at = first; at < end && !effort.cancelled();) {
    const auto entries = thread.entries(at, static_cast<std::size_t>(std::min<EntryIndex>(kBatch, end - at)));
    if (entries.empty()) break;
    for (const Entry& entry : entries) {
      const std::uint64_t key = keys.key(side, entry);
      m_keys.push_back(key);
      add(at++, entry, key, side, keys);
    }
  }
  while (m_open.size() > 1) pop(this->end());
  m_nodes.front().end = this->end();
}

void PathTree::push(EntryIndex at, std::uint64_t function, bool called) {
  const auto index = static_cast<std::uint32_t>(m_nodes.size());
  PathNode& parent = m_nodes[m_open.back().node];
  parent.items.push_back({at, index});
  m_nodes.push_back({.function = function, .begin = at, .called = called});
  m_open.push_back({index, 0});
}

void PathTree::pop(EntryIndex end) {
  const Open open = m_open.back();
  m_open.pop_back();
  PathNode& node = m_nodes[open.node];
  node.end = end;
  PathNode& parent = m_nodes[m_open.back().node];
  // Never the key of an entry: those are made otherwise.
  const std::uint64_t call = combine(0x63616C6C, node.function);
  const std::uint64_t ways = (node.called ? 1U : 0U) | (node.finished ? 2U : 0U);
  const std::uint64_t whole = combine(combine(call, open.whole), ways);
  parent.calls.push_back(call);
  parent.whole.push_back(whole);
  m_open.back().whole = combine(m_open.back().whole, whole);
}

// Leaves what is deeper; what was entered unseen is entered now.
void PathTree::toDepth(EntryIndex at, std::size_t depth) {
  while (m_open.size() > depth + 1) pop(at);
  while (m_open.size() < depth + 1) {
    const std::size_t level = m_open.size() - 1;
    push(at, at == m_first && level < m_active.size() ? m_active[level] : 0, false);
  }
}

void PathTree::add(EntryIndex at, const Entry& entry, std::uint64_t key, Side side, const EntryKeys& keys) {
  const auto own = [&] {
    PathNode& node = m_nodes[m_open.back().node];
    node.items.push_back({at, kNoNode});
    node.calls.push_back(key);
    node.whole.push_back(key);
    m_open.back().whole = combine(m_open.back().whole, key);
  };
  switch (entry.kind) {
    case EntryKind::Sync:  // belongs to no call in particular
      return own();
    case EntryKind::Call:
      toDepth(at, levelOf(entry.depth) - 1);
      return push(at, keys.function(side, entry.function), true);
    case EntryKind::Return: {
      toDepth(at, levelOf(entry.depth));
      PathNode& node = m_nodes[m_open.back().node];
      if (node.function == 0) node.function = keys.function(side, entry.function);
      node.finished = true;
      // How it ended is part of what happened in it.
      m_open.back().whole = combine(m_open.back().whole, key);
      return pop(at + 1);
    }
    default:
      toDepth(at, levelOf(entry.depth));
      if (PathNode& node = m_nodes[m_open.back().node]; node.function == 0)
        node.function = keys.function(side, entry.function);
      return own();
  }
}

}  // namespace traceback::model
