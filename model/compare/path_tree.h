// A stretch of a thread's trace as a tree of calls, made to be compared with another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/compare/entry_keys.h"
#include "model/compare/sequences.h"
#include "model/entry.h"

namespace traceback::model {

class ThreadTrace;

// A round of a loop that is recognised is at most so many entries.
constexpr std::uint64_t kLongestLoopRound = 4096;

constexpr std::uint32_t kNoNode = 0xFFFF'FFFF;

// What a call consists of: an entry of its own, or a call that it made.
struct PathItem {
  EntryIndex begin = 0;         // the entry, or the call's first
  std::uint32_t node = kNoNode;  // the call
};

struct PathNode {
  std::uint64_t function = 0;  // EntryKeys::function(); 0 if unknown
  EntryIndex begin = 0;        // its Call entry if that was seen, else its first
  EntryIndex end = 0;          // one past its last
  bool called = false;         // its Call entry was seen
  bool finished = false;       // its Return was seen
  // The items' keys: of an entry its own, of a call what it is (`calls`) and all that happened in it
  // (`whole`).
  std::vector<PathItem> items = {};
  std::vector<std::uint64_t> calls = {}, whole = {};
};

class PathTree {
 public:
  // Of the entries [first, end). The Calls of what was active at `first` count as not seen.
  PathTree(const ThreadTrace& thread, EntryIndex first, EntryIndex end, Side side, const EntryKeys& keys,
           Effort& effort);

  const PathNode& node(std::uint32_t index) const { return m_nodes[index]; }
  std::size_t size() const { return m_nodes.size(); }
  const PathNode& root() const { return m_nodes.front(); }  // around all of it; no call
  EntryIndex first() const { return m_first; }
  EntryIndex end() const { return m_keysFirst + m_keys.size(); }  // less than was asked for if cancelled
  // EntryKeys::key() of each entry, and of some before the first.
  EntryIndex keysFirst() const { return m_keysFirst; }
  std::uint64_t key(EntryIndex entry) const { return m_keys[static_cast<std::size_t>(entry - m_keysFirst)]; }
  std::span<const std::uint64_t> keys(EntryIndex begin, EntryIndex end) const {
    return std::span(m_keys).subspan(static_cast<std::size_t>(begin - m_keysFirst),
                                     static_cast<std::size_t>(end - begin));
  }

 private:
  struct Open {
    std::uint32_t node = 0;
    std::uint64_t whole = 0;  // so far
  };
  void add(EntryIndex at, const Entry& entry, std::uint64_t key, Side side, const EntryKeys& keys);
  void push(EntryIndex at, std::uint64_t function, bool called);
  void pop(EntryIndex end);
  void toDepth(EntryIndex at, std::size_t depth);

  EntryIndex m_first, m_keysFirst;
  std::vector<std::uint64_t> m_keys;
  std::vector<PathNode> m_nodes;
  std::vector<Open> m_open;  // the root first
  std::vector<std::uint64_t> m_active;  // functions of the calls around the first entry, by depth; 0: unknown
};

}  // namespace traceback::model
