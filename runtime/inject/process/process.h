// The traced process as the runtime knows it, and the process file (runtime/format/process.h).
#pragma once

#include <cstdint>

#include "runtime/format/process.h"
#include "runtime/inject/kernel/lock.h"
#include "runtime/inject/kernel/system.h"

namespace traceback::inject {

// Whether a process that met a fatal signal names its snap on standard error.
enum class Telling : std::uint8_t {
  OnTerminal,   // if that is a terminal: whoever catches it may look for what the program itself says
  WhereRunDid,  // if that is the file that `traceback run` had there
  Always,
  Never
};

struct Environment {
  bool off = false;            // TRACEBACK=off, or a set-user-id program
  std::uint64_t bufferSize = 0;
  std::uint64_t mostRings = 0, mostBytes = 0;  // of threads at one time; of all rings together. 0: not said
  std::uint64_t historySize = 0;  // bytes of a thread's coarse history; 0: none is kept
  bool historySaid = false;
  bool historyCounts = false;  // everything
  bool learns = false;  // what runs is of use to the next run (learning.h)
  format::KeptMemory keptMemory = format::KeptMemory::Stacks;
  bool keptMemorySaid = false;
  Path snapFolder;
  Path collector;  // the `traceback` program
  Path program;  // the original, if the program is a copy in the cache
  Path cache;  // ROOT/FLAVOUR (runtime/format/cache.h); empty: children are not followed
  std::uint64_t bridge = 0;  // where the audit library's format::Bridge is
  Path runtimeFolder;  // XDG_RUNTIME_DIR
  Telling telling = Telling::OnTerminal;
  std::uint64_t runErrorDevice = 0, runErrorInode = 0;  // for Telling::WhereRunDid
  enum class Clock : std::uint8_t { Find, Counter, Logical } clock = Clock::Find;  // clock.h
  Path policyFile;  // TRACEBACK_POLICY
  Path configHome;  // XDG_CONFIG_HOME
  Path home, stateHome;  // handed on to the collector
};

struct Process {
  Environment environment;
  bool recording = false;  // some module is bound: signals are watched, rings are made
  // The program filters its system calls: one of ours might end it. From then on the runtime makes none
  // but where it would go wrong without; no ring is made, no collector started.
  bool sandboxed = false;
  std::uint32_t pid = 0;
  std::uint64_t start = 0;  // field 22 of /proc/PID/stat
  // The user as whom the program was executed; of a forked process that of its maker.
  std::uint32_t startedBy = 0;
  std::uint64_t generation = 0;  // grows in each forked child
  Path folder;  // of this process, in the ring folder; empty until a thread needs it
  bool folderFailed = false;
  bool learning = false;  // a part of the records is counted: learning.h; the same for all its rings
  std::uint64_t learned = 0;  // records that were counted
  bool watched = false;  // somebody looks for hangs (collector.h)
  std::uint32_t watcher = 0;  // who
  bool logicalClock = false;  // clock.h
  format::ProcessHeader* file = nullptr;
  Lock lock;  // of the folder and of the table of rings
};
extern Process process;

// As it is mapped.
inline constexpr std::uint64_t kProcessFileSize =
    format::thrownTextsAt(sizeof(format::ProcessHeader)) + sizeof(format::ThrownTexts);

// True in a child that was forked, however that was done, until childStarted() has run there. A page that
// the kernel wipes on fork tells; a vfork child shares it, and is rightly taken for the parent.
bool inForkedChild();
// Puts the calling thread, the only one of a new process, on probation, and forgets the parent's files.
// `betweenProbes`: what called this is no signal handler's wrapper and no probe, but was called by the
// program.
void childStarted(bool betweenProbes = false);
// Makes the page that tells. False if the kernel cannot.
bool makeForkGuard();

// Whether this is the process whose memory we are in: not a vfork child.
bool inOwnProcess();

// Makes the folder and the process file if that was not done. Call with the lock held.
bool openProcessFile();
// Copies a module's entry to the process file, if there is one yet.
void publishModule(unsigned index);
// What the file would say; the first moduleCount() entries hold.
format::ProcessModule* moduleTable();
unsigned moduleCount();
bool appendModule(const format::ProcessModule& module);
// An unloaded one is there again, at the given addresses.
void replaceModule(unsigned index, const format::ProcessModule& module);
void markUnloaded(unsigned index);

// The end of the process: says so in the file and removes the folder. The mappings stay usable.
void removeProcessFolder();

// Of those that could not remove theirs: before this one confines itself, and cannot either. A server that
// has a child for each connection would fill the memory with what they leave.
void removeEndedNeighbours();

// Takes the folder away while the files' contents stay mapped, and makes it again, the process file in it
// being a copy of what is mapped. Call with the lock held.
void withdrawProcessFolder();
bool restoreProcessFolder();

// Opens an existing folder of ours, or -1.
int openProcessFolder();

std::uint64_t realtimeNow();
std::uint32_t rawPid();
std::uint32_t rawTid();

}  // namespace traceback::inject
