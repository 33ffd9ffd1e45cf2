#include "runtime/inject/signals/alternate_stack.h"

#include <sys/mman.h>

#include "runtime/inject/kernel/system.h"

namespace traceback::inject {

namespace {

// A handler that the program installed with SA_ONSTACK, but without such a stack, runs here too: hence
// much more than the fault handler needs. Only touched pages cost memory.
inline constexpr std::uint64_t kSize = 256 << 10, kGuard = kPage;

void* startOf(const Thread& t) { return reinterpret_cast<void*>(t.alternateStack + kGuard); }

bool use(Thread& t) {
  const stack_t ours{startOf(t), 0, kSize - kGuard};
  t.alternateInUse = !failed(systemCall(__NR_sigaltstack, asLong(&ours), 0));
  return t.alternateInUse;
}

}  // namespace

void makeAlternateStack(Thread& t) {
  stack_t present{};
  if (failed(systemCall(__NR_sigaltstack, 0, asLong(&present))) || (present.ss_flags & SS_DISABLE) == 0)
    return;
  if (t.alternateStack == 0) {
    const long memory = systemCall(__NR_mmap, 0, kSize, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (failed(memory)) return;
    systemCall(__NR_mprotect, memory, kGuard, PROT_NONE);
    t.alternateStack = static_cast<std::uint64_t>(memory);
  }
  use(t);
}

void dropAlternateStack(Thread& t) {
  if (t.alternateStack == 0) return;
  if (t.alternateInUse) {
    const stack_t none{nullptr, SS_DISABLE, 0};
    if (failed(systemCall(__NR_sigaltstack, asLong(&none), 0))) return;  // we stand on it
  }
  systemCall(__NR_munmap, static_cast<long>(t.alternateStack), kSize);
  t.alternateStack = 0;
  t.alternateInUse = false;
}

long programSigaltstack(const stack_t* next, stack_t* previous) {
  Thread& t = thread();
  if (!t.alternateInUse) {
    const long result = systemCall(__NR_sigaltstack, asLong(next), asLong(previous));
    if (!failed(result) && next != nullptr && (next->ss_flags & SS_DISABLE) != 0 && t.alternateStack != 0)
      use(t);
    return result;
  }
  // The kernel has ours: the program's own state is "disabled".
  if (next != nullptr && (next->ss_flags & SS_DISABLE) == 0) {
    const long result = systemCall(__NR_sigaltstack, asLong(next), 0);
    if (failed(result)) return result;
    t.alternateInUse = false;
  }
  if (previous != nullptr) *previous = {nullptr, SS_DISABLE, 0};
  return 0;
}

bool hideAlternateStack(const Thread& t, ucontext_t& context, stack_t& hidden) {
  if (!t.alternateInUse || context.uc_stack.ss_sp != startOf(t)) return false;
  hidden = context.uc_stack;
  context.uc_stack = {nullptr, SS_DISABLE, 0};
  return true;
}

void showAlternateStack(ucontext_t& context, const stack_t& hidden) {
  if (context.uc_stack.ss_sp == nullptr) context.uc_stack = hidden;
}

}  // namespace traceback::inject
