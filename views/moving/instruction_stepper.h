// The six steps by instruction (model/instruction_steps.h), of the navigator's position.
#pragma once

#include <memory>

#include "model/instruction_steps.h"
#include "views/moving/navigator.h"
#include "views/source/code_provider.h"

namespace traceback::views {

class InstructionStepper {
 public:
  explicit InstructionStepper(Navigator& navigator) : m_navigator(&navigator) {}
  void setProvider(std::shared_ptr<DisassemblyProvider> provider) { m_provider = std::move(provider); }

  bool canStep(model::Step how) const { return target(how).has_value(); }
  // False if the trace ends before such a step; nothing moves then.
  bool step(model::Step how);

 private:
  std::optional<model::InstructionPlace> target(model::Step how) const;

  Navigator* m_navigator;
  std::shared_ptr<DisassemblyProvider> m_provider;
};

}  // namespace traceback::views
