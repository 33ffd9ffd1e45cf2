// A row of the tree of calls; for the tree's own files.
#pragma once

#include <memory>
#include <vector>

#include "views/trace/tree_model.h"

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

}  // namespace traceback::views
