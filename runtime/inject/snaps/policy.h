// What the user wants to have recorded and snapped: the policy file, traceback-policy(5). A line holds one
// rule, a '#' begins a comment, and words are divided by blanks:
//
//   record on | off
//   buffer SIZE                   of each thread, as 64K, 1M
//   history SIZE | off            of each thread, of what it did before: 64K to 16M
//   rings COUNT                   of threads that have one at one time
//   total SIZE                    of all rings, those of ended threads included
//   snap signal NAME...           as TERM, SIGTERM or 15, though it need not mean a fault; or `ignore`
//   snap exit STATUS...           as 1, 3-7; or `ignore`
//   snap exception CLASS...       and what is derived from it, when it is thrown; * stands for any, and at
//   the
//                                 end of a name for any rest; or `ignore`: of several that fit the last
//                                 counts
//   snap call                     of traceback_snap(): this is so unless `ignore call`
//   snap hang TIME                if threads have waited for each other for so long; or `ignore hang`
//   snap stall TIME [THREAD]      if the first thread, or those of that name, have shown no life for so long;
//                                 or `ignore stall`
//   snap wait TIME [THREAD]       if any thread, or one of that name, has waited in one call for somebody
//   else;
//                                 or `ignore wait`
//   snap report                   of a sanitizer; or `ignore report`
//   repeat COUNT                  snaps of one kind from one place; 0: as many as come
//   rate COUNT/TIME               snaps at most in that time, as 20/1h; those of faults do not count
//   memory stacks | none | writable | all    what of the process's memory a snap keeps
//   disk SIZE                     snaps in the folder take no more: the oldest go
//   keep TIME                     and none is kept for longer, as 30d
//
// No libc here: this runs in traced processes, and in `traceback policy`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/format/process.h"

namespace traceback::inject {

inline constexpr unsigned kMostExceptionRules = 32;
inline constexpr std::size_t kMostPolicyText = 16384;
inline constexpr std::size_t kThreadNameSize = 16;

struct ExceptionRule {
  bool snap;
  char name[127];  // zero-terminated; as people write it, without inline namespaces
};

// All but the names.
struct PolicyValues {
  bool record = true;
  bool snapCalls = true;
  bool snapReports = false;
  std::uint64_t bufferSize = 0;  // 0: not said
  bool historySaid = false;
  std::uint64_t historySize = 0;  // 0: none is kept
  bool historyCounts = false;  // everything
  std::uint64_t mostRings = 0;  // 0: not said
  std::uint64_t mostBytes = 0;  // of all rings; 0: not said
  std::uint64_t snapSignals = 0;  // bit n - 1 for signal n
  std::uint64_t ignoreSignals = 0;
  std::uint64_t snapExits[4] = {};  // a bit for each status
  std::uint32_t repeats = 1;  // 0: no limit
  std::uint32_t rateCount = 20;
  std::uint64_t rateSeconds = 3600;
  std::uint64_t hangSeconds = 0;  // 0: hangs are not looked for
  std::uint64_t stallSeconds = 0, waitSeconds = 0;  // likewise
  char stallThread[kThreadNameSize] = {},
       waitThread[kThreadNameSize] = {};  // zero-terminated; empty: not said
  std::uint64_t diskLimit = 0;  // 0: none
  std::uint64_t keepSeconds = 0;  // 0: for ever
  bool memorySaid = false;
  format::KeptMemory memory = format::KeptMemory::Stacks;
  unsigned exceptionRules = 0;  // how many of the rules below hold
};

struct Policy : PolicyValues {
  ExceptionRule exceptions[kMostExceptionRules] = {};
};

struct PolicyProblem {
  unsigned line;  // from 1
  const char* reason;  // what is wrong and what would be right
};

// Reads the rules into `policy`, leaving out each line that is wrong. Gives how many those are; the first
// `most` are told.
unsigned parsePolicy(const char* text, std::size_t size, Policy& policy, PolicyProblem* problems,
                     unsigned most);

// Whether a rule's name means a class of this name: what is behind a '*' does not count.
bool namesClass(const char* rule, const char* className);

bool snapsExit(const Policy& policy, unsigned status);

}  // namespace traceback::inject
