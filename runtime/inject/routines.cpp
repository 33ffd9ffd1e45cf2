#include "runtime/inject/routines.h"

#include "runtime/inject/modules.h"
#include "runtime/inject/segment.h"
#include "runtime/inject/system.h"
#include "runtime/inject/thread.h"

extern "C" traceback::inject::Word* traceback_wrap(std::uint64_t stackPointer);

namespace traceback::inject {

namespace {

constexpr std::uint64_t kCallSize = 5;

// The cursor, with a word claimed that can be written.
Word* claimedWord(bool isClaimed, std::uint64_t stackPointer) {
  SegmentHeader& segment = *slot();
  if (!isClaimed) __atomic_store_n(&segment.cursor, segment.cursor + sizeof(Word), __ATOMIC_RELAXED);
  Word* const word = cursorOf(segment);
  return *word == format::kSentinelWord ? traceback_wrap(stackPointer) : word;
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
  if ((routine->keeps & format::kRoutineRestoresRcx) != 0)
    registers[REG_RCX] = static_cast<greg_t>(stack[-1]);
  registers[REG_RSP] += static_cast<greg_t>(sizeof *stack);
  registers[REG_RIP] = static_cast<greg_t>(behindCall);
  if (offset >= routine->written && offset < routine->wrap) return;
  Word* const word = claimedWord(offset >= routine->claimed, static_cast<std::uint64_t>(registers[REG_RSP]));
  // In the last four bytes of the instruction in front of the call.
  memcpy(word, reinterpret_cast<const void*>(behindCall - kCallSize - sizeof *word), sizeof *word);
  if ((routine->keeps & format::kRoutineKeepsCursor) == 0 || context.uc_mcontext.fpregs == nullptr) return;
  const auto cursor = reinterpret_cast<std::uint64_t>(word);
  memcpy(&context.uc_mcontext.fpregs->_xmm[15], &cursor, sizeof cursor);
}

}  // namespace traceback::inject
