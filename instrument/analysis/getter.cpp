#include "instrument/analysis/getter.h"

#include <algorithm>
#include <map>

#include "instrument/analysis/stubs.h"
#include "instrument/decode/decoder.h"

namespace traceback::instrument {
namespace {

constexpr unsigned kMostSteps = 64, kDeepest = 6, kRdi = 7, kRbp = 5;

struct Value {
  enum class Of : std::uint8_t { Unknown, Constant, Stack, Object } of = Of::Unknown;
  Handed handed = {};  // Object; of the others the first offset counts

  std::int64_t& offset() { return handed.offsets[handed.loads]; }
};

Value constant(std::int64_t value) { return {.of = Value::Of::Constant, .handed = {.offsets = {value}}}; }

Value plus(Value value, std::int64_t distance) {
  if (value.of != Value::Of::Unknown) value.offset() += distance;
  return value;
}

// The C++ library's functions that hand out a text of their object's, and where the address of that is.
struct Library {
  std::string_view name;
  std::int64_t at;
};
constexpr Library kLibrary[] = {{"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5c_strEv", 0},
                                {"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4dataEv", 0},
                                {"_ZNKSs5c_strEv", 0},
                                {"_ZNKSs4dataEv", 0},
                                {"_ZNKSt13runtime_error4whatEv", 8},
                                {"_ZNKSt11logic_error4whatEv", 8}};

bool isWhole(const ZydisDecodedOperand& operand) { return operand.size == 64; }

}  // namespace

class Getters::Walk {
 public:
  explicit Walk(const Getters& getters) : m_getters(getters) {
    m_registers[kRdi] = {.of = Value::Of::Object};
    m_registers[kRsp] = {.of = Value::Of::Stack};
  }

