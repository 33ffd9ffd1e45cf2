#include "instrument/emit/routines.h"

#include "instrument/emit/bit_routines.h"
#include "instrument/emit/load_routines.h"
#include "instrument/emit/probe_parts.h"
#include "instrument/emit/record_routines.h"
#include "instrument/rounding.h"

namespace traceback::instrument {

std::uint32_t Routines::append(CodeBuilder& routine, std::uint32_t alignment) {
  routine.settle();
  code.resize(roundedUp(code.size(), alignment), std::byte{0xCC});
  const auto start = std::uint32_t(code.size());
  std::vector<CodeBuilder::Reference> outside;
  const auto bytes = routine.encode(outside);
  for (CodeBuilder::Reference& reference : outside) {
    reference.field += start;
    references.push_back(reference);
  }
  code.insert(code.end(), bytes.begin(), bytes.end());
  return start;
}

Routines emitRoutines(const RoutineSet& used, VirtAddr moduleSlots, std::int32_t threadSlot) {
  Routines out;
  out.threadSlot = threadSlot;
  for (unsigned number = 0; number < kRoutines; ++number) {
    if (!used.test(number)) continue;
    out.offsets[number] = number < kFirstBitRoutine    ? emitRecordRoutine(number, moduleSlots, out)
                          : number < kFirstLoadRoutine ? emitBitRoutine(number - kFirstBitRoutine, out)
                                                       : emitLoadRoutine(number - kFirstLoadRoutine, out);
  }
  return out;
}

void storeBelow(CodeBuilder& code, unsigned reg, std::int8_t offset) {
  code.bytes({rex(true, reg, 0), 0x89, modrm(1, reg, 4), 0x24, std::uint8_t(offset)});
}
void loadBelow(CodeBuilder& code, unsigned reg, std::int8_t offset) {
  code.bytes({rex(true, reg, 0), 0x8B, modrm(1, reg, 4), 0x24, std::uint8_t(offset)});
}

}  // namespace traceback::instrument
