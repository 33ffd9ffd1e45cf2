#include "runtime/inject/snaps/trigger.h"

#include <time.h>

#include "runtime/format/snap.h"
#include "runtime/inject/kernel/lock.h"
#include "runtime/inject/libc/waiting.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/hold.h"
#include "runtime/inject/snaps/collector.h"
#include "runtime/inject/snaps/policy_file.h"

namespace traceback::inject {

namespace {

struct Place {
  std::uint64_t hash;
  std::uint32_t snaps;
};
constinit Place places[512];
constinit std::uint64_t windowStart = 0;
constinit std::uint32_t windowSnaps = 0;
constinit Lock lock;
constinit std::uint64_t generation = 0;  // of the process that the above are of

std::uint64_t secondsNow() {
  struct timespec now{};
  systemCall(__NR_clock_gettime, CLOCK_MONOTONIC, asLong(&now));
  return static_cast<std::uint64_t>(now.tv_sec);
}

// Null if there is no room: then only the rate limits it.
Place* placeOf(std::uint64_t hash) {
  constexpr std::uint64_t kCount = sizeof places / sizeof *places;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    Place& place = places[(hash + i) % kCount];
    if (place.hash == 0) place.hash = hash;
    if (place.hash == hash) return &place;
  }
  return nullptr;
}

bool isAllowed(Trigger kind, std::uint64_t place) {
  const Policy& rules = policy();
  if (kind == Trigger::Call && !rules.snapCalls) return false;
  const std::uint64_t hash = ((place << 2 | static_cast<std::uint64_t>(kind)) * 0x9E37'79B9'7F4A'7C15) | 1;
  Place* const seen = placeOf(hash);
  if (seen != nullptr && rules.repeats != 0 && seen->snaps >= rules.repeats) return false;
  const std::uint64_t now = secondsNow();
  if (windowSnaps == 0 || now - windowStart >= rules.rateSeconds) windowStart = now, windowSnaps = 0;
  if (windowSnaps >= rules.rateCount) return false;
  ++windowSnaps;
  if (seen != nullptr) ++seen->snaps;
  return true;
}

const char* nameOf(Trigger kind) {
  switch (kind) {
    case Trigger::Call:
      return "call";
    case Trigger::Exception:
      return "exception";
    case Trigger::Report:
      return "report";
    default:
      return "exit";
  }
}

// What one thread at a time does, with signals blocked: a handler that came here would wait for itself.
class Turn {
 public:
  Turn() {
    // The lock of a process that forked may have been somebody's who is not in the child.
    std::uint64_t before = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (before != process.generation &&
        __atomic_compare_exchange_n(&generation, &before, process.generation, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
      lock = Lock();
    lock.lock();
  }
  ~Turn() { lock.unlock(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  SignalsBlocked m_blocked;
};

}  // namespace

TriggerResult trigger(Trigger kind, std::uint64_t place, const char* text) {
  if (inForkedChild()) childStarted();
  if (!process.recording || process.sandboxed || process.file == nullptr || !inOwnProcess())
    return TriggerResult::Failed;
  // Read here: where it is no text, that is the program's fault, and met as such.
  Text<256> said;
  if (text != nullptr) said.add(text);
  const Turn turn;
  reloadPolicy();
  if (!isAllowed(kind, place)) return TriggerResult::Suppressed;
  const Hold hold;
  noteSnap(static_cast<std::uint16_t>(kind == Trigger::Call ? format::SnapReason::Api
                                                            : format::SnapReason::Policy));
  return runCollector({nameOf(kind), said.c_str()}) ? TriggerResult::Written : TriggerResult::Failed;
}

void meetExit(int status) {
  const auto code = static_cast<unsigned>(status) & 255;
  if (!snapsExit(policy(), code)) return;
  Text<8> text;
  trigger(Trigger::Exit, code, text.add(std::uint64_t{code}).c_str());
}

}  // namespace traceback::inject

// traceback.h. The caller's place is what is the same, or is not.
extern "C" [[gnu::visibility("default")]] int traceback_take_snap(const char* reason) noexcept {
  using namespace traceback::inject;
  return static_cast<int>(
      trigger(Trigger::Call, reinterpret_cast<std::uint64_t>(__builtin_return_address(0)), reason));
}
