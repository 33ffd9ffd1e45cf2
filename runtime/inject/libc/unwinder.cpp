// Frames that a compiler's unwinder tells the program of (Itanium C++ ABI: Exception Handling, 1.1, and GCC's
// _Unwind_Backtrace): they are at the originals' addresses, by which programs look for names and lines
// (Rust's panics, libbacktrace, abseil, folly). What unwinds to catch an exception sees the copies'.
#include <dlfcn.h>

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/libc/addresses.h"
#include "runtime/inject/libc/libc.h"

using namespace traceback::inject;

// Where hooks.S goes on.
extern "C" [[gnu::visibility("hidden")]] void* traceback_real__Unwind_Backtrace;

namespace {

struct Context;
using Visit = int(Context* frame, void* argument);
constexpr int kEndOfStack = 5;  // _URC_END_OF_STACK

// GCC's library. Others keep their frames otherwise, and are left to themselves.
struct Unwinder {
  int (*backtrace)(Visit* visit, void* argument);
  std::uint64_t (*address)(Context* frame, int* isInterrupted);  // of the next instruction to run there
  void (*setAddress)(Context* frame, std::uint64_t address);
};
constinit Unwinder gccs;

struct Asked {
  Visit* visit;
  void* argument;
};

int visitOriginal(Context* frame, void* data) {
  const auto& asked = *static_cast<const Asked*>(data);
  int isInterrupted = 0;
  const std::uint64_t address = gccs.address(frame, &isInterrupted);
  if (isRuntimeFrame(address)) return 0;
  // It goes on from the frame's own address.
  gccs.setAddress(frame, shownFrame(address, isInterrupted != 0));
  const int result = asked.visit(frame, asked.argument);
  gccs.setAddress(frame, address);
  return result;
}

int backtraceOfOriginals(Visit* visit, void* argument) {
  Asked asked{visit, argument};
  return gccs.backtrace(visitOriginal, &asked);
}

int backtraceOfNone(Visit*, void*) { return kEndOfStack; }

template <typename Function>
bool find(Function*& function, void* handle, const char* name, const char* version) {
  function = reinterpret_cast<Function*>(dlvsym(handle, name, version));
  return function != nullptr;
}

// From there on; null if there is none.
void* unwinderIn(void* handle) {
  constexpr char kName[] = "_Unwind_Backtrace";
  void* const next = findOfAnyVersion(handle, kName);
  if (next == nullptr || dlvsym(handle, kName, "GCC_3.3") != next) return next;
  Unwinder found{};
  if (!find(found.backtrace, handle, kName, "GCC_3.3") ||
      !find(found.address, handle, "_Unwind_GetIPInfo", "GCC_4.2.0") ||
      !find(found.setAddress, handle, "_Unwind_SetIP", "GCC_3.0"))
    return next;
  gccs = found;
  return reinterpret_cast<void*>(&backtraceOfOriginals);
}

// Opened by the program, for itself alone.
void* openedUnwinder() {
  constexpr const char* kNames[] = {"libgcc_s.so.1", "libunwind.so.1"};
  for (const char* name : kNames) {
    void* const handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* const found = unwinderIn(handle);
    libc.dlclose(handle);
    if (found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace

extern "C" [[gnu::visibility("hidden"), gnu::used]] void traceback_before_backtrace() {
  const auto none = reinterpret_cast<void*>(&backtraceOfNone);
  void* const known = __atomic_load_n(&traceback_real__Unwind_Backtrace, __ATOMIC_ACQUIRE);
  if (known != nullptr && known != none) return;
  findLibc();
  void* found = unwinderIn(RTLD_NEXT);
  if (found == nullptr) found = openedUnwinder();
  __atomic_store_n(&traceback_real__Unwind_Backtrace, found != nullptr ? found : none, __ATOMIC_RELEASE);
}
