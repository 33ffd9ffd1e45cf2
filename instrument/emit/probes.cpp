#include "instrument/emit/probes.h"

#include <algorithm>
#include <array>

#include "instrument/emit/probe_parts.h"
#include "runtime/format/module.h"
#include "runtime/format/ring.h"

namespace traceback::instrument {
namespace {

// A probe's scratch registers: dead ones as far as there are, others kept in spill moduleSlots while it runs.
class Scratch {
 public:
  Scratch(CodeBuilder& code, Free free) : m_code(code), m_free(free.registers) {}

  unsigned take() {
    for (const unsigned reg : kScratchRegisters)
      if ((m_free & registerBit(reg)) != 0 && !used(reg)) return use(reg);
    for (const unsigned reg : kScratchRegisters)
      if (!used(reg)) return takeThis(reg);
    return kRax;  // not reached: probes take two at the most
  }
  unsigned takeThis(unsigned reg) {
    if ((m_free & registerBit(reg)) == 0) {
      emitSpill(m_code, reg, m_spilled);
      m_slots[m_spilled++] = reg;
    }
    return use(reg);
  }
  auto dead() const {  // how many are left
    return std::ranges::count_if(
        kScratchRegisters, [this](unsigned reg) { return (m_free & registerBit(reg)) != 0 && !used(reg); });
  }
  void restore() {
    for (unsigned i = 0; i < m_spilled; ++i) emitRestore(m_code, m_slots[i], i);
  }

 private:
  bool used(unsigned reg) const { return (m_used & registerBit(reg)) != 0; }
  unsigned use(unsigned reg) {
    m_used |= registerBit(reg);
    return reg;
  }

