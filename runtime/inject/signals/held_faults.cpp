#include "runtime/inject/signals/held_faults.h"

#include <cstddef>

#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/thread.h"
#include "runtime/inject/signals/abort.h"
#include "runtime/inject/signals/mask.h"

namespace traceback::inject {

namespace {

constexpr std::uint64_t kFaults =
    bitOf(SIGSEGV) | bitOf(SIGBUS) | bitOf(SIGILL) | bitOf(SIGFPE) | bitOf(SIGABRT);
constinit std::uint64_t holdable = 0;

constexpr int kBlock = 0, kUnblock = 1;
static_assert(kBlock == SIG_BLOCK && kUnblock == SIG_UNBLOCK);

// Of what the program wants blocked, what the kernel need not block. It goes on with what was put off.
std::uint64_t toHold(const Thread& t, std::uint64_t blocked) {
  const bool isAlone = t.state != ThreadState::Shared && t.sharers == 0;
  return isAlone ? blocked & holdable & ~t.putOffFaults : 0;
}

void changeKernelMask(int how, std::uint64_t bits) {
  if (bits != 0) systemCall(__NR_rt_sigprocmask, how, asLong(&bits), 0, 8);
}

bool isOthersMemory() {
  if (inForkedChild()) childStarted(true);
  return !inOwnProcess();
}

// In a vfork child, before anything that depends on its mask.
void blockInOtherProcess(Thread& t) {
  const std::uint32_t self = rawPid();
  if (t.unheldIn == self) return;
  t.unheldIn = self;
  changeKernelMask(kBlock, t.heldFaults);
}

// Sent to the process, any thread that has it open may take it; what was sent to the thread is the thread's.
bool sendAgain(int signal, const siginfo_t& info) {
  const long result = info.si_code == SI_TKILL
                          ? systemCall(__NR_rt_tgsigqueueinfo, rawPid(), rawTid(), signal, asLong(&info))
                          : systemCall(__NR_rt_sigqueueinfo, rawPid(), signal, asLong(&info));
  return !failed(result);
}

// What lies between a jmp_buf's flag and its mask is nobody's.
constexpr std::uint32_t kMark = 0x7BFA'0000, kMarkBits = 0xFFFF'0000;
static_assert(kFaults < 1 << 16);
static_assert(offsetof(__jmp_buf_tag, __saved_mask) ==
              offsetof(__jmp_buf_tag, __mask_was_saved) + sizeof(int) + sizeof(std::uint32_t));
constexpr std::size_t kNote = offsetof(__jmp_buf_tag, __saved_mask) - sizeof(std::uint32_t);

std::uint32_t noteOf(const __jmp_buf_tag& target) {
  std::uint32_t note;
  memcpy(&note, reinterpret_cast<const char*>(&target) + kNote, sizeof note);
  return note;
}

}  // namespace

void beginHolding(std::uint64_t signals) {
  holdable = signals & kFaults & (abortLeavesMask() ? ~std::uint64_t{0} : ~bitOf(SIGABRT));
}

void holdBlocked(std::uint64_t blocked) {
  Thread& t = thread();
  const std::uint64_t open = toHold(t, blocked);
  if (open == 0 || process.sandboxed) return;
  t.heldFaults |= open;
  compilerBarrier();
  changeKernelMask(kUnblock, open);
}

int changeMask(int how, const sigset_t* next, sigset_t* previous,
               int (*real)(int, const sigset_t*, sigset_t*)) {
  Thread& t = thread();
  const std::uint64_t wanted = next == nullptr ? 0 : bitsOf(*next);
  const bool concerned = t.heldFaults != 0 || t.putOffFaults != 0 ||
                         (next != nullptr && how != SIG_UNBLOCK && (wanted & holdable) != 0);
  if (!concerned || process.sandboxed || (how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK))
    return real(how, next, previous);
  if (isOthersMemory()) {
    blockInOtherProcess(t);
    return real(how, next, previous);
  }
  const std::uint64_t before = t.heldFaults;
  sigset_t kernels;
  if (next != nullptr) {
    const std::uint64_t held = how == SIG_UNBLOCK ? 0 : toHold(t, wanted);
    kernels = *next;
    putBits(kernels, wanted & ~held);
    switch (how) {
      case SIG_BLOCK:
        t.heldFaults = before | held;
        break;
      case SIG_UNBLOCK:
        t.heldFaults = before & ~wanted;
        t.putOffFaults &= ~wanted;
        break;
      default:
        t.heldFaults = held;
        t.putOffFaults &= wanted;
    }
    compilerBarrier();
  }
  const int result = real(how, next == nullptr ? nullptr : &kernels, previous);
  if (previous != nullptr && result == 0) putBits(*previous, bitsOf(*previous) | before);
  return result;
}

void blockHeld(const sigset_t* signals) {
  Thread& t = thread();
  if (t.heldFaults == 0 || signals == nullptr || process.sandboxed || isOthersMemory()) return;
  const std::uint64_t bits = bitsOf(*signals) & t.heldFaults;
  changeKernelMask(kBlock, bits);
  t.putOffFaults |= bits;
  t.heldFaults &= ~bits;
}

void blockAllHeld() {
  sigset_t all;
  putBits(all, kFaults);
  blockHeld(&all);
}

bool isHeld(int signal) { return (thread().heldFaults & bitOf(signal)) != 0 && !process.sandboxed; }

bool isPutOffAsHeld(int signal, const siginfo_t& info, ucontext_t& context) {
  const bool sent = info.si_code <= 0 || (signal == SIGBUS && info.si_code == BUS_MCEERR_AO);
  if (!sent || !isHeld(signal) || isInAbort(signal, context) || !putOff(signal, info, context)) return false;
  if (inOwnProcess()) {
    Thread& t = thread();
    t.heldFaults &= ~bitOf(signal);
    t.putOffFaults |= bitOf(signal);
  }
  return true;
}

bool putOff(int signal, const siginfo_t& info, ucontext_t& context) {
  changeKernelMask(kBlock, bitOf(signal));  // SA_NODEFER leaves it open
  if (!sendAgain(signal, info)) return false;
  putBits(context.uc_sigmask, bitsOf(context.uc_sigmask) | bitOf(signal));
  return true;
}

HandlersMask::HandlersMask(ucontext_t& context) : m_context(context) {
  if (!process.sandboxed) putBits(context.uc_sigmask, bitsOf(context.uc_sigmask) | thread().heldFaults);
}

std::uint64_t HandlersMask::enter(std::uint64_t blocked) {
  if (process.sandboxed) return blocked;
  Thread& t = thread();
  t.heldFaults = toHold(t, blocked);
  return blocked & ~t.heldFaults;
}

HandlersMask::~HandlersMask() {
  if (process.sandboxed) return;
  Thread& t = thread();
  const std::uint64_t blocked = bitsOf(m_context.uc_sigmask);
  t.putOffFaults &= blocked;
  t.heldFaults = toHold(t, blocked);
  putBits(m_context.uc_sigmask, blocked & ~t.heldFaults);
}

HeldBlocked::HeldBlocked() : m_held(process.sandboxed ? 0 : thread().heldFaults) {
  if (m_held == 0) return;
  if (isOthersMemory()) {
    blockInOtherProcess(thread());
    m_held = 0;
  }
  changeKernelMask(kBlock, m_held);
}

HeldBlocked::~HeldBlocked() { changeKernelMask(kUnblock, m_held); }

void noteHeldInJump(jmp_buf target) {
  const std::uint64_t held = thread().heldFaults;
  if (held == 0 && (noteOf(*target) & kMarkBits) != kMark) return;
  const auto note = held == 0 ? 0 : kMark | static_cast<std::uint32_t>(held);
  memcpy(reinterpret_cast<char*>(target) + kNote, &note, sizeof note);
}

void holdAsJumpDid(const __jmp_buf_tag* target) {
  if (target->__mask_was_saved == 0 || process.sandboxed) return;
  Thread& t = thread();
  const std::uint32_t note = noteOf(*target);
  const std::uint64_t held = (note & kMarkBits) == kMark ? note & holdable : 0;
  if ((t.heldFaults | t.putOffFaults | held) == 0 || !inOwnProcess()) return;
  t.putOffFaults = bitsOf(target->__saved_mask) & holdable;
  t.heldFaults = held & ~t.putOffFaults;
}

}  // namespace traceback::inject
