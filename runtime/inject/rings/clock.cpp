#include "runtime/inject/rings/clock.h"

#include "runtime/format/clock.h"
#include "runtime/inject/kernel/files.h"
#include "runtime/inject/process/process.h"

namespace traceback::inject {

namespace {

constexpr char kCurrent[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
constexpr char kAvailable[] = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

bool hasWord(const char* text, const char* word) {
  const std::size_t size = strlen(word);
  for (const char* at = text; *at != 0; ++at)
    if ((at == text || at[-1] == ' ') && strncmp(at, word, size) == 0 &&
        (at[size] == ' ' || at[size] == '\n' || at[size] == 0))
      return true;
  return false;
}

// Constant and running on in all sleep states (CPUID 8000'0007, EDX, bit 8).
bool counterIsInvariant() {
  std::uint32_t a = 0x8000'0000, b = 0, c = 0, d = 0;
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  if (a < 0x8000'0007) return false;
  a = 0x8000'0007, c = 0;
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return (d & (1u << 8)) != 0;
}

}  // namespace

std::uint64_t timeStamp() {
  if (process.logicalClock && process.file != nullptr)
    return __atomic_add_fetch(&format::clockIn(*process.file).logicalTime, std::uint64_t{1},
                              __ATOMIC_SEQ_CST);
  return processorTicks();
}

std::uint64_t processorTicks() {
  std::uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (std::uint64_t{high} << 32) | low;
}

bool counterIsTrusted() {
  if (process.environment.clock != Environment::Clock::Find)
    return process.environment.clock == Environment::Clock::Counter;
  // The kernel compares processors and counters all the time, and stops offering the counter if they differ.
  // Guests are told to prefer their host's clock, which reads the counter, too.
  char text[256];
  if (readFile(kCurrent, text, sizeof text) == 0) return counterIsInvariant();
  if (hasWord(text, "tsc") || hasWord(text, "hyperv_clocksource_tsc_page")) return true;
  if (!hasWord(text, "kvm-clock") && !hasWord(text, "xen")) return false;
  readFile(kAvailable, text, sizeof text);
  return hasWord(text, "tsc");
}

}  // namespace traceback::inject
