// From a DAG record's path bits to the blocks that ran (the algorithm in runtime/format/map.h).
#pragma once

#include <cstdint>
#include <vector>

#include "loader/map/map_view.h"

namespace traceback::loader {

struct PathBlock {
  MapFunction function = 0;
  std::uint32_t block = 0;  // within the function's

  friend bool operator==(const PathBlock&, const PathBlock&) = default;
};

struct DagPath {
  // Never empty if explained. Where the function is another than in front, a call or jump led into it.
  std::vector<PathBlock> blocks;
  // How many of them the bits prove to have begun: the rest are only reached if nothing stopped the thread.
  std::size_t proven = 0;
  bool explained = false;  // every bit was met
  bool complete = false;  // the last block has a way out of the DAG, so the path may end there
};

// Clears and fills `out`.
void decodePath(const MapView& map, const MapDag& dag, std::uint32_t path, DagPath& out);

// Whether control can leave the DAG from this block, other than by a fault.
bool canLeave(const MapView& map, const MapDag& dag, const PathBlock& block);

}  // namespace traceback::loader
