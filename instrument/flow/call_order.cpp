#include "instrument/flow/call_order.h"

#include <algorithm>

#include "instrument/parallel.h"

namespace traceback::instrument {
namespace {

using format::BlockEnd;
using format::SkipReason;

// The function whose entry's probe the block's call or jump may pass.
std::uint32_t passable(const Program& program, const Function& f, const Block& block, bool keepCursor) {
  const Instruction& last = f.lastOf(block);
  const bool leads =
      block.kind == BlockEnd::Call || (block.kind == BlockEnd::TailJump && last.flow == Flow::Jump);
  if (!leads || !block.reached) return kNone;
  const Function* to = program.functionStartingAt(last.target);
  if (to == nullptr || to == &f || to->skip != SkipReason::None) return kNone;
  // Probes behind that one take it to be in xmm15.
  if (keepCursor && to->keepsCursor && !f.keepsCursor) return kNone;
  return std::uint32_t(to - program.functions.data());
}

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
      if (block.callee == kNone) continue;
      if (m_state[block.callee] == State::Open)
        block.callee = kNone;
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
      if (block.callee != kNone) wave = std::max(wave, m_wave[block.callee] + 1);
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

Waves findPassableEntries(Program& program, bool pass, bool keepCursor, unsigned threads) {
  forEachIndex(program.functions.size(), threads, [&](std::size_t i) {
    Function& f = program.functions[i];
    for (Block& block : f.blocks)
      block.callee = pass && f.skip == SkipReason::None ? passable(program, f, block, keepCursor) : kNone;
  });
  return Order(program.functions).run();
}

}  // namespace traceback::instrument
