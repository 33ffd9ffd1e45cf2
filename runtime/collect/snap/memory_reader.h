// Which parts of a stopped process's memory a snap keeps, and reading them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/collect/files/system_file.h"
#include "runtime/format/mappings.h"
#include "runtime/format/process.h"
#include "runtime/format/snap.h"

namespace traceback::collect {

// Of one stack in KeptMemory::Stacks, from the stack pointer on.
inline constexpr std::uint64_t kMostOfStack = std::uint64_t{256} << 10;
// Of all memory. What is beyond is left out, stacks last.
inline constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 30;

struct MemoryPart {
  std::uint64_t start = 0;
  std::uint32_t flags = 0;  // format::MemoryFlag
  Bytes bytes;
};

struct ProcessMemory {
  std::vector<MemoryPart> parts;  // by address; they do not overlap
  Bytes auxiliaryVector;
  std::uint64_t leftOut = 0;  // bytes that were to be kept, and were too many
};

struct MemoryRequest {
  format::KeptMemory kept = format::KeptMemory::Stacks;
  std::span<const format::Mapping> mappings;
  std::span<const std::uint64_t> stackPointers;
  std::string ownFolder;  // of the process's rings: what is mapped from there is no memory of the program
  bool withoutStacks = false;  // nothing of what is mapped where the stack pointers are
};

// What cannot be read is left out. The process must be stopped by the caller, by ptrace.
ProcessMemory readMemory(pid_t pid, const MemoryRequest& request);

// The XSAVE area at `address` in a signal's context, in the form of ptrace's NT_X86_XSTATE; empty if it is
// none.
Bytes readSignalRegisters(pid_t pid, std::uint64_t address);

}  // namespace traceback::collect
