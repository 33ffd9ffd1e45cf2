#include "instrument/decode/instruction.h"

#include <array>

#include "instrument/decode/decoder.h"

namespace traceback::instrument {
namespace {

constexpr ZyanI64 kSplitStackLimit = 0x70;  // in the thread's header: glibc's __private_ss

// The set of the general register that contains `reg`, or none.
RegisterSet setOf(ZydisRegister reg) {
  const auto number = generalRegister(reg);
  return number ? registerBit(*number) : RegisterSet{0};
}

FlagSet flagsOf(ZydisAccessedFlagsMask mask) {
  constexpr std::array<ZydisAccessedFlagsMask, 6> kFlags = {ZYDIS_CPUFLAG_CF, ZYDIS_CPUFLAG_PF,
                                                            ZYDIS_CPUFLAG_AF, ZYDIS_CPUFLAG_ZF,
                                                            ZYDIS_CPUFLAG_SF, ZYDIS_CPUFLAG_OF};
  FlagSet out = 0;
  for (unsigned i = 0; i < kFlags.size(); ++i)
    if (mask & kFlags[i]) out |= FlagSet(1u << i);
  return out;
}

bool isShiftOrRotate(ZydisMnemonic m) {
  switch (m) {
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
    case ZYDIS_MNEMONIC_ROL:
    case ZYDIS_MNEMONIC_ROR:
    case ZYDIS_MNEMONIC_RCL:
    case ZYDIS_MNEMONIC_RCR:
    case ZYDIS_MNEMONIC_SHLD:
    case ZYDIS_MNEMONIC_SHRD:
      return true;
    default:
      return false;
  }
}

void addRegisterEffects(const ZydisDecodedOperand& operand, Instruction& out) {
  if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
    out.reads |= RegisterSet(setOf(operand.mem.base) | setOf(operand.mem.index));
    return;
  }
  if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return;
  const RegisterSet reg = setOf(operand.reg.value);
  if (reg == 0) return;
  if (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) out.reads |= reg;
  // Writing 32 bits clears the upper half: a whole write. Writing 8 or 16 keeps the rest.
  const bool whole = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value) >= 32;
  if ((operand.actions & ZYDIS_OPERAND_ACTION_WRITE) && whole) out.kills |= reg;
  if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) out.changes |= reg;
}

