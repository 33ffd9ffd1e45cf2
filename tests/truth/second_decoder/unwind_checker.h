// Whether copies are unwound as their originals are: at every place of a copy hold the rules, and are caught
// the exceptions, of the original instruction that it stands for; and the old code's tables say what they
// did.
#pragma once

#include "tests/truth/second_decoder/copy_checker.h"
#include "tests/truth/second_decoder/unwind_tables.h"

namespace traceback::truth {

class UnwindChecker {
 public:
  UnwindChecker(const ElfFile& original, const InstrumentedFile& file, Findings& findings);

  // `places` by rising address, as CopyChecker has them.
  void check(const InstrumentedFunction& function, const std::vector<CopiedPlace>& places);
  // After all functions: whether landing pads are the copies of landing pads.
  // Code that is called and leaves the stack alone.
  void checkRoutines(const Routines& routines);
  void checkRoutine(std::uint64_t start, std::uint64_t end);
  void checkPads(const CopyChecker& copies);

 private:
  struct Pad {
    std::uint64_t site, copy, original;
  };

  void checkOldEntries();
  void checkSearchTable();
  bool sameEntry(const Fde& before, const Fde& after) const;

  std::expected<UnwindTables, std::string> m_before, m_after;
  Findings& m_findings;
  std::vector<Pad> m_pads;
};

}  // namespace traceback::truth
