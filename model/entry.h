// One entry of a thread's trace: a line that ran, or something that happened between lines.
#pragma once

#include <cstdint>

#include "model/ids.h"

namespace traceback::model {

enum class EntryKind : std::uint8_t {
  Line,       // a source line ran, or, without line information, a block of instructions
  Call,       // control entered a function; the entry's function is the callee, its depth the callee's
  Return,     // control left a function; the entry's function is the one left, its depth that one's
  Exception,  // a C++ exception; detail: see Trace::exceptionType()
  Signal,     // a signal arrived; detail: its number
  Sync,       // thread start or end, a wait, fork and the like; detail: SyncCause
  Gap,        // records are missing, or it is not known what ran; detail: GapCause
};

enum class GapCause : std::uint32_t {
  Unknown = 0,
  Overwritten = 1,      // the ring wrapped
  Damaged = 2,          // records that no path explains
  MissingMap = 3,       // records of a module whose map is not there
  HandlerTooDeep = 4,
  HandlerNotWrapped = 5,
  PathUnknown = 6,      // the last record's path may go on beyond what is shown
  NotRead = 7,          // there are records before this that have not been read yet
  Forked =
      8,  // the process was forked in a signal handler, and goes on where that had interrupted its parent
  NoRing = 9,  // the thread ran untraced, for there was no memory for its ring
  Shared = 10,  // it ran untraced while another one had the same thread-local storage
};

enum class SyncCause : std::uint32_t {
  ThreadStart = 1,
  ThreadEnd = 2,
  ModuleLoad = 3,
  ModuleUnload = 4,
  Fork = 5,
  ThreadCreate = 6,
  ThreadJoin = 7,
  Snap = 8,
  // Before a call that is made to wait; what comes behind it began when it was over.
  WaitCondition = 9,
  WaitBarrier = 10,
  WaitSleep = 11,
  WaitPoll = 12,   // for events of descriptors
  WaitChild = 13,  // for a child process
};
constexpr bool isWait(SyncCause cause) {
  return cause == SyncCause::ThreadJoin ||
         (cause >= SyncCause::WaitCondition && cause <= SyncCause::WaitChild);
}

enum EntryFlag : std::uint16_t {
  kEntryFault = 1,  // Line: the thread faulted here; Exception: nobody caught it, and the process was aborted
  kEntryInlined = 2,  // Call, Return: of a function that the compiler inlined; Line: in one
  kEntryUntracedCall = 4,  // Line: it ends in a call whose callee left no records
  kEntryInHandler = 8,  // within a signal handler
  kEntryTailCall = 16,  // Call: by a jump, the caller's frame being gone
  kEntryPartial = 32,  // Line: cut short by a signal or an exception
  kEntryInterrupted = 64,  // Return: not by a return, but unwound, jumped over or never seen to end
  kEntryCatch = 128,  // Line: a landing pad, where an exception was caught or cleaned up after
  // It went on behind the clock reading that the next entry has; of several in a row, one did, and of those
  // behind that one each may have begun before it or behind it.
  kEntryAcrossReading = 256,
  kEntryAtOtherFault = 512,  // Line: the thread was about here when another one met a fatal signal
  kEntrySkips = 1024,  // Line: not all between address and last ran; what did says ThreadTrace::code()
  kEntryAgain = 2048,  // Exception: of one that was thrown before; see Trace::firstThrow()
  kEntryResumed = 4096,  // Call, inlined: goes on with one that was left for code around it; see beginsCall()
};

struct Entry {
  EntryKind kind = EntryKind::Line;
  std::uint16_t flags = 0;  // EntryFlag
  std::int32_t depth = 0;  // of the call stack; 0 is the outermost function seen in the whole trace
  ModuleId module;
  FunctionId function;  // none if not even the map knows it
  FileId file;  // none without line information; of a Call: where it was called, if it was inlined
  std::uint32_t line = 0;  // 0: none
  std::uint32_t detail = 0;  // by kind; Line with kEntryUntracedCall: see calleeOf()
  VirtAddr address;  // first original instruction of the entry
  VirtAddr last;  // last byte of the original instructions that it stands for, or, where it was cut
                  // short at an instruction that faulted, the first byte of that
  Ticks time;  // of the last timestamp at or before it; 0 if none is known
};

// Whether a call begins there. What the compiler mixed of an inlined function with the code around it is
// entered and left several times in one call.
constexpr bool beginsCall(const Entry& entry) {
  return entry.kind == EntryKind::Call && (entry.flags & kEntryResumed) == 0;
}

// Instructions that ran one behind the other, from that at `first`; `last` is as an entry's.
struct CodeRange {
  VirtAddr first, last;
  friend bool operator==(const CodeRange&, const CodeRange&) = default;
};

// What the line called that left no records. A function of the same file tells by itself why
// (Function::untraced); a stub leads to another file, which then is not instrumented or was not met.
struct UntracedCallee {
  enum class Kind : std::uint8_t { Unknown, Function, Stub } kind = Kind::Unknown;
  FunctionId function;
  friend bool operator==(const UntracedCallee&, const UntracedCallee&) = default;
};
constexpr std::uint32_t kCalleeStub = 1;  // as detail; from 2 on it is 2 + FunctionId; 0: not known
constexpr UntracedCallee calleeOf(const Entry& line) {
  using Kind = UntracedCallee::Kind;
  if (line.kind != EntryKind::Line || (line.flags & kEntryUntracedCall) == 0 || line.detail == 0) return {};
  if (line.detail == kCalleeStub) return {.kind = Kind::Stub, .function = {}};
  return {.kind = Kind::Function, .function = {line.detail - 2}};
}

}  // namespace traceback::model