  CodeBuilder& m_code;
  RegisterSet m_free;
  RegisterSet m_used = 0;
  unsigned m_spilled = 0;
  std::array<unsigned, format::kSpillSlots> m_slots{};
};

Label boundLabel(CodeBuilder& code) {
  const Label label = code.newLabel();
  code.bind(label);
  return label;
}

// movl $record, (reg), or 4(reg) if the cursor there is not stepped yet
Label emitRecord(CodeBuilder& code, unsigned reg, std::uint32_t record, bool isStepped) {
  const Label label = boundLabel(code);
  Sequence move;
  move.optionalRex(0, reg).add(0xC7, modrm(isStepped ? 0 : 1, 0, reg));
  if (!isStepped) move.add(kNextWord);
  code.bytes(move.add32(record).bytes());
  return label;
}

HeadProbe headWithDeadFlags(CodeBuilder& code, std::uint32_t record, Free free, Cursor cursor) {
  Scratch scratch(code, free);
  HeadProbe out;
  out.kept = cursor != Cursor::InMemory;
  const unsigned r = out.scratch = scratch.take();
  const bool byHeader = cursor == Cursor::InMemory || (cursor == Cursor::Loaded && scratch.dead() > 0);
  const unsigned header = byHeader ? scratch.take() : r;
  out.wrap = code.newLabel();
  out.wrapOutOfLine = true;
  if (cursor == Cursor::Brought) {
    code.padForOneStore(format::kBroughtHeadSize);
    out.taken = boundLabel(code);
  }
  if (byHeader) {
    loadSegment(code, header);
    load64(code, header, r);
  } else {
    takeCursor(code, r, cursor);
  }
  out.resume = boundLabel(code);
  stepInWindow(code, r, out.wrap);
  out.record = emitRecord(code, r, record, true);
  byHeader ? storeStepped(code, r, header, out.kept) : stepAndStoreKept(code, r);
  out.claimed = boundLabel(code);
  scratch.restore();
  return out;
}

HeadProbe headWithLiveFlags(CodeBuilder& code, std::uint32_t record, Free free, Cursor cursor,
                            VirtAddr moduleSlots) {
  Scratch scratch(code, free);
  HeadProbe out;
  out.kept = cursor != Cursor::InMemory;
  scratch.takeThis(kRcx);
  const unsigned r = out.scratch = scratch.take();
  out.resume = code.newLabel();
  takeCursor(code, r, cursor);
  code.bytes(
      Sequence().optionalRex(kRcx, r).add(0x8D, modrm(1, kRcx, r), kNextWord).bytes());  // lea 4(r), %ecx
  code.bytes({0x0F, 0xB7, 0xC9});  // movzwl %cx, %ecx: zero in another window
  code.bytes({0xE3, 2});  // jrcxz over the jump
  code.jump(out.resume);
  emitWrapAt(code, out.resume, r, out.kept, moduleSlots);
  code.bind(out.resume);
  out.record = emitRecord(code, r, record, false);
  if (out.kept) {
    stepAndStoreKept(code, r);
  } else {
    loadSegment(code, kRcx);
    code.bytes({rex(true, r, r), 0x8D, modrm(1, r, r), kNextWord});  // lea 4(r), r
    storeStepped(code, r, kRcx, false);
  }
  out.claimed = boundLabel(code);
  scratch.restore();
  return out;
}

}  // namespace

void emitSpill(CodeBuilder& code, unsigned reg, unsigned slot) {
  storeThreadWord(code, reg, placeOfSpill(code, slot));
}

void emitRestore(CodeBuilder& code, unsigned reg, unsigned slot) {
  loadThreadWord(code, reg, placeOfSpill(code, slot));
}

HeadProbe emitHeadProbe(CodeBuilder& code, std::uint32_t record, Free free, Cursor cursor,
                        VirtAddr moduleSlots) {
  return free.flags ? headWithDeadFlags(code, record, free, cursor)
                    : headWithLiveFlags(code, record, free, cursor, moduleSlots);
}

void emitWrap(CodeBuilder& code, const HeadProbe& probe, VirtAddr moduleSlots) {
  code.bind(probe.wrap);
  emitWrapAt(code, probe.resume, probe.scratch, probe.kept, moduleSlots);
}

std::optional<CursorLoad> emitCursorComparison(CodeBuilder& code, Free free) {
  Scratch scratch(code, free);
  if (!free.flags || scratch.dead() < 2) return std::nullopt;
  const unsigned r = scratch.take(), s = scratch.take();
  CursorLoad out{.load = code.newLabel(), .back = {}, .cursor = r, .segment = s};
  copyKept(code, r);
  loadSegment(code, s);
  code.bytes({rex(true, r, s), 0x39, modrm(0, r, s)});  // cmp r, (s)
  code.branch(kNotEqual, out.load);
  out.back = boundLabel(code);
  return out;
}

void emitLoad(CodeBuilder& code, const CursorLoad& load) {
  code.bind(load.load);
  loadKept(code, load.segment);
  load64(code, load.segment, load.cursor);
  code.jump(load.back);
}

void emitCursorLoad(CodeBuilder& code, Free free) {
  Scratch scratch(code, free);
  const unsigned r = scratch.take();
  loadSegment(code, r);
  loadKept(code, r);
  scratch.restore();
}

void emitLightProbe(CodeBuilder& code, unsigned bit, Free free, bool kept) {
  const unsigned byte = bit / 8;
  const auto mask = std::uint8_t(1u << bit % 8);
  Scratch scratch(code, free);
  const unsigned r = scratch.take();
  const unsigned value = free.flags ? r : scratch.take();
  if (kept) {
    copyKept(code, r);
  } else {
    loadSegment(code, r);
    load64(code, r, r);
  }
  const unsigned mod = byte == 0 ? 0 : 1;
  const auto ofByte = [&](Sequence s) { return byte == 0 ? s : s.add(byte); };
  if (free.flags) {
    code.bytes(ofByte(Sequence().optionalRex(0, r).add(0x80, modrm(mod, 1, r))).add(mask).bytes());
  } else {
    // movzbl byte(r), value; lea mask(value), value; movb value, byte(r)
    code.bytes(ofByte(Sequence().optionalRex(value, r).add(0x0F, 0xB6, modrm(mod, value, r))).bytes());
    // Of the sum the low byte alone counts.
    code.bytes(Sequence().optionalRex(value, value).add(0x8D, modrm(1, value, value), mask).bytes());
    code.bytes(ofByte(Sequence().add(rex(false, value, r), 0x88, modrm(mod, value, r))).bytes());
  }
  scratch.restore();
}

}  // namespace traceback::instrument
