// The record of the original in an instrumented file (runtime/format/origin.h): writing it, reading it, and
// getting the original back.
#pragma once

#include <string>
#include <vector>

#include "loader/elf/elf_image.h"
#include "model/error.h"

namespace traceback::instrument {

struct OriginInfo {
  std::uint64_t size = 0;         // of the original
  std::string hash;               // of the original, in hexadecimal
  std::uint32_t instrumentor = 0; // kInstrumentorVersion of what wrote it
  std::string product;
  std::string options;
};

// The section's contents, for a file `written` from `original`. The header of ELF may still change.
std::vector<std::byte> originRecord(loader::Bytes original, loader::Bytes written, const std::string& product,
                                    const std::string& options);

// Whether the file has a record, whatever it says.
bool hasOrigin(const loader::ElfImage& image);

model::Result<OriginInfo> readOrigin(const loader::ElfImage& image);

// The original, byte for byte. Fails if there is no record, or if the file is not any more as it was written.
model::Result<std::vector<std::byte>> originalBytes(const loader::ElfImage& image);

}  // namespace traceback::instrument
