#include "instrument/flow/live_state.h"

#include <algorithm>
#include <ranges>

#include "instrument/analysis/stubs.h"
#include "instrument/flow/conventions.h"
#include "instrument/flow/live_outside.h"
#include "instrument/flow/liveness.h"
#include "instrument/parallel.h"

namespace traceback::instrument {
namespace {

// What is said to be read by whatever enters the system.
constexpr RegisterSet kTakenBySystem = kAllRegisters & ~(registerBit(kRcx) | registerBit(kR11));

// What the block reads of what was there before: more than bits that are left over beside such as it has
// written, whatever a push makes room by, and what may be read only for want of better knowledge.
RegisterSet readFirst(const Function& f, const Block& block) {
  RegisterSet read = 0, changed = 0;
  for (std::uint32_t i = block.first; i < block.end; ++i) {
    const Instruction& insn = f.instructions[i];
    const bool pushes = !insn.storesOnStack && insn.stack > 0 && insn.changes == registerBit(kRsp);
    if (!pushes && (insn.reads & kTakenBySystem) != kTakenBySystem)
      read |= RegisterSet(insn.reads & ~changed);
    changed |= insn.changes;
  }
  return read;
}

void prepareFunction(const Program& program, const LiveOutside& outside, const Function& f, Known& own) {
  // If anything but what is passed anyway is, then whoever is called says so soon.
  own.passed = RegisterSet(readFirst(f, f.blocks.front()) & ~kPassed);
  own.live.resize(f.blocks.size());
  own.outside.resize(f.blocks.size());
  own.steps.resize(f.blocks.size());
  for (BlockIndex b = 0; b < f.blocks.size(); ++b) {
    const Block& block = f.blocks[b];
    const Instruction& last = f.lastOf(block);
    const bool calls = isCall(last.flow);
    if (calls) own.calls.push_back(b);
    if ((block.flags & format::kBlockTableTarget) != 0) own.tabled.push_back(b);
    if (last.target.value != 0 && (calls || !f.contains(last.target))) {
      if (!calls) own.leaving.push_back(b);
      const Function* to = program.functionAt(last.target);
      own.steps[b] = outside.stepTo(to, last.target);
      own.steps[b].toStub = slotOfStub(program, last.target).has_value();
    }
    for (std::size_t i = block.end; i-- > block.first;) own.steps[b].putBefore(f.instructions[i]);
  }
}

void findUsers(const Program& program, std::vector<Known>& known) {
  for (std::uint32_t i = 0; i < known.size(); ++i) {
    const Function& f = program.functions[i];
    if (f.blocks.empty()) continue;
    const auto use = [&](std::uint32_t used) {
      if (used == kNone || used == i) return;
      auto& users = known[used].users;
      if (users.empty() || users.back() != i) users.push_back(i);
    };
    for (const Step& step : known[i].steps) use(step.to);
    if (const Function* next = program.functionAt(f.end()); next != nullptr)
      use(std::uint32_t(next - program.functions.data()));
    for (const std::uint32_t kin : f.kin) use(kin);
  }
}

// Code that reads what calling conventions let a callee change, in the very block behind a call of whom
// nothing else is known, says that this module has other conventions: its own functions may be called so
// too. (What is read further on need not: where paths meet, what was set on one of them only may seem to be
// read on the other.)
RegisterSet keptByOthers(const Function& f, const Known& own) {
  RegisterSet kept = 0;
  for (const BlockIndex b : own.calls) {
    const Step& step = own.steps[b];
    const Instruction& call = f.lastOf(f.blocks[b]);
    if (b + 1 == f.blocks.size() || (call.flow == Flow::Call && !step.toStub)) continue;
    // Behind those that never come back stands anything. Hardly anything but pointers to functions of other
    // modules, which are read relative to rip, leads to such.
    const bool toOthers = step.toStub || call.ripOffset != 0;
    if (!toOthers || isOnlyReturnedTo(f, b + 1))
      kept |= RegisterSet(readFirst(f, f.blocks[b + 1]) & ~kReturned);
  }
  return kept;
}

}  // namespace

bool isOnlyReturnedTo(const Function& f, BlockIndex behind) {
  constexpr auto kOtherwise = format::kBlockLandingPad | format::kBlockTableTarget;
  for (; behind < f.blocks.size(); ++behind) {
    const Block& block = f.blocks[behind];
    if (block.predecessors.size() != 1 || (block.flags & kOtherwise) != 0 ||
        std::ranges::binary_search(f.outsideTargets, f.instructions[block.first].address))
      return false;
    const auto isPadding = [&](std::uint32_t i) { return f.instructions[i].isNop; };
    if (!std::ranges::all_of(std::views::iota(block.first, block.end), isPadding)) return true;
  }
  return false;
}

void prepare(Program& program, LiveState& state, unsigned threads) {
  const auto& functions = program.functions;
  state.known = std::vector<Known>(functions.size());
  if (state.followRegisters) state.kept = readConventions(program, threads);
  const LiveOutside outside(program, state);
  forEachIndex(functions.size(), threads, [&](std::size_t i) {
    if (!functions[i].blocks.empty()) prepareFunction(program, outside, functions[i], state.known[i]);
  });
  findUsers(program, state.known);
  if (!state.followRegisters) return;
  state.onReturn.registers = state.kept;
  for (std::size_t i = 0; i < functions.size(); ++i)
    state.onReturn.registers |= keptByOthers(functions[i], state.known[i]);
}

std::vector<std::uint32_t> calleesFirst(const LiveState& state) {
  struct Visit {
    std::uint32_t function;
    std::size_t next = 0;  // of its steps
  };
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(state.known.size());
  std::vector<Visit> stack;
  for (std::uint32_t root = 0; root < seen.size(); ++root) {
    if (seen[root]) continue;
    seen[root] = true;
    stack.push_back({root});
    while (!stack.empty()) {
      Visit& top = stack.back();
      const std::vector<Step>& steps = state.known[top.function].steps;
      while (top.next < steps.size() && (steps[top.next].to == kNone || seen[steps[top.next].to])) ++top.next;
      if (top.next == steps.size()) {
        order.push_back(top.function);
        stack.pop_back();
      } else {
        const std::uint32_t callee = steps[top.next].to;
        seen[callee] = true;
        stack.push_back({callee});
      }
    }
  }
  return order;
}

}  // namespace traceback::instrument
