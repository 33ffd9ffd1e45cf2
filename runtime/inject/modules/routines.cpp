#include "runtime/inject/modules/routines.h"

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/modules/copy_addresses.h"
#include "runtime/inject/rings/segment.h"
#include "runtime/inject/rings/thread.h"
#include "runtime/inject/rings/wrap.h"

namespace traceback::inject {

namespace {

constexpr std::uint64_t kCallSize = 5;

Word* cursorToWriteBehind(std::uint64_t stackPointer) {
  Word* const cursor = cursorOf(*slot());
  const bool isFull = format::isAtWindowEnd(reinterpret_cast<std::uint64_t>(cursor));
  return isFull ? traceback_wrap(stackPointer, nullptr) : cursor;
}

// Each gives back the registers that the routine keeps below its stack pointer, `stack`, and does the rest of
// it. The context is behind the call already.

// If the record is written already, it is written there again.
void finish(const format::RecordRoutine& routine, std::uint64_t offset, const std::uint64_t* stack,
            ucontext_t& context) {
  greg_t* const registers = context.uc_mcontext.gregs;
  if (offset != 0 && (routine.keeps & format::kRoutineKeepsR11) != 0)
    registers[REG_R11] = static_cast<greg_t>(stack[-2]);
  if ((routine.keeps & format::kRoutineRestoresRcx) != 0) registers[REG_RCX] = static_cast<greg_t>(stack[-1]);
  if (offset >= routine.claimed && offset < routine.wrap) return;
  Word* const cursor = cursorToWriteBehind(static_cast<std::uint64_t>(registers[REG_RSP]));
  Word record;  // in the last four bytes of the instruction in front of the call
  memcpy(&record, reinterpret_cast<const void*>(stack[0] - kCallSize - sizeof record), sizeof record);
  writeHead(*slot(), cursor, record);
  if ((routine.keeps & format::kRoutineKeepsCursor) != 0) putKeptCursor(context, cursor + 1);
}

// Where the routine does it, which may be where a forked child does no harm to its ring (ghost.h).
void finish(const format::BitRoutine& routine, std::uint64_t offset, const std::uint64_t* stack,
            ucontext_t& context) {
  greg_t* const registers = context.uc_mcontext.gregs;
  if (offset >= format::kBitRoutineKeepsRax) registers[REG_RAX] = static_cast<greg_t>(stack[-1]);
  if (offset >= format::kBitRoutineKeepsRcx) registers[REG_RCX] = static_cast<greg_t>(stack[-2]);
  Word* cursor = cursorOf(*slot());
  if ((routine.flags & format::kBitRoutineFindsCursor) != 0 && context.uc_mcontext.fpregs != nullptr)
    memcpy(&cursor, &context.uc_mcontext.fpregs->_xmm[15], sizeof cursor);
  *cursor |= Word{1} << routine.bit;
}

void finish(const format::LoadRoutine& routine, ucontext_t& context) {
  constexpr int kNumbers[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  const Word* const cursor = cursorOf(*slot());
  context.uc_mcontext.gregs[kNumbers[routine.reg % 16]] = reinterpret_cast<greg_t>(cursor);
  putKeptCursor(context, cursor);
}

}  // namespace

void leaveRoutine(ucontext_t& context) {
  greg_t* const registers = context.uc_mcontext.gregs;
  const auto pc = static_cast<std::uint64_t>(registers[REG_RIP]);
  const RoutineAt routine = routineAt(pc);
  if (routine.record == nullptr && routine.bit == nullptr && routine.load == nullptr) return;
  const auto* const stack = reinterpret_cast<const std::uint64_t*>(registers[REG_RSP]);
  const std::uint64_t offset = pc - routine.start;
  registers[REG_RSP] += static_cast<greg_t>(sizeof *stack);
  registers[REG_RIP] = static_cast<greg_t>(stack[0]);
  if (routine.record != nullptr)
    finish(*routine.record, offset, stack, context);
  else if (routine.bit != nullptr)
    finish(*routine.bit, offset, stack, context);
  else
    finish(*routine.load, context);
}

}  // namespace traceback::inject
