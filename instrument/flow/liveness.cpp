#include "instrument/flow/liveness.h"

#include <algorithm>

#include "instrument/flow/live_outside.h"
#include "instrument/flow/live_state.h"
#include "instrument/flow/restored_registers.h"
#include "instrument/parallel.h"

namespace traceback::instrument {
namespace {

using format::BlockEnd;

class Liveness {
 public:
  Liveness(Program& program, bool followRegisters, unsigned threads)
      : m_program(program), m_threads(threads), m_outside(program, m_state) {
    m_state.followRegisters = followRegisters;
  }

  // From "nothing is live anywhere" up to what is consistent: the least such, so whatever the order.
  void run() {
    prepare(m_program, m_state, m_threads);
    m_order = calleesFirst(m_state);
    settle();
    if (m_state.followRegisters) {
      noteRestored();
      settle();
    }
    // Whoever looks at a program that was trapped wants its registers, but nothing else is done with them.
    m_state.trapsRead = true;
    auto& functions = m_program.functions;
    forEachIndex(functions.size(), m_threads, [&](std::size_t i) {
      const auto traps = [](const Block& block) { return block.kind == BlockEnd::Trap; };
      if (std::ranges::any_of(functions[i].blocks, traps)) analyse(std::uint32_t(i));
    });
    forEachIndex(functions.size(), m_threads, [&](std::size_t i) {
      Function& f = functions[i];
      f.keepsCursor = mayKeepCursor(f);
      f.jumpFlags = m_outside.atIndirectJump(f).flags & kAllFlags;
      for (std::size_t b = 0; b < f.blocks.size(); ++b) {
        const Live& live = m_state.known[i].live[b];
        f.blocks[b].live = live.registers | live.assumed;
        f.blocks[b].liveFlags = live.flags & kAllFlags;
        const Live& outside = m_state.known[i].outside[b];
        f.blocks[b].liveOutside = outside.registers | outside.assumed;
        f.blocks[b].liveFlagsOutside = outside.flags & kAllFlags;
      }
    });
  }

 private:
  std::uint32_t numberOf(const Function& f) const { return std::uint32_t(&f - m_program.functions.data()); }
  const Known& known(const Function& f) const { return m_state.known[numberOf(f)]; }

  void settle() {
    std::vector<std::uint32_t> due;
    while (takeDue(due)) {
      forEachIndex(due.size(), m_threads, [&](std::size_t i) { analyse(due[i]); });
      for (const std::uint32_t number : due) note(number);
    }
  }

  bool takeDue(std::vector<std::uint32_t>& due) {
    due.clear();
    for (const std::uint32_t i : m_order) {
      if (!m_state.known[i].due && !m_allDue) continue;
      m_state.known[i].due = false;
      if (!m_program.functions[i].blocks.empty()) due.push_back(i);
    }
    m_allDue = false;
    return !due.empty();
  }

  void analyse(std::uint32_t number) {
    const Function& f = m_program.functions[number];
    Known& own = m_state.known[number];
    bool changed = !own.begun;
    for (std::size_t b = 0; b < f.blocks.size(); ++b) {
      const Live outside = m_outside.beyond(f, BlockIndex(b));
      changed = changed || outside != own.outside[b];
      own.outside[b] = outside;
    }
    own.begun = true;
    // Backwards over the blocks until nothing changes: a few rounds, as most edges go forward.
    while (changed) {
      changed = false;
      for (std::size_t b = f.blocks.size(); b-- > 0;) {
        const Live live = own.steps[b].before(behind(f, b));
        if (live == own.live[b]) continue;
        own.live[b] = live;
        changed = own.changed = true;
      }
    }
    if (!own.changed || m_state.trapsRead || f.skip == format::SkipReason::StartupCode) return;
    own.entry.store({own.live[0].registers, own.live[0].assumed, FlagSet(own.live[0].flags & kAllFollowed)},
                    std::memory_order_relaxed);
  }

  Live behind(const Function& f, std::size_t b) const {
    const Block& block = f.blocks[b];
    const Known& own = known(f);
    Live after;
    for (const BlockIndex next : block.successor)
      if (next != kNone) after |= own.live[next];
    if (block.kind == BlockEnd::IndirectCall || block.kind == BlockEnd::Call)
      after = m_outside.over(f, BlockIndex(b), after);
    return after | own.outside[b];
  }

  // True if there is more now.
  static bool grow(Live& set, const Live& more) {
    const Live before = set;
    set |= more;
    return set != before;
  }
  void growEverywhere(Live& set, const Live& more) {
    if (grow(set, more)) m_allDue = true;
  }
  void growForUsers(std::uint32_t number, Live& set, const Live& more) {
    if (!grow(set, more)) return;
    m_state.known[number].due = true;
    for (const std::uint32_t user : m_state.known[number].users) m_state.known[user].due = true;
  }