  // Up to its return; false if it does what is not followed.
  bool call(VirtAddr at, unsigned depth = 0) {
    if (depth > kDeepest) return false;
    while (m_steps++ < kMostSteps) {
      const auto code = m_getters.m_program.codeFrom(at);
      ZydisDecodedInstruction insn;
      ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
      if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder(), code.data(), code.size(), &insn, operands)))
        return false;
      const VirtAddr next{at.value + insn.length};
      switch (insn.mnemonic) {
        case ZYDIS_MNEMONIC_RET:
          return true;
        case ZYDIS_MNEMONIC_JMP:
          return goTo(operands[0], next, depth);
        case ZYDIS_MNEMONIC_CALL:
          if (!callFrom(operands[0], next, depth + 1)) return false;
          break;
        default:
          if (insn.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE || !step(insn, operands, next)) return false;
      }
      at = next;
    }
    return false;
  }

  std::optional<Handed> result() const {
    const Value& value = m_registers[kRax];
    if (value.of == Value::Of::Object) return value.handed;
    const VirtAddr constant{std::uint64_t(value.handed.offsets[0])};
    if (value.of != Value::Of::Constant || m_getters.m_program.image->segmentAt(constant) == nullptr)
      return std::nullopt;
    return Handed{.constant = constant};
  }

 private:
  static std::optional<VirtAddr> slotOf(const ZydisDecodedOperand& operand, VirtAddr next) {
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.base != ZYDIS_REGISTER_RIP) return {};
    return VirtAddr{next.value + std::uint64_t(operand.mem.disp.value)};
  }

  // Likewise from where a jump or a call leads: by a slot of the linkage table, or a stub for one, or
  // directly.
  bool goTo(const ZydisDecodedOperand& operand, VirtAddr next, unsigned depth) {
    if (const auto slot = slotOf(operand, next)) return goToSlot(*slot, depth);
    if (operand.type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return false;
    const VirtAddr target{next.value + operand.imm.value.u};
    if (const auto slot = slotOfStub(m_getters.m_program, target)) return goToSlot(*slot, depth);
    return call(target, depth);
  }

  bool goToSlot(VirtAddr slot, unsigned depth) {
    const auto known = std::ranges::find(kLibrary, m_getters.m_slots.symbolOf(slot), &Library::name);
    if (known != std::end(kLibrary)) {
      m_registers[kRax] = load(plus(m_registers[kRdi], known->at));
      return true;
    }
    const auto own = m_getters.m_slots.functionOf(slot);
    return own && call(*own, depth + 1);
  }

  bool callFrom(const ZydisDecodedOperand& callee, VirtAddr next, unsigned depth) {
    push({});
    const Value stack = m_registers[kRsp];
    if (!goTo(callee, next, depth)) return false;
    m_registers[kRsp] = plus(stack, 8);
    for (const unsigned reg : {1, 2, 6, 7, 8, 9, 10, 11}) m_registers[reg] = {};
    return true;
  }

  Value load(Value from) const {
    if (from.of == Value::Of::Stack) {
      const auto found = m_stack.find(from.offset());
      return found == m_stack.end() ? Value{} : found->second;
    }
    if (from.of != Value::Of::Object || from.handed.loads == Handed::kMostLoads) return {};
    ++from.handed.loads;
    return from;
  }

  void push(const Value& value) {
    m_registers[kRsp] = plus(m_registers[kRsp], -8);
    m_stack[m_registers[kRsp].offset()] = value;
  }
  Value pop() {
    const Value value = load(m_registers[kRsp]);
    m_registers[kRsp] = plus(m_registers[kRsp], 8);
    return value;
  }

  Value addressOf(const ZydisDecodedOperand& operand, VirtAddr next) const {
    const std::int64_t distance = operand.mem.disp.value;
    const ZydisRegister base = operand.mem.base;
    if (operand.mem.segment == ZYDIS_REGISTER_FS || operand.mem.segment == ZYDIS_REGISTER_GS ||
        operand.mem.index != ZYDIS_REGISTER_NONE)
      return {};
    if (base == ZYDIS_REGISTER_RIP) return constant(std::int64_t(next.value) + distance);
    const bool isRegister = base >= ZYDIS_REGISTER_RAX && base <= ZYDIS_REGISTER_R15;
    return isRegister ? plus(m_registers[*generalRegister(base)], distance) : Value{};
  }

  Value valueOf(const ZydisDecodedOperand& operand, VirtAddr next) const {
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
      return constant(operand.imm.is_signed ? operand.imm.value.s : std::int64_t(operand.imm.value.u));
    if (!isWhole(operand)) return {};
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) return load(addressOf(operand, next));
    const auto reg = generalRegister(operand.reg.value);
    return reg ? m_registers[*reg] : Value{};
  }

  // Nobody else's memory is written.
  bool store(const ZydisDecodedOperand& operand, VirtAddr next, const Value& value) {
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      Value to = addressOf(operand, next);
      if (to.of != Value::Of::Stack) return false;
      const std::int64_t at = to.offset();
      m_stack.erase(m_stack.lower_bound(at - 7), m_stack.lower_bound(at + operand.size / 8));
      m_stack[at] = isWhole(operand) ? value : Value{};
      return true;
    }
    if (const auto reg = generalRegister(operand.reg.value)) {
      // A narrow write of a constant, as that of an address that fits in 32 bits, clears the rest.
      const bool isAll = operand.size == 64 || (operand.size == 32 && value.of == Value::Of::Constant);
      m_registers[*reg] = isAll ? value : Value{};
    }
    return true;
  }

  bool step(const ZydisDecodedInstruction& insn, const ZydisDecodedOperand* operands, VirtAddr next) {
    switch (insn.mnemonic) {
      case ZYDIS_MNEMONIC_ENDBR64:
      case ZYDIS_MNEMONIC_NOP:
        return true;
      case ZYDIS_MNEMONIC_PUSH:
        push(valueOf(operands[0], next));
        return true;
      case ZYDIS_MNEMONIC_POP:
        return store(operands[0], next, pop());
      case ZYDIS_MNEMONIC_LEAVE:
        m_registers[kRsp] = m_registers[kRbp];
        m_registers[kRbp] = pop();
        return true;
      case ZYDIS_MNEMONIC_MOV:
        return store(operands[0], next, valueOf(operands[1], next));
      case ZYDIS_MNEMONIC_LEA:
        return store(operands[0], next, isWhole(operands[0]) ? addressOf(operands[1], next) : Value{});
      case ZYDIS_MNEMONIC_ADD:
      case ZYDIS_MNEMONIC_SUB:
        if (operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && isWhole(operands[0])) {
          const std::int64_t by = operands[1].imm.value.s;
          return store(operands[0], next,
                       plus(valueOf(operands[0], next), insn.mnemonic == ZYDIS_MNEMONIC_ADD ? by : -by));
        }
        break;
      default:
        break;
    }
    // What else there is may change registers.
    for (unsigned i = 0; i < insn.operand_count; ++i)
      if ((operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
          (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY ||
           operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER) &&
          !store(operands[i], next, {}))
        return false;
    return insn.meta.category != ZYDIS_CATEGORY_SYSCALL && insn.meta.category != ZYDIS_CATEGORY_INTERRUPT;
  }

  const Getters& m_getters;
  std::array<Value, 16> m_registers{};
  std::map<std::int64_t, Value> m_stack;  // by distance from the stack pointer at the start
  unsigned m_steps = 0;
};

Getters::Getters(const Program& program) : m_program(program), m_slots(program) {}

std::optional<Handed> Getters::handedOutBy(VirtAddr function) const {
  Walk walk(*this);
  return walk.call(function) ? walk.result() : std::nullopt;
}

}  // namespace traceback::instrument
