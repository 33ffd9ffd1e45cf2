#include "instrument/emit/probes.h"

#include <array>
#include <cstring>

#include "runtime/format/module.h"
#include "runtime/format/ring.h"

namespace traceback::instrument {
namespace {

// Registers that serve as scratch, the cheapest to encode first. rsp and the ones whose base encoding needs a
// further byte (rbp, r12, r13) are left out.
constexpr std::array<unsigned, 12> kCandidates = {0, 2, 1, 6, 7, 8, 9, 10, 11, 3, 14, 15};

std::uint8_t modrm(unsigned mod, unsigned reg, unsigned rm) {
  return std::uint8_t((mod << 6) | ((reg & 7) << 3) | (rm & 7));
}
std::uint8_t rex(bool wide, unsigned reg, unsigned rm) {
  return std::uint8_t(0x40 | (wide ? 8 : 0) | (reg >= 8 ? 4 : 0) | (rm >= 8 ? 1 : 0));
}

class Sequence {
 public:
  template <typename... Bytes>
  Sequence& add(Bytes... values) {
    ((m_bytes[m_size++] = std::uint8_t(values)), ...);
    return *this;
  }
  Sequence& add32(std::uint32_t value) {
    std::memcpy(m_bytes.data() + m_size, &value, sizeof value);
    m_size += sizeof value;
    return *this;
  }
  std::span<const std::uint8_t> bytes() const { return {m_bytes.data(), m_size}; }

 private:
  std::array<std::uint8_t, 16> m_bytes{};
  std::size_t m_size = 0;
};

void moveThreadWord(CodeBuilder& code, std::uint8_t opcode, unsigned reg, std::int32_t offset) {
  code.bytes(Sequence()
                 .add(0x64, rex(true, reg, 0), opcode, modrm(0, reg, 4), 0x25)
                 .add32(std::uint32_t(offset))
                 .bytes());
}

void loadSegment(CodeBuilder& code, unsigned reg) { moveThreadWord(code, 0x8B, reg, format::kThreadSlot); }

void optionalRex(Sequence& s, unsigned reg, unsigned rm) {
  if (reg >= 8 || rm >= 8) s.add(rex(false, reg, rm));
}

// mov (base), to
void load64(CodeBuilder& code, unsigned base, unsigned to) {
  code.bytes({rex(true, to, base), 0x8B, modrm(0, to, base)});
}
void load32(CodeBuilder& code, unsigned base, unsigned to) {
  Sequence s;
  optionalRex(s, to, base);
  code.bytes(s.add(0x8B, modrm(0, to, base)).bytes());
}

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

// With xmm15, which is register 7 with the prefix's bit R.
constexpr unsigned kCursorRegister = 15;

// movq (base), %xmm15
void loadKept(CodeBuilder& code, unsigned base) {
  code.bytes({0xF3, rex(false, kCursorRegister, base), 0x0F, 0x7E, modrm(0, kCursorRegister, base)});
}
// paddq step(base), %xmm15
void stepKept(CodeBuilder& code, unsigned base) {
  constexpr auto kStep = std::uint8_t(offsetof(format::SegmentHeader, step));
  code.bytes({0x66, rex(false, kCursorRegister, base), 0x0F, 0xD4, modrm(1, kCursorRegister, base), kStep});
}
// movlps %xmm15, (base)
void storeKept(CodeBuilder& code, unsigned base) {
  code.bytes({rex(false, kCursorRegister, base), 0x0F, 0x13, modrm(0, kCursorRegister, base)});
}
// movq %xmm15, to
void copyKept(CodeBuilder& code, unsigned to) {
  code.bytes({0x66, rex(true, kCursorRegister, to), 0x0F, 0x7E, modrm(3, kCursorRegister, to)});
}

void emitWrapAt(CodeBuilder& code, Label resume, unsigned scratch, bool kept, VirtAddr moduleSlots) {
  code.ripLabel(Sequence().add(rex(true, scratch, 0), 0x8D, modrm(0, scratch, 5)).add32(0).bytes(), 3,
                resume);
  const std::size_t entries =
      kept ? offsetof(format::ModuleSlots, wrapKept) : offsetof(format::ModuleSlots, wrap);
  const VirtAddr slot{moduleSlots.value + entries + 8 * scratch};
  code.ripAbsolute(Sequence().add(0xFF, 0x25).add32(0).bytes(), 2, slot);
}

Label emitRecord(CodeBuilder& code, unsigned reg, std::uint32_t record) {
  const Label label = code.newLabel();
  code.bind(label);
  Sequence s;
  optionalRex(s, 0, reg);
  code.bytes(s.add(0xC7, modrm(0, 0, reg)).add32(record).bytes());
  return label;
}

constexpr std::uint8_t kEqual = 4;  // condition code of je

// Claims a word of the segment whose header r has, and leaves its address in r.
void stepInRegister(CodeBuilder& code, unsigned r, bool load) {
  if (load) loadKept(code, r);
  stepKept(code, r);
  storeKept(code, r);
  copyKept(code, r);
}

HeadProbe headWithDeadFlags(CodeBuilder& code, std::uint32_t record, Free free, Cursor cursor) {
  Scratch scratch(code, free);
  HeadProbe out;
  out.kept = cursor != Cursor::InMemory;
  const unsigned r = out.scratch = scratch.take();
  out.wrap = code.newLabel();
  out.wrapOutOfLine = true;
  loadSegment(code, r);
  if (out.kept) {
    stepInRegister(code, r, cursor == Cursor::Loaded);
  } else {
    code.bytes({rex(true, 0, r), 0x83, modrm(0, 0, r), 4});
    load64(code, r, r);
  }
  Sequence compare;
  optionalRex(compare, 0, r);
  code.bytes(compare.add(0x83, modrm(0, 7, r), 0xFF).bytes());
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
    stepInRegister(code, r, cursor == Cursor::Loaded);
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
  moveThreadWord(code, 0x89, reg, format::kSpillSlot + std::int32_t(8 * slot));
}

void emitRestore(CodeBuilder& code, unsigned reg, unsigned slot) {
  moveThreadWord(code, 0x8B, reg, format::kSpillSlot + std::int32_t(8 * slot));
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
    optionalRex(s, 0, r);
    if (mask < 0x80)
      s.add(0x83, modrm(0, 1, r), mask);
    else
      s.add(0x81, modrm(0, 1, r)).add32(mask);
    code.bytes(s.bytes());
  } else {
    load32(code, r, word);
    Sequence set;  // lea mask(word), word: 32 bits of operand, 64 of address
    optionalRex(set, word, word);
    code.bytes(set.add(0x8D, modrm(2, word, word)).add32(mask).bytes());
    Sequence store;
    optionalRex(store, word, r);
    code.bytes(store.add(0x89, modrm(0, word, r)).bytes());
  }
  scratch.restore();
}

}  // namespace traceback::instrument
