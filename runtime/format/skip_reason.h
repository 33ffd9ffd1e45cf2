// Why a function was left alone (map.h), in words for people: the same ones wherever it is said.
#pragma once

#include <string_view>

#include "runtime/format/map.h"

namespace traceback::format {

// Short, for tables and reports.
constexpr std::string_view skipReasonName(SkipReason reason) {
  using enum SkipReason;
  switch (reason) {
    case None:
      return "none";
    case BadDecode:
      return "code that does not decode";
    case BranchIntoInstruction:
      return "branch into an instruction";
    case NoRoomForJump:
      return "no room for the entry jump";
    case JumpTargetInWindow:
      return "jump target in the entry window";
    case InteriorAddressTaken:
      return "interior address taken";
    case CallsItself:
      return "interior called";
    case SignalFrame:
      return "signal frame";
    case StartupCode:
      return "startup code";
    case Resolver:
      return "symbol resolver";
    case BadUnwindInfo:
      return "unwind tables that cannot be copied";
    case BadExceptionTable:
      return "exception table that cannot be copied";
    case OverlappingFunctions:
      return "overlapping functions";
    case UnsafeInstruction:
      return "instruction that cannot be moved";
    case EntryFlagsLive:
      return "flags live at the entry";
    case RestartableSequence:
      return "restartable sequence";
    case OutOfReach:
      return "displacement out of reach";
    case LinkedToSkipped:
      return "shares code with a skipped function";
    case CodesExhausted:
      return "no record codes left";
    case Excluded:
      return "excluded";
    case PatchedWhileRunning:
      return "made to be patched while running";
    case SplitStack:
      return "split stack";
    case MachineEntry:
      return "entry of a virtual machine";
    case Count:
      break;
  }
  return "unknown";
}

// As the rest of "it is not traced, for ...".
constexpr std::string_view skipReasonSentence(SkipReason reason) {
  using enum SkipReason;
  switch (reason) {
    case None:
      return "nothing speaks against it";
    case BadDecode:
      return "its bytes do not all decode as instructions, so it may hold data, or end elsewhere than its "
             "unwind table says";
    case BranchIntoInstruction:
      return "it jumps into the middle of one of its own instructions, so its bytes are read in two ways";
    case NoRoomForJump:
      return "it is shorter than the five bytes that the jump to its copy takes, and other code follows";
    case JumpTargetInWindow:
      return "something may jump to, or read, the first bytes behind its entry, which the jump to its copy "
             "would overwrite";
    case InteriorAddressTaken:
      return "the address of something within it is used in ways that cannot be followed";
    case CallsItself:
      return "a call leads into its middle, as in code that asks for its own address";
    case SignalFrame:
      return "it is where signal handlers return to: unwinders know it by its bytes";
    case StartupCode:
      return "it is start-up code or a linkage stub, which runs before anything could record it";
    case Resolver:
      return "it chooses an implementation while the program is being loaded (IFUNC), before anything may "
             "record";
    case BadUnwindInfo:
      return "its unwind information cannot be carried over to a copy, so exceptions and backtraces would "
             "break";
    case BadExceptionTable:
      return "its table of exception handlers cannot be carried over to a copy";
    case OverlappingFunctions:
      return "its bytes belong to another function too";
    case UnsafeInstruction:
      return "it has an instruction that does not work elsewhere, such as a transaction or a far jump";
    case EntryFlagsLive:
      return "it is jumped to with a value in the processor's flags, which a jump through a gate would lose";
    case RestartableSequence:
      return "it has a restartable sequence (rseq), which the kernel knows by its addresses";
    case OutOfReach:
      return "its copy would be too far from what it refers to";
    case LinkedToSkipped:
      return "it shares code with a function that is left alone";
    case CodesExhausted:
      return "the file has more paths than records can name, and those before it took them all";
    case Excluded:
      return "it was excluded when the file was instrumented";
    case PatchedWhileRunning:
      return "its code is made to be rewritten while it runs (patchable entry or XRay)";
    case SplitStack:
      return "it is compiled for split stacks, which calculate with return addresses";
    case MachineEntry:
      return "it is where the frames of a virtual machine begin (V8's entry into JavaScript), which walks "
             "them itself and knows return addresses by the code that they are in";
    case Count:
      break;
  }
  return "there is a reason that this version does not know";
}

}  // namespace traceback::format
