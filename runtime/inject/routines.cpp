#include "runtime/inject/routines.h"

#include "runtime/inject/modules.h"
#include "runtime/inject/segment.h"
#include "runtime/inject/system.h"
#include "runtime/inject/thread.h"

namespace traceback::inject {

namespace {

constexpr std::uint64_t kCallSize = 5;

// Takes the claim of a word back that turned out to be the sentinel. (All threads share probation's cursor.)
void unclaim(SegmentHeader& segment) {
  const std::uint64_t before =
      &segment == &traceback_probation ? segment.base : segment.cursor - sizeof(Word);
  __atomic_store_n(&segment.cursor, before, __ATOMIC_RELAXED);
}

}  // namespace

void leaveRoutine(ucontext_t& context) {
  greg_t* const registers = context.uc_mcontext.gregs;
  const auto pc = static_cast<std::uint64_t>(registers[REG_RIP]);
  std::uint64_t start;
  const format::RecordRoutine* const routine = routineAt(pc, start);
  if (routine == nullptr) return;
  const auto* const stack = reinterpret_cast<const std::uint64_t*>(registers[REG_RSP]);
  const std::uint64_t behindCall = stack[0], offset = pc - start;
  if (offset != 0 && (routine->keeps & format::kRoutineKeepsR11) != 0)
    registers[REG_R11] = static_cast<greg_t>(stack[-2]);
  registers[REG_RSP] += static_cast<greg_t>(sizeof *stack);
  registers[REG_RIP] = static_cast<greg_t>(behindCall - kCallSize);
  if (offset < routine->claimed) return;
  SegmentHeader& segment = *slot();
  Word& word = *cursorOf(segment);
  const bool isWritten = offset >= routine->written && offset < routine->wrap;
  if (!isWritten && word == format::kSentinelWord) return unclaim(segment);
  // In the last four bytes of the instruction in front of the call.
  if (!isWritten)
    memcpy(&word, reinterpret_cast<const void*>(behindCall - kCallSize - sizeof word), sizeof word);
  if ((routine->keeps & format::kRoutineRestoresRcx) != 0)
    registers[REG_RCX] = static_cast<greg_t>(stack[-1]);
  registers[REG_RIP] = static_cast<greg_t>(behindCall);
}

}  // namespace traceback::inject
