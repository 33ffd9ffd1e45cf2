// truth_second_decoder ORIGINAL INSTRUMENTED
//
// Says whether the instrumented file is the original, but for a jump at entries and what was added, whether
// the copies do what the originals do, and whether they are unwound as the originals are: a line for each
// finding, and one that sums up. Exit status: 0 if all is right, 1 if not, 2 if a file cannot be read.
#include <algorithm>
#include <print>

#include "tests/truth/second_decoder/copy_checker.h"
#include "tests/truth/second_decoder/old_bytes.h"
#include "tests/truth/second_decoder/unwind_checker.h"

using namespace traceback::truth;

int main(int argc, char** argv) {
  if (argc != 3) {
    std::println(stderr, "usage: truth_second_decoder ORIGINAL INSTRUMENTED");
    return 2;
  }
  auto original = ElfFile::open(argv[1]);
  auto file = InstrumentedFile::open(argv[2]);
  if (!original || !file) {
    std::println(stderr, "truth_second_decoder: {}", original ? file.error() : original.error());
    return 2;
  }
  Findings findings;
  const FlagFlow flags(*original, file->functions);
  CopyChecker copies(*original, *file, flags, findings);
  UnwindChecker unwinding(*original, *file, findings);
  for (std::size_t i = 0; i < file->functions.size(); ++i) {
    copies.check(i);
    unwinding.check(file->functions[i], copies.places());
  }
  copies.checkObligations();
  unwinding.checkPads(copies);
  auto windows = copies.windows();
  std::ranges::sort(windows);
  checkOldBytes(*original, *file, windows, findings);
  for (const std::string& wrong : findings.wrong) std::println("{}", wrong);
  if (findings.hidden != 0) std::println("... and {} more", findings.hidden);
  std::println(
      "{} of {} functions, {} entries, {} instructions, {} heads, {} light probes, {} indirect jumps, {} "
      "places "
      "unwound: {}",
      findings.functions, file->functions.size(), findings.windows, findings.instructions, findings.heads,
      findings.lights, findings.dispatches, findings.unwound, findings.wrong.empty() ? "all right" : "WRONG");
  return findings.wrong.empty() ? 0 : 1;
}
