// Code of a module that its probes share: they call it where that takes fewer bytes (record_routines.h,
// bit_routines.h), or
// once nobody brings the cursor any more (load_routines.h). It stands in front of the copies.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "instrument/emit/code_builder.h"
#include "runtime/format/module.h"

namespace traceback::instrument {

// Numbers of routines: those that write records first, then those that set bits, then those that load the
// cursor.
inline constexpr unsigned kRecordRoutines = 512, kBitRoutines = 64, kLoadRoutines = 16;
inline constexpr unsigned kFirstBitRoutine = kRecordRoutines,
                          kFirstLoadRoutine = kFirstBitRoutine + kBitRoutines,
                          kRoutines = kFirstLoadRoutine + kLoadRoutines;
using RoutineSet = std::bitset<kRoutines>;

struct Routines {
  std::int32_t threadSlot = 0;  // where they look (code_builder.h)
  std::vector<std::byte> code;  // complete but for its references
  std::vector<CodeBuilder::Reference> references;
  std::array<std::uint32_t, kRoutines> offsets{};  // in `code`, of those that there are
  // `start` is from the front of `code`.
  std::vector<format::RecordRoutine> records;
  std::vector<format::BitRoutine> bits;
  std::vector<format::LoadRoutine> loads;

  // Settles it, and says where it begins.
  std::uint32_t append(CodeBuilder& routine, std::uint32_t alignment);
};

Routines emitRoutines(const RoutineSet& used, VirtAddr moduleSlots, std::int32_t threadSlot);

// mov reg, offset(%rsp); mov offset(%rsp), reg
void storeBelow(CodeBuilder& code, unsigned reg, std::int8_t offset);
void loadBelow(CodeBuilder& code, unsigned reg, std::int8_t offset);

}  // namespace traceback::instrument
