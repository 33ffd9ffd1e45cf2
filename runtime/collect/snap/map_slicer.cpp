#include "runtime/collect/snap/map_slicer.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <format>

#include "runtime/format/map.h"
#include "runtime/format/module.h"
#include "runtime/format/record.h"
#include "runtime/format/ring.h"

namespace traceback::collect {

namespace {

using format::AddressEntry;
using format::BlockEntry;
using format::DagEntry;
using format::FunctionEntry;
using format::MapHeader;

// A map's tables, copied out of the bytes so that they are aligned.
struct Map {
  MapHeader header;
  std::vector<FunctionEntry> functions;
  std::vector<DagEntry> dags;
  std::vector<BlockEntry> blocks;
  std::vector<AddressEntry> addresses;
  std::vector<char> strings;
};

template <typename T>
bool take(std::span<const std::uint8_t>& rest, std::uint64_t count, std::vector<T>& to) {
  if (count > rest.size() / sizeof(T)) return false;
  to.resize(count);
  if (count != 0) std::memcpy(to.data(), rest.data(), count * sizeof(T));
  rest = rest.subspan(count * sizeof(T));
  return true;
}

bool within(std::uint64_t first, std::uint64_t count, std::uint64_t total) {
  return count <= total && first <= total - count;
}

model::Result<Map> parse(std::span<const std::uint8_t> bytes, const std::filesystem::path& file) {
  const auto bad = [&](std::string what) {
    return model::fail("bad map: " + std::move(what), file.string());
  };
  Map map;
  if (bytes.size() < sizeof map.header) return bad("cut short");
  std::memcpy(&map.header, bytes.data(), sizeof map.header);
  if (map.header.magic != format::kMapMagic) return bad("no map");
  if (map.header.version < format::kOldestMapVersion || map.header.version > format::kMapVersion)
    return bad(std::format("unknown version {}", map.header.version));
  if (map.header.headerSize < sizeof map.header || map.header.headerSize > bytes.size())
    return bad("header size");
  auto rest = bytes.subspan(map.header.headerSize);
  if (!take(rest, map.header.functionCount, map.functions) || !take(rest, map.header.dagCount, map.dags) ||
      !take(rest, map.header.blockCount, map.blocks) || !take(rest, map.header.addressCount, map.addresses) ||
      !take(rest, map.header.stringBytes, map.strings))
    return bad("a table runs past the end");
  std::uint64_t dags = 0, blocks = 0, addresses = 0;
  for (const FunctionEntry& function : map.functions) {
    if (!within(function.firstDag, function.dagCount, map.dags.size()) ||
        !within(function.firstBlock, function.blockCount, map.blocks.size()) ||
        !within(function.firstAddress, function.addressCount, map.addresses.size()))
      return bad("a function's tables run past the end");
    dags += function.dagCount;
    blocks += function.blockCount;
    addresses += function.addressCount;
  }
  // Functions share nothing: else a small map could make a slice of any size.
  if (dags > map.dags.size() || blocks > map.blocks.size() || addresses > map.addresses.size())
    return bad("functions overlap");
  return map;
}

enum class Keep : std::uint8_t { No, Name, Addresses, Whole };

// Those among the sorted codes that are the DAG's.
std::span<const std::uint32_t> codesOf(const DagEntry& dag, std::uint64_t base,
                                       std::span<const std::uint32_t> codes) {
  const auto from = [&](std::uint64_t start) {
    return std::ranges::lower_bound(codes, start, {}, [](std::uint32_t code) { return std::uint64_t{code}; });
  };
  const std::uint64_t start = base + dag.code;
  return {from(start),
          from(start + (std::uint64_t{1} << std::min<unsigned>(dag.bits, format::kMaxPathBits)))};
}

// The function that covers a link-time address, in its original or its copy.
std::vector<std::uint32_t> sortedByCopy(const Map& map) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < map.functions.size(); ++i)
    if (map.functions[i].copy != 0) order.push_back(i);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return map.functions[i].copy; });
  return order;
}

class Chooser {
 public:
  Chooser(const Map& map) : m_map(map), m_byCopy(sortedByCopy(map)), m_keep(map.functions.size(), Keep::No) {}

