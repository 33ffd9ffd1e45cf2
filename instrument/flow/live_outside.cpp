#include "instrument/flow/live_outside.h"

#include <algorithm>

#include "instrument/analysis/unread_code.h"
#include "instrument/flow/liveness.h"

namespace traceback::instrument {

using format::BlockEnd;

namespace {

bool leaves(const Block& block) {
  switch (block.kind) {
    case BlockEnd::FallThrough:
    case BlockEnd::Jump:
      return block.successor[0] == kNone;
    case BlockEnd::Branch:
      return block.successor[0] == kNone || block.successor[1] == kNone;
    default:
      return true;
  }
}

}  // namespace

Live LiveOutside::beyond(const Function& f, BlockIndex b) const {
  Live live = beyondFollowed(f, b);
  if (!m_state.followRegisters && leaves(f.blocks[b])) live |= kAnyRegister;
  return live;
}

Live LiveOutside::beyondFollowed(const Function& f, BlockIndex b) const {
  const Block& block = f.blocks[b];
  const Step& step = known(f).steps[b];
  const Instruction& last = f.lastOf(block);
  // For good: who is there returns in its place.
  const auto gone = [&](const Live& live) { return live | known(f).onReturn; };
  const auto calling = [&](const Live& callee) {
    return callee | Live{RegisterSet(kKeptByCallees | m_state.kept), 0, 0};
  };
  switch (block.kind) {
    case BlockEnd::FallThrough:
    case BlockEnd::Jump:
      return block.successor[0] == kNone ? gone(behind(f)) : Live{};
    case BlockEnd::Branch:
      return (block.successor[0] == kNone ? gone(at(step, last.target)) : Live{}) |
             (block.successor[1] == kNone ? gone(behind(f)) : Live{});
    case BlockEnd::Call:
      return calling(at(step, last.target));
    case BlockEnd::IndirectCall:
      return calling(m_state.onIndirectEntry | Live{0, kPassed, 0});
    case BlockEnd::Multiway:
    case BlockEnd::TailJump:
      return last.flow == Flow::Jump ? gone(at(step, last.target)) : atIndirectJump(f);
    case BlockEnd::Return:
      return atReturn(f);
    case BlockEnd::Trap:
      return m_state.trapsRead ? kAnyRegister : Live{};
    default:
      return kEverything;
  }
}

Live LiveOutside::at(const Step& step, VirtAddr target) const {
  if (step.toStub) return {0, kPassed, m_state.onIndirectEntry.flags};
  if (step.to == kNone || m_program.functions[step.to].blocks.empty()) return kEverything;
  const Function& f = m_program.functions[step.to];
  const bool isUsual = isRead(f) && f.skip != format::SkipReason::StartupCode;
  const Live unread = isUsual ? Live{} : kAnyRegister;
  if (step.toStart) return known(f).entry.load(std::memory_order_relaxed) | unread;
  if (!std::ranges::binary_search(f.outsideTargets, target)) return kEverything;
  const auto found = m_state.interior.find(target.value);
  return found == m_state.interior.end() ? unread : found->second | unread;
}

Live LiveOutside::behind(const Function& f) const {
  return at(stepTo(m_program.functionAt(f.end()), f.end()), f.end());
}

Live LiveOutside::over(const Function& f, BlockIndex b, const Live& behind) const {
  // Anybody who is not seen may leave alone what he need not, but for what linkers' stubs change.
  if (f.blocks[b].kind != BlockEnd::Call) return behind;
  if (known(f).steps[b].toStub)
    return {RegisterSet(behind.registers & kPassed), RegisterSet(behind.assumed & kPassed), behind.flags};
  // Within the module it is live at the callee's entry, if that comes back without having written it.
  return {0, 0, behind.flags};
}

Live LiveOutside::behindLastCall(const Function& f) const {
  const Function* next = m_program.functionAt(f.end());
  if (next == nullptr || next->start != f.end()) return {};
  const Live entry = known(*next).entry;
  return {entry.registers, entry.assumed, 0};
}

Live LiveOutside::atIndirectJump(const Function& f) const {
  Live live = m_state.onIndirectEntry | known(f).indirect | known(f).onReturn;
  for (const std::uint32_t number : f.kin) live |= m_state.known[number].indirect;
  return live | Live{m_state.onReturn.registers, kPassed, 0};
}

Live LiveOutside::atReturn(const Function& f) const {
  return m_state.onReturn | known(f).onReturn | Live{0, kReturned, 0} |
         (f.returnsToAnybody ? kAnyRegister : Live{});
}

Step LiveOutside::stepTo(const Function* to, VirtAddr at) const {
  Step step;
  if (to != nullptr) step.to = numberOf(*to);
  step.toStart = to != nullptr && to->start == at;
  return step;
}

}  // namespace traceback::instrument
