// Writes the map (map.h) of an instrumented module.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "instrument/analysis/program.h"
#include "instrument/emit/function_emitter.h"
#include "runtime/format/module.h"

namespace traceback::instrument {

// Where every byte of a function's copy comes from; sorted, with neighbours that say the same joined.
std::vector<format::AddressEntry> addressEntries(const FunctionCode& copy);

// What the map says of its blocks, for a map that is not null. Needs its instructions.
std::vector<format::BlockEntry> blockEntries(const Program& program, const Function& function);

using MapId = std::array<std::uint8_t, 16>;

// `copies` in the order of their functions; functions without one are listed as skipped. `blocks` and
// `addresses` one list for each copy, but of a null map there are no blocks. The id is left zero.
std::vector<std::byte> writeMap(const Program& program, std::span<const FunctionCode> copies,
                                std::span<const std::vector<format::BlockEntry>> blocks,
                                std::span<const std::vector<format::AddressEntry>> addresses,
                                std::uint32_t codeSpan, bool nullMode);
void setMapId(std::span<std::byte> map, const MapId& id);

}  // namespace traceback::instrument