  void note(std::uint32_t number) {
    const Function& f = m_program.functions[number];
    Known& own = m_state.known[number];
    if (own.changed) noteBehindCalls(f, own);
    if (own.onReturn != own.passedOn) passOn(f, own);
    if (!own.changed) return;
    own.changed = false;
    if (f.skip == format::SkipReason::StartupCode) return;
    const Live entry = own.entry;
    if (f.named) growEverywhere(m_state.onIndirectEntry, {own.passed, 0, entry.flags});
    growForUsers(number, own.notedEntry, entry);
    // What is also jumped to has its flags from there: calls that never come back stand before such.
    for (const BlockIndex call : own.calls)
      if (isOnlyReturnedTo(f, call + 1))
        growEverywhere(m_state.onReturn, {0, 0, FlagSet(own.live[call + 1].flags & kAllFlags)});
    for (const BlockIndex b : own.tabled) growForUsers(number, own.indirect, own.live[b]);
    for (const VirtAddr target : f.outsideTargets) {
      const BlockIndex b = f.blockAt(target);
      if (b != kNone) growForUsers(number, m_state.interior[target.value], own.live[b]);
    }
  }

  // What is jumped to may stand behind a call that comes back all the same. Who is called in another module
  // leaves nothing of xmm15, nor of the registers that callees do not keep. Only whoever is called has to
  // leave them alone, and whom that calls or goes on to.
  void noteBehindCalls(const Function& f, const Known& own) {
    for (const BlockIndex b : own.calls) {
      const bool isDirect = f.blocks[b].kind == BlockEnd::Call;
      const bool isLast = b + 1 == f.blocks.size();
      Live behind = !isLast ? own.live[b + 1] : isDirect ? m_outside.behindLastCall(f) : Live{};
      behind.registers &= RegisterSet(~kReturned);
      behind.assumed &= RegisterSet(~kReturned);
      if (!isDirect) {
        growEverywhere(m_state.onReturn, {0, 0, FlagSet(behind.flags & kXmm15)});
        continue;
      }
      behind.flags = (behind.flags & ~kAllFlags) != 0 ? kXmm15Beyond : FlagSet{0};
      if (behind != Live{} && !own.steps[b].toStub)
        returnsTo(own.steps[b], f.lastOf(f.blocks[b]).target, behind);
    }
  }

  // What calls a function from another module, or through a pointer, is not seen. (No instruction is found to
  // read anything more for what is noted, so once is enough.)
  void noteRestored() {
    std::vector<RegisterSet> restored(m_state.known.size());
    forEachIndex(restored.size(), m_threads, [&](std::size_t i) {
      const Function& f = m_program.functions[i];
      if (!f.entered || f.skip == format::SkipReason::StartupCode || f.blocks.empty()) return;
      restored[i] = restoredRegisters(f, m_state.known[i]);
    });
    for (std::size_t i = 0; i < restored.size(); ++i)
      if (grow(m_state.known[i].onReturn, {0, restored[i], 0})) m_state.known[i].due = true;
  }

  // What it goes on to returns in its place.
  void passOn(const Function& f, Known& own) {
    own.passedOn = own.onReturn;
    for (const BlockIndex b : own.leaving)
      returnsTo(own.steps[b], f.lastOf(f.blocks[b]).target, own.passedOn);
    if (f.runsOn()) {
      const Function* next = m_program.functionAt(f.end());
      returnsTo(m_outside.stepTo(next, f.end()), f.end(), own.passedOn);
    }
    for (const std::uint32_t kin : f.kin) growForUsers(kin, m_state.known[kin].onReturn, own.passedOn);
  }

  // To where a call of the function leads, or it itself, `behind` is live.
  void returnsTo(const Step& step, VirtAddr at, const Live& behind) {
    if (step.toStub || !m_program.isCode(at)) return;
    const bool followed = step.to != kNone && !m_program.functions[step.to].blocks.empty();
    if (followed) growForUsers(step.to, m_state.known[step.to].onReturn, behind);
    // Whom it calls is not known.
    if (!followed && behind.flags != 0) growEverywhere(m_state.onReturn, {0, 0, kXmm15});
  }

  bool mayKeepCursor(const Function& f) const {
    const auto isLive = [](const Live& live) { return (live.flags & ~kAllFlags) != 0; };
    return ((m_state.onReturn.flags | m_state.onIndirectEntry.flags) & kXmm15) == 0 && !f.blocks.empty() &&
           std::ranges::all_of(f.instructions, &Instruction::leavesXmm15) &&
           std::ranges::none_of(known(f).live, isLive);
  }

  Program& m_program;
  const unsigned m_threads;
  LiveState m_state;
  const LiveOutside m_outside;
  std::vector<std::uint32_t> m_order;
  bool m_allDue = false;
};

}  // namespace

void findLiveness(Program& program, bool followRegisters, unsigned threads) {
  Liveness(program, followRegisters, threads).run();
}

}  // namespace traceback::instrument
