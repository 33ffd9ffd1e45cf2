#include "instrument/emit/dispatch.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "instrument/emit/probe_parts.h"
#include "instrument/emit/probes.h"
#include "runtime/format/ring.h"

namespace traceback::instrument {
namespace {

constexpr std::uint8_t kAboveOrEqual = 3;
constexpr unsigned kSlotBase = 0, kSlotIndex = 1, kSlotTarget = 2, kSlotFlags = 3;

// Of the table of a function.
struct Layout {
  explicit Layout(const Function& f)
      : lowest(f.indirectTargets.front()),
        range(std::uint32_t(f.indirectTargets.back().value - lowest.value + 1)),
        indexSize(f.indirectTargets.size() > 0xFF ? 2 : 1),
        distances((range * indexSize + 3) & ~3U) {}

  VirtAddr lowest;
  std::uint32_t range;
  std::uint32_t indexSize;
  std::uint32_t distances;  // where they begin
};

// What known targets need.
struct Needs {
  RegisterSet registers = 0;
  FlagSet flags = 0;

  void add(const Function& f) {
    for (const VirtAddr target : f.indirectTargets) {
      const Block& block = f.blocks[f.blockAt(target)];
      registers |= block.live;
      flags |= block.liveFlags;
    }
  }
};

class Dispatch {
 public:
  Dispatch(CodeBuilder& code, std::span<const Function* const> functions, const Instruction& jump,
           std::span<const std::uint8_t> raw, FlagSet live)
      : m_code(code), m_functions(functions), m_jump(jump), m_raw(raw) {
    Needs needs{0, live};
    for (const Function* function : functions) needs.add(*function);
    m_keepsFlags = needs.flags != 0;
    // To jump through a register that is needed takes more than to restore one. Flags are kept by way of rax.
    const RegisterSet taken = m_keepsFlags ? registerBit(kRax) : RegisterSet{0};
    m_index = choose(needs.registers, taken);
    m_base = m_keepsFlags ? kRax : choose(needs.registers, registerBit(m_index));
  }

  void emit() {
    emitSpill(m_code, m_base, kSlotBase);
    emitSpill(m_code, m_index, kSlotIndex);
    for (const Function* function : m_functions) {
      const bool first = function == m_functions.front();
      if (!first) restore();
      loadTarget();
      if (first && m_keepsFlags) keepFlags();
      lookUp(*function);
    }
    if (m_keepsFlags) restoreFlags();
    restore();
    if (m_jump.ripOffset != 0)
      m_code.ripAbsolute(m_raw, m_jump.ripOffset, m_jump.ripTarget);
    else
      m_code.bytes(m_raw);
  }

 private:
  // One that is dead, if there is one.
  static unsigned choose(RegisterSet needed, RegisterSet taken) {
    for (const RegisterSet avoided : {RegisterSet(needed | taken), taken})
      for (const unsigned reg : kScratchRegisters)
        if ((avoided & registerBit(reg)) == 0) return reg;
    return kScratchRegisters.front();  // not reached
  }

  // mov OPERAND, index for the operand of `jmp *OPERAND` (ff /4).
  void loadTarget() {
    if (m_jump.indirectRegister != 0xFF) {
      if (m_jump.indirectRegister != m_index) move(m_jump.indirectRegister);
      return;
    }
    std::vector<std::uint8_t> load;
    std::size_t i = 0;
    std::uint8_t prefix = rex(true, m_index, 0);  // and the jump's own bits X and B
    for (; m_raw[i] != 0xFF; ++i) {
      if ((m_raw[i] & 0xF0) == 0x40)
        prefix = std::uint8_t(prefix | (m_raw[i] & 0x03));
      else if (m_raw[i] != 0x3E && m_raw[i] != 0xF2)
        load.push_back(m_raw[i]);  // notrack and bnd go; segments and address sizes stay
    }
    load.push_back(prefix);
    load.push_back(0x8B);
    load.push_back(std::uint8_t((m_raw[i + 1] & 0xC7) | (m_index & 7) << 3));
    load.insert(load.end(), m_raw.begin() + std::ptrdiff_t(i) + 2, m_raw.end());
    if (m_jump.ripOffset != 0)
      m_code.ripAbsolute(load, std::uint8_t(load.size() - 4), m_jump.ripTarget);
    else
      m_code.bytes(load);
  }
  void move(unsigned from) { m_code.bytes({rex(true, from, m_index), 0x89, modrm(3, from, m_index)}); }

  void keepFlags() {
    m_code.bytes({0x9F});  // lahf
    m_code.bytes({0x0F, 0x90, 0xC0});  // seto %al
    emitSpill(m_code, kRax, kSlotFlags);
  }
  void restoreFlags() {
    emitRestore(m_code, kRax, kSlotFlags);
    m_code.bytes({0x04, 0x7F});  // add $0x7f, %al: the overflow flag again, from seto's 0 or 1
    m_code.bytes({0x9E});  // sahf
  }
  void restore() {
    emitRestore(m_code, m_base, kSlotBase);
    emitRestore(m_code, m_index, kSlotIndex);
  }

