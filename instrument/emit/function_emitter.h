// The copy of one function: its instructions with probes between them, and what goes with it out of line.
//
//   gate:     cmpq $0, bound(%rip); je displaced      only if its entry is patched
//   blocks, in the order of flow/layout.h: heads behind their probes, branches before those that set their
//             bits, and turned round where what they lead to follows; in front of a head that is fallen into,
//             a jump that passes its probe; a jump where what followed stands elsewhere
//   taken edges: the probes of branches that set their bits when taken, and jumps to where they lead; or, of
//             those that are turned round, when not
//   heads apart: probes of heads that are only seldom come to, and jumps to the blocks
//   slow ways: of jumps through tables, for what those do not have
//   wraps:    the rare ends of head probes, and of entries that look for the cursor
//   displaced: the original instructions that the entry's jump overwrote, and a jump to the rest of them
#pragma once

#include <optional>
#include <vector>

#include "instrument/analysis/program.h"
#include "instrument/emit/code_builder.h"
#include "instrument/emit/copied_tables.h"
#include "instrument/emit/probes.h"
#include "instrument/emit/routines.h"
#include "instrument/emit/stretches.h"
#include "instrument/flow/function.h"

namespace traceback::instrument {

// The five bytes of a function's entry that become a jump to its gate.
struct EntryWindow {
  VirtAddr start;  // behind an endbr64
  std::uint32_t instructions;  // how many it overwrites, from `first` on
  std::size_t first;  // index of the first
  bool reachesEnd;  // it takes in the function's last instruction, and padding perhaps
};
inline constexpr unsigned kEntryJumpSize = 5;

// Offsets are in `code`.
struct FunctionCode {
  const Function* function = nullptr;
  std::optional<EntryWindow> window;
  std::vector<std::byte> code;  // complete but for its references
  std::vector<CodeBuilder::Reference> references;
  std::vector<Stretch> stretches;  // by offset, from 0 on; all of the code
  std::uint32_t gate = 0;  // where the patched entry jumps to
  bool hasTable = false;  // of its indirect targets (dispatch.h)
  bool keepsCursor = false;  // in xmm15 (liveness.h)
  std::uint32_t unkeptEntry = 0;  // where copies enter it that do not keep the cursor, if this one does
  std::vector<std::uint32_t> blocks;  // where other code enters a block: in front of its probe
  std::uint32_t behindEntry = 0;  // the entry behind its probe: where a record goes on that passes that
  std::vector<std::uint32_t> records;  // the record words of head probes
  RoutineSet routines;  // that its probes call, or may come to call
  struct BroughtHead {
    std::uint32_t taken;  // the instruction that takes the cursor
    unsigned reg;  // into that
  };
  std::vector<BroughtHead> broughtHeads;  // by rising offset
  std::vector<CopiedTable> jumpTables;
  VirtAddr place;  // where it goes, once known
  VirtAddr tablePlace;
};

struct EmitOptions {
  bool probes = true;
  bool keepCursor = true;  // in functions that can
  bool sharedHeads = true;  // where hardly anything runs, if they can be: record_routines.h
  bool headsInPlace = true;  // elsewhere; or else those behind calls are shared, too
  bool calledSlots = true;  // stubs of the procedure linkage table are left out: stubs.h
  bool alwaysBound = false;  // no way back to the original code: entries lead to the copy
  const ConstantWords* jumpTables = nullptr;  // where they may be used
  VirtAddr moduleSlots;  // of the ModuleSlots
  std::uint32_t codeBase = 0;  // added to the DAGs' codes
  std::int32_t threadSlot = format::kThreadSlot;
};

FunctionCode emitFunction(const Program& program, const Function& function,
                          const std::optional<EntryWindow>& window, const EmitOptions& options);

}  // namespace traceback::instrument
