#include "loader/map/map_view.h"

#include <algorithm>
#include <format>

namespace traceback::loader {

using format::BlockEntry;
using format::DagEntry;
using format::FunctionEntry;
using format::MapHeader;

std::string mapIdText(const MapId& id) {
  std::string hex;
  for (const auto byte : id) hex += std::format("{:02x}", byte);
  return hex;
}

// Reads and checks the tables in the order in which they lie.
class MapParser {
 public:
  MapParser(Bytes bytes, std::string origin, std::uint64_t base)
      : m_bytes(bytes), m_origin(std::move(origin)), m_base(base) {}

  model::Result<MapView> parse() {
    if (auto done = readHeader(); !done) return std::unexpected(done.error());
    if (auto done = readTables(); !done) return std::unexpected(done.error());
    for (MapFunction i = 0; i < m_map.m_functions.size(); ++i) {
      if (auto done = checkFunction(i); !done) return std::unexpected(done.error());
    }
    if (auto done = checkPassedEntries(); !done) return std::unexpected(done.error());
    if (auto done = indexCodes(); !done) return std::unexpected(done.error());
    if (auto done = indexCopies(); !done) return std::unexpected(done.error());
    return std::move(m_map);
  }

 private:
  std::unexpected<model::Error> error(const std::string& message, std::uint64_t offset) const {
    return model::fail("damaged map: " + message, m_origin, m_base + offset);
  }

  model::Result<void> readHeader() {
    const auto magic = readAt<std::uint64_t>(m_bytes, 0);
    if (!magic || *magic != format::kMapMagic) return model::fail("not a TraceBack map", m_origin, m_base);
    const auto header = readAt<MapHeader>(m_bytes, 0);
    if (!header) return error("truncated header", m_bytes.size());
    if (header->version < format::kOldestMapVersion || header->version > format::kMapVersion) {
      return model::fail(std::format("map version {} is not known to this reader ({})", header->version,
                                     format::kMapVersion),
                         m_origin, m_base + offsetof(MapHeader, version));
    }
    if (header->headerSize < sizeof(MapHeader))
      return error("header too small", offsetof(MapHeader, headerSize));
    if (header->buildIdSize > sizeof(header->buildId))
      return error("build id too long", offsetof(MapHeader, buildIdSize));
    if (header->imageEnd < header->imageStart)
      return error("image ends before it starts", offsetof(MapHeader, imageEnd));
    m_map.m_header = *header;
    return {};
  }

  template <typename T>
  model::Result<std::vector<T>> readTable(std::uint64_t& offset, std::uint32_t count, std::string_view name) {
    const auto part = sliceOf(m_bytes, offset, count, sizeof(T));
    if (!part) return error(std::format("truncated in the table of {}", name), offset);
    offset += part->size();
    const PackedArray<T> table(*part);
    return std::vector<T>(table.begin(), table.end());
  }

  model::Result<void> readTables() {
    const auto& header = m_map.m_header;
    std::uint64_t offset = header.headerSize;
    m_functionsAt = offset;
    auto functions = readTable<FunctionEntry>(offset, header.functionCount, "functions");
    if (!functions) return std::unexpected(functions.error());
    m_dagsAt = offset;
    auto dags = readTable<DagEntry>(offset, header.dagCount, "DAGs");
    if (!dags) return std::unexpected(dags.error());
    m_blocksAt = offset;
    auto blocks = readTable<BlockEntry>(offset, header.blockCount, "blocks");
    if (!blocks) return std::unexpected(blocks.error());
    m_addressesAt = offset;
    const auto addresses = sliceOf(m_bytes, offset, header.addressCount, sizeof(format::AddressEntry));
    if (!addresses) return error("truncated in the table of addresses", offset);
    offset += addresses->size();
    const auto strings = slice(m_bytes, offset, header.stringBytes);
    if (!strings) return error("truncated in the strings", offset);
    if (!strings->empty() && strings->back() != std::byte{0})
      return error("the strings do not end", offset + strings->size() - 1);
    m_map.m_functions = std::move(*functions);
    m_map.m_dags = std::move(*dags);
    m_map.m_blocks = std::move(*blocks);
    m_map.m_addresses = PackedArray<format::AddressEntry>(*addresses);
    m_map.m_strings = *strings;
    if (header.originalName != 0 && header.originalName >= strings->size()) {
      return error("the original's name lies outside the strings", offsetof(MapHeader, originalName));
    }
    return {};
  }

