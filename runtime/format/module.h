// The module table: what an instrumented file tells the runtime, loaded with the file.
//
// The instrumentor adds one read-execute segment to a file. It starts with a ModuleHeader; the runtime
// knows an instrumented module by the magic at the start of one of its loaded segments. Offsets are from
// the header's own address, which is page-aligned; link-time addresses are below 2 GiB.
//
// The copies of functions live in that segment. A patched entry leads to a gate, which runs the original
// code, untraced, as long as ModuleSlots::bound is zero. So the runtime may come late, or never.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/format/ring.h"

namespace traceback::format {

inline constexpr std::uint64_t kModuleMagic = 0x0A0D'444F'4D54'4254;  // "TBTMOD\r\n"
// The probes of versions up to 7 look for sentinels, which rings of version 3 (ring.h) do not have: such a
// file runs untraced.
// Version 9: probes look elsewhere than at kThreadSlot (ring.h). A file whose probes look there is of
// version 8.
inline constexpr std::uint32_t kModuleVersion = 9;
inline constexpr std::uint32_t kModuleVersionAtThreadSlot = 8;
inline constexpr std::uint32_t kOldestModuleVersion = 8;

// In the module's writable data, zero until the runtime binds the module.
struct ModuleSlots {
  std::uint64_t bound;  // not zero: copies may run. Set last.
  // By scratch register (x86 numbering): where a head probe jumps whose sub-buffer is full, with the
  // address to go on at in that register. It comes back there with the register holding a cursor, the word
  // behind which is to be written. All other registers, and the flags, are kept.
  std::uint64_t wrap[16];
  // The same for probes that keep the cursor in xmm15: it has that value then, too.
  std::uint64_t wrapKept[16];
};
static_assert(sizeof(ModuleSlots) == 264);

// Maps addresses in copies to original ones. Sorted by `copy`. The entry for an address is the last whose
// `copy` is not above it; the original address is then `original`, plus the distance from `copy` unless
// kAddressFixed says that all of the stretch (a probe, a widened branch, an island) stands for one
// original instruction.
struct AddressEntry {
  std::uint32_t copy;      // link-time address
  std::uint32_t original;  // link-time address | kAddressFixed
};
inline constexpr std::uint32_t kAddressFixed = 0x8000'0000;
static_assert(sizeof(AddressEntry) == 8);

// Code that head probes share, which writes their records: they call it, with the record in a register that
// an instruction in front of the call has loaded, as its last four bytes. It writes the record behind the
// cursor, which it then steps. Below the stack pointer, at -16, it keeps r11, if that is not dead, and at -8
// its caller has kept rcx, if that is not. Sorted by `start`; the last ends with its way to the runtime.
enum RoutineKeeps : std::uint8_t {
  kRoutineKeepsR11 = 1,     // by its first instruction
  kRoutineRestoresRcx = 2,
  kRoutineKeepsCursor = 4,  // in xmm15, beside the header
  // Where it is already, as the callee in front left it. The next of the table is the same, but for loading
  // it there. The first instruction of this one has five bytes, at a multiple of eight: a runtime that cannot
  // vouch for callees any more writes a jump to that one over it.
  kRoutineBroughtCursor = 8,
};
struct RecordRoutine {
  std::uint32_t start;  // link-time address
  std::uint8_t written;  // from here: behind the instruction that writes the record,
  std::uint8_t claimed;  // behind the one that stores the cursor,
  std::uint8_t wrap;  // behind the last, where the way to the runtime begins: the sub-buffer is full
  std::uint8_t keeps;  // RoutineKeeps
};
inline constexpr std::uint32_t kRoutineWrapSize = 13;
static_assert(sizeof(RecordRoutine) == 8);

// Code that sets a bit of the record which the cursor is at, for probes that call it. Its first instruction
// keeps rax at -8 below the stack pointer, the second rcx at -16, five bytes each. Sorted by `start`; all
// come behind the record routines.
enum BitRoutineFlags : std::uint8_t {
  kBitRoutineFindsCursor = 1,  // in xmm15
};
struct BitRoutine {
  std::uint32_t start;  // link-time address
  std::uint8_t bit;
  std::uint8_t size;
  std::uint8_t flags;  // BitRoutineFlags
  std::uint8_t reserved;
};
inline constexpr std::uint32_t kBitRoutineKeepsRax = 5, kBitRoutineKeepsRcx = 10;  // from there on
static_assert(sizeof(BitRoutine) == 8);

// Code that takes the cursor into a register and xmm15 from memory, for brought heads that cannot find it
// there any more: they call it then. Nothing else is changed. Sorted by `start`; all come behind the bit
// routines.
struct LoadRoutine {
  std::uint32_t start;  // link-time address
  std::uint8_t reg;  // x86 numbering
  std::uint8_t size;
  std::uint8_t reserved[2];
};
static_assert(sizeof(LoadRoutine) == 8);

// Where a head probe, behind a call, takes the cursor from xmm15 as the callee left it, by an instruction of
// five bytes, all within eight at a multiple of eight: a runtime that cannot vouch for callees any more
// writes a call of that routine over it. What is below the stack pointer there is nobody's. Sorted by
// `start`.
struct BroughtHead {
  std::uint32_t start;  // of the instruction, a link-time address within the copies
  std::uint32_t routine;  // of the LoadRoutine
};
inline constexpr std::uint32_t kBroughtHeadSize = 5, kBroughtHeadWithin = 8;
static_assert(sizeof(BroughtHead) == 8);

// How a virtual function finds the text that it returns, and does nothing else: from its object's address,
// `loads` times, it adds an offset and loads the word there; then it adds the next offset. Or it returns a
// constant. Those that may be the what() of an exception (thrown_message.h in the runtime); by `function`.
struct TextGetter {
  static constexpr unsigned kMostLoads = 2;
  std::uint32_t function;  // link-time address
  std::uint32_t constant;  // link-time address; 0: it is none
  std::int16_t offsets[kMostLoads + 1];
  std::uint8_t loads;
  std::uint8_t reserved;
};
static_assert(sizeof(TextGetter) == 16);

struct ModuleHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t headerSize;
  std::uint8_t mapId[16];
  std::uint64_t address;  // link-time address of this header: load bias = where it is - address
  std::uint64_t moduleSlots;  // link-time address of the ModuleSlots
  std::uint32_t codeBase;  // first code of the module, as the probes have it in the file
  std::uint32_t codeSpan;  // how many it owns
  std::uint64_t copyStart;  // link-time addresses of the copies
  std::uint64_t copyEnd;
  std::uint32_t addressOffset;  // AddressEntry[addressCount]
  std::uint32_t addressCount;
  std::uint32_t fixupOffset;  // uint32_t[fixupCount]: offsets of the head probes' record words; to move
  std::uint32_t fixupCount;  // the module to other codes, add the distance to each
  std::uint32_t routineOffset;  // RecordRoutine[routineCount]
  std::uint32_t routineCount;
  std::uint32_t bitRoutineOffset;  // BitRoutine[bitRoutineCount]; none before version 5
  std::uint32_t bitRoutineCount;
  std::uint32_t loadRoutineOffset;  // LoadRoutine[loadRoutineCount]; none before version 6
  std::uint32_t loadRoutineCount;
  std::uint32_t broughtHeadOffset;  // BroughtHead[broughtHeadCount]; none before version 6
  std::uint32_t broughtHeadCount;
  std::uint32_t flags;  // ModuleFlag; none in a header that ends here
  std::int32_t threadSlot;  // where the probes find their segment, from the thread pointer; from version 9 on
  std::uint32_t textGetterOffset;  // TextGetter[textGetterCount]; none in a header that ends here
  std::uint32_t textGetterCount;
};
static_assert(sizeof(ModuleHeader) == 136);
inline constexpr std::uint32_t kOldestModuleHeaderSize = 120;

constexpr std::int32_t threadSlotOf(const ModuleHeader& header) {
  const bool isSaid = header.version > kModuleVersionAtThreadSlot &&
                      header.headerSize >= offsetof(ModuleHeader, textGetterOffset);
  return isSaid ? header.threadSlot : kThreadSlot;
}

enum ModuleFlag : std::uint32_t {
  kModuleKnown =
      1,  // as a program, well enough for profiles (model/branch_profile.h): nothing is learned of it
};

}  // namespace traceback::format
