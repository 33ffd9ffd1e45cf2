// The runtime's part of the environment: read at the start, then hidden from the program.
#pragma once

#include "runtime/inject/process/process.h"

namespace traceback::inject {

// Reads what `traceback run` set and takes it out of the array, together with our own entries of
// LD_PRELOAD, LD_AUDIT and GLIBC_TUNABLES. The array stays where it is; the entries behind a removed one
// move up. Children get it back (following.h).
//   TRACEBACK             "off": nothing is recorded; "quiet", "tell": see Telling (stays: it is the user's)
//   TRACEBACK_TELL        what Telling the run has; "DEVICE:INODE" is Telling::WhereRunDid
//   TRACEBACK_SNAP_DIR    where snaps go
//   TRACEBACK_BUFFER_SIZE bytes of a thread's main ring, with K, M or G
//   TRACEBACK_HISTORY     bytes of a thread's coarse history (runtime/format/history.h), likewise; or "off"
//   TRACEBACK_LEARN       "1": what runs is counted in parts, and left for profiles (learning.h)
//   TRACEBACK_MEMORY      how much of the memory a snap keeps: a name of format::kKeptMemoryNames
//   TRACEBACK_RINGS       how many threads have a ring at one time
//   TRACEBACK_TOTAL_SIZE  bytes of all rings together, with K, M or G
//   TRACEBACK_COLLECTOR   the `traceback` program; else ../bin/traceback beside this library
//   TRACEBACK_CLOCK       "tsc" or "logical": clock.h, where that is not to be found out
//   TRACEBACK_POLICY      the policy file (policy_file.h)
//   TRACEBACK_PROGRAM     the program as the user named it, where `traceback run` did not start it
// and those of runtime/format/cache.h.
void takeEnvironment(char** entries, Environment& environment);

}  // namespace traceback::inject
