// The map: what a module's records mean.
//
// It is the unloaded section `.traceback.map` of an instrumented file, and, cut down to the functions
// that a snap's rings mention, a section of the snap. Its id is of its own (a hash of the instrumented
// code and of this map), for the build id is the same in the original and in every instrumentation of it;
// a reader accepts no other id than the one the process recorded.
//
//   MapHeader | FunctionEntry[functionCount] | DagEntry[dagCount] | BlockEntry[blockCount] |
//   AddressEntry[addressCount] (module.h) | strings (UTF-8, each zero-terminated; offset 0 is "")
//
// Functions are sorted by original address and do not overlap (a part that the compiler moved away, such
// as f.cold, is a function of its own). Functions that were left alone are listed too, with the reason.
//
// How a DAG record is read. code - firstCode of the function finds the DAG: the last whose `code` is not
// above it. path = code - dag.code. Start at the DAG's first block, its head. A block that ends in a branch
// with a bit is left by the edge that kBlockBitTaken names if that bit of the path is set, else by the other;
// a branch without a bit, if both its edges lead to the same block, by these; FallThrough and Jump by their
// one edge. Where that edge leads to a head and does not pass its probe (kBlockPassesHead0, 1), or out of the
// function, or there is no such edge, the path left the DAG there. Every bit that is set must have been met.
// So a block may be part of several DAGs, and has the same bit in all. Blocks are in topological order: an
// edge on which a record goes on leads forward. A Call or TailJump with kBlockPassesEntry leads behind the
// probe of the entry of the function that starts at `target`: the path goes on with that function's first
// block. If it has a bit, it goes by a slot of the procedure linkage table that another module may be bound
// to: if that is set, the path ends there instead, and where it led is not recorded; else the path goes on in
// the function that starts at successor[1], an address here. No chain of these leads back into a function. In
// a slice the function may have no blocks: the path then is not known any further.
//
// That a bit is clear may also mean that its branch was not reached: in the last record of a thread that was
// stopped. What its bits prove goes up to where the edge leads that set the last of them; how much further
// the thread came its program counter must say.
//
// Version 5 differs: no path has more than 10 bits.
//
// Version 4 differs: no call or jump to another function has a bit.
//
// Version 3 differs: no call and no jump to another function passes a head.
//
// Version 2 differs: no edge passes a head.
//
// Version 1 differs: a DAG had blocks of its own, DagEntry::blockCount of them from firstBlock
// on, and bits belonged to blocks. From a block, at most two successors are in the DAG (an index within its
// blocks, not its head). A successor without a bit (kNoBit) is only ever reached without condition: go there.
// Otherwise go to the successor whose bit is set in the path; if both are, to the one that stands first in
// the DAG. If none is, the path left the DAG here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace traceback::format {

inline constexpr std::uint64_t kMapMagic = 0x0A0D'5041'4D54'4254;  // "TBTMAP\r\n"
inline constexpr std::uint32_t kMapVersion = 6;
inline constexpr std::uint32_t kOldestMapVersion = 1;
inline constexpr char kMapSection[] = ".traceback.map";
inline constexpr char kCodeSection[] = ".traceback.text";

enum MapFlag : std::uint32_t { kMapIsSlice = 1, kMapIsNull = 2 /* copies without probes */ };

struct MapHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t headerSize;
  std::uint8_t mapId[16];
  std::uint32_t flags;  // MapFlag
  std::uint32_t codeSpan;  // DagEntry::code counts from the module's base, whatever that is
  std::uint32_t functionCount;
  std::uint32_t dagCount;
  std::uint32_t blockCount;
  std::uint32_t addressCount;
  std::uint32_t stringBytes;
  std::uint32_t buildIdSize;  // of the original, at most 32
  std::uint8_t buildId[32];
  std::uint64_t imageStart;  // link-time addresses that the original's segments span
  std::uint64_t imageEnd;
  std::uint32_t originalName;  // string: path of the file that was instrumented
  std::uint32_t reserved[7];
};
static_assert(sizeof(MapHeader) == 144);

enum class SkipReason : std::uint32_t {
  None = 0,
  BadDecode = 1,  // bytes that do not decode, or code that runs past its end
  BranchIntoInstruction = 2,
  NoRoomForJump = 3,  // fewer than five bytes at the entry
  JumpTargetInWindow = 4,  // something may enter between the entry's first byte and the jump's end
  InteriorAddressTaken = 5,
  CallsItself = 6,  // reads its own address by a call to the next instruction
  SignalFrame = 7,  // CIE augmentation 'S'
  StartupCode = 8,  // _start, .init, .fini, the PLT
  Resolver = 9,  // an IFUNC or its resolver
  BadUnwindInfo = 10,  // unwind tables that cannot be carried over to a copy
  BadExceptionTable = 11,  // LSDA that cannot be carried over
  OverlappingFunctions = 12,
  UnsafeInstruction = 13,  // far branch, xbegin, address-size prefix on rip and the like
  EntryFlagsLive = 14,  // the flags carry a value into the function
  RestartableSequence = 15,
  OutOfReach = 16,  // a displacement would not fit
  LinkedToSkipped = 17,  // shares code with a function that is skipped
  CodesExhausted = 18,
  Excluded = 19,  // by the user
  PatchedWhileRunning = 20,  // __patchable_function_entries, XRay: somebody rewrites its code
  SplitStack = 21,  // -fsplit-stack: its return addresses are calculated with
  MachineEntry = 22,  // where a virtual machine's own frames begin, which it walks
  Count
};

