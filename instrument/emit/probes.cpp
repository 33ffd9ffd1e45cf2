#include "instrument/emit/probes.h"

#include <array>
#include "instrument/emit/probe_parts.h"
#include "runtime/format/ring.h"

namespace traceback::instrument {
namespace {

// Registers that serve as scratch, the cheapest to encode first. rsp and the ones whose base encoding needs a
// further byte (rbp, r12, r13) are left out.
constexpr std::array<unsigned, 12> kCandidates = {0, 2, 1, 6, 7, 8, 9, 10, 11, 3, 14, 15};

// A probe's scratch registers: dead ones as far as there are, others kept in spill moduleSlots while it runs.
class Scratch {
 public:
  Scratch(CodeBuilder& code, Free free) : m_code(code), m_free(free.registers) {}

  unsigned take() {
    for (const unsigned reg : kCandidates)
      if ((m_free & registerBit(reg)) != 0 && !used(reg)) return use(reg);
    for (const unsigned reg : kCandidates)
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

Label emitRecord(CodeBuilder& code, unsigned reg, std::uint32_t record) {
  const Label label = code.newLabel();
  code.bind(label);
  code.bytes(Sequence().optionalRex(0, reg).add(0xC7, modrm(0, 0, reg)).add32(record).bytes());
  return label;
}

HeadProbe headWithDeadFlags(CodeBuilder& code, std::uint32_t record, Free free, Cursor cursor) {
  Scratch scratch(code, free);
  HeadProbe out;
  out.kept = cursor != Cursor::InMemory;
  const unsigned r = out.scratch = scratch.take();
  out.wrap = code.newLabel();
  out.wrapOutOfLine = true;
  loadSegment(code, r);
  claimWord(code, r, cursor);
  loadCursor(code, r, cursor);
  compareWithSentinel(code, r);
  code.branch(kEqual, out.wrap);
  out.record = out.resume = emitRecord(code, r, record);
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
  const Label go = code.newLabel();
  loadSegment(code, r);
  if (out.kept) {
    claimWord(code, r, cursor);
    loadCursor(code, r, cursor);
    load32(code, r, kRcx);
  } else {
    load64(code, r, kRcx);
    code.bytes({0x48, 0x8D, 0x49, 4});  // lea 4(%rcx), %rcx
    code.bytes({rex(true, kRcx, r), 0x89, modrm(0, kRcx, r)});  // mov %rcx, (r)
    load32(code, kRcx, kRcx);
  }
  code.bytes({0xF7, 0xD1});  // not %ecx: zero if it was the sentinel
  code.bytes({0xE3, 2});  // jrcxz over the jump
  code.jump(go);
  emitWrapAt(code, out.resume, r, out.kept, moduleSlots);
  code.bind(go);
  if (!out.kept) load64(code, r, r);
  code.bind(out.resume);
  out.record = emitRecord(code, r, record);
  scratch.restore();
  return out;
}

}  // namespace

void emitSpill(CodeBuilder& code, unsigned reg, unsigned slot) {
  storeThreadWord(code, reg, format::kSpillSlot + std::int32_t(8 * slot));
}

void emitRestore(CodeBuilder& code, unsigned reg, unsigned slot) {
  loadThreadWord(code, reg, format::kSpillSlot + std::int32_t(8 * slot));
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

void emitCursorLoad(CodeBuilder& code, Free free) {
  Scratch scratch(code, free);
  const unsigned r = scratch.take();
  loadSegment(code, r);
  loadKept(code, r);
  scratch.restore();
}

void emitLightProbe(CodeBuilder& code, unsigned bit, Free free, bool kept) {
  const std::uint32_t mask = 1u << bit;
  Scratch scratch(code, free);
  const unsigned r = scratch.take();
  const unsigned word = free.flags ? r : scratch.take();
  if (kept) {
    copyKept(code, r);
  } else {
    loadSegment(code, r);
    load64(code, r, r);
  }
  if (free.flags) {
    Sequence s;
    s.optionalRex(0, r);
    if (mask < 0x80)
      s.add(0x83, modrm(0, 1, r), mask);
    else
      s.add(0x81, modrm(0, 1, r)).add32(mask);
    code.bytes(s.bytes());
  } else {
    load32(code, r, word);
    // lea mask(word), word: 32 bits of operand, 64 of address
    code.bytes(Sequence().optionalRex(word, word).add(0x8D, modrm(2, word, word)).add32(mask).bytes());
    code.bytes(Sequence().optionalRex(word, r).add(0x89, modrm(0, word, r)).bytes());
  }
  scratch.restore();
}

}  // namespace traceback::instrument
