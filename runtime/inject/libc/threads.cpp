// New threads: the mask of who makes them, and room on their stacks. libc puts a thread's static thread-local
// storage there, and there is more of that with the runtime; a stack that was asked for as small as may be
// gets as much more.
#include <pthread.h>

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/libc/libc.h"
#include "runtime/inject/libc/waiting.h"
#include "runtime/inject/signals/held_faults.h"

using namespace traceback::inject;

namespace {

constexpr std::size_t kSmall = 256 << 10, kMore = 16 << 10;

const pthread_attr_t* withRoom(const pthread_attr_t* attributes, pthread_attr_t& larger) {
  if (attributes == nullptr) return nullptr;
  void* start = nullptr;
  std::size_t size = 0;
  // The start is the program's own memory, or else the size below 0; no size is the usual one.
  if (pthread_attr_getstack(attributes, &start, &size) != 0 || size == 0 || size >= kSmall ||
      reinterpret_cast<std::uint64_t>(start) + size != 0)
    return attributes;
  memcpy(&larger, attributes, sizeof larger);
  return pthread_attr_setstacksize(&larger, size + kMore) == 0 ? &larger : attributes;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread,
                                                             const pthread_attr_t* attributes,
                                                             void* (*function)(void*),
                                                             void* argument) noexcept {
  findLibc();
  noteSync(traceback::format::SyncKind::ThreadCreate, reinterpret_cast<const void*>(function));
  pthread_attr_t larger;
  const HeldBlocked mask;
  return libc.pthreadCreate(thread, withRoom(attributes, larger), function, argument);
}
