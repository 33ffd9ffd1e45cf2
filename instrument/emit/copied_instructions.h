// An original's instructions as its copy has them: the same bytes, but for what is relative to where they
// stand.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "instrument/analysis/indirect_targets.h"
#include "instrument/analysis/program.h"
#include "instrument/emit/code_builder.h"
#include "instrument/flow/function.h"

namespace traceback::instrument {

// How a jump, a branch or a call goes on.
struct Way {
  std::optional<Label> edge;  // where a jump or a branch leads, if that is in the copy
  bool inverted = false;  // a branch, for what it led to comes right behind it
  bool passesEntry = false;  // behind the head of the function that it leads to
};

// Of one function. Refers to all that it is made of.
class CopiedInstructions {
 public:
  // `calledSlots`: calls and jumps go by the slots of stubs (stubs.h), not to these.
  CopiedInstructions(CodeBuilder& code, const Program& program, const Function& function,
                     const IndirectTargets& targets, bool calledSlots)
      : m_code(code),
        m_program(program),
        m_function(function),
        m_targets(targets),
        m_calledSlots(calledSlots) {}

  std::span<const std::uint8_t> bytesOf(const Instruction& insn) const;
  // To copies, where there are any.
  void emit(const Instruction& insn, const Way& way = {});
  // To original code, wherever it leads.
  void emitExactly(const Instruction& insn);

 private:
  void emitBranch(const Instruction& insn, const Way& way);
  void emitShort(const Instruction& insn);
  void emitBytes(const Instruction& insn);
  std::optional<VirtAddr> slotOf(VirtAddr target) const;

  CodeBuilder& m_code;
  const Program& m_program;
  const Function& m_function;
  const IndirectTargets& m_targets;
  const bool m_calledSlots;
};

}  // namespace traceback::instrument
