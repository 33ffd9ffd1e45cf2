#include "instrument/emit/record_routines.h"

#include <array>
#include <bit>

#include "instrument/emit/probe_parts.h"

namespace traceback::instrument {
namespace {

constexpr std::int8_t kScratchKept = -16, kRecordKept = -8;  // from the routine's stack pointer
constexpr std::uint32_t kAlignment = 32;

// That hold the record; those for which no prefix is needed first.
constexpr std::array<unsigned, 14> kHolders = {1, 0, 2, 6, 7, 3, 5, 8, 9, 10, 12, 13, 14, 15};
// That hold the address of the word: r11, which is kept, or one that is dead.
constexpr unsigned kKeptScratch = 11;
constexpr std::array<unsigned, 4> kScratches = {kKeptScratch, 2, 6, 7};

// What a routine's number says.
struct Kind {
  unsigned record = kRcx;
  bool restores = false;    // the record's register
  unsigned scratch = 0;     // index in kScratches
  Cursor cursor = Cursor::InMemory;

  // Behind one that finds the cursor in xmm15 comes the one that loads it.
  static_assert(static_cast<unsigned>(Cursor::Kept) + 1 == static_cast<unsigned>(Cursor::Loaded));
  static Kind of(unsigned number) {
    return {number / 4 % 16, (number & 64) != 0, number / 128, static_cast<Cursor>(number % 4)};
  }
  unsigned number() const {
    return static_cast<unsigned>(cursor) | record * 4 | (restores ? 64U : 0U) | scratch * 128;
  }
  // The record is written by then, and what its register had is given back where it is needed.
  bool storesByRecord() const { return cursor != Cursor::Kept; }
};

Kind kindFor(RegisterSet dead, Cursor cursor) {
  Kind kind{.restores = true, .cursor = cursor};
  for (unsigned i = 1; i < kScratches.size(); ++i) {
    // Not the last one that is dead.
    if ((dead & registerBit(kScratches[i])) == 0 || std::popcount(dead) < 2) continue;
    kind.scratch = i;
    dead &= RegisterSet(~registerBit(kScratches[i]));
    break;
  }
  for (const unsigned reg : kHolders) {
    if ((dead & registerBit(reg)) == 0) continue;
    kind.record = reg;
    kind.restores = false;
    break;
  }
  return kind;
}

class Routine {
 public:
  explicit Routine(std::int32_t threadSlot) : m_code(threadSlot) {}

  std::uint32_t emit(const Kind& kind, VirtAddr moduleSlots, Routines& out) {
    const unsigned record = kind.record, scratch = kScratches[kind.scratch];
    const bool keepsScratch = scratch == kKeptScratch;
    const Label claimed = m_code.newLabel(), resume = m_code.newLabel(), written = m_code.newLabel(),
                wrap = m_code.newLabel();
    m_code.setOrigin({});
    if (keepsScratch) storeBelow(m_code, scratch, kScratchKept);
    takeCursor(m_code, scratch, kind.storesByRecord() ? Cursor::InMemory : kind.cursor);
    m_code.bind(resume);
    stepInWindow(m_code, scratch, wrap);
    m_code.bytes(Sequence().optionalRex(record, scratch).add(0x89, modrm(0, record, scratch)).bytes());
    m_code.bind(written);
    const bool keepsCursor = kind.cursor != Cursor::InMemory;
    if (kind.storesByRecord()) {
      loadSegment(m_code, record);
      storeStepped(m_code, scratch, record, keepsCursor);
    } else {
      stepAndStoreKept(m_code, scratch);
    }
    m_code.bind(claimed);
    if (keepsScratch) loadBelow(m_code, scratch, kScratchKept);
    if (kind.restores) loadBelow(m_code, record, kRecordKept);
    m_code.bytes({0xC3});
    m_code.bind(wrap);
    emitWrapAt(m_code, resume, scratch, keepsCursor, moduleSlots);
    const unsigned kept = (keepsScratch ? unsigned{format::kRoutineKeepsR11} : 0U) |
                          (kind.restores ? unsigned{format::kRoutineRestoresRcx} : 0U) |
                          (keepsCursor ? unsigned{format::kRoutineKeepsCursor} : 0U) |
                          (kind.cursor == Cursor::Kept ? unsigned{format::kRoutineBroughtCursor} : 0U);
    const std::uint32_t start = out.append(m_code, kAlignment);
    out.records.push_back({start, at(written), at(claimed), at(wrap), std::uint8_t(kept)});
    return start;
  }

 private:
  std::uint8_t at(Label label) const { return std::uint8_t(m_code.offsetOf(label)); }

  CodeBuilder m_code;
};

}  // namespace

HeadProbe emitSharedHead(CodeBuilder& code, std::uint32_t record, Free free, Cursor cursor,
                         RoutineSet& used) {
  // The stack pointer is nobody's, and r11 is for others.
  const auto dead = RegisterSet(free.registers & ~registerBit(kRsp) & ~registerBit(kKeptScratch));
  const Kind kind = kindFor(dead, cursor);
  const unsigned holder = kind.record;
  used.set(kind.number());
  if (cursor == Cursor::Kept) used.set(kind.number() + 1);
  HeadProbe out;
  if (kind.restores) storeBelow(code, holder, kRecordKept - 8);
  out.record = code.newLabel();
  code.bind(out.record);
  code.bytes(Sequence().optionalRex(0, holder).add(0xB8 | (holder & 7)).add32(record).bytes());
  code.callRoutine(kind.number());
  out.claimed = code.newLabel();
  code.bind(out.claimed);
  return out;
}

std::uint32_t emitRecordRoutine(unsigned number, VirtAddr moduleSlots, Routines& out) {
  return Routine(out.threadSlot).emit(Kind::of(number), moduleSlots, out);
}

}  // namespace traceback::instrument
