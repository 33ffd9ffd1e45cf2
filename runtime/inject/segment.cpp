#include "runtime/inject/segment.h"

#include "runtime/inject/clock.h"
#include "runtime/inject/system.h"

namespace traceback::inject {

namespace {

inline constexpr unsigned kTimestampWords = 1 + format::kWordsPerValue;

Word* baseOf(const SegmentHeader& segment) { return reinterpret_cast<Word*>(segment.base); }

std::uint64_t indexOf(const SegmentHeader& segment, const Word* word) {
  return static_cast<std::uint64_t>(word - baseOf(segment));
}

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

// The three steps of ring.h, and a timestamp at the front. The cursor comes to stand behind all of it at
// once: a process that is killed here leaves no record cut in two.
void enterSubBuffer(SegmentHeader& segment, std::uint64_t ordinal) {
  Word* front = baseOf(segment) + format::frontIndex(segment, ordinal);
  memset(front, 0, (segment.subBufferWords - 1) * sizeof(Word));
  front[segment.subBufferWords - 1] = format::kSentinelWord;
  const std::uint64_t time = timeStamp();
  compilerBarrier();
  __atomic_store_n(&segment.ordinal, ordinal, __ATOMIC_RELEASE);
  putCursor(segment, writeRecord(front, format::RecordType::Timestamp, 0, &time, 1));
}

}  // namespace

void startSegment(SegmentHeader& segment, Word* base, std::uint32_t subBufferWords,
                  std::uint32_t subBufferCount, std::uint64_t fileOffset) {
  segment.base = reinterpret_cast<std::uint64_t>(base);
  segment.subBufferWords = subBufferWords;
  segment.subBufferCount = subBufferCount;
  segment.fileOffset = fileOffset;
  segment.step[0] = format::kCursorStep;
  for (std::uint32_t i = 0; i < subBufferCount; ++i)
    base[std::uint64_t{i + 1} * subBufferWords - 1] = format::kSentinelWord;
  enterSubBuffer(segment, 0);
}

std::uint64_t positionOf(const SegmentHeader& segment) {
  const std::uint64_t index = format::cursorIndex(segment);
  const std::uint64_t subBuffer = index / segment.subBufferWords;
  std::uint64_t ordinal = segment.ordinal;
  if (ordinal % segment.subBufferCount != subBuffer && ordinal != 0)
    --ordinal;  // the cursor has not followed yet
  return ordinal * segment.subBufferWords + index % segment.subBufferWords;
}

Word recordAtCursor(const SegmentHeader& segment) {
  const Word word = *cursorOf(segment);
  return word == format::kSentinelWord ? 0 : word;
}

bool atSubBufferEnd(const SegmentHeader& segment) {
  return format::cursorIndex(segment) % segment.subBufferWords == segment.subBufferWords - 1;
}

Word* claimWord(SegmentHeader& segment) {
  if (atSubBufferEnd(segment) ||
      indexOf(segment, cursorOf(segment) + 1) % segment.subBufferWords == segment.subBufferWords - 1)
    enterSubBuffer(segment, segment.ordinal + 1);
  Word* word = cursorOf(segment) + 1;
  *word = 0;
  putCursor(segment, word);
  return word;
}

unsigned wordsLeft(const SegmentHeader& segment) {
  return segment.subBufferWords - 1 -
         static_cast<unsigned>(format::cursorIndex(segment) % segment.subBufferWords);
}

bool isCalledAtNextHead(const SegmentHeader& segment) {
  const Word* word = cursorOf(segment);
  if (atSubBufferEnd(segment)) return false;
  if (*word == format::kSentinelWord) return true;
  return word[1] == format::kSentinelWord &&
         indexOf(segment, word + 1) % segment.subBufferWords != segment.subBufferWords - 1;
}

void callAtNextHead(SegmentHeader& segment) {
  if (!atSubBufferEnd(segment)) cursorOf(segment)[1] = format::kSentinelWord;
}

void forgetEarlySentinel(SegmentHeader& segment) {
  Word* word = cursorOf(segment);
  if (*word != format::kSentinelWord || atSubBufferEnd(segment)) return;
  putCursor(segment, word - 1);
  *word = 0;
}

void append(SegmentHeader& segment, format::RecordType type, std::uint16_t detail,
            const std::uint64_t* values, unsigned count) {
  const unsigned words = 1 + count * format::kWordsPerValue;
  static_assert(1 + static_cast<unsigned>(format::SignalBeginField::Count) * format::kWordsPerValue +
                    kTimestampWords <
                128);
  Word* at = cursorOf(segment);
  // A word that was claimed and never written belongs to code that was abandoned: a hole would end the
  // sub-buffer.
  if (*at != 0) ++at;
  if (indexOf(segment, at) % segment.subBufferWords + words > segment.subBufferWords - 1 ||
      atSubBufferEnd(segment)) {
    // The rest stays zero, which ends the sub-buffer early; an early sentinel there must go.
    if (!atSubBufferEnd(segment) && *at == format::kSentinelWord &&
        indexOf(segment, at) % segment.subBufferWords != segment.subBufferWords - 1)
      *at = 0;
    enterSubBuffer(segment, segment.ordinal + 1);
    at = cursorOf(segment) + 1;
  }
  putCursor(segment, writeRecord(at, type, detail, values, count));
}

}  // namespace traceback::inject
