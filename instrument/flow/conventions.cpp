#include "instrument/flow/conventions.h"

#include <array>
#include <bit>

#include "instrument/analysis/unread_code.h"
#include "instrument/flow/liveness.h"
#include "instrument/parallel.h"
#include "instrument/unwind/cfa_rows.h"

namespace traceback::instrument {
namespace {

using format::BlockEnd;

constexpr std::int64_t kUnknown = INT64_MIN;
constexpr std::int64_t kAtEntry = 8;  // from the stack pointer to the canonical frame address

// By the numbers of DWARF (psABI, figure 3.36).
constexpr std::uint64_t kDwarfRsp = 7;
constexpr std::array<std::uint8_t, 16> kNumbers = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};

// By the psABI. (r10 is, if only to functions within others.)
constexpr RegisterSet kNotPassed =
    (kKeptByCallees & ~registerBit(kRsp)) | registerBit(kRax) | registerBit(kR10) | registerBit(kR11);
// By an instruction of which it is known exactly what it reads.
constexpr int kMostRead = 8;

struct Transfer {
  std::uint32_t from = 0;
  VirtAddr target;
  std::int64_t height = kUnknown;
};

struct Seen {
  RegisterSet kept = 0;
  std::int64_t atStart = kUnknown;
  std::vector<Transfer> leaving;  // to other functions
};

// How far the canonical frame address is above the stack pointer, if it is known by that.
std::int64_t heightOf(const CfaRule& cfa) {
  return cfa.defined && !cfa.isExpression && cfa.baseRegister == kDwarfRsp ? cfa.offset : kUnknown;
}

model::Result<UnwindRows> rowsOf(const Program& program, const Function& f) {
  const Fde& fde = program.ehFrame.fdes[f.fde];
  return unwindRows(program.ehFrame.cies[fde.cie], fde);
}

class Reader {
 public:
  Reader(const Program& program, Function& f) : m_program(program), m_function(f) {}

  Seen read() {
    const auto rows = rowsOf(m_program, m_function);
    if (!rows) {
      m_function.returnsToAnybody = true;
      return {};
    }
    m_rows = &*rows;
    m_seen.atStart = heightAt(m_function.start);
    if (!m_program.ehFrame.cies[m_program.ehFrame.fdes[m_function.fde].cie].signalFrame)
      for (const UnwindRow& row : rows->rows) addKept(row.state);
    if (m_seen.kept != 0) m_function.returnsToAnybody = true;
    // One that is called before arguments are touched, in no other function's place.
    if (isProfiler(m_function.name)) m_seen.kept = 0;
    if (takesOtherRegisters()) m_function.returnsToAnybody = true;
    // (Padding need not agree with anything.)
    for (const Block& block : m_function.blocks)
      for (std::uint32_t i = block.first; block.reached && i < block.end; ++i)
        look(m_function.instructions[i]);
    return std::move(m_seen);
  }

 private:
  void addKept(const UnwindState& state) {
    for (const RegisterRule& rule : state.rules)
      if (rule.kind == RegisterRule::Kind::Offset && rule.reg < kNumbers.size())
        m_seen.kept |= RegisterSet(registerBit(kNumbers[rule.reg]) & ~kKeptByCallees);
  }

  // Whether it reads, before it does anything else with them, registers that callers pass nothing in, other
  // than to keep them. (Parts of functions, which are only jumped to, have that from where the function
  // began.)
  bool takesOtherRegisters() const {
    if (!m_function.entered || m_function.blocks.empty()) return false;
    std::vector<RegisterSet> taken(m_function.blocks.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = taken.size(); b-- > 0;) {
        const Block& block = m_function.blocks[b];
        const bool isCall = block.kind == BlockEnd::Call || block.kind == BlockEnd::IndirectCall;
        RegisterSet before = 0;
        for (const BlockIndex next : block.successor)
          if (next != kNone) before |= taken[next];
        if (isCall) before &= kKeptByCallees;
        for (std::size_t i = block.end; i-- > block.first;) addTaken(m_function.instructions[i], before);
        changed = changed || before != taken[b];
        taken[b] = before;
      }
    }
    return (taken.front() & kNotPassed) != 0;
  }

