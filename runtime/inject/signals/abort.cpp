#include "runtime/inject/signals/abort.h"

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/libc/libc.h"
#include "runtime/inject/process/own_memory.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/thread.h"
#include "runtime/inject/signals/actions.h"

// In hooks.S: libc's own.
extern "C" void* traceback_real_abort;

namespace traceback::inject {

namespace {

// Of the frames of what abort() calls to send the signal, above the stack pointer where that arrives.
constexpr unsigned kMostWords = 32;
constexpr std::uint64_t kMostCode = 256;

}  // namespace

void expectAbort(std::uint64_t frame) {
  thread().abortFrame = frame;
  meetIgnoredAbort();
}

bool isInAbort(int signal, const ucontext_t& context) {
  const greg_t* registers = context.uc_mcontext.gregs;
  const auto stack = static_cast<std::uint64_t>(registers[REG_RSP]);
  const auto pc = static_cast<std::uint64_t>(registers[REG_RIP]);
  if (signal != SIGABRT || process.sandboxed || !isBehindSystemCall(pc)) return false;
  constexpr std::uint64_t kMostBelow = 64 << 10;
  const Thread& t = thread();
  if (t.abortFrame != 0 && t.abortFrame - stack < kMostBelow) return true;
  const auto code = reinterpret_cast<std::uint64_t>(traceback_real_abort);
  std::uint64_t words[kMostWords];
  // Somebody else who sends himself SIGABRT may stand at his stack's top.
  const long size = readOwnMemory(stack, words, sizeof words);
  for (long i = 0; i < size / static_cast<long>(sizeof *words); ++i)
    if (words[i] - code < kMostCode) return true;
  return false;
}

void copyAbortMessage(std::uint8_t (&to)[256]) {
  if (libc.abortMessage == nullptr || *libc.abortMessage == nullptr || process.sandboxed) return;
  struct {
    std::uint32_t size;
    std::uint8_t text[sizeof to];
  } message{};
  if (readOwnMemory(reinterpret_cast<std::uint64_t>(*libc.abortMessage), &message, sizeof message) <= 0)
    return;
  message.text[sizeof to - 1] = 0;
  for (unsigned i = 0; i < sizeof to; ++i) to[i] = message.text[i];
}

bool abortLeavesMask() { return libc.isSince241; }

}  // namespace traceback::inject
