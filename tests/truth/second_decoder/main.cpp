// truth_second_decoder [--poison] ORIGINAL INSTRUMENTED
//
// Says whether the instrumented file is the original, but for a jump at entries and what was added, whether
// the copies do what the originals do, and whether they are unwound as the originals are: a line for each
// finding, and one that sums up. With --poison, entries lead to copies without asking, and old code may be
// breakpoints. Exit status: 0 if all is right, 1 if not, 2 if a file cannot be read.
#include <algorithm>
#include <print>
#include <string_view>

#include "tests/truth/second_decoder/copy_checker.h"
#include "tests/truth/second_decoder/old_bytes.h"
#include "tests/truth/second_decoder/unwind_checker.h"

using namespace traceback::truth;

int main(int argc, char** argv) {
  const bool poisoned = argc == 4 && std::string_view(argv[1]) == "--poison";
  if (argc != 3 && !poisoned) {
    std::println(stderr, "usage: truth_second_decoder [--poison] ORIGINAL INSTRUMENTED");
    return 2;
  }
  auto original = ElfFile::open(argv[argc - 2]);
  auto file = InstrumentedFile::open(argv[argc - 1]);
  if (!original || !file) {
    std::println(stderr, "truth_second_decoder: {}", original ? file.error() : original.error());
    return 2;
  }
  Findings findings;
  const FlagFlow flags(*original, file->functions);
  CopyChecker copies(*original, *file, flags, poisoned, findings);
  UnwindChecker unwinding(*original, *file, findings);
  for (std::size_t i = 0; i < file->functions.size(); ++i) {
    copies.check(i);
    unwinding.check(file->functions[i], copies.places());
  }
  copies.checkObligations();
  copies.checkPaths();
  unwinding.checkRoutines(copies.routines());
  unwinding.checkPads(copies);
  auto windows = copies.windows();
  std::ranges::sort(windows);
  checkOldBytes(*original, *file, windows, poisoned, findings);
  for (const std::string& wrong : findings.wrong) std::println("{}", wrong);
  if (findings.hidden != 0) std::println("... and {} more", findings.hidden);
  std::println(
      "{} of {} functions, {} entries, {} instructions, {} heads, {} light probes, {} jumps through "
      "tables, {} lookups, {} calls past stubs, {} into their own, {} places unwound: {}",
      findings.functions, file->functions.size(), findings.windows, findings.instructions, findings.heads,
      findings.lights, findings.tableJumps, findings.dispatches, findings.throughSlots, findings.bySlot,
      findings.unwound, findings.wrong.empty() ? "all right" : "WRONG");
  return findings.wrong.empty() ? 0 : 1;
}