  static bool inTable(std::uint32_t first, std::uint32_t count, std::uint32_t total) {
    return count <= total && first <= total - count;
  }

  model::Result<void> checkFunction(MapFunction index) {
    const auto& header = m_map.m_header;
    const auto& function = m_map.m_functions[index];
    const auto at = m_functionsAt + std::uint64_t{index} * sizeof(FunctionEntry);
    if (!inTable(function.firstDag, function.dagCount, header.dagCount))
      return error("a function's DAGs lie outside the table", at);
    if (!inTable(function.firstBlock, function.blockCount, header.blockCount))
      return error("a function's blocks lie outside the table", at);
    if (!inTable(function.firstAddress, function.addressCount, header.addressCount)) {
      return error("a function's addresses lie outside the table", at);
    }
    if (function.name != 0 && function.name >= header.stringBytes)
      return error("a function's name lies outside the strings", at);
    if (function.original > UINT64_MAX - function.originalSize)
      return error("a function wraps around the address space", at);
    if (function.copy > UINT64_MAX - function.copySize)
      return error("a copy wraps around the address space", at);
    // Functions that were skipped may overlap others; copies may not (indexCopies).
    if (index > 0 && function.original < m_map.m_functions[index - 1].original) {
      return error("functions are not in order", at);
    }
    for (std::uint32_t i = 0; i < function.dagCount; ++i) {
      if (auto done = checkDag(function, function.firstDag + i, i == 0); !done) return done;
    }
    for (std::uint32_t i = 0; i < function.blockCount; ++i) {
      const auto& block = m_map.m_blocks[function.firstBlock + i];
      const auto blockAt = m_blocksAt + (std::uint64_t{function.firstBlock} + i) * sizeof(BlockEntry);
      if (block.end < format::BlockEnd::FallThrough || block.end > format::BlockEnd::Trap)
        return error("a block ends in an unknown way", blockAt);
      if (block.start > UINT32_MAX - block.size)
        return error("a block wraps around the address space", blockAt);
      for (unsigned edge = 0; edge < 2; ++edge) {
        const auto successor = block.successor[edge];
        if (edge == 1 && format::passesBySlot(block)) continue;
        if (successor != format::kNoBlock && successor >= function.blockCount)
          return error("a block's successor is none of its function", blockAt);
      }
    }
    if (header.version > 1) {
      if (auto done = checkOrder(function); !done) return done;
    }
    for (std::uint32_t i = 1; i < function.addressCount; ++i) {
      if (m_map.m_addresses[function.firstAddress + i].copy <
          m_map.m_addresses[function.firstAddress + i - 1].copy) {
        return error(
            "addresses are not in order",
            m_addressesAt + (std::uint64_t{function.firstAddress} + i) * sizeof(format::AddressEntry));
      }
    }
    return {};
  }

  // Edges on which a record goes on only lead forward: so every path ends.
  model::Result<void> checkOrder(const FunctionEntry& function) {
    for (std::uint32_t i = 0; i < function.blockCount; ++i) {
      const auto& block = m_map.m_blocks[function.firstBlock + i];
      const auto at = m_blocksAt + (std::uint64_t{function.firstBlock} + i) * sizeof(BlockEntry);
      if (block.bit != format::kNoBit && block.bit >= format::kMaxPathBits)
        return error("a block's bit is none of its DAG", at);
      for (unsigned edge = 0; edge < 2; ++edge) {
        const auto next = block.successor[edge];
        if (next == format::kNoBlock || next > i || (edge == 1 && format::passesBySlot(block))) continue;
        if ((m_map.m_blocks[function.firstBlock + next].flags & format::kBlockHead) == 0 ||
            format::passesHead(block, edge))
          return error("a function's blocks are not in order", at);
      }
    }
    return {};
  }

  bool beginsWithItsEntry(MapFunction index) const {
    const auto& function = m_map.m_functions[index];
    return m_map.m_blocks[function.firstBlock].start == function.original;
  }

