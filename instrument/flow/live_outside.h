// What is live where control leaves a function: for good, for a call, or behind one.
#pragma once

#include "instrument/flow/live_state.h"

namespace traceback::instrument {

class LiveOutside {
 public:
  LiveOutside(const Program& program, const LiveState& state) : m_program(program), m_state(state) {}

  // Behind a block, for what is not in the function.
  Live beyond(const Function& f, BlockIndex b) const;
  // Before the call that ends the block, because `behind` is live behind it, whoever is called.
  Live over(const Function& f, BlockIndex b, const Live& behind) const;
  Live atIndirectJump(const Function& f) const;
  // Behind the call that ends the function. None is expected back, unless the tables of unwinding begin anew
  // there.
  Live behindLastCall(const Function& f) const;

  // A place that jumps or calls lead to; `to` is the function that has it, if any.
  Step stepTo(const Function* to, VirtAddr at) const;

 private:
  std::uint32_t numberOf(const Function& f) const { return std::uint32_t(&f - m_program.functions.data()); }
  const Known& known(const Function& f) const { return m_state.known[numberOf(f)]; }
  Live beyondFollowed(const Function& f, BlockIndex b) const;
  // At a place that a direct call or jump leads to.
  Live at(const Step& step, VirtAddr target) const;
  Live behind(const Function& f) const;
  Live atReturn(const Function& f) const;

  const Program& m_program;
  const LiveState& m_state;
};

}  // namespace traceback::instrument
