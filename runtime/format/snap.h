// The snap: one file, NAME.tbsnap, with all it takes to show how a process got where it was.
//
//   SnapHeader | section bytes ... | SectionEntry[sectionCount] (at tableOffset, normally the end)
//
// A section's bytes may be deflated (zlib); its CRC-32 is of the bytes as stored. A large one is stored in
// blocks, so that a reader can have a part of it without the rest:
//
//   SnapBlock[n] | the blocks, one behind the other        n = size / kSnapBlockSize, rounded up
//
// Each block holds the next kSnapBlockSize bytes (the last one what remains), deflated if that made it
// smaller; the section's CRC is of the SnapBlocks alone, and each block has one of its own.
//
// A reader treats a section or a block that is cut, or whose CRC is wrong, as missing: it says so in its load
// report and opens the rest. The file is written beside its name and renamed.
//
// Newer writers. `version` is raised when a reader that knows only those before would misread the file: it
// refuses it. `revision` counts, within a version, what a reader may leave out and still be right about all
// else; of a later revision than its own it opens what it knows, and names in its load report what it left
// out. So a revision may add
//   - types of sections, and flags of SectionFlag: a section with an unknown flag is missing
//   - types of records (record.h), of which neither those before nor those behind mean anything else without
//     them, and kinds of Sync: left out, and counted by type
//   - reasons of snaps and of gaps: read as an unknown reason
//   - flags of threads and of memory, lines of text sections, fields in what is reserved: not looked at
//   - bytes at the end of SnapHeader and of SectionEntry, whose sizes the header has
// The structures within sections keep their sizes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace traceback::format {

inline constexpr std::uint64_t kSnapMagic = 0x0A0D'5041'4E53'4254;  // "TBSNAP\r\n"
inline constexpr std::uint32_t kSnapVersion = 2;
inline constexpr std::uint32_t kSnapRevision = 2;  // 1 has no ThrownTexts; 0 is from before there was one
inline constexpr char kSnapSuffix[] = ".tbsnap";

struct SnapHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t headerSize;
  std::uint32_t sectionCount;
  std::uint32_t sectionEntrySize;  // a newer writer may have longer entries
  std::uint64_t tableOffset;
  std::uint32_t tableCrc;  // CRC-32 of the section table
  std::uint32_t revision;
  std::uint32_t reserved[4];
};
static_assert(sizeof(SnapHeader) == 56);

enum class SectionType : std::uint32_t {
  Process = 1,  // ProcessHeader (process.h) as it stood
  Modules = 2,  // ProcessModule[] (process.h): the instrumented modules
  Reason = 3,  // SnapReasonData
  Threads = 4,  // SnapThread[]
  Ring = 5,  // a ring file's bytes (ring.h); index: position in the order of the ring files' names
  MapSlice = 6,  // a map (map.h) cut down to what the rings mention; index: of its module in Modules
  Memory = 7,  // bytes of the process's memory; index: of their MemoryRange in MemoryRanges
  Mappings = 8,  // the text of /proc/PID/maps
  Host = 9,  // "key=value\n" lines, UTF-8: hostname, kernel, machine, time-zone, command-line
  ModuleFiles = 10,  // "key=value\n" lines: for every mapped object, its path and build id
  MemoryRanges = 11,  // MemoryRange[], by address; they do not overlap
  AuxiliaryVector = 12,  // the bytes of /proc/PID/auxv
  ExtendedRegisters = 13,  // a thread's XSAVE area, as ptrace's NT_X86_XSTATE has it; index: of the thread in
                           // Threads; for the thread at fault, at the fault
  Group = 14,  // "key=value\n" lines, if the snap was made together with others: group, event (the same in
               // each), cause (pid of the process that broke down), left-out (members that were not snapped);
               // and for each member, itself included, member (pid), program, snap (where that went)
  ThrownTexts = 15,  // ThrownText[] (process.h), by time; only if there are any
};

enum SectionFlag : std::uint32_t {
  kSectionDeflated = 1,
  kSectionInBlocks = 2,  // never together with kSectionDeflated
};
inline constexpr std::uint32_t kKnownSectionFlags = kSectionDeflated | kSectionInBlocks;

inline constexpr std::uint64_t kSnapBlockSize = std::uint64_t{1} << 18;

struct SnapBlock {
  std::uint32_t storedSize;  // the block's size once inflated: it is not deflated
  std::uint32_t crc;  // CRC-32 of the block as stored
};
static_assert(sizeof(SnapBlock) == 8);

struct SectionEntry {
  std::uint32_t type;  // SectionType
  std::uint32_t flags;  // SectionFlag
  std::uint32_t index;  // tells sections of one type apart
  std::uint32_t crc;  // CRC-32 (zlib's) of the stored bytes
  std::uint64_t offset;
  std::uint64_t storedSize;
  std::uint64_t size;  // once inflated
};
static_assert(sizeof(SectionEntry) == 40);

enum class SnapReason : std::uint32_t {
  Fault = 1,  // a fatal signal that the program did not handle, or whose handler ended the process
  Abort = 2,  // SIGABRT: abort(), an assertion, an uncaught exception
  UserRequest = 3,  // traceback snap PID
  Recovered = 4,  // traceback recover, after the process was killed
  Api = 5,
  Hang = 6,
  Policy = 7,
};

struct SnapReasonData {
  std::uint32_t reason;  // SnapReason
  std::uint32_t signal;  // 0 if none
  std::uint32_t signalCode;  // si_code
  std::uint32_t tid;  // the thread at fault; 0 if none
  std::uint64_t faultAddress;  // si_addr
  std::uint64_t faultPc;  // in the process
  std::uint64_t realtimeNs;  // when the snap was taken
  std::uint64_t tsc;
};
static_assert(sizeof(SnapReasonData) == 48);

enum ThreadFlag : std::uint32_t {
  kThreadHasRegisters = 1,
  kThreadHasRing = 2,
  kThreadAtFault = 4,
  kThreadEnded = 8,  // its ring outlived it
  kThreadWaitsForLock = 16,  // that `waitsFor` holds
  kThreadWaitsForEnd = 32,  // of `waitsFor`
};

struct SnapThread {
  std::uint32_t tid;
  std::uint32_t flags;  // ThreadFlag
  std::uint32_t ringIndex;  // SectionEntry::index of its Ring section; 0xFFFFFFFF if none
  std::uint32_t waitsFor;  // tid, if a flag says what for; else 0
  std::uint8_t name[16];
  std::uint64_t registers[27];  // in the order of <sys/user.h>'s user_regs_struct, at the snap; for the
                                // thread at fault, at the fault
};
static_assert(sizeof(SnapThread) == 248);

enum MemoryFlag : std::uint32_t {
  kMemoryStack = 1,  // from a thread's stack pointer (and the red zone below it) on
};

struct MemoryRange {
  std::uint64_t start;  // in the process
  std::uint64_t size;  // of its Memory section
  std::uint32_t flags;  // MemoryFlag
  std::uint32_t reserved;
};
static_assert(sizeof(MemoryRange) == 24);

}  // namespace traceback::format