  // Goes to the copy of what the index has, if the function's table knows it; else on behind this.
  void lookUp(const Function& f) {
    const Label unknown = m_code.newLabel();
    const Layout table(f);
    const std::array<std::uint8_t, 7> lea = {rex(true, m_base, 0), 0x8D, modrm(0, m_base, 5)};
    m_code.ripAbsolute(lea, 3, table.lowest);  // lea lowest(%rip), base
    m_code.bytes({rex(true, m_base, m_index), 0x29, modrm(3, m_base, m_index)});  // sub base, index
    m_code.bytes(
        Sequence().add(rex(true, 0, m_index), 0x81, modrm(3, 7, m_index)).add32(table.range).bytes());
    m_code.branch(kAboveOrEqual, unknown);  // cmp $range, index; jae
    m_code.ripTable(lea, 3, f.start);  // lea table(%rip), base
    const bool wide = table.indexSize == 2;
    m_code.bytes(
        {element(false), 0x0F, std::uint8_t(wide ? 0xB7 : 0xB6), modrm(0, m_index, 4), scaled(wide ? 1 : 0)});
    m_code.bytes({rex(false, m_index, m_index), 0x85, modrm(3, m_index, m_index)});  // test index, index
    m_code.branch(kEqual, unknown);
    const std::uint32_t beforeFirst = table.distances - std::uint32_t(sizeof(std::int32_t));
    m_code.bytes(
        Sequence().add(element(true), 0x63, modrm(2, m_index, 4), scaled(2)).add32(beforeFirst).bytes());
    m_code.bytes({rex(true, m_base, m_index), 0x01, modrm(3, m_base, m_index)});  // add base, index
    Needs needs;
    needs.add(f);
    jumpToCopy(needs);
    m_code.bind(unknown);
  }
  // The prefix and the last byte of an address (base, index, 1 << scale), with the index as the destination.
  std::uint8_t element(bool wide) const {
    return std::uint8_t(rex(wide, m_index, m_base) | (m_index >= 8 ? 2 : 0));
  }
  std::uint8_t scaled(unsigned scale) const { return modrm(scale, m_index, m_base); }

  // To the copy that the index has the address of. Anything may be needed by targets that are not known, but
  // by these no more than that.
  void jumpToCopy(const Needs& needs) {
    if (needs.flags != 0) restoreFlags();
    if ((needs.registers & registerBit(m_base)) != 0) emitRestore(m_code, m_base, kSlotBase);
    if ((needs.registers & registerBit(m_index)) == 0) {
      m_code.bytes(Sequence().optionalRex(0, m_index).add(0xFF, modrm(3, 4, m_index)).bytes());  // jmp *index
      return;
    }
    emitSpill(m_code, m_index, kSlotTarget);
    emitRestore(m_code, m_index, kSlotIndex);
    const std::int32_t target = placeOfSpill(m_code, kSlotTarget);
    m_code.bytes(
        Sequence().add(0x64, 0xFF, 0x24, 0x25).add32(std::uint32_t(target)).bytes());  // jmp *%fs:slot
  }

  CodeBuilder& m_code;
  std::span<const Function* const> m_functions;
  const Instruction& m_jump;
  std::span<const std::uint8_t> m_raw;
  bool m_keepsFlags = false;
  unsigned m_base = 0, m_index = 0;
};

}  // namespace

void emitDispatch(CodeBuilder& code, std::span<const Function* const> functions, const Instruction& jump,
                  std::span<const std::uint8_t> raw, FlagSet live) {
  code.setOrigin({jump.address, jump.length, true});
  Dispatch(code, functions, jump, raw, live).emit();
}

std::uint64_t dispatchTableSize(const Function& function) {
  return Layout(function).distances + function.indirectTargets.size() * sizeof(std::int32_t);
}

void writeDispatchTable(const Function& function, std::int64_t copy, std::span<const std::uint32_t> blocks,
                        std::span<std::byte> out) {
  const Layout table(function);
  std::ranges::fill(out, std::byte{0});
  for (std::uint32_t i = 0; i < function.indirectTargets.size(); ++i) {
    const VirtAddr target = function.indirectTargets[i];
    const auto number = std::uint16_t(i + 1);
    std::memcpy(&out[(target.value - table.lowest.value) * table.indexSize], &number, table.indexSize);
    const auto distance = std::int32_t(copy + std::int64_t(blocks[function.blockAt(target)]));
    std::memcpy(&out[table.distances + i * sizeof distance], &distance, sizeof distance);
  }
}

}  // namespace traceback::instrument
