#include "views/moving/instruction_stepper.h"

#include <algorithm>

namespace traceback::views {
namespace {

constexpr std::uint64_t kLongest = 16;  // bytes of an instruction

}  // namespace

std::optional<model::InstructionPlace> InstructionStepper::target(model::Step how) const {
  const model::ThreadTrace* thread = m_navigator->thread();
  const auto at = m_navigator->entryIndex();
  if (thread == nullptr || !at) return std::nullopt;
  const auto instructionsOf = [this](model::ModuleId id, const model::CodeRange& range) {
    std::vector<model::VirtAddr> starts;
    const model::Module* module = m_navigator->trace()->module(id);
    if (module == nullptr || !m_provider) return starts;
    // Room for the last of them, of which `last` may be the first byte.
    const auto instructions = m_provider->disassemble(*module, range.first, {range.last.value + kLongest});
    if (!instructions) return starts;
    for (const Instruction& each : *instructions)
      if (each.address <= range.last) starts.push_back(each.address);
    return starts;
  };
  const auto instruction = m_navigator->instruction();
  const model::InstructionPlace from{
      *at, instruction ? instruction : model::standingInstruction(thread->entry(*at))};
  return model::stepInstruction(*thread, from, how, instructionsOf);
}

bool InstructionStepper::step(model::Step how) {
  const auto to = target(how);
  if (to) m_navigator->standAt(to->entry, to->address);
  return to.has_value();
}

}  // namespace traceback::views
