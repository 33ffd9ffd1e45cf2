// A checked view of a map (runtime/format/map.h): what a module's records mean.
//
// parse() checks every index and range once, so that all accessors may be used without further checks.
// The bytes must outlive the view. Immutable, so usable from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loader/byte_reader.h"
#include "model/error.h"
#include "model/ids.h"
#include "runtime/format/map.h"
#include "runtime/format/module.h"
#include "runtime/format/record.h"

namespace traceback::loader {

using MapId = std::array<std::uint8_t, 16>;
std::string mapIdText(const MapId& id);  // hex

// Of a function of a map: position in its table.
using MapFunction = std::uint32_t;

struct MapDag {
  MapFunction function = 0;
  format::DagEntry entry{};
};

struct OriginalAddress {
  model::VirtAddr address;
  bool fixed = false;  // what lies there in the copy (a probe, an island) only stands for that instruction
  bool first = false;  // of what stands for it in one place: a head's probe up to where the record is claimed
};

class MapView {
 public:
  // `origin` names the file for error messages; `base` is where the map lies in it, for their offsets.
  static model::Result<MapView> parse(Bytes bytes, std::string origin, std::uint64_t base = 0);

  const format::MapHeader& header() const { return m_header; }
  MapId id() const;
  std::string buildId() const;  // of the original; hex, may be empty
  bool isSlice() const { return (m_header.flags & format::kMapIsSlice) != 0; }
  std::string_view originalName() const { return text(m_header.originalName); }

  std::size_t functionCount() const { return m_functions.size(); }
  const format::FunctionEntry& function(MapFunction index) const { return m_functions[index]; }
  std::string_view functionName(MapFunction index) const { return text(m_functions[index].name); }  // mangled
  // `block` counts within the function's blocks.
  const format::BlockEntry& block(MapFunction function, std::uint32_t block) const {
    return m_blocks[m_functions[function].firstBlock + block];
  }
  std::size_t blockCount() const { return m_blocks.size(); }

  // The function in whose first block a record goes on behind this block's call or jump; nothing if it ends
  // there, or a slice does not have that function's blocks.
  std::optional<MapFunction> passesInto(const format::BlockEntry& block) const;
  // The DAG that owns a code, which counts from the module's base.
  std::optional<MapDag> dagOf(std::uint32_t code) const;
  // The function whose original bytes hold the address.
  std::optional<MapFunction> functionAt(model::VirtAddr original) const;
  // The function whose copy holds the address.
  std::optional<MapFunction> functionOfCopy(model::VirtAddr copy) const;
  // What an address in a copy stands for. Nothing outside of copies.
  std::optional<OriginalAddress> originalOf(model::VirtAddr copy) const;

 private:
  struct Owner {
    std::uint32_t code;
    std::uint32_t dag;
    MapFunction function;
  };
  struct Copy {
    std::uint64_t start, end;
    MapFunction function;
  };

  std::string_view text(std::uint32_t offset) const {
    return stringAt(m_strings, offset).value_or(std::string_view{});
  }

  format::MapHeader m_header{};
  std::vector<format::FunctionEntry> m_functions;
  std::vector<format::DagEntry> m_dags;
  std::vector<format::BlockEntry> m_blocks;
  PackedArray<format::AddressEntry> m_addresses;
  Bytes m_strings;
  std::vector<Owner> m_owners;  // by code
  std::vector<Copy> m_copies;  // by start

  friend class MapParser;
};

}  // namespace traceback::loader
