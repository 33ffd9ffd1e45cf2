#include "loader/disasm/disassemble.h"

#include <capstone/capstone.h>

#include <format>
#include <memory>

namespace traceback::loader {

namespace {

struct Close {
  void operator()(csh* handle) const { cs_close(handle); }
};
struct Free {
  void operator()(cs_insn* instruction) const { cs_free(instruction, 1); }
};

std::string hexOf(Bytes bytes) {
  std::string text;
  for (const std::byte byte : bytes)
    text += std::format("{}{:02x}", text.empty() ? "" : " ", static_cast<std::uint8_t>(byte));
  return text;
}

std::optional<model::VirtAddr> targetOf(const cs_insn& instruction) {
  const cs_detail* detail = instruction.detail;
  if (!detail) return {};
  bool transfers = false;
  for (std::uint8_t i = 0; i < detail->groups_count; ++i) {
    transfers = transfers || detail->groups[i] == CS_GRP_JUMP || detail->groups[i] == CS_GRP_CALL ||
                detail->groups[i] == CS_GRP_BRANCH_RELATIVE;
  }
  const cs_x86& x86 = detail->x86;
  if (!transfers || x86.op_count != 1 || x86.operands[0].type != X86_OP_IMM) return {};
  return model::VirtAddr{static_cast<std::uint64_t>(x86.operands[0].imm)};
}

}  // namespace

std::vector<Instruction> disassemble(Bytes code, model::VirtAddr address, std::size_t limit, Syntax syntax) {
  std::vector<Instruction> result;
  csh handle = 0;
  if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK) return result;
  const std::unique_ptr<csh, Close> closer(&handle);
  cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
  cs_option(handle, CS_OPT_SYNTAX, syntax == Syntax::Att ? CS_OPT_SYNTAX_ATT : CS_OPT_SYNTAX_INTEL);
  const std::unique_ptr<cs_insn, Free> decoded(cs_malloc(handle));
  if (!decoded) return result;

  std::size_t at = 0;
  while (at < code.size() && result.size() < limit) {
    const std::uint8_t* bytes = reinterpret_cast<const std::uint8_t*>(code.data()) + at;
    std::size_t left = code.size() - at;
    std::uint64_t where = address.value + at;
    Instruction instruction;
    instruction.address = {where};
    if (cs_disasm_iter(handle, &bytes, &left, &where, decoded.get())) {
      instruction.size = static_cast<std::uint8_t>(decoded->size);
      instruction.mnemonic = decoded->mnemonic;
      instruction.operands = decoded->op_str;
      instruction.target = targetOf(*decoded);
    } else {
      instruction.size = 1;
      instruction.mnemonic = "(bad)";
    }
    instruction.bytes = hexOf(code.subspan(at, instruction.size));
    at += instruction.size;
    result.push_back(std::move(instruction));
  }
  return result;
}

}  // namespace traceback::loader
