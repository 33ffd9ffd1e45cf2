// The copy of one function: its instructions with probes between them, and what goes with it out of line.
//
//   gate:     cmpq $0, bound(%rip); je displaced      only if its entry is patched
//   blocks, in the original order, each behind its probe
//   wraps:    the rare ends of head probes
//   displaced: the original instructions that the entry's jump overwrote, and a jump to the rest of them
//   tables:   copies' addresses for the targets of indirect jumps
#pragma once

#include <optional>
#include <vector>

#include "instrument/analysis/program.h"
#include "instrument/emit/code_builder.h"
#include "instrument/emit/probes.h"
#include "instrument/flow/function.h"

namespace traceback::instrument {

// The five bytes of a function's entry that become a jump to its gate.
struct EntryWindow {
  VirtAddr start;               // behind an endbr64
  std::uint32_t instructions;   // how many it overwrites, from `first` on
  std::size_t first;            // index of the first
  bool reachesEnd;              // it takes in the function's last instruction, and padding perhaps
};
inline constexpr unsigned kEntryJumpSize = 5;

struct FunctionCode {
  const Function* function = nullptr;
  CodeBuilder code;
  std::optional<EntryWindow> window;
  Label gate;                         // where the patched entry jumps to
  std::vector<Label> blocks;          // where other code enters a block: in front of its probe
  std::vector<HeadProbe> heads;       // by DAG
  Label mainEnd;                      // behind the blocks; wraps follow
  Label wrapsEnd;                     // displaced instructions follow
  Label displacedEnd;                 // tables follow
  VirtAddr place;                     // where it goes, once known
};

struct EmitOptions {
  bool probes = true;
  bool alwaysBound = false;                 // no way back to the original code: entries lead to the copy
  VirtAddr moduleSlots;                     // of the ModuleSlots
  std::uint32_t codeBase = 0;         // added to the DAGs' codes
};

FunctionCode emitFunction(const Program& program, const Function& function,
                          const std::optional<EntryWindow>& window, const EmitOptions& options);

}  // namespace traceback::instrument
