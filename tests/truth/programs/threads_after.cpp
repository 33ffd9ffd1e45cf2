// Threads one after the other, one within another, one with an exception of its own, one that calls
// pthread_exit.
#include <pthread.h>

#include <cstdio>
#include <stdexcept>
#include <thread>

namespace {

int depthFirst(int levels) {
  int result = levels;
  if (levels > 0) {
    std::thread inner([&result, levels] { result += depthFirst(levels - 1); });
    inner.join();
  }
  return result * 2;
}

int risky(int value) {
  if (value % 3 == 0) throw std::runtime_error("three");
  return value * value;
}

void* leavesEarly(void* argument) {
  int* value = static_cast<int*>(argument);
  for (int i = 0;; ++i) {
    *value += i;
    if (*value > 50) pthread_exit(value);
  }
}

}  // namespace

int main() {
  std::printf("depth first: %d\n", depthFirst(3));
  int total = 0;
  for (int i = 0; i < 4; ++i) {
    std::thread thread([&total, i] {
      try {
        total += risky(i + 1);
      } catch (const std::exception&) {
        total += 1000;
      }
    });
    thread.join();
  }
  std::printf("total: %d\n", total);
  int value = 0;
  pthread_t thread;
  if (pthread_create(&thread, nullptr, leavesEarly, &value) != 0) return 1;
  pthread_join(thread, nullptr);
  std::printf("left at %d\n", value);
  return 0;
}
