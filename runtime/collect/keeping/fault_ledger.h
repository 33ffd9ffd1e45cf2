// Which faults were snapped lately, so that one program that fails over and over is not snapped each time:
// the site's `faults COUNT/TIME`. A file in the snap folder, `.faults`, private to its owner:
//
//   u64 magic | FaultEntry[]      oldest first, at most kMostFaults
//
// What cannot be read, or is not the caller's own file, counts as empty: then a snap too many is made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "runtime/collect/files/process_folder.h"

namespace traceback::collect {

inline constexpr std::uint64_t kFaultLedgerMagic = 0x0A0D'544C'4146'4254;  // "TBFALT\r\n"
inline constexpr char kFaultLedgerName[] = ".faults";
inline constexpr std::size_t kMostFaults = 4096;

struct FaultEntry {
  std::uint64_t key;      // faultKey()
  std::uint64_t seconds;  // since 1970, of its snap
};
static_assert(sizeof(FaultEntry) == 16);

// What tells this fault from others: the program, the signal, where in which file it was met, and what the
// thread recorded last before it, for abort() alone is always in the same place. The same in each run,
// wherever the files are loaded. `maps` is the text of /proc/PID/maps; it may be empty.
std::uint64_t faultKey(const ProcessFolder& folder, const std::string& maps);

// Whether fewer than `count` of this fault were noted in the last `seconds`.
bool isNewFault(const std::filesystem::path& snapFolder, std::uint64_t key, std::uint64_t count,
                std::uint64_t seconds);
void noteFault(const std::filesystem::path& snapFolder, std::uint64_t key);

}  // namespace traceback::collect
