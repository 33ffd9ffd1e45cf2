#include "instrument/flow/call_order.h"

#include <algorithm>

#include "instrument/analysis/stubs.h"
#include "instrument/parallel.h"

namespace traceback::instrument {
namespace {

using format::BlockEnd;
using format::SkipReason;

// Whether something in front of a call or jump by a stub may use r11 and the flags.
bool canCompare(const Function& f, const Block& block) {
  constexpr RegisterSet kScratch = registerBit(kR11);
  const bool isCall = block.kind == BlockEnd::Call;
  if (isCall && block.successor[0] == kNone) return false;
  const FlagSet flags =
      block.liveFlagsOutside | (isCall ? f.blocks[block.successor[0]].liveFlags : FlagSet{0});
  return flags == 0 && (block.liveOutside & kScratch) == 0;
}

class Passable {
 public:
  Passable(const Program& program, const OwnSlots& slots, bool pass, bool keepCursor)
      : m_program(program), m_slots(slots), m_pass(pass), m_keepCursor(keepCursor) {}

  // The function to whose start the block's call or jump leads, and whether it may pass the entry's probe.
  void find(const Function& f, Block& block) const {
    const Instruction& last = f.lastOf(block);
    const bool leads =
        block.kind == BlockEnd::Call || (block.kind == BlockEnd::TailJump && last.flow == Flow::Jump);
    if (!leads || !block.reached) return;
    const Function* to = m_program.functionStartingAt(last.target);
    if (const auto own = block.cold ? std::nullopt : ownFunction(last.target)) {
      to = canCompare(f, block) ? m_program.functionStartingAt(*own) : nullptr;
      block.bySlot = true;
    }
    if (to == nullptr || to->skip != SkipReason::None) return;
    block.callee = std::uint32_t(to - m_program.functions.data());
    // Probes behind that one take it to be in xmm15.
    const bool lacksCursor = m_keepCursor && to->keepsCursor && !f.keepsCursor;
    block.mayPass = m_pass && to != &f && !lacksCursor;
  }

 private:
  std::optional<VirtAddr> ownFunction(VirtAddr stub) const {
    const auto slot = slotOfStub(m_program, stub);
    return slot ? m_slots.functionOf(*slot) : std::nullopt;
  }

  const Program& m_program;
  const OwnSlots& m_slots;
  const bool m_pass, m_keepCursor;
};

// Depth first, callees before callers: gives up whatever leads back.
class Order {
 public:
  explicit Order(std::vector<Function>& functions)
      : m_functions(functions), m_state(functions.size(), State::New), m_wave(functions.size()) {}

  Waves run() {
    for (std::uint32_t f = 0; f < m_functions.size(); ++f)
      if (m_functions[f].skip == SkipReason::None && m_state[f] == State::New) visitFrom(f);
    return std::move(m_waves);
  }

 private:
  enum class State : std::uint8_t { New, Open, Done };
  struct Visit {
    std::uint32_t function;
    BlockIndex next;
  };

  void visitFrom(std::uint32_t root) {
    open(root);
    while (!m_visits.empty()) {
      Visit& top = m_visits.back();
      Function& f = m_functions[top.function];
      if (top.next == f.blocks.size()) {
        close(top.function);
        m_visits.pop_back();
        continue;
      }
      Block& block = f.blocks[top.next++];
      if (!block.mayPass) continue;
      if (m_state[block.callee] == State::Open)
        block.mayPass = false;
      else if (m_state[block.callee] == State::New)
        open(block.callee);
    }
  }

  void open(std::uint32_t function) {
    m_state[function] = State::Open;
    m_visits.push_back({function, 0});
  }

  void close(std::uint32_t function) {
    m_state[function] = State::Done;
    std::uint32_t& wave = m_wave[function];
    for (const Block& block : m_functions[function].blocks)
      if (block.mayPass) wave = std::max(wave, m_wave[block.callee] + 1);
    if (m_waves.size() <= wave) m_waves.resize(wave + 1);
    m_waves[wave].push_back(function);
  }

  std::vector<Function>& m_functions;
  std::vector<State> m_state;
  std::vector<std::uint32_t> m_wave;  // of those that are done
  std::vector<Visit> m_visits;
  Waves m_waves;
};

}  // namespace

Waves findPassableEntries(Program& program, const OwnSlots& slots, bool pass, bool keepCursor,
                          unsigned threads) {
  const Passable passable(program, slots, pass, keepCursor);
  forEachIndex(program.functions.size(), threads, [&](std::size_t i) {
    Function& f = program.functions[i];
    for (Block& block : f.blocks) {
      block.callee = kNone;
      block.bySlot = block.mayPass = false;
      if (f.skip == SkipReason::None) passable.find(f, block);
    }
  });
  return Order(program.functions).run();
}

}  // namespace traceback::instrument
