// Cutting a module's map (runtime/format/map.h) down to what a snap's rings mention.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "model/error.h"
#include "runtime/collect/files/system_file.h"
#include "runtime/format/process.h"

namespace traceback::collect {

// The codes of all DAG records in these ring files, each once, ascending.
std::vector<std::uint32_t> codesIn(std::span<const Bytes* const> rings);

// The section `.traceback.map` of an ELF file.
model::Result<Bytes> readMapSection(const std::filesystem::path& file);

struct SliceRequest {
  std::span<const std::uint32_t> codes;      // ascending
  // Run-time, such as program counters: their functions stay too, with what says which originals their
  // addresses in copies stand for.
  std::span<const std::uint64_t> addresses;
};

// A map with the functions that own one of the codes, or into which its path goes on, whole, and by name
// alone those that they call and those at the addresses. Of the latter, what lies in a copy keeps its table
// of addresses. Fails if the map is not sound or not the one that the process recorded.
model::Result<Bytes> sliceMap(std::span<const std::uint8_t> map, const format::ProcessModule& module,
                              const SliceRequest& request, const std::filesystem::path& file);

}  // namespace traceback::collect
