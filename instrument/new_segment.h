// The segment that instrumentation adds: module table, copies, their lookup tables, unwind tables.
#pragma once

#include <vector>

#include "instrument/elf/elf_writer.h"
#include "instrument/map/map_writer.h"
#include "instrument/plan.h"

namespace traceback::instrument {

struct NewSegment {
  VirtAddr address;               // of the ModuleHeader, which comes first
  std::vector<std::byte> bytes;
  VirtAddr copyStart, copyEnd;
  VirtAddr tablesEnd;             // of the lookup tables, which are right behind the copies
  VirtAddr ehFrameHeader;         // in it
  std::uint64_t ehFrameHeaderSize = 0;
  std::vector<SegmentPart> parts;
  std::vector<std::byte> map;
  std::vector<Patch> patches;     // of original code: the entry jumps
  std::vector<AddedSymbol> symbols;
};

// Of the plan's functions the instructions go (placed_code.h). `base`: page-aligned, where the segment will
// be; `moduleSlots`: where the ModuleSlots will be.
model::Result<NewSegment> buildSegment(Plan& plan, VirtAddr base, VirtAddr moduleSlots,
                                       const Options& options, const Progress& progress);

}  // namespace traceback::instrument
