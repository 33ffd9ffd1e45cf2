#include "tests/truth/second_decoder/code.h"

#include <algorithm>
#include <format>
#include <optional>

namespace traceback::truth {

namespace {

struct Shape {
  unsigned size = 0;
  unsigned ripOffset = 0;
  std::int32_t displacement = 0;
  bool vectorsOnly = false;  // of general registers it reads those of its address alone, and no flag
  std::uint16_t address = 0;
  bool namesXmm15 = true;  // among those vectors, perhaps
};

// Instructions of later processors whose operands are vectors (Intel's manual: with VEX prefixes, VPDPB*,
// VPDPW*, VPMADD52*, which AVX has got after AVX-512 had them, VSHA512*, VSM3*, VSM4*): the opcode of map
// 0F38, VEX.W and VEX.pp.
bool takesVectors(unsigned opcode, unsigned w, unsigned pp) {
  constexpr unsigned k66 = 1, kF2 = 3;
  switch (opcode) {
    case 0x50:  // AVX-VNNI with 66, AVX-VNNI-INT8 with the others
    case 0x51:
      return w == 0;
    case 0x52:
    case 0x53:
      return w == 0 && pp == k66;
    case 0xB4:  // AVX-IFMA
    case 0xB5:
      return w == 1 && pp == k66;
    case 0xD2:  // AVX-VNNI-INT16
    case 0xD3:
      return w == 0 && pp <= 2;
    case 0xCB:  // SHA512
    case 0xCC:
    case 0xCD:
      return w == 0 && pp == kF2;
    case 0xDA:  // SM3, SM4
      return w == 0;
    default:
      return false;
  }
}

// How long a vector or system instruction is that Capstone does not know: prefixes, an opcode of a map, a
// ModRM byte and what that asks for, and in some maps a constant. Such never are jumps.
std::optional<Shape> shapeOf(std::span<const unsigned char> bytes) {
  std::size_t at = 0;
  while (at < bytes.size() && (bytes[at] == 0x66 || bytes[at] == 0xF2 || bytes[at] == 0xF3 ||
                               bytes[at] == 0x64 || bytes[at] == 0x65))
    ++at;
  if (at + 6 > bytes.size()) return std::nullopt;
  unsigned map = 0;
  bool vector = false;
  unsigned highBase = 0, highIndex = 0, highRegister = 0, second = 0;
  Shape shape;
  if (bytes[at] == 0x62) {
    map = bytes[at + 1] & 7;
    at += 4;
    vector = true;
  } else if (bytes[at] == 0xC4) {
    map = bytes[at + 1] & 31;
    shape.vectorsOnly = map == 2 && takesVectors(bytes[at + 3], bytes[at + 2] >> 7, bytes[at + 2] & 3);
    highBase = (~bytes[at + 1] >> 5 & 1U) << 3;
    highIndex = (~bytes[at + 1] >> 6 & 1U) << 3;
    highRegister = (~bytes[at + 1] >> 7 & 1U) << 3;
    second = ~bytes[at + 2] >> 3 & 15U;
    at += 3;
    vector = true;
  } else if (bytes[at] == 0xC5) {
    map = 1;
    at += 2;
    vector = true;
  } else {
    if ((bytes[at] & 0xF0) == 0x40) ++at;
    if (bytes[at++] != 0x0F) return std::nullopt;
    map = bytes[at] == 0x38 ? 2 : bytes[at] == 0x3A ? 3 : 1;
    if (map != 1) ++at;
  }
  if (at + 2 > bytes.size()) return std::nullopt;
  const unsigned opcode = bytes[at++];
  bool constant = map == 3;
  if (map == 1 && vector) {
    constant = (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xC2 || (opcode >= 0xC4 && opcode <= 0xC6);
  } else if (map == 1) {
    if (opcode != 0x01 && opcode != 0xAE && opcode != 0xC7 && (opcode < 0x18 || opcode > 0x1F))
      return std::nullopt;
  } else if (map == 0 || map == 4 || map > 6) {
    return std::nullopt;
  }
  const unsigned modrm = bytes[at++], mod = modrm >> 6, rm = modrm & 7;
  if (shape.vectorsOnly)
    shape.namesXmm15 =
        second == 15 || ((modrm >> 3 & 7) | highRegister) == 15 || (mod == 3 && (rm | highBase) == 15);
  if (mod != 3) {
    const auto reads = [&shape](unsigned number) {
      shape.address = std::uint16_t(shape.address | 1U << number);
    };
    unsigned base = rm;
    if (rm == 4) {
      if (at >= bytes.size()) return std::nullopt;
      const unsigned index = (bytes[at] >> 3 & 7) | highIndex;
      base = bytes[at++] & 7;
      if (index != 4) reads(index);
    }
    if (mod != 0 || base != 5) reads(base | highBase);
    if (mod == 0 && rm == 5) shape.ripOffset = unsigned(at);
    const unsigned displacement = mod == 1 ? 1 : mod == 2 || (mod == 0 && base == 5) ? 4 : 0;
    if (at + displacement > bytes.size()) return std::nullopt;
    if (shape.ripOffset != 0)
      for (unsigned i = 0; i < 4; ++i)
        shape.displacement |= std::int32_t(std::uint32_t(bytes[at + i]) << (8 * i));
    at += displacement;
  }
  if (constant) ++at;
  if (at > bytes.size() || at > 15) return std::nullopt;
  shape.size = unsigned(at);
  return shape;
}

// Whatever it names first it may write, for all that Capstone may not know of it.
std::uint16_t changesOf(csh capstone, const cs_insn& insn) {
  std::uint16_t out = 0;
  const auto add = [&out](unsigned reg) {
    if (const int number = registerNumber(reg); number >= 0)
      out = std::uint16_t(out | 1U << unsigned(number));
  };
  cs_regs read, written;
  std::uint8_t readCount = 0, writtenCount = 0;
  if (cs_regs_access(capstone, &insn, read, &readCount, written, &writtenCount) != CS_ERR_OK) return 0xFFFF;
  for (unsigned i = 0; i < writtenCount; ++i) add(written[i]);
  const cs_x86& x86 = insn.detail->x86;
  const bool comparesOnly = insn.id == X86_INS_CMP || insn.id == X86_INS_TEST;
  if (x86.op_count > 0 && x86.operands[0].type == X86_OP_REG && !comparesOnly) add(x86.operands[0].reg);
  return out;
}

}  // namespace

bool isShortOnly(unsigned id) {
  return id == X86_INS_JRCXZ || id == X86_INS_JECXZ || id == X86_INS_LOOP || id == X86_INS_LOOPE ||
         id == X86_INS_LOOPNE;
}

bool endsFlow(unsigned id) {
  return id == X86_INS_JMP || id == X86_INS_RET || id == X86_INS_RETF || id == X86_INS_UD2 ||
         id == X86_INS_HLT || id == X86_INS_INT3;
}

Decoder::Decoder() {
  cs_open(CS_ARCH_X86, CS_MODE_64, &m_capstone);
  cs_option(m_capstone, CS_OPT_DETAIL, CS_OPT_ON);
  m_insn = cs_malloc(m_capstone);
}

Decoder::~Decoder() {
  cs_free(m_insn, 1);
  cs_close(&m_capstone);
}

bool Decoder::decode(std::span<const unsigned char> bytes, std::uint64_t address, Code& out) {
  bytes = bytes.first(std::min<std::size_t>(bytes.size(), 15));
  out = {};
  out.address = address;
  const std::uint8_t* next = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t after = address;
  if (!cs_disasm_iter(m_capstone, &next, &left, &after, m_insn)) {
    const auto shape = shapeOf(bytes);
    if (!shape) return false;
    out.size = shape->size;
    std::copy_n(bytes.data(), out.size, out.bytes.begin());
    out.ripOffset = shape->ripOffset;
    if (out.ripOffset != 0)
      out.ripTarget = address + out.size + std::uint64_t(std::int64_t(shape->displacement));
    out.effects = effectsOfUnknown(address, out.size);
    out.changes = 0xFFFF;
    if (shape->vectorsOnly) {
      out.effects.reads = {shape->address, shape->namesXmm15 ? kXmm15 : std::uint8_t{0}};
      out.effects.namesXmm15 = shape->namesXmm15;
    }
    return true;
  }
  out.size = m_insn->size;
  std::copy_n(bytes.data(), out.size, out.bytes.begin());
  out.id = m_insn->id;
  const cs_x86& x86 = m_insn->detail->x86;
  for (unsigned i = 0; i < x86.op_count; ++i) {
    const cs_x86_op& operand = x86.operands[i];
    if (operand.type == X86_OP_IMM) {
      out.imm = std::uint64_t(operand.imm);
    } else if (operand.type == X86_OP_REG) {
      (i == 0 ? out.reg0 : out.reg1) = operand.reg;
    } else if (operand.type == X86_OP_MEM) {
      out.memory = true;
      out.memoryFirst = i == 0;
      out.base = operand.mem.base;
      out.segment = operand.mem.segment;
      out.disp = operand.mem.disp;
      out.width = operand.size;
      if (operand.mem.base == X86_REG_RIP) {
        out.ripTarget = address + m_insn->size + std::uint64_t(operand.mem.disp);
        out.ripOffset = x86.encoding.disp_offset;
      }
      if (operand.mem.index != X86_REG_INVALID) {
        out.element = operand.mem.base;
        out.index = operand.mem.index;
        out.scale = unsigned(operand.mem.scale);
        out.base = X86_REG_INVALID;
      }
    }
  }
  const bool branch = cs_insn_group(m_capstone, m_insn, CS_GRP_JUMP) ||
                      cs_insn_group(m_capstone, m_insn, CS_GRP_CALL) || isShortOnly(m_insn->id);
  if (branch && x86.op_count == 1 && x86.operands[0].type == X86_OP_IMM) {
    out.direct = true;
    out.target = out.imm;
  }
  out.effects = effectsOf(m_capstone, *m_insn);
  out.changes = changesOf(m_capstone, *m_insn);
  return true;
}

std::string Decoder::text(const Code& code) const {
  cs_insn* insn = nullptr;
  if (cs_disasm(m_capstone, code.bytes.data(), code.size, code.address, 1, &insn) != 1)
    return std::format("an instruction of {} bytes, {:#x}...", code.size, code.bytes[0]);
  std::string text = std::format("{} {}", insn->mnemonic, insn->op_str);
  cs_free(insn, 1);
  return text;
}

namespace {

// 7x, or 0f 8x, behind prefixes: x, whose last bit says which of two contraries it is.
std::optional<unsigned> conditionOf(const Code& code) {
  unsigned at = 0;
  while (at + 2 < code.size && (code.bytes[at] == 0x2E || code.bytes[at] == 0x3E || code.bytes[at] == 0xF2))
    ++at;
  const unsigned op = code.bytes[at] == 0x0F ? code.bytes[at + 1] - 0x10U : code.bytes[at];
  return code.direct && (op & 0xF0U) == 0x70 ? std::optional(op & 0x0FU) : std::nullopt;
}

}  // namespace

bool areContraries(const Code& one, const Code& other) {
  const auto first = conditionOf(one), second = conditionOf(other);
  return first && second && (*first ^ *second) == 1;
}

}  // namespace traceback::truth
