#include "loader/reconstruct/path.h"

#include "runtime/format/record.h"

namespace traceback::loader {

namespace {

// Whether control stays within the record on that edge, of a block of `function`.
bool staysInside(const MapView& map, const MapDag& dag, MapFunction function, const format::BlockEntry& from,
                 unsigned edge) {
  const auto block = from.successor[edge];
  if (block == format::kNoBlock) return false;
  if (map.header().version > 1)
    return (map.block(function, block).flags & format::kBlockHead) == 0 || format::passesHead(from, edge);
  return block > dag.entry.firstBlock && block - dag.entry.firstBlock < dag.entry.blockCount;
}

class Decoding {
 public:
  Decoding(const MapView& map, const MapDag& dag, std::uint32_t path, DagPath& out)
      : m_map(map), m_dag(dag), m_function(dag.function), m_left(path), m_out(out) {}

  void run() {
    const bool bitsOfBlocks = m_map.header().version == 1;
    for (auto block = m_dag.entry.firstBlock; block != format::kNoBlock;) {
      m_out.blocks.push_back({m_function, block});
      if (bitsOfBlocks) {
        takeBit(m_map.block(m_function, block).bit);
        block = nextByBlocks(block);
      } else {
        block = nextByBranches(block);
        // The edge was taken that set the bit.
        if (m_tookBit && block != format::kNoBlock) m_out.proven = m_out.blocks.size() + 1;
      }
    }
    m_out.explained = m_left == 0;
    m_out.complete = canLeave(m_map, m_dag, m_out.blocks.back());
  }

 private:
  bool isSet(std::uint8_t bit) const {
    return bit < format::kMaxPathBits && (m_left & (std::uint32_t{1} << bit)) != 0;
  }

  void takeBit(std::uint8_t bit) {
    m_tookBit = isSet(bit);
    if (!m_tookBit) return;
    m_left &= ~(std::uint32_t{1} << bit);
    m_out.proven = m_out.blocks.size();
  }

  std::uint32_t behind(const format::BlockEntry& block, unsigned edge) const {
    return staysInside(m_map, m_dag, m_function, block, edge) ? block.successor[edge] : format::kNoBlock;
  }

  // Into another function, for good: where it returns, another record begins.
  std::uint32_t passInto(const format::BlockEntry& block) {
    const auto function = m_map.passesInto(block);
    if (!function) return format::kNoBlock;
    m_function = *function;
    return 0;
  }

  std::uint32_t nextByBranches(std::uint32_t index) {
    const auto& block = m_map.block(m_function, index);
    m_tookBit = false;
    switch (block.end) {
      case format::BlockEnd::FallThrough:
      case format::BlockEnd::Jump:
        return behind(block, 0);
      case format::BlockEnd::Branch: {
        if (block.bit == format::kNoBit)
          return block.successor[0] == block.successor[1] ? behind(block, 0) : format::kNoBlock;
        takeBit(block.bit);
        const bool taken = m_tookBit == ((block.flags & format::kBlockBitTaken) != 0);
        return behind(block, taken ? 0 : 1);
      }
      case format::BlockEnd::Call:
      case format::BlockEnd::TailJump:
        if (format::passesBySlot(block)) takeBit(block.bit);
        return m_tookBit ? format::kNoBlock : passInto(block);
      default:
        return format::kNoBlock;
    }
  }

  // Version 1.
  std::uint32_t nextByBlocks(std::uint32_t index) const {
    std::uint32_t next = format::kNoBlock;
    const auto& from = m_map.block(m_dag.function, index);
    for (unsigned edge = 0; edge < 2; ++edge) {
      const auto successor = from.successor[edge];
      if (!staysInside(m_map, m_dag, m_function, from, edge)) continue;
      const auto bit = m_map.block(m_dag.function, successor).bit;
      if ((bit == format::kNoBit || isSet(bit)) && (next == format::kNoBlock || successor < next))
        next = successor;
    }
    return next;
  }

  const MapView& m_map;
  const MapDag& m_dag;
  MapFunction m_function;  // that the path is in
  std::uint32_t m_left;
  DagPath& m_out;
  bool m_tookBit = false;
};

}  // namespace

bool canLeave(const MapView& map, const MapDag& dag, const PathBlock& block) {
  const auto& entry = map.block(block.function, block.block);
  switch (entry.end) {
    case format::BlockEnd::FallThrough:
    case format::BlockEnd::Jump:
      return !staysInside(map, dag, block.function, entry, 0);
    case format::BlockEnd::Branch:
      return (entry.flags & format::kBlockTailBranch) != 0 ||
             !staysInside(map, dag, block.function, entry, 0) ||
             !staysInside(map, dag, block.function, entry, 1);
    default:
      return true;
  }
}

void decodePath(const MapView& map, const MapDag& dag, std::uint32_t path, DagPath& out) {
  out.blocks.clear();
  out.proven = 1;  // the head probe wrote the record
  Decoding(map, dag, path, out).run();
}

}  // namespace traceback::loader