struct FunctionEntry {
  std::uint64_t original;  // link-time address
  std::uint64_t copy;  // link-time address; 0 if there is none
  std::uint32_t originalSize;
  std::uint32_t copySize;
  std::uint32_t name;  // string, as in the symbol table (mangled); 0 if unknown
  std::uint32_t skipReason;  // SkipReason: why there is no copy; or, with one, why it is entered by direct
                             // calls and jumps of other copies alone, if it is
  std::uint32_t firstDag, dagCount;  // sorted by code
  std::uint32_t firstBlock, blockCount;  // in topological order (version 1: DAG by DAG)
  std::uint32_t firstAddress, addressCount;  // sorted by copy address
};
static_assert(sizeof(FunctionEntry) == 56);

struct DagEntry {
  std::uint32_t code;  // from the module's code base; a multiple of 2^bits
  std::uint32_t firstBlock;  // its head, within the function's blocks
  std::uint16_t blockCount;  // of version 1; else 0
  std::uint8_t bits;
  std::uint8_t reserved;
};
static_assert(sizeof(DagEntry) == 12);

enum class BlockEnd : std::uint8_t {
  FallThrough = 1,  // into successor 0
  Jump = 2,  // to successor 0
  Branch = 3,  // successor 0 is taken, successor 1 not taken
  Multiway = 4,  // by a table; every target is a head
  Call = 5,  // to `target`; successor 0 is where it returns, a head
  IndirectCall = 6,  // likewise, target unknown
  TailJump = 7,  // to another function: `target`, 0 if unknown
  UnknownJump = 8,  // leaves the copy; where to is not recorded
  Return = 9,
  Trap = 10,  // hlt, ud2, int3: does not go on
};

enum BlockFlag : std::uint16_t {
  kBlockEntry = 1,  // the function's entry
  kBlockReturnPoint = 2,  // where a call returns
  kBlockLandingPad = 4,  // an exception handler or cleanup
  kBlockLoopHead = 8,
  kBlockTableTarget = 16,
  kBlockTailBranch = 32,  // a conditional branch (end = Branch) whose taken side leaves the function
  kBlockHead = 64,  // heads a DAG: a probe stands in front of it
  kBlockBitTaken = 128,  // its bit is set by the taken edge of its branch, not by the other
  // Its successor 0 (1) is a head, and the edge leads behind that one's probe: the record goes on.
  kBlockPassesHead0 = 256,
  kBlockPassesHead1 = 512,
  // A Call or TailJump that leads behind the probe of the entry of the function at `target`, likewise; with a
  // bit, of that at successor[1], if it is clear.
  kBlockPassesEntry = 1024,
};

inline constexpr std::uint8_t kNoBit = 0xFF;
inline constexpr std::uint32_t kNoBlock = 0xFFFF'FFFF;

struct BlockEntry {
  std::uint32_t start;  // link-time address of its first original instruction
  std::uint32_t size;  // original bytes
  std::uint32_t target;  // link-time address of what it calls or tail-jumps to; 0 if unknown
  std::uint32_t successor[2];  // index within the function's blocks, or kNoBlock; but see passesBySlot()
  std::uint8_t bit;  // of the path: of its branch or slot (version 1: of the block itself); or kNoBit
  BlockEnd end;
  std::uint16_t flags;  // BlockFlag
};
static_assert(sizeof(BlockEntry) == 24);

constexpr bool passesHead(const BlockEntry& block, unsigned edge) {
  return (block.flags & (edge == 0 ? kBlockPassesHead0 : kBlockPassesHead1)) != 0;
}

constexpr bool passesEntry(const BlockEntry& block) {
  return (block.end == BlockEnd::Call || block.end == BlockEnd::TailJump) &&
         (block.flags & kBlockPassesEntry) != 0;
}

// Of version 5.
constexpr bool passesBySlot(const BlockEntry& block) { return passesEntry(block) && block.bit != kNoBit; }

// The start of the function that it leads into, if it passes its entry.
constexpr std::uint32_t passedFunction(const BlockEntry& block) {
  return passesBySlot(block) ? block.successor[1] : block.target;
}

}  // namespace traceback::format
