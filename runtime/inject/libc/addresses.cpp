// Addresses of code that libc tells the program, or is told by it: they are the original's.
#include "runtime/inject/libc/addresses.h"

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/libc/libc.h"
#include "runtime/inject/modules/copy_addresses.h"
#include "runtime/inject/signals/actions.h"
#include "runtime/inject/signals/handlers.h"

using namespace traceback::inject;

#define EXPORTED extern "C" [[gnu::visibility("default")]]

namespace {

constexpr int kMostFrames = 4096;  // for which there is room on the stack
constexpr int kMostOwn = 8;  // frames of the runtime, more of which are never among the program's

const void* shown(const void* address) {
  return reinterpret_cast<const void*>(shownFrame(reinterpret_cast<std::uint64_t>(address), true));
}

}  // namespace

namespace traceback::inject {

bool isRuntimeFrame(std::uint64_t address) { return isRuntimeCode(address) && !isHandlerReturn(address); }

// Of the runtime itself the program meets one address only, which stands for libc's.
std::uint64_t shownFrame(std::uint64_t address, bool isInterrupted) {
  if (isHandlerReturn(address) && libcRestorer() != 0) return libcRestorer();
  return isInterrupted ? originalAddress(address) : originalReturnAddress(address);
}

}  // namespace traceback::inject

EXPORTED int backtrace(void** frames, int size) noexcept {
  findLibc();
  if (size <= 0) return 0;
  // More, for some are ours: the first that libc finds is this function.
  const bool hasRoom = size <= kMostFrames;
  const std::size_t bytes = hasRoom ? static_cast<std::size_t>(size + kMostOwn) * sizeof(void*) : 0;
  auto** const found = hasRoom ? static_cast<void**>(__builtin_alloca(bytes)) : frames;
  const int count = libc.backtrace(found, hasRoom ? size + kMostOwn : size);
  bool interrupted = false;  // by the signal whose handler is the frame before
  int used = 0;
  for (int i = 0; i < count && used < size; ++i) {
    const auto address = reinterpret_cast<std::uint64_t>(found[i]);
    if (isRuntimeFrame(address)) continue;
    frames[used++] = reinterpret_cast<void*>(shownFrame(address, interrupted));
    interrupted = isHandlerReturn(address) || address == libcRestorer();
  }
  return used;
}

EXPORTED int dladdr(const void* address, void* info) noexcept {
  findLibc();
  return libc.dladdr(shown(address), info);
}
EXPORTED int dladdr1(const void* address, void* info, void** extra, int flags) noexcept {
  findLibc();
  return libc.dladdr1(shown(address), info, extra, flags);
}
