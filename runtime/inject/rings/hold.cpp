#include "runtime/inject/rings/hold.h"

#include <time.h>

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/rings.h"

namespace traceback::inject {

namespace {

constinit unsigned holds = 0;

bool isHeld(const Thread& t) { return areAnyHeld() && !t.holds; }

// A little more than a snap may take (collector.cpp).
constexpr unsigned kMostMilliseconds = 130'000;

}  // namespace

Hold::Hold() {
  thread().holds = true;
  __atomic_fetch_add(&holds, 1u, __ATOMIC_SEQ_CST);
}

Hold::~Hold() {
  __atomic_fetch_sub(&holds, 1u, __ATOMIC_SEQ_CST);
  thread().holds = false;
}

bool areAnyHeld() { return __atomic_load_n(&holds, __ATOMIC_ACQUIRE) != 0; }

void stopIfHeld(Thread& t, const SegmentHeader& segment, unsigned words) {
  if (__builtin_expect(!isHeld(t), 1) || process.sandboxed || t.state != ThreadState::Traced) return;
  if (segment.ordinal + 1 < segment.subBufferCount || wordsLeft(segment) >= words) return;
  t.ring->header->held = 1;
  for (unsigned waited = 0; isHeld(t) && waited < kMostMilliseconds; ++waited) {
    const struct timespec pause{0, 1'000'000};
    systemCall(__NR_nanosleep, asLong(&pause), 0);
  }
  t.ring->header->held = 0;
}

void forgetHolds() {
  holds = 0;
  thread().holds = false;
}

}  // namespace traceback::inject
