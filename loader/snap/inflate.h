// zlib, for bytes that may be damaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "loader/byte_reader.h"

namespace traceback::loader {

// CRC-32 as zlib calculates it.
std::uint32_t crcOf(Bytes bytes);

// Grows with what is really there, so that a false size costs nothing. Nothing on any contradiction.
std::optional<std::vector<std::byte>> inflateTo(Bytes stored, std::uint64_t size);

}  // namespace traceback::loader