void addFlagEffects(const ZydisDecodedInstruction& insn, const ZydisDecodedOperand* operands,
                    Instruction& out) {
  const ZydisAccessedFlags* flags = insn.cpu_flags;
  if (flags == nullptr) return;
  out.flagsRead = flagsOf(flags->tested);
  // (What the manuals call undefined nothing may rely on.) A shift by a count that may be zero, or a repeated
  // compare that may not run, leaves flags as they were.
  const bool counted = isShiftOrRotate(insn.mnemonic) && insn.operand_count_visible >= 2 &&
                       operands[insn.operand_count_visible - 1].type == ZYDIS_OPERAND_TYPE_REGISTER;
  const bool repeated =
      (insn.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
  const unsigned countMask = operands[0].size == 64 ? 63 : 31;
  const bool zeroCount = isShiftOrRotate(insn.mnemonic) && insn.operand_count_visible >= 2 &&
                         operands[insn.operand_count_visible - 1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
                         (operands[insn.operand_count_visible - 1].imm.value.u & countMask) == 0;
  out.flagsChanged = flagsOf(flags->modified | flags->set_0 | flags->set_1 | flags->undefined);
  if (!counted && !repeated && !zeroCount) out.flagsKilled = out.flagsChanged;
}

// Before the kills of transfers are taken away.
void addStackEffects(const ZydisDecodedInstruction& insn, const ZydisDecodedOperand* operands,
                     Instruction& out) {
  const ZydisDecodedOperand& first = operands[0];
  if ((out.kills & registerBit(kRsp)) == 0) {
    for (unsigned i = 0; i < insn.operand_count_visible; ++i) {
      const ZydisDecodedOperand& op = operands[i];
      if (op.type != ZYDIS_OPERAND_TYPE_MEMORY || (op.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0 ||
          op.mem.base != ZYDIS_REGISTER_RSP || op.mem.index != ZYDIS_REGISTER_NONE)
        continue;
      out.storesOnStack = true;
      out.stack = std::int32_t(op.mem.disp.value);
    }
    return;
  }
  out.stack = kStackUnknown;
  const bool toRsp = first.type == ZYDIS_OPERAND_TYPE_REGISTER && first.reg.value == ZYDIS_REGISTER_RSP;
  const auto bytes = std::int32_t(insn.operand_width / 8);
  switch (insn.mnemonic) {
    case ZYDIS_MNEMONIC_CALL:
      out.stack = 0;
      break;
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_PUSHFQ:
      out.stack = bytes;
      break;
    case ZYDIS_MNEMONIC_POP:
      if (toRsp || first.type != ZYDIS_OPERAND_TYPE_REGISTER) break;
      [[fallthrough]];
    case ZYDIS_MNEMONIC_POPFQ:
      out.stack = -bytes;
      break;
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_ADD:
      if (!toRsp || operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) break;
      out.stack = std::int32_t(insn.mnemonic == ZYDIS_MNEMONIC_SUB ? operands[1].imm.value.s
                                                                   : -operands[1].imm.value.s);
      break;
    case ZYDIS_MNEMONIC_LEA:
      if (toRsp && operands[1].mem.base == ZYDIS_REGISTER_RSP && operands[1].mem.index == ZYDIS_REGISTER_NONE)
        out.stack = -std::int32_t(operands[1].mem.disp.value);
      break;
    default:
      break;
  }
}

// All 64 bits of one, or of none.
RegisterSet wholeOf(const ZydisDecodedOperand& operand) {
  const bool isWhole = operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
                       ZydisRegisterGetClass(operand.reg.value) == ZYDIS_REGCLASS_GPR64;
  return isWhole ? setOf(operand.reg.value) : RegisterSet{0};
}

// As functions keep registers and bring them back.
void addMoves(const ZydisDecodedInstruction& insn, const ZydisDecodedOperand* operands, Instruction& out) {
  if (insn.mnemonic == ZYDIS_MNEMONIC_PUSH) out.saves = wholeOf(operands[0]);
  if (insn.mnemonic == ZYDIS_MNEMONIC_POP) out.loads = wholeOf(operands[0]);
  if (insn.mnemonic != ZYDIS_MNEMONIC_MOV) return;
  const ZydisDecodedOperand &to = operands[0], &from = operands[1];
  if (from.type == ZYDIS_OPERAND_TYPE_MEMORY) out.loads = wholeOf(to);
  if (to.type == ZYDIS_OPERAND_TYPE_MEMORY &&
      (to.mem.base == ZYDIS_REGISTER_RSP || to.mem.base == ZYDIS_REGISTER_RBP))
    out.saves = wholeOf(from);
}

bool isXmm15(ZydisRegister reg) {
  return reg == ZYDIS_REGISTER_XMM15 || reg == ZYDIS_REGISTER_YMM15 || reg == ZYDIS_REGISTER_ZMM15;
}

// Of a vector instruction only what is encoded so that it writes all of the register is known to.
void addXmm15Effects(const ZydisDecodedInstruction& insn, const ZydisDecodedOperand* operands,
                     Instruction& out) {
  bool read = false, written = false;
  for (unsigned i = 0; i < insn.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      read |= isXmm15(operand.mem.index);
      continue;
    }
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    // Older processors are slow where instructions of both kinds alternate: probes' are of the narrow kind.
    if (operand.size >= 256) out.leavesXmm15 = false;
    if (!isXmm15(operand.reg.value)) continue;
    out.leavesXmm15 = false;
    const bool reads = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    const bool whole = insn.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX || operand.size >= 128;
    const bool masked = insn.avx.mask.reg != ZYDIS_REGISTER_NONE && insn.avx.mask.reg != ZYDIS_REGISTER_K0;
    read |= reads;
    written |= !reads && (operand.actions & ZYDIS_OPERAND_ACTION_WRITE) != 0 && whole && !masked;
  }
  // Zero whatever it was.
  if ((insn.mnemonic == ZYDIS_MNEMONIC_PXOR || insn.mnemonic == ZYDIS_MNEMONIC_XORPS) && read &&
      operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[0].reg.value == operands[1].reg.value) {
    read = false;
    written = true;
  }
  switch (insn.mnemonic) {
    case ZYDIS_MNEMONIC_VZEROALL:
      out.leavesXmm15 = false;
      break;
    case ZYDIS_MNEMONIC_XGETBV:
    case ZYDIS_MNEMONIC_XSETBV:
      break;
    default:
      // Instructions that save or bring back the whole of the vector state.
      if (insn.meta.isa_ext == ZYDIS_ISA_EXT_XSAVE || insn.meta.isa_ext == ZYDIS_ISA_EXT_XSAVEC ||
          insn.meta.isa_ext == ZYDIS_ISA_EXT_XSAVEOPT || insn.meta.isa_ext == ZYDIS_ISA_EXT_XSAVES ||
          insn.mnemonic == ZYDIS_MNEMONIC_FXSAVE || insn.mnemonic == ZYDIS_MNEMONIC_FXSAVE64 ||
          insn.mnemonic == ZYDIS_MNEMONIC_FXRSTOR || insn.mnemonic == ZYDIS_MNEMONIC_FXRSTOR64)
        read = true;
  }
  if (read) {
    out.flagsRead |= kXmm15;
    out.leavesXmm15 = false;
  } else if (written) {
    out.flagsKilled |= kXmm15;
  }
}

void readEverything(Instruction& out) {
  out.reads = kAllRegisters;
  out.kills = 0;
  out.flagsRead |= kAllFlags;
  out.flagsKilled = 0;
  out.flagsChanged = kAllFlags;
  out.leavesXmm15 = false;
}

void classify(const ZydisDecodedInstruction& insn, const ZydisDecodedOperand* operands, Instruction& out) {
  const ZydisDecodedOperand& first = operands[0];
  // A branch with a 16-bit operand: processors disagree on it.
  if (insn.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE && (insn.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) &&
      insn.raw.rex.W == 0)
    out.unsafe = true;
  const bool direct = insn.operand_count_visible > 0 && first.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  const auto target = [&] { return VirtAddr{out.end().value + std::uint64_t(first.imm.value.s)}; };
  switch (insn.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      out.target = target();
      switch (insn.mnemonic) {
        case ZYDIS_MNEMONIC_JCXZ:
        case ZYDIS_MNEMONIC_JECXZ:
        case ZYDIS_MNEMONIC_JRCXZ:
        case ZYDIS_MNEMONIC_LOOP:
        case ZYDIS_MNEMONIC_LOOPE:
        case ZYDIS_MNEMONIC_LOOPNE:
          out.flow = Flow::ShortBranch;
          break;
        default:
          out.flow = Flow::Branch;
          // Conditional transfers other than jcc, such as xbegin's relatives, have no place here.
          if (!(insn.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && insn.opcode >= 0x70 && insn.opcode <= 0x7F) &&
              !(insn.opcode_map == ZYDIS_OPCODE_MAP_0F && insn.opcode >= 0x80 && insn.opcode <= 0x8F))
            out.unsafe = true;
      }
      break;
    case ZYDIS_CATEGORY_UNCOND_BR:
      if (insn.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) out.unsafe = true;
      if (direct) {
        out.flow = Flow::Jump;
        out.target = target();
        if (insn.opcode != 0xEB && insn.opcode != 0xE9) out.unsafe = true;
      } else {
        out.flow = Flow::IndirectJump;
      }
      break;
    case ZYDIS_CATEGORY_CALL:
      if (insn.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) out.unsafe = true;
      if (direct) {
        out.flow = Flow::Call;
        out.target = target();
      } else {
        out.flow = Flow::IndirectCall;
      }
      break;
    case ZYDIS_CATEGORY_RET:
      out.flow = Flow::Return;
      if (insn.mnemonic != ZYDIS_MNEMONIC_RET || insn.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
        out.unsafe = true;
      break;
    default:
      break;
  }
  switch (insn.mnemonic) {
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_INT3:
      out.flow = Flow::Stop;
      break;
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_XABORT:
    case ZYDIS_MNEMONIC_XEND:
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_SYSRET:
    case ZYDIS_MNEMONIC_SYSEXIT:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
      out.unsafe = true;
      break;
    default:
      break;
  }
  if ((out.flow == Flow::IndirectJump || out.flow == Flow::IndirectCall) &&
      first.type == ZYDIS_OPERAND_TYPE_REGISTER) {
    const RegisterSet reg = setOf(first.reg.value);
    for (unsigned i = 0; i < 16; ++i)
      if (reg == registerBit(i)) out.indirectRegister = std::uint8_t(i);
  }
}

}  // namespace

std::optional<Instruction> decode(std::span<const std::byte> bytes, VirtAddr address) {
  ZydisDecodedInstruction insn;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), bytes.data(), bytes.size(), &insn, operands.data())))
    return std::nullopt;

  Instruction out;
  out.address = address;
  out.length = insn.length;
  out.isNop = insn.meta.category == ZYDIS_CATEGORY_NOP || insn.meta.category == ZYDIS_CATEGORY_WIDENOP;
  out.isEndbr64 = insn.mnemonic == ZYDIS_MNEMONIC_ENDBR64;
  out.isLea = insn.mnemonic == ZYDIS_MNEMONIC_LEA;
  for (unsigned i = 0; i < insn.operand_count; ++i) {
    addRegisterEffects(operands[i], out);
    const ZydisDecodedOperand& op = operands[i];
    if (op.type == ZYDIS_OPERAND_TYPE_MEMORY && op.mem.segment == ZYDIS_REGISTER_FS &&
        op.mem.base == ZYDIS_REGISTER_NONE && op.mem.index == ZYDIS_REGISTER_NONE &&
        op.mem.disp.value == kSplitStackLimit)
      out.usesSplitStackLimit = true;
    if (i < insn.operand_count_visible && op.type == ZYDIS_OPERAND_TYPE_MEMORY &&
        op.mem.base == ZYDIS_REGISTER_RSP && op.mem.disp.value < 0)
      out.namesBelowStack = true;
    if (op.type == ZYDIS_OPERAND_TYPE_MEMORY &&
        (op.mem.base == ZYDIS_REGISTER_RIP || op.mem.base == ZYDIS_REGISTER_EIP)) {
      out.ripOffset = insn.raw.disp.offset;
      out.ripTarget = {out.end().value + std::uint64_t(op.mem.disp.value)};
      if (op.mem.base == ZYDIS_REGISTER_EIP || insn.raw.disp.size != 32) out.unsafe = true;
    }
  }
  if (out.ripOffset == 0 && insn.raw.disp.size == 32) out.displacement = std::uint32_t(insn.raw.disp.value);
  if (insn.raw.imm[0].size >= 32 && !insn.raw.imm[0].is_relative)
    out.immediate = std::uint32_t(insn.raw.imm[0].value.u);
  // xor r,r and sub r,r give zero whatever r was.
  if ((insn.mnemonic == ZYDIS_MNEMONIC_XOR || insn.mnemonic == ZYDIS_MNEMONIC_SUB) &&
      operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
      operands[0].reg.value == operands[1].reg.value && insn.operand_width >= 32)
    out.reads = 0;
  // What nops name they do not look at.
  if (insn.mnemonic == ZYDIS_MNEMONIC_NOP) out.reads = 0;
  // And sbb r,r depends on the carry alone, or $-1,r on nothing.
  if (insn.mnemonic == ZYDIS_MNEMONIC_SBB && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
      operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[0].reg.value == operands[1].reg.value &&
      insn.operand_width >= 32)
    out.reads = 0;
  if (insn.mnemonic == ZYDIS_MNEMONIC_OR && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
      operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[1].imm.value.s == -1 &&
      insn.operand_width >= 32)
    out.reads = 0;
  // With a zero operand bsf and bsr leave their destination as it was, and so do tzcnt and lzcnt on
  // processors that take them for these. Without shadow stacks rdssp does nothing, which programs look for.
  if (insn.mnemonic == ZYDIS_MNEMONIC_RDSSPD || insn.mnemonic == ZYDIS_MNEMONIC_RDSSPQ ||
      insn.mnemonic == ZYDIS_MNEMONIC_BSF || insn.mnemonic == ZYDIS_MNEMONIC_BSR ||
      insn.mnemonic == ZYDIS_MNEMONIC_TZCNT || insn.mnemonic == ZYDIS_MNEMONIC_LZCNT)
    out.kills = 0;
  addFlagEffects(insn, operands.data(), out);
  addXmm15Effects(insn, operands.data(), out);
  addStackEffects(insn, operands.data(), out);
  addMoves(insn, operands.data(), out);
  classify(insn, operands.data(), out);
  // What leaves the function reads by itself what it names.
  if (isCall(out.flow) || out.flow == Flow::IndirectJump || out.flow == Flow::Return) out.kills = 0;
  if (out.flow == Flow::Stop && insn.mnemonic != ZYDIS_MNEMONIC_INT3) {
    // Ends here; what a signal handler makes of the flags is not the program's.
    out.reads = kAllRegisters;
    return out;
  }
  const bool readsClock = insn.mnemonic == ZYDIS_MNEMONIC_RDTSC || insn.mnemonic == ZYDIS_MNEMONIC_RDTSCP;
  if (out.flow == Flow::Stop || insn.meta.category == ZYDIS_CATEGORY_SYSCALL ||
      insn.meta.category == ZYDIS_CATEGORY_INTERRUPT ||
      (insn.meta.category == ZYDIS_CATEGORY_SYSTEM && !readsClock))
    readEverything(out);
  // The processor itself leaves other things there. (The flags come back as they were.)
  if (insn.mnemonic == ZYDIS_MNEMONIC_SYSCALL) {
    out.reads &= RegisterSet(~(registerBit(kRcx) | registerBit(kR11)));
    out.flagsRead &= FlagSet(~kAllFlags);
  }
  return out;
}

}  // namespace traceback::instrument
