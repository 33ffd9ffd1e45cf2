// Writing extended records to a segment of the thread's own ring, and the ring.h protocol at its ends.
#pragma once

#include <cstdint>

#include "runtime/format/record.h"
#include "runtime/format/ring.h"

namespace traceback::inject {

using format::SegmentHeader;
using format::Word;

inline Word* cursorOf(const SegmentHeader& segment) { return reinterpret_cast<Word*>(segment.cursor); }

// Makes a segment of zeroed memory ready, with its first timestamp.
void startSegment(SegmentHeader& segment, Word* base, std::uint32_t subBufferWords,
                  std::uint32_t subBufferCount, std::uint64_t fileOffset);

// The position (ring.h) of the cursor, also while a step to the next sub-buffer is half done.
std::uint64_t positionOf(const SegmentHeader& segment);

// What a SignalBegin says of the interrupted segment: 0 if the cursor's word is not written, or is a
// sentinel.
Word recordAtCursor(const SegmentHeader& segment);

// Claims the next word, beginning a sub-buffer if the current one is full.
Word* claimWord(SegmentHeader& segment);

// Whether the cursor is on the sentinel that ends a sub-buffer.
bool atSubBufferEnd(const SegmentHeader& segment);

// Before the sentinel of the sub-buffer in use.
unsigned wordsLeft(const SegmentHeader& segment);

// Whether callAtNextHead() waits for that.
bool isCalledAtNextHead(const SegmentHeader& segment);
// Makes the thread's next head probe on this segment call the runtime. May be called while the segment is
// interrupted, for it touches only the word behind the cursor.
void callAtNextHead(SegmentHeader& segment);
// Takes back what the above did, if the cursor has come to it.
void forgetEarlySentinel(SegmentHeader& segment);

// Appends a record. Not while code that will go on is in the middle of a DAG in this segment.
void append(SegmentHeader& segment, format::RecordType type, std::uint16_t detail,
            const std::uint64_t* values, unsigned count);

}  // namespace traceback::inject
