// The chunks that were looked at last, of all threads that share the cache. Usable from any thread at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "model/entry.h"

namespace traceback::model {

struct ExpandedChunk {
  // Of an entry that skips, all that ran: in the order of the entries, and of each in its own.
  struct Piece {
    std::uint32_t entry = 0;  // its place in the chunk
    CodeRange code;
  };
  std::vector<Entry> entries;
  std::vector<Piece> pieces = {};
};

class ChunkCache {
 public:
  using Chunk = std::shared_ptr<const ExpandedChunk>;
  // What a chunk is found by: a number that no other owner has, and which of its chunks it is.
  struct Key {
    std::uint64_t owner = 0;
    std::size_t chunk = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  static std::uint64_t newOwner();

  explicit ChunkCache(std::size_t limit) : m_limit(limit) {}
  Chunk find(const Key& key);  // null if it is not there
  void add(const Key& key, Chunk chunk);

 private:
  struct Kept {
    Key key;
    Chunk chunk;
  };
  std::size_t m_limit;
  std::mutex m_mutex;
  std::vector<Kept> m_kept;  // the one used last first
};

}  // namespace traceback::model
