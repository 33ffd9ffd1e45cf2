// Writing extended records to a segment of the thread's own ring, and the ring.h protocol at its ends.
#pragma once

#include <cstdint>

#include "runtime/format/record.h"
#include "runtime/format/ring.h"

namespace traceback::inject {

using format::SegmentHeader;
using format::Word;

inline constexpr unsigned kTimestampWords = 1 + format::kWordsPerValue;

inline Word* cursorOf(const SegmentHeader& segment) { return reinterpret_cast<Word*>(segment.cursor); }

// Of a segment: in words, and how many.
struct SubBuffers {
  std::uint32_t words, count;
};
// Makes a segment ready, with its first timestamp. Its sub-buffers end at windows' ends (ring.h), the first
// of them in that of `base`. What its memory holds is of no matter; of its sub-buffers the first
// kFirstSubBuffers (ring_memory.h) have some, or these but for their fronts. Where there is none for others
// it has but as many.
void startSegment(SegmentHeader& segment, Word* base, SubBuffers subBuffers, std::uint64_t fileOffset,
                  bool isFrontless);

// The position (ring.h) of the cursor, also while a step to the next sub-buffer is half done.
std::uint64_t positionOf(const SegmentHeader& segment);

// The cursor, once the word behind it may be written: begins a sub-buffer if the current one is full.
Word* cursorForHead(SegmentHeader& segment);

// What a head does without its probe: writes the record behind such a cursor, and steps it.
void writeHead(SegmentHeader& segment, Word* cursor, Word record);

// Whether the cursor is in no sub-buffer, or not in the one in use: where two had the segment at once, a
// thread and the handler of a signal that the runtime did not see, one may have stored a cursor that it took
// before the other left that sub-buffer.
bool isAstray(const SegmentHeader& segment);

// Whether the sub-buffer in use is full.
bool atSubBufferEnd(const SegmentHeader& segment);

// How many may be written before that is so.
unsigned wordsLeft(const SegmentHeader& segment);

// Appends a record. Not while code that will go on is in the middle of a DAG in this segment.
void append(SegmentHeader& segment, format::RecordType type, std::uint16_t detail,
            const std::uint64_t* values, unsigned count);

}  // namespace traceback::inject
