#include "instrument/emit/probe_parts.h"

#include "runtime/format/module.h"
#include "runtime/format/ring.h"

namespace traceback::instrument {
namespace {

void moveThreadWord(CodeBuilder& code, std::uint8_t opcode, unsigned reg, std::int32_t offset) {
  code.bytes(Sequence()
                 .add(0x64, rex(true, reg, 0), opcode, modrm(0, reg, 4), 0x25)
                 .add32(std::uint32_t(offset))
                 .bytes());
}

// With xmm15, which is register 7 with the prefix's bit R.
constexpr unsigned kCursorRegister = 15;

// What a record moves the cursor by, in the segment's header.
constexpr auto kStep = std::uint8_t(offsetof(format::SegmentHeader, step));

// paddq step(base), %xmm15
void stepKept(CodeBuilder& code, unsigned base) {
  code.bytes({0x66, rex(false, kCursorRegister, base), 0x0F, 0xD4, modrm(1, kCursorRegister, base), kStep});
}
// movq r, %xmm15
void keep(CodeBuilder& code, unsigned r) {
  code.bytes({0x66, rex(true, kCursorRegister, r), 0x0F, 0x6E, modrm(3, kCursorRegister, r)});
}
// movlps %xmm15, (base)
void storeKept(CodeBuilder& code, unsigned base) {
  code.bytes({rex(false, kCursorRegister, base), 0x0F, 0x13, modrm(0, kCursorRegister, base)});
}

}  // namespace

std::uint8_t modrm(unsigned mod, unsigned reg, unsigned rm) {
  return std::uint8_t((mod << 6) | ((reg & 7) << 3) | (rm & 7));
}
std::uint8_t rex(bool wide, unsigned reg, unsigned rm) {
  return std::uint8_t(0x40 | (wide ? 8 : 0) | (reg >= 8 ? 4 : 0) | (rm >= 8 ? 1 : 0));
}

Sequence& Sequence::optionalRex(unsigned reg, unsigned rm) {
  return reg >= 8 || rm >= 8 ? add(rex(false, reg, rm)) : *this;
}

void loadThreadWord(CodeBuilder& code, unsigned reg, std::int32_t offset) {
  moveThreadWord(code, 0x8B, reg, offset);
}
void storeThreadWord(CodeBuilder& code, unsigned reg, std::int32_t offset) {
  moveThreadWord(code, 0x89, reg, offset);
}
void loadSegment(CodeBuilder& code, unsigned reg) { loadThreadWord(code, reg, code.threadSlot()); }

std::int32_t placeOfSpill(const CodeBuilder& code, unsigned slot) {
  return code.threadSlot() + format::kFirstSpill + std::int32_t(8 * slot);
}

void load64(CodeBuilder& code, unsigned base, unsigned to) {
  code.bytes({rex(true, to, base), 0x8B, modrm(0, to, base)});
}

// movq (r), %xmm15
void loadKept(CodeBuilder& code, unsigned r) {
  code.bytes({0xF3, rex(false, kCursorRegister, r), 0x0F, 0x7E, modrm(0, kCursorRegister, r)});
}

void takeCursor(CodeBuilder& code, unsigned r, Cursor cursor) {
  if (cursor == Cursor::Kept || cursor == Cursor::Brought) return copyKept(code, r);
  loadSegment(code, r);
  load64(code, r, r);
  if (cursor == Cursor::Loaded) keep(code, r);
}

void stepAndStoreKept(CodeBuilder& code, unsigned r) {
  loadSegment(code, r);
  stepKept(code, r);
  storeKept(code, r);
}

// As a base rsp and r12 need one more byte for the address, rbp and r13 a displacement.
void storeStepped(CodeBuilder& code, unsigned r, unsigned header, bool kept) {
  if (kept) keep(code, r);
  const bool needsIndex = (header & 7) == kRsp, needsDisplacement = (header & 7) == 5;
  Sequence store;  // mov r, (header)
  store.add(rex(true, r, header), 0x89, modrm(needsDisplacement ? 1 : 0, r, header));
  if (needsIndex) store.add(0x24);
  if (needsDisplacement) store.add(0);
  code.bytes(store.bytes());
}

void copyKept(CodeBuilder& code, unsigned to) {
  code.bytes({0x66, rex(true, kCursorRegister, to), 0x0F, 0x7E, modrm(3, kCursorRegister, to)});
}

// add $4, r16; jc wrap
void stepInWindow(CodeBuilder& code, unsigned r, Label wrap) {
  code.bytes(Sequence().add(0x66).optionalRex(0, r).add(0x83, modrm(3, 0, r), kNextWord).bytes());
  code.branch(kCarry, wrap);
}

void emitWrapAt(CodeBuilder& code, Label resume, unsigned r, bool kept, VirtAddr moduleSlots) {
  code.ripLabel(Sequence().add(rex(true, r, 0), 0x8D, modrm(0, r, 5)).add32(0).bytes(), 3, resume);
  const std::size_t entries =
      kept ? offsetof(format::ModuleSlots, wrapKept) : offsetof(format::ModuleSlots, wrap);
  code.ripAbsolute(Sequence().add(0xFF, 0x25).add32(0).bytes(), 2, {moduleSlots.value + entries + 8 * r});
}

}  // namespace traceback::instrument
