// What the injected state machine stands on when it runs in a test's own process: a clock, memory for rings,
// a process and its fate, handed in by the test. Threads are real ones, and so is the place of their slots.
#pragma once

#include <ucontext.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ring_dump.h"
#include "runtime/format/process.h"
#include "runtime/inject/rings/thread.h"
#include "runtime/inject/signals/levels.h"

namespace traceback::testing {

// A process that has no ring yet, with so many of them at most. What the one before had is gone.
void beginProcess(std::uint64_t mostRings = 0);
// No more memory for rings, from now on or not.
void setMemoryIsThere(bool isThere);
// The program has unmapped all rings of threads that ended.
void unmapEndedRings();
// How often one was mapped.
unsigned mappedRings();
// Time, of which otherwise each time stamp takes a tick.
void letPass(std::uint64_t ticks);
// The policy `history counts`, for rings that are there.
void countEveryRecord(bool all);
// From now on the process filters its system calls.
void beginFiltering();
const format::ProcessHeader& processFile();
// The calling thread is now in a child that was forked, and the runtime has learnt of it.
void forkHere();

// The rings' "files", by name, as they are now. Only while no thread writes.
std::map<std::string, RingDump> ringFiles();

// A thread of the process. Its end is handed in, too: keys' destructors run when ThreadSanitizer has left it.
std::thread startThread(std::function<void()> does);
void inThread(std::function<void()> does);

// A head probe of the calling thread.
void head(std::uint32_t code, std::uint64_t stackPointer = 0);

// A signal that the calling thread meets: its arrival, and its handler's return. `depth` says how far down
// the stack its frame is.
class Handler {
 public:
  Handler(int signal, unsigned depth);
  void returns();
  // Below the frame, where the handler runs, and above it.
  std::uint64_t within() const;
  std::uint64_t outside() const;

 private:
  ucontext_t* m_context;
  inject::Interrupted m_interrupted{};
};

}  // namespace traceback::testing
