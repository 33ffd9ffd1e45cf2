// What the product says that a program's threads executed: the loader's blocks, as the tests compare them.
#pragma once

#include <QString>
#include <cstdint>
#include <vector>

#include "tests/truth/product_run.h"

namespace traceback::truth {

// The instructions within [start, end), link-time addresses of the executable, and the one at `end` if that
// was begun and faulted.
struct TracedPiece {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  bool faulted = false;
  bool afterGap = false;  // it is not known what ran before it
};

struct TracedThread {
  std::uint32_t tid = 0;
  std::vector<TracedPiece> pieces;
  bool startsOverwritten = false;
  bool atFault = false;
};

struct TracedRun {
  std::vector<TracedThread> threads;  // by tid
  QStringList damage;  // what the load report says was lost or damaged, and gaps in the threads
};

Attempt<TracedRun> readTrace(const QString& snap);
// The same of the instructions that its lines stand for, as a disassembly shows them and steps by them.
Attempt<TracedRun> readLines(const QString& snap);
// Of all its threads' readings of the time stamp counter.
Attempt<std::uint64_t> latestReading(const QString& snap);

}  // namespace traceback::truth
