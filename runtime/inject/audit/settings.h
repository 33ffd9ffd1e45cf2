// What the audit library knows from the process's environment.
#pragma once

#include <sys/stat.h>

#include <cstdint>

#include "runtime/format/ring.h"
#include "runtime/inject/kernel/system.h"
#include "runtime/inject/kernel/variables.h"

namespace traceback::inject::audit {

// Room for a path of PATH_MAX in a cache.
using LongPath = Text<8192>;

struct Settings {
  char** arguments = nullptr;    // as the kernel put them on the stack
  char** environment = nullptr;
  std::uint64_t* auxiliary = nullptr;  // pairs of type and value

  const char* cache = nullptr;      // ROOT/FLAVOUR; null: nothing is to be done in this process
  const char* collector = nullptr;
  const char* only = nullptr;
  const char* exclude = nullptr;
  const char* execution = nullptr;  // TRACEBACK_EXEC
  const char* sanitized = nullptr;  // TRACEBACK_SANITIZED: programs under AddressSanitizer are recorded, too
  const char* forInstrumentor[3] = {};  // NAME=value
  // Where the copies of this process look (threadSlotBeside() in runtime/format/ring.h).
  std::int32_t threadSlot = format::kThreadSlot;
};
extern Settings settings;

// Reads the process's first stack. False if this process is to be left alone. Keeps copies, for programs
// write their titles over the texts there.
bool readSettings(void* stackEnd);

const std::uint64_t* auxiliaryValue(std::uint64_t type);

// A copy that stays; null if there is no more room.
const char* keepText(const char* text);

// Where the original's path begins in the path of a copy in the cache; null if it is none.
const char* originalOf(const char* path);

// Whether a pattern chooses or forbids the file; the C library and what is ours are never wanted.
bool isWanted(const char* path);

const char* baseName(const char* path);

// stat(2); false if there is no such file.
bool readStatus(const char* path, struct stat& status, int flags = 0);
bool isSameFile(const char* a, const char* b);

}  // namespace traceback::inject::audit
