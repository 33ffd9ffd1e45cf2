// What is known of live registers and flags while they are followed through a module: shared by the parts of
// findLiveness().
#pragma once

#include <atomic>
#include <unordered_map>
#include <vector>

#include "instrument/analysis/program.h"

namespace traceback::instrument {

inline constexpr FlagSet kAllFollowed = kAllFlags | kXmm15;
// xmm15, for what some caller does behind the function's return: other callers have nothing there.
inline constexpr FlagSet kXmm15Beyond = 0x80;

// What anybody may pass to whom he does not know: all that linkers' stubs do not change.
inline constexpr RegisterSet kPassed = RegisterSet(kAllRegisters & ~registerBit(kR11));

struct alignas(8) Live {
  RegisterSet registers = 0;  // some instruction of the module reads them
  RegisterSet assumed = 0;    // or somebody else may, who is called there, or returned to
  FlagSet flags = 0;
  bool operator==(const Live&) const = default;
  Live& operator|=(const Live& more) {
    registers |= more.registers;
    assumed |= more.assumed;
    flags |= more.flags;
    return *this;
  }
  friend Live operator|(Live a, const Live& b) { return a |= b; }
};
inline constexpr Live kEverything{0, kAllRegisters, kAllFollowed};
inline constexpr Live kAnyRegister{0, kAllRegisters, 0};

// A block, as a step from what is live behind it to what is live before.
struct Step {
  RegisterSet reads = 0, kills = 0;
  FlagSet flagsRead = 0, flagsKilled = 0;
  bool toStub = false;       // its target is in another module, as far as is known
  bool toStart = false;      // it is where that function starts
  std::uint32_t to = kNone;  // the function that has its target

  void putBefore(const Instruction& insn) {
    reads &= RegisterSet(~insn.kills);
    kills |= insn.kills;
    // Traps' registers are for whoever looks at the program. (But those of breakpoints, which read flags too:
    // somebody may go on behind these.)
    if (insn.flow != Flow::Stop || insn.flagsRead != 0) reads |= insn.reads;
    const FlagSet killed =
        (insn.flagsKilled & kXmm15) != 0 ? insn.flagsKilled | kXmm15Beyond : insn.flagsKilled;
    flagsRead = FlagSet((flagsRead & ~killed) | insn.flagsRead);
    flagsKilled |= killed;
  }
  Live before(const Live& after) const {
    return {RegisterSet(reads | (after.registers & ~kills) | registerBit(kRsp)),
            RegisterSet(after.assumed & ~kills), FlagSet(flagsRead | (after.flags & ~flagsKilled))};
  }
};

// What is known of a function.
struct Known {
  std::vector<Step> steps;  // by block
  std::vector<Live> live;  // at the blocks' starts
  std::vector<Live> outside;  // behind the blocks, for what is not in the function
  bool changed = true;  // the former, since that was noted
  RegisterSet passed = 0;  // to it, beyond what anybody may pass
  std::vector<BlockIndex> calls, leaving, tabled;  // that end so, but for indirect jumps, or are in tables
  std::vector<std::uint32_t> users;  // functions that go to it, or look at where tables lead in it
  std::atomic<Live> entry = Live{};  // live at its start; others read it while it grows
  Live notedEntry;  // whoever looks at it is known to be due
  Live indirect;  // at places that indirect jumps may lead to
  Live onReturn;  // where its calls return, beyond what is behind calls of unknown functions
  Live passedOn;  // of that, to whom the function goes on to
  bool due = true, begun = false;
};

struct LiveState {
  std::vector<Known> known;  // by function
  std::unordered_map<std::uint64_t, Live> interior;  // at places within functions that others jump to
  Live onReturn;  // where calls of unknown functions return
  Live onIndirectEntry;  // where functions begin that may be entered through a pointer
  RegisterSet kept = 0;  // by some functions, for their callers
  bool followRegisters = true;
  bool trapsRead = false;  // all registers
};

// Fills what does not change, and what is known from the start. `threads` as forEachIndex() has it.
void prepare(Program& program, LiveState& state, unsigned threads);

// Whether nothing but the call that ends the block in front leads to where the program goes on behind it (and
// behind padding), as far as is known. False behind the last block.
bool isOnlyReturnedTo(const Function& f, BlockIndex behind);

// Callees before their callers, as far as there is such an order: it spares rounds.
std::vector<std::uint32_t> calleesFirst(const LiveState& state);

}  // namespace traceback::instrument
