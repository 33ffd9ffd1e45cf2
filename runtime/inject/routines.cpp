#include "runtime/inject/routines.h"

#include "runtime/inject/modules.h"
#include "runtime/inject/segment.h"
#include "runtime/inject/system.h"
#include "runtime/inject/thread.h"

extern "C" traceback::inject::Word* traceback_wrap(std::uint64_t stackPointer);

namespace traceback::inject {

namespace {

constexpr std::uint64_t kCallSize = 5;

Word* cursorToWriteBehind(std::uint64_t stackPointer) {
  Word* const cursor = cursorOf(*slot());
  return cursor[1] == format::kSentinelWord ? traceback_wrap(stackPointer) : cursor;
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
  if (offset >= routine->claimed && offset < routine->wrap) return;
  // If the record is written already, it is written there again.
  Word* const cursor = cursorToWriteBehind(static_cast<std::uint64_t>(registers[REG_RSP]));
  Word record;  // in the last four bytes of the instruction in front of the call
  memcpy(&record, reinterpret_cast<const void*>(behindCall - kCallSize - sizeof record), sizeof record);
  writeHead(*slot(), cursor, record);
  if ((routine->keeps & format::kRoutineKeepsCursor) == 0 || context.uc_mcontext.fpregs == nullptr) return;
  const auto kept = reinterpret_cast<std::uint64_t>(cursor + 1);
  memcpy(&context.uc_mcontext.fpregs->_xmm[15], &kept, sizeof kept);
}

}  // namespace traceback::inject
