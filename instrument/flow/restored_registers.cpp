#include "instrument/flow/restored_registers.h"

#include "instrument/flow/liveness.h"

namespace traceback::instrument {
namespace {

struct Loaded {
  RegisterSet read = 0;  // on some way on from here, or perhaps by who is called or gone to
  RegisterSet lasting = 0;  // come to where the function ends as they are, on some way without a call
  bool operator==(const Loaded&) const = default;
};

class Reader {
 public:
  Reader(const Function& f, const Known& known) : m_function(f), m_known(known), m_at(f.blocks.size()) {}

  RegisterSet restored() {
    for (bool changed = true; changed;) {
      changed = false;
      m_restored = 0;
      for (std::size_t b = m_at.size(); b-- > 0;) {
        const Loaded before = follow(b);
        changed = changed || before != m_at[b];
        m_at[b] = before;
      }
    }
    return m_restored;
  }

 private:
  Loaded follow(std::size_t b) {
    const Block& block = m_function.blocks[b];
    Loaded at = behind(b);
    for (std::size_t i = block.end; i-- > block.first;) {
      const Instruction& insn = m_function.instructions[i];
      if (block.reached) m_restored |= RegisterSet(insn.loads & at.lasting & ~at.read);
      at.lasting &= RegisterSet(~insn.changes);
      at.read = RegisterSet((at.read & ~insn.kills) | insn.reads);
    }
    return at;
  }

  Loaded behind(std::size_t b) const {
    const Block& block = m_function.blocks[b];
    const Instruction& last = m_function.lastOf(block);
    if (isCall(last.flow) || last.flow == Flow::IndirectJump) return {kAllRegisters, 0};
    Loaded at;
    for (const BlockIndex next : block.successor) {
      if (next == kNone) continue;
      at.read |= m_at[next].read;
      at.lasting |= m_at[next].lasting;
    }
    const bool jumpsOut = last.target.value != 0 && !m_function.contains(last.target);
    const bool runsOut = last.flow == Flow::Next && block.successor[0] == kNone;
    if (jumpsOut || runsOut)
      at.read |= m_known.steps[b].toStub ? kAllRegisters : m_known.outside[b].registers;
    if (jumpsOut || runsOut || last.flow == Flow::Return) at.lasting = RegisterSet(~kReturned);
    return at;
  }

  const Function& m_function;
  const Known& m_known;
  std::vector<Loaded> m_at;  // at the blocks' starts
  RegisterSet m_restored = 0;
};

// Put on the stack before the first block does anything else with them.
RegisterSet savedAtOnce(const Function& f) {
  RegisterSet saved = 0, changed = 0;
  for (std::uint32_t i = 0; i < f.blocks.front().end; ++i) {
    saved |= RegisterSet(f.instructions[i].saves & ~changed);
    changed |= f.instructions[i].changes;
  }
  return saved;
}

}  // namespace

RegisterSet restoredRegisters(const Function& f, const Known& known) {
  const RegisterSet restored = Reader(f, known).restored();
  return (restored & savedAtOnce(f)) != 0 ? kAllRegisters : restored;
}

}  // namespace traceback::instrument
