#include "instrument/map/map_writer.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace traceback::instrument {
namespace {

using namespace format;

class Strings {
 public:
  std::uint32_t add(std::string_view text) {
    if (text.empty()) return 0;
    const auto at = std::uint32_t(m_bytes.size());
    m_bytes.append(text);
    m_bytes.push_back('\0');
    return at;
  }
  const std::string& bytes() const { return m_bytes; }

 private:
  std::string m_bytes = std::string(1, '\0');
};

struct Tables {
  std::vector<FunctionEntry> functions;
  std::vector<DagEntry> dags;
  std::vector<BlockEntry> blocks;
  std::vector<AddressEntry> addresses;
  Strings strings;
};

std::uint32_t targetOf(const Instruction& last) {
  switch (last.flow) {
    case Flow::Call:
    case Flow::Jump:
    case Flow::Branch:
    case Flow::ShortBranch:
      return std::uint32_t(last.target.value);
    default:
      return 0;
  }
}

// Where its blocks stand in the map, from its first one on.
std::vector<std::uint32_t> positionsOf(const Function& f) {
  std::vector<std::uint32_t> position(f.blocks.size(), kNoBlock);
  for (std::uint32_t i = 0; i < f.order.size(); ++i) position[f.order[i]] = i;
  return position;
}

FunctionEntry entryFor(Tables& out, const Function& f) {
  FunctionEntry entry{};
  entry.original = f.start.value;
  entry.originalSize = std::uint32_t(f.size);
  entry.name = out.strings.add(f.name);
  entry.skipReason = std::uint32_t(f.skip != SkipReason::None ? f.skip : f.entryLeft);
  entry.firstDag = std::uint32_t(out.dags.size());
  entry.firstBlock = std::uint32_t(out.blocks.size());
  entry.firstAddress = std::uint32_t(out.addresses.size());
  return entry;
}

template <typename T>
void append(std::vector<std::byte>& out, const std::vector<T>& table) {
  const auto bytes = std::as_bytes(std::span(table));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::vector<std::byte> fromHex(const std::string& hex) {
  std::vector<std::byte> out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(std::byte(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return out;
}

void describeFile(MapHeader& header, const Program& program, Strings& strings) {
  const auto buildId = fromHex(program.image->buildId());
  header.buildIdSize = std::uint32_t(std::min(buildId.size(), sizeof header.buildId));
  if (!buildId.empty()) std::memcpy(header.buildId, buildId.data(), header.buildIdSize);
  header.imageStart = ~std::uint64_t{0};
  for (const Elf64_Phdr& segment : program.image->segments()) {
    if (segment.p_type != PT_LOAD) continue;
    header.imageStart = std::min<std::uint64_t>(header.imageStart, segment.p_vaddr);
    header.imageEnd = std::max<std::uint64_t>(header.imageEnd, segment.p_vaddr + segment.p_memsz);
  }
  std::error_code ignored;
  const auto path = std::filesystem::absolute(program.image->path(), ignored);
  header.originalName = strings.add(path.string());
}

}  // namespace

std::vector<AddressEntry> addressEntries(const FunctionCode& copy) {
  std::vector<AddressEntry> out;
  for (const Stretch& stretch : copy.stretches) {
    const auto original = std::uint32_t(copy.function->start.value) + stretch.original;
    const AddressEntry entry{std::uint32_t(copy.place.value) + stretch.offset,
                             original | (stretch.fixed ? kAddressFixed : 0)};
    if (!out.empty()) {
      const AddressEntry& last = out.back();
      const bool same = stretch.fixed ? last.original == entry.original
                                      : (last.original & kAddressFixed) == 0 &&
                                            entry.original - last.original == entry.copy - last.copy;
      if (same && !stretch.apart) continue;
    }
    out.push_back(entry);
  }
  return out;
}

std::vector<BlockEntry> blockEntries(const Program& program, const Function& f) {
  const std::vector<std::uint32_t> position = positionsOf(f);
  std::vector<BlockEntry> out;
  out.reserve(f.order.size());
  for (const BlockIndex b : f.order) {
    const Block& block = f.blocks[b];
    const Instruction& last = f.lastOf(block);
    BlockEntry entry{};
    entry.start = std::uint32_t(f.instructions[block.first].address.value);
    entry.size = std::uint32_t(last.end().value) - entry.start;
    entry.target = targetOf(last);
    for (int i = 0; i < 2; ++i)
      entry.successor[i] = block.successor[i] == kNone ? kNoBlock : position[block.successor[i]];
    entry.bit = block.bit;
    entry.end = block.kind;
    entry.flags = block.flags;
    if (block.head) entry.flags |= kBlockHead;
    if (block.kind == BlockEnd::Branch && block.bit != kNoBit && block.bitEdge == 0)
      entry.flags |= kBlockBitTaken;
    if (block.passesEntry) {
      entry.flags |= kBlockPassesEntry;
      if (block.bySlot) entry.successor[1] = std::uint32_t(program.functions[block.callee].start.value);
    }
    if (f.passesHead(block, 0)) entry.flags |= kBlockPassesHead0;
    if (f.passesHead(block, 1)) entry.flags |= kBlockPassesHead1;
    out.push_back(entry);
  }
  return out;
}

std::vector<std::byte> writeMap(const Program& program, std::span<const FunctionCode> copies,
                                std::span<const std::vector<BlockEntry>> blocks,
                                std::span<const std::vector<AddressEntry>> addresses, std::uint32_t codeSpan,
                                bool nullMode) {
  const auto sizeOf = [](const auto& lists) {
    std::size_t size = 0;
    for (const auto& list : lists) size += list.size();
    return size;
  };
  Tables tables;
  tables.functions.reserve(program.functions.size());
  tables.blocks.reserve(sizeOf(blocks));
  tables.addresses.reserve(sizeOf(addresses));
  std::size_t next = 0;
  for (const Function& f : program.functions) {
    FunctionEntry entry = entryFor(tables, f);
    if (next < copies.size() && copies[next].function == &f) {
      const FunctionCode& copy = copies[next];
      entry.copy = copy.place.value;
      entry.copySize = std::uint32_t(copy.code.size());
      if (!nullMode) {
        const std::vector<std::uint32_t> position = positionsOf(f);
        for (const Dag& dag : f.dags) tables.dags.push_back({dag.code, position[dag.head], 0, dag.bits, 0});
        tables.blocks.insert(tables.blocks.end(), blocks[next].begin(), blocks[next].end());
      }
      tables.addresses.insert(tables.addresses.end(), addresses[next].begin(), addresses[next].end());
      ++next;
    }
    entry.dagCount = std::uint32_t(tables.dags.size()) - entry.firstDag;
    entry.blockCount = std::uint32_t(tables.blocks.size()) - entry.firstBlock;
    entry.addressCount = std::uint32_t(tables.addresses.size()) - entry.firstAddress;
    tables.functions.push_back(entry);
  }
  MapHeader header{};
  header.magic = kMapMagic;
  header.version = kMapVersion;
  header.headerSize = sizeof header;
  header.flags = nullMode ? std::uint32_t{kMapIsNull} : 0;
  header.codeSpan = codeSpan;
  describeFile(header, program, tables.strings);
  header.functionCount = std::uint32_t(tables.functions.size());
  header.dagCount = std::uint32_t(tables.dags.size());
  header.blockCount = std::uint32_t(tables.blocks.size());
  header.addressCount = std::uint32_t(tables.addresses.size());
  header.stringBytes = std::uint32_t(tables.strings.bytes().size());

  std::vector<std::byte> out;
  const auto strings = std::as_bytes(std::span(tables.strings.bytes()));
  out.reserve(sizeof header + std::as_bytes(std::span(tables.functions)).size() +
              std::as_bytes(std::span(tables.dags)).size() + std::as_bytes(std::span(tables.blocks)).size() +
              std::as_bytes(std::span(tables.addresses)).size() + strings.size());
  append(out, std::vector{header});
  append(out, tables.functions);
  append(out, tables.dags);
  append(out, tables.blocks);
  append(out, tables.addresses);
  out.insert(out.end(), strings.begin(), strings.end());
  return out;
}

void setMapId(std::span<std::byte> map, const MapId& id) {
  std::memcpy(map.data() + offsetof(MapHeader, mapId), id.data(), id.size());
}

}  // namespace traceback::instrument
