// A function as the instrumentor sees it: the code of one FDE, its instructions and its flow graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instrument/decode/instruction.h"
#include "runtime/format/map.h"

namespace traceback::instrument {

using BlockIndex = std::uint32_t;
inline constexpr BlockIndex kNone = 0xFFFF'FFFF;

struct Block {
  std::uint32_t first = 0;  // instructions [first, end) of the function
  std::uint32_t end = 0;
  std::uint32_t offset = 0;  // from the function's start
  format::BlockEnd kind = format::BlockEnd::FallThrough;
  std::uint16_t flags = 0;                      // format::BlockFlag
  BlockIndex successor[2] = {kNone, kNone};     // Branch: taken, not taken; kNone: outside the function
  std::vector<BlockIndex> predecessors;
  bool reached = false;  // something that we know of leads there
  bool head = false;     // a DAG begins here, with a probe in front of the block
  bool open = false;     // and edges that lead forward pass that probe: the record goes on
  // It became a head for want of bits: what it was before.
  enum class Crowded : std::uint8_t { No, NoHead, OpenHead } crowded = Crowded::No;
  bool leadsBack[2] = {false, false};  // the successor is a loop's head: no edge back passes its probe
  std::uint32_t dag = 0;              // of a head: index in Function::dags
  std::uint8_t bit = format::kNoBit;  // Branch: of the path, which one of its edges sets; see bySlot
  std::uint8_t bitEdge = 0;           // that edge: 0 taken, 1 not taken
  // Of a call or jump to the start of a function that is copied: that function.
  std::uint32_t callee = kNone;
  bool bySlot = false;  // but only if a slot (analysis/own_slots.h) leads there too
  bool mayPass = false;  // it may lead behind the probe of the callee's entry
  bool passesEntry = false;  // it does: the record goes on there; the bit is set if a slot leads elsewhere
  bool bringsCursor = false;  // of a call: the callee comes back with the cursor in xmm15
  std::optional<std::uint8_t> taken;  // in hundredths, how often its branch is, as a profile says
  std::uint64_t ran = 0;  // how often it was gone through, as far as counted
  // It hardly ever runs, as a profile or the compiler says, or it leads to a bad end: bytes count, not time.
  bool cold = false;
  RegisterSet live = kAllRegisters;  // at its start
  FlagSet liveFlags = kAllFlags;
  // Where its last instruction leads out of the function, if it does.
  FlagSet liveFlagsOutside = kAllFlags;
  RegisterSet liveOutside = kAllRegisters;

  void stopAtEntry() {
    passesEntry = false;
    if (bySlot) bit = format::kNoBit;
  }
};

struct Dag {
  BlockIndex head = kNone;
  std::uint8_t bits = 0;
  std::uint32_t code = 0;  // from the module's base
};

struct Function {
  std::size_t fde = 0;
  VirtAddr start;
  std::uint64_t size = 0;
  std::string name;  // as in the symbol table; empty if none
  format::SkipReason skip = format::SkipReason::None;
  // Of a function that is copied: why nothing leads from its entry to the copy, though something may enter
  // there. Direct calls and jumps of other copies reach it.
  format::SkipReason entryLeft = format::SkipReason::None;
  bool hasIndirectJump = false;
  bool labelTaken = false;  // somebody has an address within it, yet no indirect jump is known to lead there
  bool decoded = false;  // all of it, into `instructions`
  // Whoever it returns to may expect anything of all registers: see conventions.h.
  bool returnsToAnybody = false;
  // Its copy keeps the ring's cursor in xmm15, from its entry on: see liveness.h.
  bool keepsCursor = false;
  bool enteredWithoutCursor = false;  // at its start, by copies that do not keep it
  bool bringsCursor = false;  // wherever its copy returns, the cursor is in xmm15
  bool entered = false;  // called, or named: not only ever jumped to
  bool named = false;  // a pointer may lead to it, or another module
  std::uint32_t outsideJumps = 0;  // jumps of other functions to its start: direct ones, and by their tables
  std::uint32_t directCalls = 0;  // to its start
  std::vector<Instruction> instructions;  // large: none, once its copy is emitted
  std::vector<VirtAddr> landingPads;
  std::vector<VirtAddr> outsideTargets;  // interior addresses that other code jumps to, or any calls; sorted
  // Places in it that indirect jumps may go to, its own and those of its kin, as far as known; sorted.
  std::vector<VirtAddr> indirectTargets;
  FlagSet jumpFlags = kAllFlags;  // live where its indirect jumps lead, there or elsewhere
  // Parts of the same function (f.cold), as jumps between their middles show: numbers of functions that have
  // places to which its own indirect jumps may go.
  std::vector<std::uint32_t> kin;
  bool reachedByKin = false;  // it is kin of another in that sense
  std::vector<Block> blocks;  // by address
  std::vector<Dag> dags;  // by code
  std::uint8_t entryBits = 0;  // that a record may set from its entry on
  // All blocks that are reached, each behind those from which control comes to it, unless it is a head.
  std::vector<BlockIndex> order;

  VirtAddr end() const { return {start.value + size}; }
  bool contains(VirtAddr a) const { return a >= start && a < end(); }
  bool ran() const;  // as a profile says
  bool isCold() const;  // all of it
  // Whether it calls something once it has begun. What does has nothing below the stack pointer that it does
  // not name (psABI 3.2.2).
  bool callsOthers() const;
  // Whether control may come to its end, other than behind a call.
  bool runsOn() const;
  // Index of the instruction that starts at the address, or -1.
  std::ptrdiff_t instructionAt(VirtAddr address) const;
  // The block that begins at the address, or kNone.
  BlockIndex blockAt(VirtAddr address) const;
  const Instruction& lastOf(const Block& block) const { return instructions[block.end - 1]; }
  // Where the record goes on behind the block's edge, past the probe of a head or where there is none; kNone
  // if the record ends there.
  BlockIndex onward(const Block& block, unsigned edge) const;
  // Whether that passes the probe of a head.
  bool passesHead(const Block& block, unsigned edge) const;
};

}  // namespace traceback::instrument
