#include "instrument/plan.h"

#include <elf.h>
#include <xxhash.h>

#include <algorithm>
#include <array>

#include "instrument/analysis/code_rules.h"
#include "instrument/analysis/code_targets.h"
#include "instrument/analysis/eligibility.h"
#include "instrument/analysis/entry_window.h"
#include "instrument/analysis/moved_parts.h"
#include "instrument/codes.h"
#include "instrument/flow/bad_ends.h"
#include "instrument/flow/call_order.h"
#include "instrument/flow/cursor_keepers.h"
#include "instrument/flow/flow_graph.h"
#include "instrument/flow/liveness.h"
#include "instrument/flow/program_tiling.h"
#include "instrument/parallel.h"
#include "instrument/profile.h"
#include "instrument/rounding.h"
#include "instrument/selection.h"
#include "instrument/unwind/cfa_rows.h"
#include "instrument/unwind/unwind_builder.h"
#include "runtime/format/record.h"

namespace traceback::instrument {
namespace {

using format::SkipReason;

struct Wanted {
  FunctionSelection only, exclude;

  bool contains(const Function& f, std::size_t number) const {
    return (only.empty() || only.contains(f, number)) && !exclude.contains(f, number);
  }
};

// Hand-written code may keep its frame by a register that nothing else needs: whoever unwinds needs it.
void keepFrameRegisters(const Program& program, Function& f) {
  const Fde& fde = program.ehFrame.fdes[f.fde];
  const auto rows = unwindRows(program.ehFrame.cies[fde.cie], fde);
  if (!rows) return;
  // As DWARF numbers them, in x86 numbers (psABI, figure 3.36).
  constexpr std::array<std::uint8_t, 16> kNumbers = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};
  const auto frameRegister = [&](const Instruction& insn) -> RegisterSet {
    const CfaRule& cfa = rows->at(insn.address.value - fde.start.value).cfa;
    const bool isRegister = cfa.defined && !cfa.isExpression && cfa.baseRegister < kNumbers.size();
    return isRegister ? registerBit(kNumbers[cfa.baseRegister]) : RegisterSet{0};
  };
  for (Block& block : f.blocks) block.live |= frameRegister(f.instructions[block.first]);
  // A probe on an edge is the branch itself to unwinders, and uses what is free where the edge leads.
  for (const Block& block : f.blocks) {
    if (block.kind != format::BlockEnd::Branch) continue;
    for (const BlockIndex next : block.successor)
      if (next != kNone) f.blocks[next].live |= frameRegister(f.lastOf(block));
  }
}

void checkUnwinding(const Program& program, Function& f) {
  if (f.skip != SkipReason::None) return;
  std::vector<VirtAddr> starts;
  starts.reserve(f.instructions.size());
  for (const Instruction& insn : f.instructions) starts.push_back(insn.address);
  const auto carried = canCarry(*program.image, program.ehFrame, std::uint32_t(f.fde), starts);
  if (carried) return keepFrameRegisters(program, f);
  f.skip = carried.error().kind == UnwindRefusal::BadUnwindInfo ? SkipReason::BadUnwindInfo
                                                                : SkipReason::BadExceptionTable;
}

// Where in the code space the module lies unless the runtime moves it: spread, so that modules seldom meet.
std::uint32_t baseFor(const loader::ElfImage& image, bool isProgram, std::uint32_t span, std::uint32_t unit) {
  const CodeSpace range = isProgram ? kProgramCodes : kLibraryCodes;
  const std::uint32_t first = roundedUp(range.first, unit);
  const std::uint32_t units = (range.end - first - span) / unit;
  const loader::Bytes file = image.bytes();
  return first + unit * std::uint32_t(XXH3_64bits(file.data(), file.size()) % (units + 1));
}

}  // namespace

model::Result<Plan> makePlan(const loader::ElfImage& image, const Options& options,
                             const Progress& progress) {
  const auto only = FunctionSelection::parse(options.only);
  if (!only) return std::unexpected(only.error());
  const auto exclude = FunctionSelection::parse(options.exclude);
  if (!exclude) return std::unexpected(exclude.error());
  const Wanted wanted{*only, *exclude};
  auto program = readProgram(image, options.threads);
  if (!program) return std::unexpected(program.error());
  if (auto movable = canMove(image, program->ehFrame); !movable) return std::unexpected(movable.error());
  if (auto eligible = checkCode(*program); !eligible) return std::unexpected(eligible.error());
  Plan plan{std::move(*program), {}, 0, 0, 0};
  if (progress) progress(0.2);
  applyCodeRules(plan.program);
  const CodeTargets targets = CodeTargets::find(plan.program);
  if (progress) progress(0.35);

  std::vector<Function>& functions = plan.program.functions;
  const bool openHeads = !options.without.contains(kOpenHeads);
  forEachIndex(functions.size(), options.threads, [&](std::size_t i) {
    functions[i].entered = targets.entered(functions[i].start);
    functions[i].named = targets.named(functions[i].start);
    if (!functions[i].decoded) return;
    buildFlowGraph(functions[i], openHeads);
    const bool isCold = isMovedPart(plan.program, functions[i]);
    const BadEnds badEnds(functions[i]);
    for (BlockIndex b = 0; b < functions[i].blocks.size(); ++b)
      functions[i].blocks[b].cold = isCold || badEnds.contains(b);
  });
  findLiveness(plan.program, !options.without.contains(kFollowedRegisters), options.threads);
  findCursorKeepers(plan.program);
  if (progress) progress(0.4);

  const auto isKnown = applyProfile(plan.program, options);
  if (!isKnown) return std::unexpected(isKnown.error());
  plan.isKnown = *isKnown;
  plan.windows.resize(functions.size());
  forEachIndex(functions.size(), options.threads, [&](std::size_t i) {
    Function& f = functions[i];
    if (f.skip == SkipReason::None && !wanted.contains(f, i)) f.skip = SkipReason::Excluded;
    checkUnwinding(plan.program, f);
    if (f.skip != SkipReason::None) return;
    plan.windows[i] = chooseEntryWindow(plan.program, targets, f);
  });
  const bool ownSlots = !options.without.contains(kOwnSlots) && !options.without.contains(kCalledSlots);
  const Waves waves = findPassableEntries(plan.program, ownSlots ? OwnSlots(plan.program) : OwnSlots(),
                                          !options.without.contains(kPassedEntries) && !options.nullMode,
                                          !options.without.contains(kKeptCursor), options.threads);
  const Codes codes = tileProgram(plan.program, waves, options.threads);
  for (std::size_t i = 0; i < functions.size(); ++i)
    if (functions[i].skip == SkipReason::CodesExhausted) plan.windows[i].reset();
  if (!options.without.contains(kBroughtCursor)) findCursorBringers(plan.program);
  plan.codeSpan = codes.span;
  plan.codeUnit = codes.unit;
  plan.isProgram = image.segment(PT_INTERP) != nullptr;
  plan.codeBase = baseFor(image, plan.isProgram, codes.span, codes.unit);
  if (progress) progress(0.5);
  return plan;
}

}  // namespace traceback::instrument
