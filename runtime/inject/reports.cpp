// Reports of sanitizers. UndefinedBehaviorSanitizer's library calls __ubsan_on_report() before it prints one,
// AddressSanitizer's __asan_on_error(); both are there to be defined by somebody else. Where such a library
// is linked into the program it calls its own, and tells only that it is about to end the process.
#include <dlfcn.h>
#include <errno.h>

#include "runtime/inject/libc.h"
#include "runtime/inject/policy_file.h"
#include "runtime/inject/process.h"
#include "runtime/inject/reports.h"
#include "runtime/inject/trigger.h"

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

std::uint64_t hashOf(const char* text, std::uint64_t hash) {
  for (; *text != 0; ++text) hash = (hash ^ static_cast<std::uint8_t>(*text)) * 0x100'0000'01B3;
  return hash;
}

bool areReportsWanted() { return process.recording && policy().snapReports; }

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
  std::uint64_t place = hashOf(text.c_str(), 0xCBF2'9CE4'8422'2325);
  if (file != nullptr && *file != 0) {
    place = hashOf(file, place) ^ (std::uint64_t{line} << 16) ^ column;
    text.add(" at ").add(file).add(":").add(std::uint64_t{line});
  }
  trigger(Trigger::Report, place, text.c_str());
}

// A wrong use of memory.
void meetMisuse() {
  if (!areReportsWanted() || __asan_report_present == nullptr || __asan_report_present() == 0) return;
  const char* what = __asan_get_report_description != nullptr ? __asan_get_report_description() : nullptr;
  const void* pc = __asan_get_report_pc != nullptr ? __asan_get_report_pc() : nullptr;
  trigger(Trigger::Report, reinterpret_cast<std::uint64_t>(pc),
          what != nullptr && *what != 0 ? what : "misuse of memory");
}

void sanitizerEndsProcess() {
  if (inForkedChild() || !inOwnProcess()) return;
  const int error = errno;
  meetMisuse();
  removeProcessFolder();
  setErrno(error);
}

// The one that would have been called without us: a library's own does nothing, another one may.
void callNext(void (*&next)(), const char* name) {
  auto* found = __atomic_load_n(&next, __ATOMIC_ACQUIRE);
  if (found == nullptr) {
    found = reinterpret_cast<void (*)()>(dlsym(RTLD_NEXT, name));
    __atomic_store_n(&next, found, __ATOMIC_RELEASE);
  }
  if (found != nullptr) found();
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
