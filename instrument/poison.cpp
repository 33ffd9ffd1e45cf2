#include "instrument/poison.h"

#include "instrument/analysis/unread_code.h"

namespace traceback::instrument {
namespace {

using format::SkipReason;

constexpr std::byte kBreakpoint{0xCC};

class Poisoner {
 public:
  explicit Poisoner(const Plan& plan)
      : m_plan(plan), m_program(plan.program), m_kept(plan.program.functions.size()) {}

  std::vector<Patch> run() {
    for (std::size_t i = 0; i < m_kept.size(); ++i) {
      keepWhatIsRead(m_program.functions[i]);
      const Function& f = m_program.functions[i];
      if (f.skip != SkipReason::None || f.entryLeft != SkipReason::None || f.labelTaken) keep(i);
    }
    forEachGap(m_program, [this](VirtAddr from, VirtAddr to) {
      scanBytes(m_program.codeAt(from, to.value - from.value), from);
    });
    while (!m_pending.empty()) {
      const std::size_t i = m_pending.back();
      m_pending.pop_back();
      follow(m_program.functions[i]);
    }
    std::vector<Patch> out;
    for (std::size_t i = 0; i < m_kept.size(); ++i)
      if (!m_kept[i]) fill(i, out);
    return out;
  }

 private:
  void keep(std::size_t i) {
    if (m_kept[i]) return;
    m_kept[i] = true;
    m_pending.push_back(i);
  }

  std::size_t numberOf(const Function& f) const { return std::size_t(&f - m_program.functions.data()); }

  // Original code goes on at this address.
  void reach(VirtAddr target) {
    const Function* f = m_program.functionAt(target);
    if (f == nullptr) return;
    const auto& window = m_plan.windows[numberOf(*f)];
    const bool byTheEntry = window && target <= window->start;
    if (!byTheEntry) keep(numberOf(*f));
  }

  void follow(const Function& f) {
    for (const Instruction& insn : f.instructions)
      if (insn.target.value != 0) reach(insn.target);
    for (const VirtAddr pad : f.landingPads) reach(pad);
    reach(f.end());
    if (!f.decoded) scanBytes(m_program.codeAt(f.start, f.size), f.start);
  }

  void keepWhatIsRead(const Function& reader) {
    for (const Instruction& insn : reader.instructions) {
      if (insn.ripOffset == 0) continue;
      const Function* f = m_program.functionAt(insn.ripTarget);
      if (f == nullptr) continue;
      if (!insn.isLea || f->instructionAt(insn.ripTarget) < 0) keep(numberOf(*f));
    }
  }

  void scanBytes(std::span<const std::byte> bytes, VirtAddr start) {
    forEachPossibleTransfer(bytes, start, [this](VirtAddr target) { reach(target); });
  }

  void fill(std::size_t i, std::vector<Patch>& out) const {
    const Function& f = m_program.functions[i];
    const auto& window = m_plan.windows[i];
    const VirtAddr from = window ? VirtAddr{window->start.value + kEntryJumpSize} : f.start;
    if (from < f.end())
      out.push_back({from, std::vector<std::byte>(f.end().value - from.value, kBreakpoint)});
  }

  const Plan& m_plan;
  const Program& m_program;
  std::vector<bool> m_kept;
  std::vector<std::size_t> m_pending;  // kept, not yet followed
};

}  // namespace

std::vector<Patch> poison(const Plan& plan) { return Poisoner(plan).run(); }

}  // namespace traceback::instrument
