#include "tests/truth/second_decoder/liveness.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace traceback::truth {

namespace {

constexpr std::uint16_t kAllRegisters = 0xFFFF;

// {64, 32, 16, 8 low, 8 high} bits.
constexpr std::array<std::array<unsigned, 5>, 16> kRegisters = {{
    {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
    {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
    {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
    {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
    {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, 0},
    {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, 0},
    {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, 0},
    {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, 0},
    {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B, 0},
    {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B, 0},
    {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B, 0},
    {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B, 0},
    {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B, 0},
    {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B, 0},
    {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B, 0},
    {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B, 0},
}};

bool coversWhole(unsigned reg) {
  const int number = registerNumber(reg);
  return number >= 0 && (kRegisters[unsigned(number)][0] == reg || kRegisters[unsigned(number)][1] == reg);
}

struct FlagBits {
  std::uint64_t test, write;
  std::uint8_t flag;
};
constexpr std::uint64_t bits(std::initializer_list<std::uint64_t> values) {
  std::uint64_t all = 0;
  for (const std::uint64_t value : values) all |= value;
  return all;
}
constexpr std::array<FlagBits, 6> kFlags = {{
    {X86_EFLAGS_TEST_CF,
     bits({X86_EFLAGS_MODIFY_CF, X86_EFLAGS_RESET_CF, X86_EFLAGS_SET_CF, X86_EFLAGS_UNDEFINED_CF}), 1},
    {X86_EFLAGS_TEST_PF, bits({X86_EFLAGS_MODIFY_PF, X86_EFLAGS_RESET_PF, X86_EFLAGS_UNDEFINED_PF}), 2},
    {X86_EFLAGS_TEST_AF, bits({X86_EFLAGS_MODIFY_AF, X86_EFLAGS_RESET_AF, X86_EFLAGS_UNDEFINED_AF}), 4},
    {X86_EFLAGS_TEST_ZF, bits({X86_EFLAGS_MODIFY_ZF, X86_EFLAGS_RESET_ZF, X86_EFLAGS_UNDEFINED_ZF}), 8},
    {X86_EFLAGS_TEST_SF, bits({X86_EFLAGS_MODIFY_SF, X86_EFLAGS_RESET_SF, X86_EFLAGS_UNDEFINED_SF}), 16},
    {X86_EFLAGS_TEST_OF, bits({X86_EFLAGS_MODIFY_OF, X86_EFLAGS_RESET_OF, X86_EFLAGS_UNDEFINED_OF}), 32},
}};

// Capstone 5 leaves out what these read.
bool readsAllItsOperands(unsigned id) {
  return id == X86_INS_TEST || id == X86_INS_ADOX || id == X86_INS_ADCX || id == X86_INS_XADD ||
         id == X86_INS_CMPXCHG || id == X86_INS_XCHG;
}

// A shift by a register leaves the flags alone if that is 0, and so does a repeated comparison of nothing.
bool mayLeaveFlags(const cs_insn& insn) {
  const cs_x86& x86 = insn.detail->x86;
  if (x86.prefix[0] == X86_PREFIX_REP || x86.prefix[0] == X86_PREFIX_REPNE) return true;
  switch (insn.id) {
    case X86_INS_SHL:
    case X86_INS_SHR:
    case X86_INS_SAR:
    case X86_INS_SAL:
    case X86_INS_SHLD:
    case X86_INS_SHRD:
    case X86_INS_ROL:
    case X86_INS_ROR:
    case X86_INS_RCL:
    case X86_INS_RCR:
      return x86.op_count > 0 && x86.operands[x86.op_count - 1].type == X86_OP_REG;
    default:
      return false;
  }
}

// `xor %eax, %eax` needs nothing of it.
bool isZeroing(const cs_insn& insn) {
  const cs_x86& x86 = insn.detail->x86;
  return (insn.id == X86_INS_XOR || insn.id == X86_INS_SUB) && x86.op_count == 2 &&
         x86.operands[0].type == X86_OP_REG && x86.operands[1].type == X86_OP_REG &&
         x86.operands[0].reg == x86.operands[1].reg;
}

}  // namespace

int registerNumber(unsigned reg) {
  static const std::array<std::int8_t, X86_REG_ENDING> numbers = [] {
    std::array<std::int8_t, X86_REG_ENDING> table;
    table.fill(-1);
    for (unsigned number = 0; number < kRegisters.size(); ++number)
      for (const unsigned part : kRegisters[number])
        if (part != 0) table[part] = std::int8_t(number);
    return table;
  }();
  return reg < numbers.size() ? numbers[reg] : -1;
}

Effects effectsOf(csh capstone, const cs_insn& insn) {
  Effects out;
  out.address = insn.address;
  out.size = insn.size;
  const cs_x86& x86 = insn.detail->x86;
  const auto add = [](std::uint16_t& set, unsigned reg) {
    if (const int number = registerNumber(reg); number >= 0) set = std::uint16_t(set | 1U << number);
  };
  cs_regs read, written;
  std::uint8_t readCount = 0, writtenCount = 0;
  if (cs_regs_access(capstone, &insn, read, &readCount, written, &writtenCount) == CS_ERR_OK) {
    for (unsigned i = 0; i < readCount; ++i) add(out.reads.registers, read[i]);
    for (unsigned i = 0; i < writtenCount; ++i)
      if (coversWhole(written[i])) add(out.writes.registers, written[i]);
  } else {
    out.reads.registers = kAllRegisters;
  }
  for (unsigned i = 0; i < x86.op_count; ++i) {
    const cs_x86_op& operand = x86.operands[i];
    if (operand.type == X86_OP_MEM) {
      add(out.reads.registers, operand.mem.base);
      add(out.reads.registers, operand.mem.index);
    } else if (operand.type == X86_OP_REG && readsAllItsOperands(insn.id)) {
      add(out.reads.registers, operand.reg);
    }
  }
  const std::string_view mnemonic = insn.mnemonic;
  // Conditional moves and the like leave what they name as it was, if the condition is false.
  const bool conditional = mnemonic.starts_with("cmov") || insn.id == X86_INS_CMPXCHG ||
                           insn.id == X86_INS_BSF || insn.id == X86_INS_BSR || x86.prefix[0] != 0;
  if (conditional) {
    out.reads.registers |= out.writes.registers;
    out.writes.registers = 0;
  }
  if (isZeroing(insn)) {
    for (unsigned i = 0; i < 2; ++i)
      if (const int number = registerNumber(x86.operands[i].reg); number >= 0)
        out.reads.registers = std::uint16_t(out.reads.registers & ~(1U << number));
  }

  bool hasFlags = true;
  for (unsigned i = 0; i < insn.detail->groups_count; ++i)
    if (insn.detail->groups[i] == X86_GRP_FPU) hasFlags = false;  // that field then holds the FPU's
  if (hasFlags)
    for (const FlagBits& flag : kFlags) {
      if ((x86.eflags & flag.test) != 0) out.reads.flags |= flag.flag;
      if ((x86.eflags & flag.write) != 0 && !mayLeaveFlags(insn)) out.writes.flags |= flag.flag;
    }
  // Capstone knows nothing of `test` with memory, and the field above is not for fcomi.
  if (insn.id == X86_INS_TEST) out.writes.flags = 63;
  if (mnemonic == "fcomi" || mnemonic == "fcompi" || mnemonic == "fucomi" || mnemonic == "fucompi")
    out.writes.flags = 63;
  if (mnemonic.starts_with("pushf") || mnemonic == "lahf") out.reads.flags = 63;

  const bool jump = cs_insn_group(capstone, &insn, CS_GRP_JUMP);
  const bool call = cs_insn_group(capstone, &insn, CS_GRP_CALL);
  const bool ret = cs_insn_group(capstone, &insn, CS_GRP_RET) || cs_insn_group(capstone, &insn, CS_GRP_IRET);
  const bool direct = x86.op_count == 1 && x86.operands[0].type == X86_OP_IMM;
  if (call || ret || (jump && !direct) || mnemonic == "syscall" ||
      cs_insn_group(capstone, &insn, CS_GRP_INT)) {
    out.leaves = true;
    out.falls = false;
  } else if (jump || mnemonic.starts_with("loop") || mnemonic == "jrcxz" || mnemonic == "jecxz") {
    out.target = std::uint64_t(x86.operands[0].imm);
    out.falls = insn.id != X86_INS_JMP;
  } else if (insn.id == X86_INS_UD2 || insn.id == X86_INS_HLT || insn.id == X86_INS_INT3) {
    out.leaves = true;
    out.falls = false;
  }
  return out;
}

std::vector<Needs> liveBefore(const std::vector<Effects>& code) {
  std::vector<Needs> live(code.size());
  const auto at = [&](std::uint64_t address) -> Needs {
    const auto found = std::ranges::lower_bound(code, address, {}, &Effects::address);
    if (found == code.end() || found->address != address) return {kAllRegisters, 0};  // elsewhere
    return live[std::size_t(found - code.begin())];
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = code.size(); i-- > 0;) {
      const Effects& effects = code[i];
      Needs after;
      const auto join = [&after](Needs more) {
        after.registers |= more.registers;
        after.flags |= more.flags;
      };
      if (effects.leaves) join({kAllRegisters, 0});
      if (effects.falls) join(at(effects.address + effects.size));
      if (effects.target != 0) join(at(effects.target));
      const Needs before{
          std::uint16_t(effects.reads.registers | (after.registers & ~effects.writes.registers)),
          std::uint8_t(effects.reads.flags | (after.flags & ~effects.writes.flags))};
      if (before.registers != live[i].registers || before.flags != live[i].flags) {
        live[i] = before;
        changed = true;
      }
    }
  }
  return live;
}

}  // namespace traceback::truth
