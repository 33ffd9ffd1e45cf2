#include "loader/reconstruct/path.h"

namespace traceback::loader {

namespace {

// In the DAG and not its head: then control stays within the record.
bool staysInside(const MapDag& dag, std::uint32_t block) {
  return block != format::kNoBlock && block > dag.entry.firstBlock &&
         block - dag.entry.firstBlock < dag.entry.blockCount;
}

}  // namespace

bool canLeave(const MapView& map, const MapDag& dag, std::uint32_t block) {
  const auto& entry = map.block(dag.function, block);
  switch (entry.end) {
    case format::BlockEnd::FallThrough:
    case format::BlockEnd::Jump:
      return !staysInside(dag, entry.successor[0]);
    case format::BlockEnd::Branch:
      return (entry.flags & format::kBlockTailBranch) != 0 || !staysInside(dag, entry.successor[0]) ||
             !staysInside(dag, entry.successor[1]);
    default:
      return true;
  }
}

void decodePath(const MapView& map, const MapDag& dag, std::uint32_t path, DagPath& out) {
  out.blocks.clear();
  out.explained = false;
  out.complete = false;
  std::uint32_t current = dag.entry.firstBlock;
  std::uint32_t left = path;
  const auto take = [&](std::uint32_t block) {
    out.blocks.push_back(block);
    const auto bit = map.block(dag.function, block).bit;
    if (bit == format::kNoBit || (left & (std::uint32_t{1} << bit)) == 0) return;
    left &= ~(std::uint32_t{1} << bit);
    out.proven = out.blocks.size();
  };
  take(current);
  out.proven = 1;  // the head probe wrote the record
  for (;;) {
    const auto& block = map.block(dag.function, current);
    std::uint32_t next = format::kNoBlock;
    for (const auto successor : block.successor) {
      if (!staysInside(dag, successor)) continue;
      const auto bit = map.block(dag.function, successor).bit;
      const bool taken = bit == format::kNoBit || (left & (std::uint32_t{1} << bit)) != 0;
      if (taken && (next == format::kNoBlock || successor < next)) next = successor;
    }
    if (next == format::kNoBlock) break;
    take(next);
    current = next;  // always further on: the map's blocks are in topological order
  }
  out.explained = left == 0;
  out.complete = canLeave(map, dag, current);
}

}  // namespace traceback::loader
