#include "tests/truth/second_decoder/liveness.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace traceback::truth {

namespace {

constexpr std::uint16_t kAllRegisters = 0xFFFF;
constexpr std::uint8_t kAllFlags = kStatusFlags;

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

// Capstone 5 leaves out general registers that these read without naming them, or may do so.
bool readsUnnamed(unsigned id) {
  switch (id) {
    case X86_INS_XLATB:
    case X86_INS_XSETBV:
    case X86_INS_XSAVE:
    case X86_INS_XSAVE64:
    case X86_INS_XSAVEC:
    case X86_INS_XSAVEC64:
    case X86_INS_XSAVEOPT:
    case X86_INS_XSAVEOPT64:
    case X86_INS_XSAVES:
    case X86_INS_XSAVES64:
    case X86_INS_XRSTOR:
    case X86_INS_XRSTOR64:
    case X86_INS_MONITOR:
    case X86_INS_MWAIT:
    case X86_INS_MONITORX:
    case X86_INS_MWAITX:
    case X86_INS_RDPMC:
    case X86_INS_RDMSR:
    case X86_INS_WRMSR:
    case X86_INS_XABORT:
    case X86_INS_XBEGIN:
    case X86_INS_XEND:
    case X86_INS_CLZERO:
      return true;
    default:
      return false;
  }
}

// VIA's instructions (PadLock Programming Guide), of which Capstone 5 knows neither the repetition's count
// nor all the others: the registers that they read, none if it is another instruction. They touch no flag.
std::uint16_t readByPadlock(const cs_insn& insn) {
  constexpr std::uint16_t kA = 1 << 0, kC = 1 << 1, kD = 1 << 2, kB = 1 << 3, kSi = 1 << 6, kDi = 1 << 7;
  switch (insn.id) {
    case X86_INS_XSTORE:
      return insn.bytes[0] == 0x0F ? kD | kDi : kC | kD | kDi;
    case X86_INS_XCRYPTECB:
      return kB | kC | kD | kSi | kDi;
    case X86_INS_XCRYPTCBC:
    case X86_INS_XCRYPTCFB:
    case X86_INS_XCRYPTCTR:
    case X86_INS_XCRYPTOFB:
      return kA | kB | kC | kD | kSi | kDi;
    case X86_INS_XSHA1:
    case X86_INS_XSHA256:
      return kA | kC | kSi | kDi;
    case X86_INS_MONTMUL:
      return kA | kC | kSi;
    default:
      return 0;
  }
}

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

bool setsAllFlags(std::string_view mnemonic) {
  constexpr std::array<std::string_view, 8> kEnds = {"comi",  "compi",  "comiss", "comisd",
                                                     "ptest", "testps", "testpd", "rdrand"};
  return std::ranges::any_of(kEnds, [mnemonic](std::string_view end) { return mnemonic.ends_with(end); }) ||
         mnemonic.contains("pcmpestr") || mnemonic.contains("pcmpistr") || mnemonic.starts_with("kortest") ||
         mnemonic.starts_with("ktest");
}

// `xor %eax, %eax` needs nothing of it, nor does `sbb %eax, %eax`, but for the carry.
bool isZeroing(const cs_insn& insn) {
  const cs_x86& x86 = insn.detail->x86;
  return (insn.id == X86_INS_XOR || insn.id == X86_INS_SUB || insn.id == X86_INS_SBB) && x86.op_count == 2 &&
         x86.operands[0].type == X86_OP_REG && x86.operands[1].type == X86_OP_REG &&
         x86.operands[0].reg == x86.operands[1].reg;
}

bool isXmm15(unsigned reg) { return reg == X86_REG_XMM15 || reg == X86_REG_YMM15 || reg == X86_REG_ZMM15; }

// Those that leave part of what they write to as it was; the rest of their kind write all of it.
bool mergesVectors(std::string_view mnemonic, bool fromMemory) {
  constexpr std::array<std::string_view, 8> kStarts = {"cvtsi2s", "cvtss2sd", "cvtsd2ss", "pinsr",
                                                       "movlp",   "movhp",    "movlhps",  "movhlps"};
  constexpr std::array<std::string_view, 6> kScalars = {"sqrtss",  "sqrtsd",  "rcpss",
                                                        "rsqrtss", "roundss", "roundsd"};
  if (mnemonic == "movss" || mnemonic == "movsd") return !fromMemory;
  return mnemonic == "insertps" || std::ranges::contains(kScalars, mnemonic) ||
         std::ranges::any_of(kStarts, [&](std::string_view start) { return mnemonic.starts_with(start); });
}

std::uint16_t wholeRegister(const cs_x86_op& operand) {
  const int number = operand.type == X86_OP_REG ? registerNumber(operand.reg) : -1;
  const bool whole = number >= 0 && kRegisters[unsigned(number)][0] == operand.reg;
  return whole ? std::uint16_t(1U << unsigned(number)) : std::uint16_t{0};
}

// As functions keep registers and bring them back.
void addMoves(const cs_insn& insn, Effects& out) {
  const cs_x86& x86 = insn.detail->x86;
  const cs_x86_op &to = x86.operands[0], &from = x86.operands[1];
  if (insn.id == X86_INS_PUSH) out.saves = wholeRegister(to);
  if (insn.id == X86_INS_POP) out.loads = wholeRegister(to);
  if (insn.id != X86_INS_MOV || x86.op_count != 2) return;
  if (from.type == X86_OP_MEM) out.loads = wholeRegister(to);
  if (to.type == X86_OP_MEM && (to.mem.base == X86_REG_RSP || to.mem.base == X86_REG_RBP))
    out.saves = wholeRegister(from);
}

// Where in doubt it is read.
void addXmm15(const cs_insn& insn, Effects& out) {
  const cs_x86& x86 = insn.detail->x86;
  const std::string_view mnemonic = insn.mnemonic;
  // Whole states of the vector registers, and what may come back with other values in them.
  if (mnemonic.starts_with("fxsave") || mnemonic.starts_with("fxrstor") || mnemonic.starts_with("xsave") ||
      mnemonic.starts_with("xrstor")) {
    out.namesXmm15 = true;
    out.reads.flags |= kXmm15;
    return;
  }
  // System calls take nothing from it, but what comes back may be another thread, or a child.
  if (mnemonic == "vzeroall" || mnemonic == "syscall" || mnemonic == "sysenter") out.namesXmm15 = true;
  bool read = false, written = false, fromMemory = false, mask = false;
  for (unsigned i = 0; i < x86.op_count; ++i) {
    const cs_x86_op& operand = x86.operands[i];
    fromMemory |= operand.type == X86_OP_MEM;
    read |= operand.type == X86_OP_MEM && isXmm15(operand.mem.index);
    if (operand.type != X86_OP_REG) continue;
    mask |= operand.reg >= X86_REG_K0 && operand.reg <= X86_REG_K7;
    if (!isXmm15(operand.reg)) continue;
    out.namesXmm15 = true;
    (i == 0 && operand.access == CS_AC_WRITE ? written : read) = true;
  }
  const bool adds = mnemonic.starts_with("vfm") || mnemonic.starts_with("vfnm") ||
                    mnemonic.starts_with("vpdp") || mnemonic.starts_with("vpmadd52") ||
                    mnemonic.starts_with("vpermi2") || mnemonic.starts_with("vpermt2") ||
                    mnemonic.contains("gather") || mnemonic.contains("tern");
  const bool zeroing = x86.op_count >= 2 && x86.operands[0].type == X86_OP_REG &&
                       isXmm15(x86.operands[0].reg) && x86.operands[1].type == X86_OP_REG &&
                       x86.operands[1].reg == x86.operands[0].reg && x86.op_count == 2 &&
                       (mnemonic == "pxor" || mnemonic == "xorps");
  if (zeroing) {
    out.writes.flags |= kXmm15 | kXmm15Beyond;
    return;
  }
  if (written && adds) read = true;
  if (read)
    out.reads.flags |= kXmm15;
  else if (written && !mask && !mergesVectors(mnemonic, fromMemory))
    out.writes.flags |= kXmm15 | kXmm15Beyond;
  out.namesXmm15 |= read;
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

unsigned sixteenBitsOf(unsigned reg) {
  const int number = registerNumber(reg);
  return number < 0 ? unsigned{X86_REG_INVALID} : kRegisters[unsigned(number)][2];
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
    for (unsigned i = 0; i < writtenCount; ++i) {
      add(out.touches, written[i]);
      if (coversWhole(written[i])) add(out.writes.registers, written[i]);
    }
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
  // (rdssp writes nothing where there are no shadow stacks.)
  const bool conditional = mnemonic.starts_with("cmov") || mnemonic.starts_with("rdssp") ||
                           insn.id == X86_INS_LAR || insn.id == X86_INS_LSL || insn.id == X86_INS_CMPXCHG ||
                           insn.id == X86_INS_BSF || insn.id == X86_INS_BSR || x86.prefix[0] != 0;
  if (conditional) {
    out.mayLeave = out.touches;
    out.reads.registers |= out.writes.registers;
    out.writes.registers = 0;
  }
  // All ones, whatever was there.
  if (insn.id == X86_INS_OR && x86.op_count == 2 && x86.operands[0].type == X86_OP_REG &&
      coversWhole(x86.operands[0].reg) && x86.operands[1].type == X86_OP_IMM &&
      std::uint32_t(x86.operands[1].imm) == ~0U)
    out.reads.registers = 0;
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
      if ((x86.eflags & flag.write) == 0) continue;
      out.maySetFlags = true;
      if (!mayLeaveFlags(insn)) out.writes.flags |= flag.flag;
    }
  // Capstone knows nothing of `test` with memory and some others, and the field above is not for fcomi.
  if (insn.id == X86_INS_TEST || setsAllFlags(mnemonic)) {
    out.writes.flags = kAllFlags;
    out.maySetFlags = true;
  }
  if (mnemonic.starts_with("pushf") || mnemonic == "lahf") out.reads.flags = 63;

  // (By name, for Capstone numbers comparisons of vectors so that some are called cmpxchg16b.)
  if (readsUnnamed(insn.id) || mnemonic.starts_with("cmpxchg8b") || mnemonic.starts_with("cmpxchg16b")) {
    out.reads.registers = kAllRegisters;
    out.writes = {};
  }
  if (const std::uint16_t padlock = readByPadlock(insn); padlock != 0) {
    // Repeated no times, they write nothing; but xstore alone says in eax what it did, and edx is montmul's.
    out.reads = {padlock, 0};
    out.writes = {};
    if (insn.id == X86_INS_XSTORE && insn.bytes[0] == 0x0F) out.writes.registers = 1U << 0;
    if (insn.id == X86_INS_MONTMUL) out.writes.registers = 1U << 2;
  }
  if (insn.id == X86_INS_RDPKRU) {
    out.reads.registers = 1U << 1;
    out.writes.registers = 1U << 0 | 1U << 2;
  }
  if (insn.id == X86_INS_WRPKRU) out.reads.registers |= 1U << 0 | 1U << 1 | 1U << 2;
  if (mnemonic.contains("pcmpestr")) out.reads.registers |= 1U << 0 | 1U << 2;
  if (insn.id == X86_INS_MASKMOVDQU || insn.id == X86_INS_VMASKMOVDQU || insn.id == X86_INS_MASKMOVQ)
    out.reads.registers |= 1U << 7;
  if (insn.id == X86_INS_XGETBV) out.reads.registers |= 1U << 1;
  if (mnemonic.starts_with("fcmov")) out.reads.flags = kAllFlags;

  addXmm15(insn, out);
  addMoves(insn, out);
  out.touches |= out.writes.registers;
  // What it names it does not look at.
  if (insn.id == X86_INS_NOP) out.reads.registers = 0;

  const bool jump = cs_insn_group(capstone, &insn, CS_GRP_JUMP);
  const bool call = cs_insn_group(capstone, &insn, CS_GRP_CALL);
  const bool ret = cs_insn_group(capstone, &insn, CS_GRP_RET) || cs_insn_group(capstone, &insn, CS_GRP_IRET);
  const bool direct = x86.op_count == 1 && x86.operands[0].type == X86_OP_IMM;
  const bool loops = mnemonic.starts_with("loop") || mnemonic == "jrcxz" || mnemonic == "jecxz";
  if ((call || jump || loops) && direct) out.target = std::uint64_t(x86.operands[0].imm);
  if (call) {
    out.leaves = Leaves::Call;
  } else if (ret) {
    out.leaves = Leaves::Return;
  } else if (jump && !direct) {
    out.leaves = Leaves::Jump;
  } else if (mnemonic == "syscall" || cs_insn_group(capstone, &insn, CS_GRP_INT) || insn.id == X86_INS_UD2 ||
             insn.id == X86_INS_HLT || insn.id == X86_INS_INT3) {
    out.leaves = Leaves::Other;
  }
  out.falls = out.leaves == Leaves::Not && insn.id != X86_INS_JMP;
  out.pushes = insn.id == X86_INS_PUSH && x86.op_count == 1 && x86.operands[0].type == X86_OP_REG;
  // What comes back from the system may be anything but rcx and r11, which it changes; what is trapped does
  // not come back, but from breakpoints.
  if (mnemonic == "syscall") {
    out.reads.registers = kEveryRegister & ~(1U << 1 | kLinkers);
    out.writes.registers = 0;
  } else if (out.leaves == Leaves::Other && insn.id != X86_INS_UD2 && insn.id != X86_INS_HLT) {
    out.reads.registers = kEveryRegister;
    out.writes.registers = 0;
  }
  return out;
}

Effects effectsOfUnknown(std::uint64_t address, unsigned size) {
  Effects out;
  out.address = address;
  out.size = size;
  out.reads = {kAllRegisters, kAllFlags | kXmm15};
  out.namesXmm15 = true;
  return out;
}

std::vector<Needs> liveBefore(const std::vector<Effects>& code, const Elsewhere& elsewhere) {
  constexpr std::size_t kElsewhere = ~std::size_t{0};
  std::vector<Needs> live(code.size());
  std::vector<std::size_t> targets(code.size(), kElsewhere);
  std::vector<Needs> outside(code.size());  // what is needed where it leaves the function
  // Who is gone to for good returns in its place.
  const auto goneTo = [&](std::uint64_t target) {
    Needs needs = elsewhere.at(target);
    needs.flags |= elsewhere.onReturn.flags & kXmm15Beyond;
    return needs;
  };
  const auto follows = [&](std::size_t i) {
    return i + 1 < code.size() && code[i + 1].address == code[i].address + code[i].size;
  };
  std::vector<bool> toStub(code.size());
  for (std::size_t i = 0; i < code.size(); ++i) {
    const Effects& effects = code[i];
    const bool call = effects.leaves == Leaves::Call;
    Needs& needs = outside[i];
    if (effects.target != 0) {
      const auto found = std::ranges::lower_bound(code, effects.target, {}, &Effects::address);
      if (!call && found != code.end() && found->address == effects.target)
        targets[i] = std::size_t(found - code.begin());
      else
        needs = call ? elsewhere.at(effects.target) : goneTo(effects.target);
    }
    if (call) {
      // For unwinding, at the least.
      needs.registers |= kPreserved;
      toStub[i] = effects.target != 0 && elsewhere.isStub(effects.target);
    }
    if (effects.leaves == Leaves::Return) needs |= elsewhere.onReturn;
    if (effects.leaves == Leaves::Jump) needs.flags |= elsewhere.onReturn.flags & kXmm15Beyond;
    if (effects.leaves == Leaves::Jump || (call && effects.target == 0)) {
      needs |= elsewhere.onIndirectEntry;
      needs.maybe |= kArguments;
    }
    if (effects.falls && !follows(i)) needs |= goneTo(effects.address + effects.size);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = code.size(); i-- > 0;) {
      const Effects& effects = code[i];
      Needs after = outside[i];
      if (effects.falls && follows(i)) after |= live[i + 1];
      // Anybody else may leave alone what is needed behind him, but the linker's stubs r11.
      if (effects.leaves == Leaves::Call && follows(i)) {
        std::uint16_t untouched = 0;
        if (effects.target == 0) untouched = kEveryRegister;
        if (toStub[i]) untouched = std::uint16_t(~kLinkers);
        after |= {std::uint16_t(live[i + 1].registers & untouched), 0,
                  std::uint16_t(live[i + 1].maybe & untouched)};
      }
      if (targets[i] != kElsewhere) after |= live[targets[i]];
      const Needs before{
          std::uint16_t(effects.reads.registers | (after.registers & ~effects.writes.registers)),
          std::uint8_t(effects.reads.flags | (after.flags & ~effects.writes.flags)),
          std::uint16_t(after.maybe & ~effects.writes.registers)};
      if (before == live[i]) continue;
      live[i] = before;
      changed = true;
    }
  }
  return live;
}

}  // namespace traceback::truth
