#include "model/chunk_cache.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace traceback::model {

std::uint64_t ChunkCache::newOwner() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

ChunkCache::Chunk ChunkCache::find(const Key& key) {
  const std::lock_guard lock(m_mutex);
  const auto hit = std::ranges::find(m_kept, key, &Kept::key);
  if (hit == m_kept.end()) return nullptr;
  std::rotate(m_kept.begin(), hit, hit + 1);
  return m_kept.front().chunk;
}

void ChunkCache::add(const Key& key, Chunk chunk) {
  const std::lock_guard lock(m_mutex);
  if (m_kept.size() >= m_limit && !m_kept.empty()) m_kept.pop_back();
  m_kept.insert(m_kept.begin(), {key, std::move(chunk)});
}

}  // namespace traceback::model
