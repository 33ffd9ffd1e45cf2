#include <algorithm>

#include "model/stepping.h"
#include "model/trace.h"

namespace traceback::model {

namespace {

std::int32_t lineDepth(const Entry& entry) { return isSteppable(entry.kind) ? entry.depth : INT32_MAX; }

Entry missingEntry() {
  Entry entry;
  entry.kind = EntryKind::Gap;
  entry.detail = static_cast<std::uint32_t>(GapCause::Unknown);
  return entry;
}

std::vector<std::int32_t> column(const std::vector<ChunkSummary>& chunks,
                                 std::int32_t ChunkSummary::* field) {
  std::vector<std::int32_t> values;
  values.reserve(chunks.size());
  for (const ChunkSummary& chunk : chunks) values.push_back(chunk.*field);
  return values;
}

}  // namespace

std::int32_t edgeDepth(const Entry& entry) {
  switch (entry.kind) {
    case EntryKind::Call:
    case EntryKind::Return:
      return entry.depth - (entry.depth > INT32_MIN ? 1 : 0);
    case EntryKind::Sync:
      return INT32_MAX;
    default:
      return entry.depth;
  }
}

ChunkSummary summarise(EntryIndex firstEntry, std::span<const Entry> entries) {
  ChunkSummary summary;
  summary.firstEntry = firstEntry;
  summary.entryCount = static_cast<std::uint32_t>(entries.size());
  for (const Entry& entry : entries) {
    summary.leastLineDepth = std::min(summary.leastLineDepth, lineDepth(entry));
    summary.leastEdgeDepth = std::min(summary.leastEdgeDepth, edgeDepth(entry));
  }
  return summary;
}

ThreadTrace::ThreadTrace(Info info, std::shared_ptr<const EntrySource> source,
                         std::vector<ChunkSummary> chunks, std::shared_ptr<ChunkCache> cache,
                         ThreadTimes times)
    : m_info(std::move(info)),
      m_cache(cache ? std::move(cache) : std::make_shared<ChunkCache>(kCachedChunks)),
      m_source(std::move(source)),
      m_chunks(std::move(chunks)),
      m_times(std::move(times)),
      m_lines(column(m_chunks, &ChunkSummary::leastLineDepth)),
      m_edges(column(m_chunks, &ChunkSummary::leastEdgeDepth)) {}

EntryIndex ThreadTrace::entryCount() const {
  return m_chunks.empty() ? 0 : m_chunks.back().firstEntry + m_chunks.back().entryCount;
}

std::size_t ThreadTrace::chunkOf(EntryIndex index) const {
  // The last chunk that begins at or before it; of empty chunks that begin there too, none is meant.
  const auto after = std::ranges::upper_bound(m_chunks, index, {}, &ChunkSummary::firstEntry);
  std::size_t found = after == m_chunks.begin() ? 0 : static_cast<std::size_t>(after - m_chunks.begin()) - 1;
  while (found > 0 && m_chunks[found].entryCount == 0) --found;
  return found;
}

ChunkCache::Chunk ThreadTrace::chunk(std::size_t index) const {
  const ChunkCache::Key key{m_owner, index};
  if (auto known = m_cache->find(key)) return known;
  // Expanded without the lock, so that a search in one thread does not hold up the painting in another.
  auto expanded = m_source->expand(index);
  // What the index promised is what is shown, whatever the source says now.
  expanded.entries.resize(m_chunks[index].entryCount, missingEntry());
  auto made = std::make_shared<const ExpandedChunk>(std::move(expanded));
  m_cache->add(key, made);
  return made;
}

Entry ThreadTrace::entry(EntryIndex index) const {
  if (index >= entryCount()) return missingEntry();
  const std::size_t at = chunkOf(index);
  return chunk(at)->entries[index - m_chunks[at].firstEntry];
}

std::vector<CodeRange> ThreadTrace::code(EntryIndex index) const {
  if (index >= entryCount()) return {};
  const std::size_t at = chunkOf(index);
  const auto part = chunk(at);
  const auto place = static_cast<std::uint32_t>(index - m_chunks[at].firstEntry);
  const Entry& entry = part->entries[place];
  if (entry.kind != EntryKind::Line || entry.address.value == 0) return {};
  std::vector<CodeRange> code;
  if ((entry.flags & kEntrySkips) != 0)
    for (const auto& piece : std::ranges::equal_range(part->pieces, place, {}, &ExpandedChunk::Piece::entry))
      code.push_back(piece.code);
  if (code.empty()) code.push_back({entry.address, std::max(entry.address, entry.last)});
  return code;
}

bool ThreadTrace::ranIn(EntryIndex index, const Entry& entry, VirtAddr address) const {
  if (entry.kind != EntryKind::Line || address < entry.address ||
      std::max(entry.address, entry.last) < address)
    return false;
  const auto holds = [address](const CodeRange& range) {
    return range.first <= address && address <= range.last;
  };
  return (entry.flags & kEntrySkips) == 0 || std::ranges::any_of(code(index), holds);
}

std::vector<Entry> ThreadTrace::entries(EntryIndex first, std::size_t count) const {
  std::vector<Entry> result;
  const EntryIndex total = entryCount();
  if (first >= total) return result;
  count = static_cast<std::size_t>(std::min<EntryIndex>(count, total - first));
  result.reserve(count);
  for (std::size_t at = chunkOf(first); result.size() < count && at < m_chunks.size(); ++at) {
    const auto part = chunk(at);
    const std::size_t skip = static_cast<std::size_t>(first + result.size() - m_chunks[at].firstEntry);
    const std::size_t take = std::min(part->entries.size() - skip, count - result.size());
    const auto from = part->entries.begin() + static_cast<std::ptrdiff_t>(skip);
    result.insert(result.end(), from, from + static_cast<std::ptrdiff_t>(take));
  }
  return result;
}

std::optional<EntryIndex> ThreadTrace::next(EntryIndex from, std::int32_t depth, const LeastIndex& index,
                                            DepthOf depthOf) const {
  const EntryIndex total = entryCount();
  if (total == 0 || from >= total - 1) return {};
  depth = std::min(depth, INT32_MAX - 1);
  // In the chunk of `from` what it holds may lie before `from`; every later chunk named by the index holds
  // one.
  EntryIndex begin = from + 1;
  for (auto at = index.firstAtMost(chunkOf(begin), depth); at; at = index.firstAtMost(*at + 1, depth)) {
    const auto part = chunk(*at);
    const EntryIndex first = m_chunks[*at].firstEntry;
    for (std::size_t i = begin > first ? static_cast<std::size_t>(begin - first) : 0;
         i < part->entries.size(); ++i) {
      if (depthOf(part->entries[i]) <= depth) return first + i;
    }
  }
  return {};
}

std::optional<EntryIndex> ThreadTrace::previous(EntryIndex from, std::int32_t depth, const LeastIndex& index,
                                                DepthOf depthOf) const {
  from = std::min(from, entryCount());
  if (from == 0) return {};
  depth = std::min(depth, INT32_MAX - 1);
  for (auto at = index.lastAtMost(chunkOf(from - 1) + 1, depth); at; at = index.lastAtMost(*at, depth)) {
    const auto part = chunk(*at);
    const EntryIndex first = m_chunks[*at].firstEntry;
    for (std::size_t i = static_cast<std::size_t>(std::min<EntryIndex>(part->entries.size(), from - first));
         i-- > 0;) {
      if (depthOf(part->entries[i]) <= depth) return first + i;
    }
  }
  return {};
}

std::optional<EntryIndex> ThreadTrace::nextAtMost(EntryIndex from, std::int32_t depth) const {
  return next(from, depth, m_lines, lineDepth);
}

std::optional<EntryIndex> ThreadTrace::previousAtMost(EntryIndex from, std::int32_t depth) const {
  return previous(from, depth, m_lines, lineDepth);
}

std::optional<EntryIndex> ThreadTrace::nextEdge(EntryIndex from, std::int32_t depth) const {
  return next(from, depth, m_edges, edgeDepth);
}

std::optional<EntryIndex> ThreadTrace::previousEdge(EntryIndex from, std::int32_t depth) const {
  return previous(from, depth, m_edges, edgeDepth);
}

}  // namespace traceback::model
