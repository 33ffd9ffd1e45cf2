// The coarse history of a thread (runtime/format/history.h): sums up what is about to be overwritten.
#pragma once

#include <cstdint>

#include "runtime/format/history.h"
#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

// One or two milliseconds, in ticks of the processor's counter: at least as many are between two looks.
inline constexpr std::uint64_t kHistoryTicks = std::uint64_t{1} << 22;
// And as much of the processor's time of the thread, in nanoseconds.
inline constexpr std::uint64_t kHistoryTime = 8'000'000;
// Where records are counted besides (countPart()): short runs are to be learned from, too.
inline constexpr std::uint64_t kLearningTime = 2'000'000;

// Makes an empty history where another thread's may have been. `ticks` is the processor's counter.
void startHistory(format::HistoryHeader& history, std::uint64_t size, std::uint64_t ticks);

// Call before the main segment's next sub-buffer is begun: whether the oldest one is to be looked into first.
bool isTimeToLook(format::HistoryHeader& history, const format::SegmentHeader& segment, std::uint64_t ticks);

// Sums it up. `processorTime` is what the thread had of it so far, in nanoseconds: of much time much may be
// spent here, and of less than `pause` since the last look nothing; 0 where that is not known. `size` is the
// history's: nothing outside of it is written, whatever somebody did to its header. Uses less than 1 KiB of
// stack. False if it did not look. What the thread had of the processor's time takes a system call to know,
// so `pace` says when to ask next: at the sub-buffer by which it is likely to have had enough.
bool lookIntoOldest(format::HistoryHeader& history, std::uint64_t size, const format::SegmentHeader& segment,
                    std::uint64_t processorTime, std::uint64_t pause, HistoryPace& pace);

// The same of a history that counts everything: call startCounting() first, and countOldest() whenever the
// main segment's next sub-buffer is begun. Nothing outside of `size` bytes is written.
void startCounting(format::HistoryHeader& history, std::uint64_t size);
void countOldest(format::HistoryHeader& history, std::uint64_t size, const format::SegmentHeader& segment);

// A table of kLearningSlots behind the levels, which have `size` bytes with their header: call
// startLearning() behind startHistory(), and countPart() where lookIntoOldest() looked. It gives how many
// records it read. `isZero`: the table's memory is new, and need not be touched.
void startLearning(format::HistoryHeader& history, std::uint64_t size, bool isZero);
std::uint64_t countPart(format::HistoryHeader& history, std::uint64_t size,
                        const format::SegmentHeader& segment);

}  // namespace traceback::inject