  // And the functions into which their records go on.
  void keepOwners(std::uint64_t base, std::span<const std::uint32_t> codes) {
    for (std::size_t i = 0; i < m_keep.size(); ++i) {
      const FunctionEntry& function = m_map.functions[i];
      for (const DagEntry& dag : std::span(m_map.dags).subspan(function.firstDag, function.dagCount))
        for (const std::uint32_t code : codesOf(dag, base, codes)) {
          m_keep[i] = Keep::Whole;
          if (m_map.header.version >= 4)
            follow(i, dag.firstBlock, static_cast<std::uint32_t>(code - base - dag.code));
        }
    }
  }
  void keepCalled() {
    for (std::size_t i = 0; i < m_keep.size(); ++i) {
      if (m_keep[i] != Keep::Whole) continue;
      const FunctionEntry& function = m_map.functions[i];
      for (const BlockEntry& block :
           std::span(m_map.blocks).subspan(function.firstBlock, function.blockCount))
        if (block.target != 0) keepName(block.target);
    }
  }
  void keepName(std::uint64_t address) {
    const auto& functions = m_map.functions;
    auto original = std::ranges::upper_bound(functions, address, {}, &FunctionEntry::original);
    if (original != functions.begin() && address - (original - 1)->original < (original - 1)->originalSize)
      mark(static_cast<std::size_t>(original - 1 - functions.begin()), Keep::Name);
    keepCopy(address, Keep::Name);
  }
  // A return address may be one behind the function that it belongs to.
  void keepAddress(std::uint64_t address) {
    keepCopy(address, Keep::Addresses);
    keepCopy(address - 1, Keep::Addresses);
  }
  const std::vector<Keep>& result() const { return m_keep; }

 private:
  // Along a record's path, as runtime/format/map.h says how it is read.
  void follow(std::size_t index, std::uint32_t block, std::uint32_t path) {
    ++m_follow;
    m_followed.resize(m_keep.size());
    while (m_followed[index] != m_follow) {
      m_followed[index] = m_follow;
      const FunctionEntry& function = m_map.functions[index];
      const auto blocks = std::span(m_map.blocks).subspan(function.firstBlock, function.blockCount);
      while (block < blocks.size()) {
        const std::uint32_t next = nextOnPath(blocks, blocks[block], path);
        if (next <= block || next >= blocks.size()) break;
        block = next;
      }
      if (block >= blocks.size()) return;
      const BlockEntry& last = blocks[block];
      if (!format::passesEntry(last)) return;
      if (format::passesBySlot(last) && last.bit < format::kMaxPathBits && (path >> last.bit & 1) != 0)
        return;
      const std::uint64_t start = format::passedFunction(last);
      const auto into = std::ranges::lower_bound(m_map.functions, start, {}, &FunctionEntry::original);
      if (into == m_map.functions.end() || into->original != start) return;
      index = static_cast<std::size_t>(into - m_map.functions.begin());
      m_keep[index] = Keep::Whole;
      block = 0;
    }
  }
  static std::uint32_t nextOnPath(std::span<const BlockEntry> blocks, const BlockEntry& block,
                                  std::uint32_t path) {
    unsigned edge = 0;
    if (block.end == format::BlockEnd::Branch && block.bit < format::kMaxPathBits) {
      const bool set = (path >> block.bit & 1) != 0;
      edge = set == ((block.flags & format::kBlockBitTaken) != 0) ? 0 : 1;
    } else if (block.end != format::BlockEnd::FallThrough && block.end != format::BlockEnd::Jump &&
               (block.end != format::BlockEnd::Branch || block.successor[0] != block.successor[1])) {
      return format::kNoBlock;
    }
    const std::uint32_t next = block.successor[edge];
    const bool ends = next < blocks.size() && (blocks[next].flags & format::kBlockHead) != 0 &&
                      !format::passesHead(block, edge);
    return ends ? format::kNoBlock : next;
  }
  void keepCopy(std::uint64_t address, Keep what) {
    const auto& functions = m_map.functions;
    const auto copy =
        std::ranges::upper_bound(m_byCopy, address, {}, [&](std::uint32_t i) { return functions[i].copy; });
    if (copy != m_byCopy.begin() && address - functions[*(copy - 1)].copy < functions[*(copy - 1)].copySize)
      mark(*(copy - 1), what);
  }
  void mark(std::size_t i, Keep what) { m_keep[i] = std::max(m_keep[i], what); }
  const Map& m_map;
  std::vector<std::uint32_t> m_byCopy;
  std::vector<Keep> m_keep;
  std::uint64_t m_follow = 0;  // number of the path that is followed
  std::vector<std::uint64_t> m_followed;  // by function: the last that came there
};

class Strings {
 public:
  explicit Strings(const Map& map) : m_from(map.strings) {}
  std::uint32_t add(std::uint32_t offset) {
    if (offset == 0 || offset >= m_from.size()) return 0;
    const auto start = m_from.begin() + offset;
    const auto end = std::find(start, m_from.end(), '\0');
    const auto at = static_cast<std::uint32_t>(m_to.size());
    m_to.insert(m_to.end(), start, end);
    m_to.push_back('\0');
    return at;
  }
  const std::vector<char>& bytes() const { return m_to; }

 private:
  const std::vector<char>& m_from;
  std::vector<char> m_to = {'\0'};
};

template <typename T>
void put(Bytes& to, const T* data, std::size_t count) {
  if (count == 0) return;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(data);
  to.insert(to.end(), bytes, bytes + count * sizeof(T));
}