  // No function is passed into while a record is in it already: so every path ends.
  model::Result<void> checkPassedEntries() {
    enum : std::uint8_t { White, Grey, Black };
    std::vector<std::uint8_t> colour(m_map.m_functions.size(), White);
    struct Visit {
      MapFunction function;
      std::uint32_t next;
    };
    std::vector<Visit> stack;
    for (MapFunction root = 0; root < m_map.m_functions.size(); ++root) {
      if (colour[root] != White) continue;
      colour[root] = Grey;
      stack.push_back({root, 0});
      while (!stack.empty()) {
        Visit& top = stack.back();
        const auto& function = m_map.m_functions[top.function];
        if (top.next == function.blockCount) {
          colour[top.function] = Black;
          stack.pop_back();
          continue;
        }
        const auto at = function.firstBlock + top.next++;
        const auto into = m_map.passesInto(m_map.m_blocks[at]);
        if (!into || colour[*into] == Black) continue;
        if (colour[*into] == Grey || !beginsWithItsEntry(*into))
          return error("a call leads where no record can go on",
                       m_blocksAt + std::uint64_t{at} * sizeof(BlockEntry));
        colour[*into] = Grey;
        stack.push_back({*into, 0});
      }
    }
    return {};
  }

  model::Result<void> checkDag(const FunctionEntry& function, std::uint32_t index, bool first) {
    const auto& dag = m_map.m_dags[index];
    const auto at = m_dagsAt + std::uint64_t{index} * sizeof(DagEntry);
    if (dag.bits > format::kMaxPathBits) return error("a DAG has too many bits", at);
    const std::uint32_t run = std::uint32_t{1} << dag.bits;
    if (dag.code % run != 0) return error("a DAG's codes are not aligned", at);
    if (run > m_map.m_header.codeSpan || dag.code > m_map.m_header.codeSpan - run)
      return error("a DAG's codes lie outside the module's", at);
    if (!first && dag.code <= m_map.m_dags[index - 1].code) return error("DAGs are not in order", at);
    if (m_map.m_header.version > 1) {
      if (dag.firstBlock >= function.blockCount)
        return error("a DAG's blocks lie outside its function's", at);
      if ((m_map.m_blocks[function.firstBlock + dag.firstBlock].flags & format::kBlockHead) == 0)
        return error("a DAG's first block is no head", at);
      return {};
    }
    if (dag.blockCount == 0 || !inTable(dag.firstBlock, dag.blockCount, function.blockCount)) {
      return error("a DAG's blocks lie outside its function's", at);
    }
    for (std::uint32_t i = dag.firstBlock; i < dag.firstBlock + dag.blockCount; ++i) {
      const auto& block = m_map.m_blocks[function.firstBlock + i];
      const auto blockAt = m_blocksAt + (std::uint64_t{function.firstBlock} + i) * sizeof(BlockEntry);
      if (block.bit != format::kNoBit && block.bit >= dag.bits)
        return error("a block's bit is none of its DAG", blockAt);
      for (const auto next : block.successor) {
        if (next != format::kNoBlock && next > dag.firstBlock && next <= i)
          return error("a DAG's blocks are not in order", blockAt);
      }
    }
    return {};
  }

  model::Result<void> indexCodes() {
    for (MapFunction f = 0; f < m_map.m_functions.size(); ++f) {
      const auto& function = m_map.m_functions[f];
      for (std::uint32_t i = 0; i < function.dagCount; ++i) {
        const auto dag = function.firstDag + i;
        m_map.m_owners.push_back({.code = m_map.m_dags[dag].code, .dag = dag, .function = f});
      }
      if (m_map.m_owners.size() > m_map.m_dags.size()) {
        return error("functions share DAGs", m_functionsAt + std::uint64_t{f} * sizeof(FunctionEntry));
      }
    }
    auto& owners = m_map.m_owners;
    std::ranges::sort(owners, {}, &MapView::Owner::code);
    for (std::size_t i = 1; i < owners.size(); ++i) {
      const auto& before = m_map.m_dags[owners[i - 1].dag];
      if (owners[i].code - before.code < (std::uint32_t{1} << before.bits)) {
        return error("two DAGs share codes", m_dagsAt + std::uint64_t{owners[i].dag} * sizeof(DagEntry));
      }
    }
    return {};
  }

