#include "instrument/emit/dispatch.h"

#include <cstring>

#include "instrument/emit/probes.h"
#include "runtime/format/ring.h"

namespace traceback::instrument {
namespace {

constexpr unsigned kRdx = 2;
constexpr std::uint8_t kEqual = 4, kAboveOrEqual = 3;
constexpr unsigned kSlotRax = 0, kSlotRcx = 1, kSlotRdx = 2, kSlotFlags = 3;

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
void lookUp(CodeBuilder& code, const DispatchTable& table) {
  const Function& f = *table.function;
  const Label unknown = code.newLabel();
  const VirtAddr lowest = f.indirectTargets.front();
  const auto range = std::uint32_t(f.indirectTargets.back().value - lowest.value + 1);
  code.bytes({0x48, 0x89, 0xD1});        // mov %rdx, %rcx
  code.ripAbsolute(kLeaRax, 3, lowest);  // lea lowest(%rip), %rax
  code.bytes({0x48, 0x29, 0xC1});        // sub %rax, %rcx
  std::uint8_t compare[] = {0x48, 0x81, 0xF9, 0, 0, 0, 0};
  std::memcpy(compare + 3, &range, sizeof range);
  code.bytes(compare);                   // cmp $range, %rcx
  code.branch(kAboveOrEqual, unknown);
  if (table.label)
    code.ripLabel(kLeaRax, 3, *table.label);
  else
    code.ripTable(kLeaRax, 3, f.start);
  code.bytes({0x48, 0x63, 0x0C, 0x88});  // movslq (%rax,%rcx,4), %rcx
  code.bytes({0x85, 0xC9});              // test %ecx, %ecx
  code.branch(kEqual, unknown);
  code.bytes({0x48, 0x01, 0xC1});        // add %rax, %rcx
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

void emitDispatch(CodeBuilder& code, std::span<const DispatchTable> tables, const Instruction& jump,
                  std::span<const std::uint8_t> raw) {
  code.setOrigin({jump.address, jump.length, true});
  emitSpill(code, kRax, kSlotRax);
  emitSpill(code, kRcx, kSlotRcx);
  emitSpill(code, kRdx, kSlotRdx);
  loadTarget(code, jump, raw);
  code.bytes({0x9F});              // lahf
  code.bytes({0x0F, 0x90, 0xC0});  // seto %al
  emitSpill(code, kRax, kSlotFlags);
  for (const DispatchTable& table : tables) lookUp(code, table);
  restoreFlags(code);
  emitRestore(code, kRax, kSlotRax);
  emitRestore(code, kRcx, kSlotRcx);
  emitRestore(code, kRdx, kSlotRdx);
  if (jump.ripOffset != 0)
    code.ripAbsolute(raw, jump.ripOffset, jump.ripTarget);
  else
    code.bytes(raw);
}

void emitDispatchTable(CodeBuilder& code, const Function& f, Label table, std::span<const Label> blocks) {
  code.setOrigin({f.start, 0, true});
  code.align(4);
  code.bind(table);
  std::size_t next = 0;
  const VirtAddr lowest = f.indirectTargets.front();
  for (VirtAddr at = lowest; at <= f.indirectTargets.back(); ++at.value) {
    if (at != f.indirectTargets[next]) {
      code.distance({}, table);
      continue;
    }
    ++next;
    code.distance(blocks[f.blockAt(at)], table);
  }
}

}  // namespace traceback::instrument
