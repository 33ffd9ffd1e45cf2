#include "runtime/inject/signals/fault.h"

#include <time.h>
#include <ucontext.h>

#include "runtime/format/snap.h"
#include "runtime/inject/libc/waiting.h"
#include "runtime/inject/modules/routines.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/hold.h"
#include "runtime/inject/rings/ring_table.h"
#include "runtime/inject/rings/rings.h"
#include "runtime/inject/rings/wrap.h"
#include "runtime/inject/signals/abort.h"
#include "runtime/inject/signals/actions.h"
#include "runtime/inject/signals/handled_fault.h"
#include "runtime/inject/signals/held_faults.h"
#include "runtime/inject/signals/levels.h"
#include "runtime/inject/signals/own_fault.h"
#include "runtime/inject/snaps/collector.h"
#include "runtime/inject/snaps/thrown_message.h"

namespace traceback::inject {

namespace {

// The thread whose fault is being collected; others that meet one wait for the process's end.
constinit std::uint32_t faultOwner = 0;
constinit std::uint32_t faultDone = 0;

void sleepShortly() {
  const struct timespec pause{0, 10'000'000};
  systemCall(__NR_nanosleep, asLong(&pause), 0);
}

// In the order of user_regs_struct. A signal's context has no bases of fs and gs: they are asked for.
void copyRegisters(const ucontext_t& context, std::uint64_t (&to)[27]) {
  static constexpr int kOrder[] = {
      REG_R15, REG_R14, REG_R13, REG_R12, REG_RBP, REG_RBX, REG_R11, REG_R10,
      REG_R9,  REG_R8,  REG_RAX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RAX /* orig_rax */,
      REG_RIP};
  static_assert(sizeof kOrder / sizeof *kOrder == 17);
  const greg_t* registers = context.uc_mcontext.gregs;
  for (unsigned i = 0; i < 17; ++i) to[i] = static_cast<std::uint64_t>(registers[kOrder[i]]);
  to[15] = ~std::uint64_t{0};
  const auto selectors = static_cast<std::uint64_t>(registers[REG_CSGSFS]);
  to[17] = selectors & 0xFFFF;                                 // cs
  to[18] = static_cast<std::uint64_t>(registers[REG_EFL]);
  to[19] = static_cast<std::uint64_t>(registers[REG_RSP]);
  to[20] = selectors >> 48;                                    // ss
  if (process.sandboxed) return;
  constexpr long kGetFs = 0x1003, kGetGs = 0x1004;
  systemCall(__NR_arch_prctl, kGetFs, asLong(&to[21]));
  systemCall(__NR_arch_prctl, kGetGs, asLong(&to[22]));
}

// `fault.time` is of the fault that came first, where that one is met in its handler.
void describe(format::ProcessHeader& file, const HandledFault& fault) {
  const Thread& t = thread();
  const bool isItsRing = t.ring != nullptr && (process.sandboxed || t.state != ThreadState::Shared);
  file.faultTid = isItsRing ? t.ring->tid : process.sandboxed ? 0 : rawTid();
  file.faultSignal = fault.signal;
  file.faultCode = static_cast<std::uint32_t>(fault.code);
  file.faultAddress = fault.address;
  file.faultPc = fault.pc;
  file.faultTime = fault.time;
  if (fault.signal == SIGABRT) {
    copyAbortMessage(file.abortMessage);
    copyThrownMessage(file);
  }
  copyRegisters(*fault.context, file.faultRegisters);
  file.faultRegisters[16] = fault.pc;  // handlers of the program see another one
  file.faultExtendedRegisters = reinterpret_cast<std::uint64_t>(fault.context->uc_mcontext.fpregs);
  file.lastTsc = timeStamp();
  if (!process.sandboxed) file.lastRealtimeNs = realtimeNow();
  __atomic_store_n(&file.state, static_cast<std::uint32_t>(format::ProcessState::Faulted), __ATOMIC_RELEASE);
}

// True for the thread that is to collect. Any other comes back once that is done.
bool claimFault() {
  std::uint32_t nobody = 0;
  const std::uint32_t self = rawTid();
  if (__atomic_compare_exchange_n(&faultOwner, &nobody, self, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    return true;
  if (nobody == self) return false;  // its first fault did not end the process
  while (__atomic_load_n(&faultDone, __ATOMIC_ACQUIRE) == 0) sleepShortly();
  return false;
}

// Whether returning from the handler runs into the same fault.
bool isMetAgain(int signal, const siginfo_t& info) {
  constexpr int kFromKernel = 0x80;  // SI_KERNEL: of many origins
  return (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE) &&
         info.si_code > 0 && info.si_code < kFromKernel &&
         !(signal == SIGBUS && info.si_code == BUS_MCEERR_AO);
}

void record(int signal, const siginfo_t& info, ucontext_t& context) {
  leaveLostRing();
  const HandledFault* first = faultBehind(signal, context);
  Interrupted interrupted;
  beginSignal(interrupted, signal, info, context, format::kSignalFatal);
  const bool othersSeen = first != nullptr && first->othersSeen;
  const HandledFault fault{.context = &context,
                           .time = othersSeen ? first->time : timeStamp(),
                           .pc = static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]),
                           .address = info.si_code > 0 ? reinterpret_cast<std::uint64_t>(info.si_addr) : 0,
                           .signal = static_cast<std::uint32_t>(signal),
                           .code = info.si_code,
                           .position = 0,
                           .level = 0,
                           .othersSeen = othersSeen};
  if (!process.sandboxed && !othersSeen) noteWhereOthersAre(thread().ring);
  format::ProcessHeader* file = process.file;
  if (file == nullptr) return;
  describe(*file, fault);
  if (!process.sandboxed) runCollectorAtFault();
  // Where it did not end the process (a debugger, init), the thread goes on as after a handler.
  endSignal(interrupted, context);
}

}  // namespace

void meetFault(int signal, siginfo_t* info, void* data) {
  auto& context = *static_cast<ucontext_t*>(data);
  if (isOwnFault(signal, *info, context) || isPutOffAsHeld(signal, *info, context)) return;
  leaveWrap(signal, *info, context);
  leaveRoutine(context);
  if (process.sandboxed) {
    // The kernel has put the default action back already; most faults are met again on return.
    record(signal, *info, context);
    if (isMetAgain(signal, *info)) return;
  } else if (inOwnProcess() && claimFault()) {
    const Hold hold;  // before anything else, for the others run on
    record(signal, *info, context);
    __atomic_store_n(&faultDone, 1u, __ATOMIC_RELEASE);
  }
  // The default action, with the same information, at the very place: the signal is blocked here and
  // arrives as this handler returns.
  if (!process.sandboxed) setKernelDefault(signal);
  if (failed(systemCall(__NR_rt_tgsigqueueinfo, rawPid(), rawTid(), signal, asLong(info))))
    systemCall(__NR_tgkill, rawPid(), rawTid(), signal);
}

bool collectHandledFault() {
  if (!process.recording || process.sandboxed || inForkedChild() || !inOwnProcess()) return false;
  const HandledFault* fault = handledFault(reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)));
  if (fault == nullptr || !isFatal(static_cast<int>(fault->signal))) return false;
  const SignalsBlocked blocked(kAllButFaults);
  leaveLostRing();
  if (process.file == nullptr || thread().state != ThreadState::Traced || !claimFault()) return false;
  const Hold hold;
  noteSnap(static_cast<std::uint16_t>(format::SnapReason::Fault));
  describe(*process.file, *fault);
  runCollectorAtFault();
  __atomic_store_n(&faultDone, 1u, __ATOMIC_RELEASE);
  return true;
}

void letFaultEndProcess() {
  constexpr int kMostLooks = 100;  // once all was recorded: a signal that ends the process takes no second
  const std::uint32_t owner = __atomic_load_n(&faultOwner, __ATOMIC_ACQUIRE);
  if (owner == 0 || process.sandboxed || inForkedChild() || !inOwnProcess() || owner == rawTid()) return;
  for (int looks = 0; looks < kMostLooks;) {
    sleepShortly();
    looks += __atomic_load_n(&faultDone, __ATOMIC_ACQUIRE) != 0 ? 1 : 0;
  }
}

void forgetFault() {
  faultOwner = faultDone = 0;
  thread().handled = {};
}

}  // namespace traceback::inject
