#include "instrument/instrument.h"

namespace traceback::instrument {

std::string skipReasonName(format::SkipReason reason) {
  using enum format::SkipReason;
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
    case Count:
      break;
  }
  return "unknown";
}

}  // namespace traceback::instrument