template <typename T>
std::uint32_t move(const std::vector<T>& from, std::uint32_t first, std::uint32_t count, std::vector<T>& to) {
  const auto at = static_cast<std::uint32_t>(to.size());
  to.insert(to.end(), from.begin() + first, from.begin() + first + count);
  return at;
}

Bytes build(const Map& map, const std::vector<Keep>& keep) {
  Map slice;
  Strings strings(map);
  slice.header = map.header;
  slice.header.originalName = strings.add(map.header.originalName);
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (keep[i] == Keep::No) continue;
    FunctionEntry function = map.functions[i];
    function.name = strings.add(function.name);
    if (keep[i] != Keep::Whole) function.dagCount = function.blockCount = 0;
    if (keep[i] == Keep::Name) function.addressCount = 0;
    function.firstDag =
        move(map.dags, function.dagCount != 0 ? function.firstDag : 0, function.dagCount, slice.dags);
    function.firstBlock = move(map.blocks, function.blockCount != 0 ? function.firstBlock : 0,
                               function.blockCount, slice.blocks);
    function.firstAddress = move(map.addresses, function.addressCount != 0 ? function.firstAddress : 0,
                                 function.addressCount, slice.addresses);
    slice.functions.push_back(function);
  }
  slice.header.headerSize = sizeof(MapHeader);
  slice.header.flags |= format::kMapIsSlice;
  slice.header.functionCount = static_cast<std::uint32_t>(slice.functions.size());
  slice.header.dagCount = static_cast<std::uint32_t>(slice.dags.size());
  slice.header.blockCount = static_cast<std::uint32_t>(slice.blocks.size());
  slice.header.addressCount = static_cast<std::uint32_t>(slice.addresses.size());
  slice.header.stringBytes = static_cast<std::uint32_t>(strings.bytes().size());
  Bytes out;
  put(out, &slice.header, 1);
  put(out, slice.functions.data(), slice.functions.size());
  put(out, slice.dags.data(), slice.dags.size());
  put(out, slice.blocks.data(), slice.blocks.size());
  put(out, slice.addresses.data(), slice.addresses.size());
  put(out, strings.bytes().data(), strings.bytes().size());
  return out;
}

}  // namespace

std::vector<std::uint32_t> codesIn(std::span<const Bytes* const> rings) {
  std::vector<std::uint32_t> codes;
  for (const Bytes* ring : rings) {
    for (std::size_t at = format::kRingHeaderSize; at + sizeof(format::Word) <= ring->size();
         at += sizeof(format::Word)) {
      format::Word word;
      std::memcpy(&word, ring->data() + at, sizeof word);
      if (format::isDagRecord(word)) codes.push_back(format::codeOf(word));
    }
    // A ring repeats few codes many times: ring by ring this stays small.
    std::ranges::sort(codes);
    codes.erase(std::ranges::unique(codes).begin(), codes.end());
  }
  return codes;
}

model::Result<Bytes> readMapSection(const std::filesystem::path& path) {
  const SystemFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.isOpen()) return failWithErrno("cannot be opened", path);
  struct stat status{};
  if (::fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode))
    return model::fail("is no regular file", path.string());
  if (elf_version(EV_CURRENT) == EV_NONE) return model::fail("libelf is too old", path.string());
  Elf* elf = elf_begin(file.descriptor(), ELF_C_READ_MMAP, nullptr);
  const auto done = [&](model::Result<Bytes> result) {
    elf_end(elf);
    return result;
  };
  std::size_t names = 0;
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names) != 0)
    return done(model::fail("not an ELF file with sections", path.string()));
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || std::strcmp(name, format::kMapSection) != 0) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr)
      return done(model::fail("the map cannot be read", path.string()));
    const auto* bytes = static_cast<const std::uint8_t*>(data->d_buf);
    return done(Bytes(bytes, bytes + data->d_size));
  }
  return done(model::fail("has no map", path.string()));
}

model::Result<Bytes> sliceMap(std::span<const std::uint8_t> bytes, const format::ProcessModule& module,
                              const SliceRequest& request, const std::filesystem::path& file) {
  const auto map = parse(bytes, file);
  if (!map) return std::unexpected(map.error());
  if (std::memcmp(map->header.mapId, module.mapId, sizeof module.mapId) != 0)
    return model::fail("the file was replaced since the process loaded it", file.string());
  Chooser chooser(*map);
  chooser.keepOwners(module.codeBase, request.codes);
  chooser.keepCalled();
  for (const std::uint64_t address : request.addresses) {
    if (address < module.start || address >= module.end) continue;
    chooser.keepName(address - module.loadBias);
    chooser.keepAddress(address - module.loadBias);
  }
  return build(*map, chooser.result());
}

}  // namespace traceback::collect
