// Reports of sanitizers. UndefinedBehaviorSanitizer's library calls __ubsan_on_report() before it prints one,
// AddressSanitizer's __asan_on_error(); and all of them give the last line of a report, leaks too, to
// __sanitizer_report_error_summary(). These are there to be defined by somebody else. Where such a library is
// linked into the program it calls its own, and tells only that it is about to end the process, if the
// program shows its names to libraries (Clang has it do so).
#include <dlfcn.h>
#include <errno.h>

#include "runtime/format/fnv.h"
#include "runtime/inject/libc/libc.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/snaps/policy_file.h"
#include "runtime/inject/snaps/reports.h"
#include "runtime/inject/snaps/trigger.h"

// Null where the process has no such library, or hides it.
extern "C" {
[[gnu::weak]] void __ubsan_get_current_report_data(const char** kind, const char** message, const char** file,
                                                   unsigned* line, unsigned* column, char** address);
[[gnu::weak]] int __asan_report_present();
[[gnu::weak]] void* __asan_get_report_pc();
[[gnu::weak]] const char* __asan_get_report_description();
[[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());
}

using namespace traceback::inject;

namespace {

constexpr char kSummary[] = "SUMMARY: ";

constinit bool anyMet = false;

bool areReportsWanted() { return process.recording && policy().snapReports; }

void meetReport(std::uint64_t place, const char* text) {
  __atomic_store_n(&anyMet, true, __ATOMIC_RELAXED);
  trigger(Trigger::Report, place, text);
}

// What the language leaves undefined.
void meetUndefined() {
  if (!areReportsWanted()) return;
  const char *kind = nullptr, *message = nullptr, *file = nullptr;
  unsigned line = 0, column = 0;
  char* address = nullptr;
  if (__ubsan_get_current_report_data != nullptr)
    __ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &address);
  Text<256> text;
  text.add(kind != nullptr && *kind != 0 ? kind : "undefined-behavior");
  std::uint64_t place = traceback::format::fnvOf(text.c_str());
  if (file != nullptr && *file != 0) {
    place = traceback::format::fnvOf(file, place) ^ (std::uint64_t{line} << 16) ^ column;
    text.add(" at ").add(file).add(":").add(std::uint64_t{line});
  }
  meetReport(place, text.c_str());
}

// A wrong use of memory.
void meetMisuse() {
  if (!areReportsWanted() || __asan_report_present == nullptr || __asan_report_present() == 0) return;
  const char* what = __asan_get_report_description != nullptr ? __asan_get_report_description() : nullptr;
  const void* pc = __asan_get_report_pc != nullptr ? __asan_get_report_pc() : nullptr;
  meetReport(reinterpret_cast<std::uint64_t>(pc), what != nullptr && *what != 0 ? what : "misuse of memory");
}

bool beginsWith(const char* text, const char* beginning) {
  for (; *beginning != 0; ++text, ++beginning)
    if (*text != *beginning) return false;
  return true;
}

bool contains(const char* text, const char* part) {
  for (; *text != 0; ++text)
    if (beginsWith(text, part)) return true;
  return false;
}

// "SUMMARY: LeakSanitizer: 8 byte(s) leaked in 1 allocation(s)." What is met before it is printed is known.
void meetSummary(const char* summary) {
  if (!areReportsWanted() || !beginsWith(summary, kSummary)) return;
  summary += sizeof kSummary - 1;
  const bool known = beginsWith(summary, "UndefinedBehaviorSanitizer") ||
                     (__asan_report_present != nullptr && __asan_report_present() != 0);
  if (known && !contains(summary, " leaked in ")) return;
  Text<256> text;
  text.add(summary);
  if (!text.empty() && text.bytes()[text.size() - 1] == '.') text.bytes()[text.size() - 1] = 0;
  meetReport(traceback::format::fnvOf(text.c_str()), text.c_str());
}

void sanitizerEndsProcess() {
  if (inForkedChild() || !inOwnProcess()) return;
  const int error = errno;
  meetMisuse();
  if (areReportsWanted() && !__atomic_load_n(&anyMet, __ATOMIC_RELAXED))
    meetReport(0, "something, and ends the process");
  removeProcessFolder();
  setErrno(error);
}

// The one that would have been called without us: but for the last line, a library's own does nothing,
// another one may.
template <typename... Arguments>
void callNext(void (*&next)(Arguments...), const char* name, Arguments... arguments) {
  auto* found = __atomic_load_n(&next, __ATOMIC_ACQUIRE);
  if (found == nullptr) {
    found = reinterpret_cast<void (*)(Arguments...)>(dlsym(RTLD_NEXT, name));
    __atomic_store_n(&next, found, __ATOMIC_RELEASE);
  }
  if (found != nullptr) found(arguments...);
}

}  // namespace

namespace traceback::inject {

void watchSanitizers() {
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(sanitizerEndsProcess);
}

}  // namespace traceback::inject

extern "C" [[gnu::visibility("default")]] void __ubsan_on_report() {
  const int error = errno;
  meetUndefined();
  setErrno(error);
  static constinit void (*next)() = nullptr;
  callNext(next, "__ubsan_on_report");
}

extern "C" [[gnu::visibility("default")]] void __asan_on_error() {
  const int error = errno;
  meetMisuse();
  setErrno(error);
  static constinit void (*next)() = nullptr;
  callNext(next, "__asan_on_error");
}

extern "C" [[gnu::visibility("default")]] void __sanitizer_report_error_summary(const char* summary) {
  const int error = errno;
  meetSummary(summary);
  setErrno(error);
  static constinit void (*next)(const char*) = nullptr;
  callNext(next, "__sanitizer_report_error_summary", summary);
}
