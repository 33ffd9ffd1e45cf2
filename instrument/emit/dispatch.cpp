#include "instrument/emit/dispatch.h"

#include <algorithm>
#include <cstring>

#include "instrument/emit/probes.h"
#include "runtime/format/ring.h"

namespace traceback::instrument {
namespace {

constexpr unsigned kRdx = 2;
constexpr std::uint8_t kEqual = 4, kAboveOrEqual = 3;
constexpr unsigned kSlotRax = 0, kSlotRcx = 1, kSlotRdx = 2, kSlotFlags = 3;

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

// mov OPERAND, %rdx for the operand of `jmp *OPERAND` (ff /4).
void loadTarget(CodeBuilder& code, const Instruction& jump, std::span<const std::uint8_t> raw) {
  if (jump.indirectRegister != 0xFF) {
    const unsigned reg = jump.indirectRegister;
    code.bytes({std::uint8_t(0x48 | (reg >= 8 ? 1 : 0)), 0x8B, std::uint8_t(0xC0 | (kRdx << 3) | (reg & 7))});
    return;
  }
  std::vector<std::uint8_t> load;
  std::size_t i = 0;
  std::uint8_t rex = 0x48;
  for (; raw[i] != 0xFF; ++i) {
    if ((raw[i] & 0xF0) == 0x40)
      rex = std::uint8_t(rex | (raw[i] & 0x03));  // of its own bits B and X; there is no register operand
    else if (raw[i] != 0x3E && raw[i] != 0xF2)
      load.push_back(raw[i]);  // notrack and bnd go; segments and address sizes stay
  }
  load.push_back(rex);
  load.push_back(0x8B);
  load.push_back(std::uint8_t((raw[i + 1] & 0xC7) | (kRdx << 3)));
  load.insert(load.end(), raw.begin() + std::ptrdiff_t(i) + 2, raw.end());
  if (jump.ripOffset != 0)
    code.ripAbsolute(load, std::uint8_t(load.size() - 4), jump.ripTarget);
  else
    code.bytes(load);
}

void restoreFlags(CodeBuilder& code) {
  emitRestore(code, kRax, kSlotFlags);
  code.bytes({0x04, 0x7F});  // add $0x7f, %al: the overflow flag again, from seto's 0 or 1
  code.bytes({0x9E});        // sahf
}

constexpr std::uint8_t kLeaRax[] = {0x48, 0x8D, 0x05, 0, 0, 0, 0};

// To the copy at rcx. Its flags are still kept.
void jumpToCopy(CodeBuilder& code, RegisterSet live, FlagSet liveFlags) {
  if (liveFlags != 0) restoreFlags(code);
  if ((live & registerBit(kRdx)) != 0) emitRestore(code, kRdx, kSlotRdx);
  if ((live & registerBit(kRax)) != 0) emitRestore(code, kRax, kSlotRax);
  if ((live & registerBit(kRcx)) == 0) {
    code.bytes({0xFF, 0xE1});  // jmp *%rcx
    return;
  }
  emitSpill(code, kRcx, kSlotFlags);
  emitRestore(code, kRcx, kSlotRcx);
  std::uint8_t go[] = {0x64, 0xFF, 0x24, 0x25, 0, 0, 0, 0};
  const std::int32_t slot = format::kSpillSlot + std::int32_t(8 * kSlotFlags);
  std::memcpy(go + 4, &slot, sizeof slot);
  code.bytes(go);  // jmp *%fs:slot
}

// Goes to the copy of what rdx has, if the table knows it; else on behind this.
void lookUp(CodeBuilder& code, const Function& f) {
  const Label unknown = code.newLabel();
  const Layout table(f);
  code.bytes({0x48, 0x89, 0xD1});              // mov %rdx, %rcx
  code.ripAbsolute(kLeaRax, 3, table.lowest);  // lea lowest(%rip), %rax
  code.bytes({0x48, 0x29, 0xC1});              // sub %rax, %rcx
  std::uint8_t compare[] = {0x48, 0x81, 0xF9, 0, 0, 0, 0};
  std::memcpy(compare + 3, &table.range, sizeof table.range);
  code.bytes(compare);                         // cmp $range, %rcx
  code.branch(kAboveOrEqual, unknown);
  code.ripTable(kLeaRax, 3, f.start);          // lea table(%rip), %rax
  if (table.indexSize == 1)
    code.bytes({0x0F, 0xB6, 0x0C, 0x08});      // movzbl (%rax,%rcx), %ecx
  else
    code.bytes({0x0F, 0xB7, 0x0C, 0x48});      // movzwl (%rax,%rcx,2), %ecx
  code.bytes({0x85, 0xC9});                    // test %ecx, %ecx
  code.branch(kEqual, unknown);
  std::uint8_t load[] = {0x48, 0x63, 0x8C, 0x88, 0, 0, 0, 0};
  const std::uint32_t beforeFirst = table.distances - std::uint32_t(sizeof(std::int32_t));
  std::memcpy(load + 4, &beforeFirst, sizeof beforeFirst);
  code.bytes(load);                            // movslq distances-4(%rax,%rcx,4), %rcx
  code.bytes({0x48, 0x01, 0xC1});              // add %rax, %rcx
  // What the known targets need. Anything may be live at others.
  RegisterSet live = 0;
  FlagSet liveFlags = 0;
  for (const VirtAddr target : f.indirectTargets) {
    const Block& block = f.blocks[f.blockAt(target)];
    live |= block.live;
    liveFlags |= block.liveFlags;
  }
  jumpToCopy(code, live, liveFlags);
  code.bind(unknown);
}

}  // namespace

void emitDispatch(CodeBuilder& code, std::span<const Function* const> functions, const Instruction& jump,
                  std::span<const std::uint8_t> raw) {
  code.setOrigin({jump.address, jump.length, true});
  emitSpill(code, kRax, kSlotRax);
  emitSpill(code, kRcx, kSlotRcx);
  emitSpill(code, kRdx, kSlotRdx);
  loadTarget(code, jump, raw);
  code.bytes({0x9F});              // lahf
  code.bytes({0x0F, 0x90, 0xC0});  // seto %al
  emitSpill(code, kRax, kSlotFlags);
  for (const Function* function : functions) lookUp(code, *function);
  restoreFlags(code);
  emitRestore(code, kRax, kSlotRax);
  emitRestore(code, kRcx, kSlotRcx);
  emitRestore(code, kRdx, kSlotRdx);
  if (jump.ripOffset != 0)
    code.ripAbsolute(raw, jump.ripOffset, jump.ripTarget);
  else
    code.bytes(raw);
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