  static void addTaken(const Instruction& insn, RegisterSet& taken) {
    taken &= RegisterSet(~insn.changes);
    // (What enters the system, or is trapped, may read anything.) How many vector registers are passed is
    // in al.
    const bool isCount = insn.length == 2 && insn.changes == 0 && insn.reads == registerBit(kRax);
    if (insn.flow != Flow::Stop && std::popcount(insn.reads) < kMostRead && !isCount) taken |= insn.reads;
    taken &= RegisterSet(~insn.saves);
  }

  std::int64_t heightAt(VirtAddr address) const {
    return heightOf(m_rows->at(address.value - m_function.start.value).cfa);
  }

  void look(const Instruction& insn) {
    const std::int64_t height = heightAt(insn.address);
    if (insn.flow == Flow::Return) {
      if (height != kAtEntry) m_function.returnsToAnybody = true;
      return;
    }
    if (height == kUnknown || insn.stack == kStackUnknown) return;
    if (insn.storesOnStack && insn.stack == height - kAtEntry) {
      m_function.returnsToAnybody = true;
      return;
    }
    const std::int64_t after = height + (insn.storesOnStack ? 0 : insn.stack);
    // (Who is called may not come back, and leads to padding then.)
    if ((insn.flow == Flow::Next && !insn.isNop) || insn.flow == Flow::Branch ||
        insn.flow == Flow::ShortBranch)
      goesTo(insn.end(), after);
    if (insn.flow != Flow::Call && insn.target.value != 0) goesTo(insn.target, after);
  }

  void goesTo(VirtAddr target, std::int64_t height) {
    if (!m_function.contains(target)) {
      const auto number = std::uint32_t(&m_function - m_program.functions.data());
      return m_seen.leaving.push_back({number, target, height});
    }
    const std::int64_t expected = heightAt(target);
    if (expected != kUnknown && expected != height) m_function.returnsToAnybody = true;
  }

  const Program& m_program;
  Function& m_function;
  const UnwindRows* m_rows = nullptr;
  Seen m_seen;
};

// Who leaves a function leaves it with the stack that is expected where he goes.
void compare(Program& program, const std::vector<Seen>& seen, const Transfer& transfer) {
  Function* to = program.functionAt(transfer.target);
  std::int64_t expected = kAtEntry;
  if (to != nullptr && to->skip == format::SkipReason::StartupCode) {
    // Stubs: they change nothing.
  } else if (to != nullptr && to->start == transfer.target) {
    expected = seen[std::size_t(to - program.functions.data())].atStart;
  } else if (to != nullptr) {
    const auto rows = rowsOf(program, *to);
    expected = rows ? heightOf(rows->at(transfer.target.value - to->start.value).cfa) : kUnknown;
  }
  if (expected == transfer.height) return;
  program.functions[transfer.from].returnsToAnybody = true;
  if (to != nullptr) to->returnsToAnybody = true;
}

// Who is gone to returns in one's place.
void spread(Program& program) {
  std::vector<Function*> open;
  for (Function& f : program.functions)
    if (f.returnsToAnybody) open.push_back(&f);
  while (!open.empty()) {
    const Function& from = *open.back();
    open.pop_back();
    const auto leadsTo = [&](VirtAddr target) {
      Function* to = program.functionAt(target);
      if (to == nullptr || to->returnsToAnybody) return;
      to->returnsToAnybody = true;
      open.push_back(to);
    };
    for (const Instruction& insn : from.instructions)
      if (insn.target.value != 0 && insn.flow != Flow::Call) leadsTo(insn.target);
    if (from.runsOn()) leadsTo(from.end());
    for (const std::uint32_t kin : from.kin) leadsTo(program.functions[kin].start);
  }
}

}  // namespace

RegisterSet readConventions(Program& program, unsigned threads) {
  std::vector<Seen> seen(program.functions.size());
  forEachIndex(program.functions.size(), threads,
               [&](std::size_t i) { seen[i] = Reader(program, program.functions[i]).read(); });
  RegisterSet kept = 0;
  for (const Seen& one : seen) {
    kept |= RegisterSet(one.kept & ~kReturned);
    for (const Transfer& transfer : one.leaving) compare(program, seen, transfer);
  }
  // Code that is not read may expect anything of whom it calls.
  forEachUnreadTransfer(program, [&](VirtAddr target) {
    if (Function* to = program.functionAt(target); to != nullptr) to->returnsToAnybody = true;
  });
  spread(program);
  return kept;
}

}  // namespace traceback::instrument
