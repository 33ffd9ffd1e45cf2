// The entry point of every fuzz target, as libFuzzer calls it. replay.cpp calls it without libFuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace traceback::tests {

inline std::span<const std::byte> bytesOf(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

}  // namespace traceback::tests