  model::Result<void> indexCopies() {
    for (MapFunction f = 0; f < m_map.m_functions.size(); ++f) {
      const auto& function = m_map.m_functions[f];
      if (function.copy != 0 && function.copySize != 0) {
        m_map.m_copies.push_back(
            {.start = function.copy, .end = function.copy + function.copySize, .function = f});
      }
    }
    auto& copies = m_map.m_copies;
    std::ranges::sort(copies, {}, &MapView::Copy::start);
    for (std::size_t i = 1; i < copies.size(); ++i) {
      if (copies[i].start < copies[i - 1].end) {
        return error("copies overlap",
                     m_functionsAt + std::uint64_t{copies[i].function} * sizeof(FunctionEntry));
      }
    }
    return {};
  }

  Bytes m_bytes;
  std::string m_origin;
  std::uint64_t m_base;
  MapView m_map;
  std::uint64_t m_functionsAt = 0, m_dagsAt = 0, m_blocksAt = 0, m_addressesAt = 0;
};

model::Result<MapView> MapView::parse(Bytes bytes, std::string origin, std::uint64_t base) {
  return MapParser(bytes, std::move(origin), base).parse();
}

MapId MapView::id() const {
  MapId id;
  std::ranges::copy(m_header.mapId, id.begin());
  return id;
}

std::string MapView::buildId() const {
  std::string hex;
  for (std::uint32_t i = 0; i < m_header.buildIdSize; ++i) hex += std::format("{:02x}", m_header.buildId[i]);
  return hex;
}

std::optional<MapFunction> MapView::passesInto(const BlockEntry& block) const {
  if (m_header.version < 4 || !format::passesEntry(block)) return std::nullopt;
  const auto start = format::passedFunction(block);
  const auto function = functionAt({start});
  if (!function || m_functions[*function].original != start || m_functions[*function].blockCount == 0)
    return std::nullopt;
  return function;
}

std::optional<MapDag> MapView::dagOf(std::uint32_t code) const {
  const auto after = std::ranges::upper_bound(m_owners, code, {}, &Owner::code);
  if (after == m_owners.begin()) return std::nullopt;
  const auto& owner = *std::prev(after);
  const auto& dag = m_dags[owner.dag];
  if (code - dag.code >= (std::uint32_t{1} << dag.bits)) return std::nullopt;
  return MapDag{.function = owner.function, .entry = dag};
}

std::optional<MapFunction> MapView::functionAt(model::VirtAddr original) const {
  const auto after = std::ranges::upper_bound(m_functions, original.value, {}, &FunctionEntry::original);
  if (after == m_functions.begin()) return std::nullopt;
  const auto found = std::prev(after);
  if (original.value - found->original >= found->originalSize) return std::nullopt;
  return static_cast<MapFunction>(found - m_functions.begin());
}

std::optional<MapFunction> MapView::functionOfCopy(model::VirtAddr copy) const {
  const auto after = std::ranges::upper_bound(m_copies, copy.value, {}, &Copy::start);
  if (after == m_copies.begin()) return std::nullopt;
  const auto& found = *std::prev(after);
  if (copy.value >= found.end) return std::nullopt;
  return found.function;
}

std::optional<OriginalAddress> MapView::originalOf(model::VirtAddr copy) const {
  const auto index = functionOfCopy(copy);
  if (!index) return std::nullopt;
  const auto& function = m_functions[*index];
  std::uint32_t low = 0, high = function.addressCount;  // the first entry above `copy` is in [low, high]
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (m_addresses[function.firstAddress + middle].copy <= copy.value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return std::nullopt;
  const auto entry = m_addresses[function.firstAddress + low - 1];
  const std::uint64_t original = entry.original & ~format::kAddressFixed;
  if ((entry.original & format::kAddressFixed) == 0)
    return OriginalAddress{{original + (copy.value - entry.copy)}, false, false};
  // (A jump past a head's probe, in front of it, stands for the instruction as that itself does.)
  const bool first = low == 1 || m_addresses[function.firstAddress + low - 2].original != entry.original;
  return OriginalAddress{{original}, true, first};
}

}  // namespace traceback::loader
