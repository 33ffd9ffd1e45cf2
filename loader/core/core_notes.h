// The notes of a core file (elf(5), the kernel's fs/binfmt_elf.c): threads, process, signal, files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "loader/core/recorded_process.h"

namespace traceback::loader {

// A thread whose registers the snap has.
struct CoreThread {
  std::uint32_t tid = 0;
  std::string name;
  bool atFault = false;
  std::uint64_t programCounter = 0;  // the original's
  bool placeIsKnown = true;          // OriginalAddresses::Place
  bool inProbe = false;              // registers that the recorder uses may hold values of its own
  const format::SnapThread* recorded = nullptr;
  std::uint32_t index = 0;  // in the snap's Threads
};

// The one at fault first, then by tid: debuggers count them so, and take the first for the current one.
std::vector<CoreThread> coreThreads(const RecordedProcess& process);

// What is mapped from files and was not changed since: a debugger reads it there. Under the names of
// originals.
struct CoreFile {
  std::uint64_t start = 0, end = 0, offset = 0;
  std::string path;
};
std::vector<CoreFile> coreFiles(const RecordedProcess& process);

std::vector<std::byte> coreNotes(const RecordedProcess& process, const std::vector<CoreThread>& threads);

}  // namespace traceback::loader
