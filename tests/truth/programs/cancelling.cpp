// Threads that are cancelled, or end in the middle: their frames are unwound by force, with what there is to
// clean up.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>

namespace {

struct Noted {
  int number;
  ~Noted() { std::printf("frame %d is left\n", number); }
};

void cleanUp(void* what) { std::printf("%s\n", static_cast<const char*>(what)); }

__attribute__((noinline)) void waitBelow(int depth) {
  Noted noted{depth};
  if (depth == 0) {
    for (;;) pause();
  }
  waitBelow(depth - 1);
  std::printf("not reached\n");
}

void* waiter(void*) {
  pthread_cleanup_push(cleanUp, const_cast<char*>("cleaned up"));
  try {
    waitBelow(4);
  } catch (...) {
    std::printf("passing on\n");
    throw;
  }
  pthread_cleanup_pop(0);
  return nullptr;
}

__attribute__((noinline)) void endBelow(int depth) {
  Noted noted{10 + depth};
  if (depth == 0) pthread_exit(const_cast<char*>("ended"));
  endBelow(depth - 1);
}

void* ender(void*) {
  endBelow(3);
  return nullptr;
}

}  // namespace

int main() {
  pthread_t thread;
  void* result = nullptr;
  pthread_create(&thread, nullptr, waiter, nullptr);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  std::printf("%s\n", result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
  pthread_create(&thread, nullptr, ender, nullptr);
  pthread_join(thread, &result);
  std::printf("%s\n", static_cast<const char*>(result));
}
