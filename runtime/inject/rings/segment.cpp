#include "runtime/inject/rings/segment.h"

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/ring_memory.h"

namespace traceback::inject {

namespace {

inline constexpr unsigned kSignalBeginWords =
    1 + static_cast<unsigned>(format::SignalBeginField::Count) * format::kWordsPerValue;

Word* baseOf(const SegmentHeader& segment) { return reinterpret_cast<Word*>(segment.base); }

void putCursor(SegmentHeader& segment, Word* word) {
  compilerBarrier();
  __atomic_store_n(&segment.cursor, reinterpret_cast<std::uint64_t>(word), __ATOMIC_RELEASE);
}

// In this order, which a compiler is free to change where nothing is volatile: whoever finds the last record
// of a process that was killed here finds its front.
Word* writeRecord(Word* front, format::RecordType type, std::uint16_t detail, const std::uint64_t* values,
                  unsigned count) {
  volatile Word* at = front;
  *at = format::header(type, count * format::kWordsPerValue, detail);
  for (unsigned i = 0; i < count; ++i)
    for (unsigned part = 0; part < format::kWordsPerValue; ++part) *++at = format::payload(values[i], part);
  return front + count * format::kWordsPerValue;
}

// The memory of the sub-buffer behind one that is begun.
void prepareNext(SegmentHeader& segment, std::uint64_t ordinal) {
  const std::uint64_t next = ordinal + 1;
  if (next < kFirstSubBuffers) return;
  // Where there is none, the segment is from here on a ring of those that there are, with the same ones in
  // the same places.
  if (next < segment.subBufferCount &&
      !bringIn(baseOf(segment) + format::frontIndex(segment, next), segment.subBufferWords))
    segment.subBufferCount = static_cast<std::uint32_t>(next);
  if (next >= segment.subBufferCount && lacksFronts(segment)) bringInFronts(segment);
}

// Where its records begin.
Word* beginningOf(const SegmentHeader& segment, std::uint64_t ordinal, bool isFrontless) {
  Word* const front = baseOf(segment) + format::frontIndex(segment, ordinal);
  const bool isShort = isFrontless && ordinal % segment.subBufferCount < kFirstSubBuffers &&
                       segment.subBufferWords > kFirstWords;
  return isShort ? front + segment.subBufferWords - kFirstWords : front;
}

// Behind `last`, the last word of what is at the front. It comes from the sub-buffer before, at the latest.
Word* continueSignal(SegmentHeader& segment, Word* last) {
  if (segment.latestSignal == 0) return last;
  const Word* const from = baseOf(segment) + segment.latestSignal - 1;
  volatile Word* const to = last + 1;
  to[0] = from[0] | format::kSignalContinued;
  for (unsigned i = 1; i < kSignalBeginWords; ++i) to[i] = from[i];
  compilerBarrier();
  segment.latestSignal = static_cast<std::uint32_t>(last + 1 - baseOf(segment)) + 1;
  return last + kSignalBeginWords;
}

// The steps of ring.h. The cursor comes to stand behind all of it at once: a process that is killed here
// leaves no record cut in two.
void enterSubBuffer(SegmentHeader& segment, std::uint64_t ordinal, bool isFrontless) {
  Word* const front = beginningOf(segment, ordinal, isFrontless);
  prepareNext(segment, ordinal);
  const std::uint64_t time = timeStamp();
  compilerBarrier();
  __atomic_store_n(&segment.ordinal, ordinal, __ATOMIC_RELEASE);
  compilerBarrier();
  putCursor(segment, continueSignal(segment, writeRecord(front, format::RecordType::Timestamp, 0, &time, 1)));
}

std::uint64_t subBufferOfCursor(const SegmentHeader& segment) {
  return format::cursorIndex(segment) / segment.subBufferStride;
}

// The cursor's place in it.
std::uint64_t placeOfCursor(const SegmentHeader& segment) {
  return format::cursorIndex(segment) % segment.subBufferStride;
}

// Whether the step to the sub-buffer in use was not done to its end: its ordinal is there, and the cursor has
// not followed. A handler that interrupted that may have been left by a jump.
bool isBehind(const SegmentHeader& segment) {
  const std::uint64_t at = subBufferOfCursor(segment), count = segment.subBufferCount;
  return segment.ordinal != 0 && at != segment.ordinal % count && at == (segment.ordinal - 1) % count;
}

void enterNextSubBuffer(SegmentHeader& segment) {
  enterSubBuffer(segment, isBehind(segment) ? segment.ordinal : segment.ordinal + 1, lacksFronts(segment));
}

}  // namespace

void startSegment(SegmentHeader& segment, Word* base, SubBuffers subBuffers, std::uint64_t fileOffset,
                  bool isFrontless) {
  segment.base = reinterpret_cast<std::uint64_t>(base);
  segment.subBufferWords = subBuffers.words;
  segment.subBufferCount = subBuffers.count;
  segment.subBufferStride = format::kWindowSize / sizeof(Word);
  segment.fileOffset = fileOffset;
  segment.step[0] = format::kCursorStep;
  enterSubBuffer(segment, 0, isFrontless);
}

std::uint64_t positionOf(const SegmentHeader& segment) {
  const std::uint64_t ordinal = isBehind(segment) ? segment.ordinal - 1 : segment.ordinal;
  return ordinal * segment.subBufferWords + placeOfCursor(segment);
}

unsigned wordsLeft(const SegmentHeader& segment) {
  const std::uint64_t next = placeOfCursor(segment) + 1;
  return next >= segment.subBufferWords ? 0 : static_cast<unsigned>(segment.subBufferWords - next);
}

bool isAstray(const SegmentHeader& segment) {
  if (placeOfCursor(segment) >= segment.subBufferWords) return true;
  return subBufferOfCursor(segment) != segment.ordinal % segment.subBufferCount && !isBehind(segment);
}

bool atSubBufferEnd(const SegmentHeader& segment) { return wordsLeft(segment) == 0; }

Word* cursorForHead(SegmentHeader& segment) {
  if (atSubBufferEnd(segment) || isAstray(segment)) enterNextSubBuffer(segment);
  return cursorOf(segment);
}

void writeHead(SegmentHeader& segment, Word* cursor, Word record) {
  *static_cast<volatile Word*>(cursor + 1) = record;
  putCursor(segment, cursor + 1);
}

void append(SegmentHeader& segment, format::RecordType type, std::uint16_t detail,
            const std::uint64_t* values, unsigned count) {
  const unsigned words = 1 + count * format::kWordsPerValue, left = wordsLeft(segment);
  static_assert(2 * kSignalBeginWords + kTimestampWords < 128);
  if (type == format::RecordType::SignalBegin) segment.latestSignal = 0;
  if (words > left) {
    // So readers know where it ends.
    memset(cursorOf(segment) + 1, 0, left * sizeof(Word));
    enterNextSubBuffer(segment);
  }
  Word* const front = cursorOf(segment) + 1;
  putCursor(segment, writeRecord(front, type, detail, values, count));
  if (type == format::RecordType::SignalBegin)
    segment.latestSignal = static_cast<std::uint32_t>(front - baseOf(segment)) + 1;
  else if (type == format::RecordType::SignalEnd)
    segment.latestSignal = 0;
}

}  // namespace traceback::inject
