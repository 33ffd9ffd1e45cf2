// The instrumentor: an ELF file in, a file that does the same and records its control flow out.
//
// The original code stays where it is and as it is, but for a jump at the entry of each function that could
// be copied; the copies, with probes, are in a segment of their own, with the module table (module.h), and
// the map (map.h) is in a section. Whole functions are rewritten, as .eh_frame has them; what cannot be
// proved safe is left alone, and the report says why.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "loader/elf/elf_image.h"
#include "model/error.h"
#include "model/ids.h"
#include "runtime/format/map.h"
#include "runtime/format/ring.h"

namespace traceback::instrument {

// Part of what the name of a cached output must depend on: raised whenever the same input gives other output.
inline constexpr std::uint32_t kInstrumentorVersion = 23;

// What makes probes cheap, and can be left out to see what it brings, or whether it is at fault.
inline constexpr std::string_view kKeptCursor = "kept-cursor";  // the ring's cursor in xmm15
inline constexpr std::string_view kSharedHeads =
    "shared-heads";  // probes call routines where hardly anything runs
inline constexpr std::string_view kHeadsInPlace = "heads-in-place";  // but not behind all calls
inline constexpr std::string_view kOpenHeads = "open-heads";  // who comes from in front passes a loop's probe
inline constexpr std::string_view kPassedEntries = "passed-entries";  // so do direct calls a function's
// Other modules' functions are called without the stubs of the procedure linkage table.
inline constexpr std::string_view kCalledSlots = "called-slots";
// Which registers are needed is followed through the whole module.
inline constexpr std::string_view kFollowedRegisters = "followed-registers";
inline constexpr std::string_view kJumpTables = "jump-tables";  // indirect jumps go by tables of the copies
// Calls by a slot that is bound to a function of the same file pass its entry's head too.
inline constexpr std::string_view kOwnSlots = "own-slots";
// Copies that keep the cursor come back with it.
inline constexpr std::string_view kBroughtCursor = "brought-cursor";
inline constexpr std::array kTechniques = {kKeptCursor,        kSharedHeads, kHeadsInPlace, kOpenHeads,
                                           kPassedEntries,     kCalledSlots, kOwnSlots,     kBroughtCursor,
                                           kFollowedRegisters, kJumpTables};

struct Options {
  bool nullMode = false;  // copies without probes: to test that copying is right
  // To find the ways into original code that the copies leave open: all of it that nothing is known to use is
  // filled with breakpoints, and entries lead to the copies unconditionally. Implies nullMode. What is
  // written so must run with the runtime in place, whose thread-local words indirect jumps use. For tests
  // alone.
  bool poison = false;
  std::vector<std::string> only;  // functions, as FunctionSelection has them; empty: all
  std::vector<std::string> exclude;
  std::set<std::string, std::less<>> without;  // of kTechniques
  // Where a program finds the runtime when it is started by itself (starter.h); empty: it records only when
  // something else loads the runtime. An absolute path without blank or colon.
  std::string runtime;
  bool keepOrigin = false;  // a record in the file from which the original can be had back
  std::string product;  // version of the program that instruments, for that record
  // Counts of branches to go by (model/branch_profile.h), and the hash of that file's bytes; see
  // useProfile().
  std::filesystem::path profile;
  std::string profileHash;
  // Or a folder of such, one for each module (profileIn()), as they are when a file is instrumented. One that
  // is not there or cannot be read says nothing.
  std::filesystem::path profiles;
  // In which modules agree on their codes (code_bases.h), by the names that are written; empty: each has
  // those that its bytes lead to.
  std::filesystem::path codeBases;
  // They are copies of a cache, of which a process has one of each file: so they agree by the names that are
  // read, programs need not, and a library for which no codes are left, or that file says nothing, has those
  // that its bytes lead to.
  bool codesOfCopies = false;
  // What a program's thread-local storage is to be aligned to, if it can be (elf/thread_storage.h); 0: as it
  // is.
  std::uint64_t threadAlignment = 0;
  // Where probes find their thread's segment (runtime/format/ring.h): where the program in whose process the
  // file is to be leaves room (threadSlotBeside() in eligibility.h).
  std::int32_t threadSlot = format::kThreadSlot;
  unsigned threads = 0;  // 0: as many as processors. The output does not depend on it
};

// Has the instrumentor go by that profile. Fails if it cannot be read.
model::Result<void> useProfile(Options& options, const std::filesystem::path& profile);

// Where a folder has the profile of the module with that build id.
std::filesystem::path profileIn(const std::filesystem::path& folder, std::string_view buildId);
// Tells apart what Options::profiles says of a file at one time from what it says at another; 0: nothing.
std::uint64_t hashOfProfileFor(const std::filesystem::path& file, const Options& options);

// The options as one line, so that equal lines mean equal outputs but for their codes, as long as
// hashOfProfileFor() is the same, too: part of the name of a cached output, and what parseOptions() reads.
// Empty for the default ones. Fails if a list of functions cannot be read.
//   null poison only=ITEM,ITEM,... exclude=ITEM,... without=NAME,NAME,... runtime=PATH origin
//   profile=HASH:PATH profiles=PATH thread-alignment=NUMBER thread-slot=NUMBER
// divided by blanks; items as FunctionSelection's; in paths of profiles % and blanks are %25 and %20.
model::Result<std::string> textOf(const Options& options);
model::Result<Options> parseOptions(std::string_view text);

struct Report {
  std::string file, output;
  std::uint64_t functions = 0;
  std::uint64_t instrumented = 0;
  std::uint64_t textBytes = 0;  // of the functions found
  std::uint64_t newTextBytes = 0;  // of their copies
  std::uint64_t tableBytes = 0;  // in which the copies look up where indirect jumps lead
  std::uint64_t outputBytes = 0;  // the whole file that is, or would be, written
  std::map<std::string, std::uint64_t> skipped;  // by reason, in words
  // Of the instrumented ones: entered by direct calls alone, for that reason; through pointers and from other
  // files they run untraced.
  std::map<std::string, std::uint64_t> entriesLeft;
  bool startsAlone = false;  // finds the runtime by itself
  std::string whyNotAlone;  // if that was asked for
};

// Called with 0 to 1; never from another thread.
using Progress = std::function<void(double)>;

// `output` may be `input`: see output_file.h. Refuses with a reason: what is not an x86-64 ELF program or
// library, is instrumented already, has writable code or text relocations, or has no unwind tables. Writes
// beside `output` and renames, keeping the mode.
model::Result<Report> instrumentFile(const std::filesystem::path& input, const std::filesystem::path& output,
                                     const Options& options, const Progress& progress = {});

// The report that instrumentFile() would give, `output` being empty: all of its work but the writing.
model::Result<Report> planFile(const std::filesystem::path& input, const Options& options,
                               const Progress& progress = {});

// Writes the original of an instrumented file, byte for byte; `output` may be `input`. Refuses what has no
// record of its original, or was changed since.
model::Result<void> restoreFile(const std::filesystem::path& input, const std::filesystem::path& output);

// What becomes of a function.
struct FunctionFate {
  model::VirtAddr start;  // link-time, of the original
  std::uint64_t size = 0;
  std::string name;  // as linked; may be empty
  bool copied = false;
  format::SkipReason reason = format::SkipReason::None;  // as FunctionEntry::skipReason has it
};

// What would become of the functions of a file, by rising address. Nothing is written. Fails with the reason
// where the file as a whole is refused.
model::Result<std::vector<FunctionFate>> functionFates(const loader::ElfImage& image, const Options& options);

}  // namespace traceback::instrument
