// The process file: what rings alone do not say about the process that wrote them.
//
// A traced process has a folder of its own in the ring folder:
//
//   RINGS/PID-START/process         this file
//   RINGS/PID-START/TID-N.ring      one a thread (ring.h); N counts the process's rings. TID is the
//                                   thread that it was made for, or 0; whose it is now stands
//                                   in it
//   RINGS/PID-START/snaps           of root's processes that were told where their snaps go: a link there.
//                                   The process file says so, too, but is written by the process, which
//                                   may have become another user's since
//
// RINGS is $XDG_RUNTIME_DIR/traceback if that is set and can be had, else /dev/shm/traceback-UID; both are
// memory file systems, and the folder is private to the user (mode 0700, owner checked). START is field
// 22 of /proc/PID/stat in decimal. The runtime removes the folder on a normal exit; what a killed
// process left there, `traceback recover` turns into a snap. What one left to be learned from that ended by
// itself is in RINGS/learned-N, N below kLearnedFolders: the same files, but of the rings the histories
// alone.
//
//   ProcessHeader | ProcessModule[kMaxModules] | ThrownTexts
//
// The header is written once and then only its state changes; modules are appended: an entry is complete
// before moduleCount counts it. Older runtimes wrote no ThrownTexts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace traceback::format {

inline constexpr std::uint64_t kProcessMagic = 0x0A0D'434F'5250'4254;  // "TBPROC\r\n"
inline constexpr std::uint32_t kProcessVersion = 1;
inline constexpr char kSnapsLink[] = "snaps";
inline constexpr char kLearnedFolder[] = "learned-";
inline constexpr unsigned kLearnedFolders = 8;
inline constexpr unsigned kMaxModules = 1024;
inline constexpr unsigned kModulePathSize = 960;

enum class ProcessState : std::uint32_t {
  Running = 1,
  Faulted = 2,  // a fatal signal arrived: fault* hold; if no snap was written, recover it
  Snapped = 3,  // as Faulted, and the snap was written
  Exited = 4,
};

enum class BindState : std::uint32_t {
  Bound = 1,             // its copies run
  NoThreadSlot = 2,      // too much thread-local storage before the runtime's: untraced
  CodesTaken = 3,        // its codes collide with another module's and could not be moved: untraced
  VersionMismatch = 4,   // instrumented for another version of the runtime: untraced
  TableFull = 5,
};

// How much of the process's memory a snap keeps (`--memory`, TRACEBACK_MEMORY).
enum class KeptMemory : std::uint32_t {
  Stacks = 0,    // of each thread, as far as a debugger needs them; and what names the loaded libraries
  None = 1,
  Writable = 2,  // and all private memory that the program may write
  All = 3,       // and the rest of what it may read
};
inline constexpr const char* kKeptMemoryNames[] = {"stacks", "none", "writable", "all"};

struct ProcessModule {
  std::uint64_t loadBias;       // runtime address = link-time address + loadBias
  std::uint64_t start, end;     // runtime addresses that the module's segments span
  std::uint8_t mapId[16];
  std::uint32_t codeBase;       // first code as rebased; span as in the module table
  std::uint32_t codeSpan;
  std::uint32_t bindState;      // BindState
  std::uint32_t unloaded;       // 1 after dlclose
  std::uint64_t reserved;
  std::uint8_t path[kModulePathSize];  // of the file that was loaded, zero-terminated
};
static_assert(sizeof(ProcessModule) == 1024);

struct ProcessHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t headerSize;      // of this structure; the module table follows it
  std::uint32_t pid;
  std::uint32_t state;           // ProcessState
  std::uint64_t processStart;    // field 22 of /proc/PID/stat
  std::uint8_t bootId[40];       // /proc/sys/kernel/random/boot_id, zero-terminated
  std::uint64_t startTsc;        // a pair of clocks read together at start, to turn TSC into time
  std::uint64_t startRealtimeNs;
  std::uint64_t lastTsc;         // a later pair, taken at a fault or at exit; 0 if none
  std::uint64_t lastRealtimeNs;
  std::uint32_t faultTid;
  std::uint32_t faultSignal;
  std::uint32_t faultCode;       // si_code
  std::uint32_t ringCount;       // threads that got a ring
  std::uint64_t faultAddress;    // si_addr
  std::uint64_t faultPc;
  std::uint32_t moduleCount;
  std::uint32_t ringsFailed;     // threads that run untraced because no ring could be made
  std::uint8_t snapFolder[1024]; // where a snap of this process goes, zero-terminated; empty: default
  std::uint8_t executable[1024]; // the program as the user named it, zero-terminated
  std::uint64_t faultRegisters[27]; // of the faulting thread, in the order of <sys/user.h>'s
                                     // user_regs_struct; all zero if there was no fault
  std::uint64_t
      faultExtendedRegisters;  // address, in the process, of the signal context's XSAVE area; 0: none
  std::uint32_t keptMemory;  // KeptMemory
  std::uint32_t learns;  // 1: its rings count for profiles (history.h)
  std::uint8_t reserved[1128];  // its first bytes are the clock's (clock.h)
  std::uint64_t thrownTime;  // TSC in the Exception record that the next is of; 0: it says nothing
  std::uint8_t
      thrownMessage[256];  // what() of what the aborting thread threw last, as it aborts, zero-terminated
  std::uint8_t abortMessage[256];  // what the C library said when it aborted the process, zero-terminated
  // TSC at the fault, or before, of one that the program handled itself first: of that. Where other threads
  // were seen earlier, that was at another one. 0 where an older runtime wrote the file.
  std::uint64_t faultTime;
  // One more than the user as whom the program was executed, of a forked process that of its maker; 0: not
  // known.
  std::uint32_t startedBy;
  std::uint32_t reserved2;
  std::uint64_t pidNamespace;  // `pid` is a number in it: inode of /proc/self/ns/pid; 0: not known
};
static_assert(sizeof(ProcessHeader) == 4096);

// What an exception said as it was thrown.
struct ThrownText {
  std::uint64_t time;  // TSC in its Exception record (record.h); 0: none, or it is being written
  std::uint8_t text[256];  // what(), zero-terminated
};
static_assert(sizeof(ThrownText) == 264);

// Of the last that said something, whichever threads threw them: those before are overwritten.
inline constexpr unsigned kThrownTexts = 128;
struct ThrownTexts {
  std::uint64_t count;  // that were begun; the next one is texts[count % kThrownTexts]
  ThrownText texts[kThrownTexts];
};
constexpr std::uint64_t thrownTextsAt(std::uint32_t headerSize) {
  return headerSize + std::uint64_t{kMaxModules} * sizeof(ProcessModule);
}

}  // namespace traceback::format
