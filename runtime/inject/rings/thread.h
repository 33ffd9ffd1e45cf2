// What the runtime knows about a thread, all of it in the thread's own static thread-local storage.
//
//   tp - B - 4096 - sizeof(Thread)   Thread
//   tp - B - 4096                    slots: 512 words, each the address of the probation segment
//   tp - B                           B bytes of thread-local storage loaded before ours (the program's)
//
// The word at tp + threadSlot is one of the slots: at kThreadSlot for every B up to kThreadBlockSize less the
// words used, and for larger ones where the copies of that program look (format::threadSlotBeside).
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "runtime/format/record.h"
#include "runtime/format/ring.h"

namespace traceback::inject {

using format::SegmentHeader;
using format::Word;

enum class ThreadState : std::uint32_t {
  Probation,  // no traced code yet
  Traced,  // has a ring
  Untraced,  // no ring could be made
  Ended,  // its destructors run
  Shared,  // others have the same thread-local storage (sharing.h)
};

// Another thread, or process, that has the same.
struct Sharer {
  std::uint32_t tid;  // 0 while it is made
  bool ofProcess;
};
inline constexpr unsigned kMostSharers = 4;  // that are watched

// A signal handler of the program that is running, or was left by a jump.
struct HandlerFrame {
  std::uint64_t stackPointer;  // address of the signal's context, which the kernel put on the handler's stack
  std::uint64_t alternateStart, alternateEnd;  // the alternate stack at that time; equal if none
};

// A fault that the program handles itself (signals/handled_fault.h).
struct HandledFault {
  const ucontext_t* context;  // of the signal, on the handler's stack; null: the handler came back
  std::uint64_t time;
  std::uint64_t pc, address;  // of the context and the siginfo_t as they came
  std::uint32_t signal;
  std::int32_t code;
  std::uint64_t position;  // of the cursor in the level that was interrupted
  std::uint32_t level;  // of its handler
  bool othersSeen;  // where the other threads were stands in their rings
};

// An exception that it has thrown (snaps/thrown_message.h).
struct Thrown {
  std::uint64_t object;
  std::uint64_t type;  // where its type-info is
  std::uint64_t time;  // in its record; 0: there is none
};

// A wrap (wrap.h) that may be interrupted.
struct Step {
  std::uint64_t frame;  // that wrap.S has made; 0: none
  std::uint32_t scratch;  // the number of the word there that the cursor goes to
  bool keepsCursor;  // in xmm15, too
};

// The signals that a call of libc's has blocked for as long as it waits (libc/masked_wait.h).
struct WaitMask {
  std::uint64_t blocked;
  bool inForce;
};

// At which sub-buffers of the main segment the coarse history is kept (history.h), by their ordinals.
struct HistoryPace {
  std::uint64_t from;  // where it was looked last
  std::uint64_t due;  // nothing is asked before
};

inline constexpr unsigned kMaxLevel = 7;  // levels from kMaxSegments on have no segment: they discard
inline constexpr unsigned kDiscardWords = 128;

struct Ring;

struct alignas(format::kThreadBlockAlignment) Thread {
  SegmentHeader discard;  // what nobody reads
  Ring* ring;
  ThreadState state;
  std::uint32_t level;  // of signal handlers; the number of the segment in use
  bool alternateInUse;  // the alternate stack is what the kernel has; the program believes that there is none
  bool gapPending;  // signals went unrecorded since the last record
  bool holds;  // it made a Hold
  bool late;  // it has run traced code without a ring
  std::uint8_t endRounds;  // times that the key's destructor ran
  std::uint8_t sharers;  // more than kMostSharers: for ever
  std::uint8_t discardWindow;  // one more than its number; 0: none yet
  std::uint64_t ghost;  // ghost.h; 0 if there is none
  std::uint64_t ghostSize;
  HandlerFrame frames[kMaxLevel + 1];
  std::uint64_t alternateStack;  // the one we made; 0 if none
  std::uint32_t freedSeen;  // of the rings that became free, when it found none
  std::uint32_t handlers;  // that run while it has no ring; too many where some were left by a jump
  ThreadState unshared;  // what it was before
  Sharer sharer[kMostSharers];
  std::uint64_t lastLook;  // whether there are sharers, or they are gone, in processorTicks()
  std::uint64_t lastStack;  // its stack pointer then
  Step step;
  HistoryPace history;
  WaitMask waitMask;
  // Faults' signals (signals/held_faults.h): that the program has blocked and the kernel has not, and that
  // both have, for one was sent.
  std::uint64_t heldFaults, putOffFaults;
  HandledFault handled;  // the outermost one whose handler runs, or the last, or one that was left by a jump
  Thrown thrown;  // the last one
  std::uint64_t textsPaid;  // TSC until which the thread has had what exceptions said read (thrown_message.h)
  std::uint64_t abortFrame;  // the stack where libc's abort() was called; 0: it was not, or was left
  std::uint32_t unheldIn;  // the number of a vfork child whose kernel blocks what is held
};

Thread& thread();

// Where the probes of all that is bound look, from the thread pointer. Stays as it is once something is.
extern std::int64_t threadSlot;

inline SegmentHeader* slot() {
  SegmentHeader* value;
  __asm__ volatile("movq %%fs:(%1), %0" : "=r"(value) : "r"(threadSlot) : "memory");
  return value;
}
inline void setSlot(SegmentHeader* segment) {
  __asm__ volatile("movq %0, %%fs:(%1)" ::"r"(segment), "r"(threadSlot) : "memory");
}

// The probes' spill slots belong to the code that a signal interrupted.
struct Spills {
  std::uint64_t words[format::kSpillSlots];
};
void saveSpills(Spills& spills);
void restoreSpills(const Spills& spills);

// The segment of every thread that has not run traced code yet: its cursor stands at the end of a window, so
// that its first head probe comes to the runtime. Threads race on the cursor, harmlessly: each wrap puts it
// back. (Defined in wrap.S: it must hold from the moment the library is mapped and relocated.)
extern "C" SegmentHeader traceback_probation;
// Behind it there is one word that anybody may write, and then a window's end.
Word* lastCursor();
// Has the cursor of probation stand at that end.
void resetProbation();

// Whether such a place lies among our slots in this process.
bool isThreadSlotInPlace(std::int64_t place);

void enterDiscard(Thread& t);

// The calling thread's number without a system call: glibc keeps it in the descriptor that %fs leads to. 0 if
// that is not so.
std::uint32_t tidOfDescriptor();
// Sees whether it is so.
void findTidInDescriptor();

}  // namespace traceback::inject
