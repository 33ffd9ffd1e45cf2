// Fails with something to look at in every frame: what its argument says is how.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct Point {
  int x, y;
};

struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
};

struct Square : Shape {
  explicit Square(int length) : side(length) {}
  int area() const override { return side * side; }
  int side;
};

int failures = 7;
const char* mode = "";
static constexpr int kDepth = 3;

// Part of whoever calls it.
__attribute__((always_inline)) static inline int scaled(const int* at, int factor) {
  int doubled = factor * 2;
  if (std::strcmp(mode, "abort") == 0) std::abort();
  return *at * doubled;
}

__attribute__((noipa)) int measure(const std::vector<int>& numbers, const std::string& name,
                                   const Shape* shape, double ratio, const int* target) {
  int count = static_cast<int>(numbers.size());
  std::string greeting = "hello " + name;
  Point corner{count, -count};
  ++failures;
  return scaled(target, count) + shape->area() + static_cast<int>(ratio) + static_cast<int>(greeting.size()) +
         corner.x;
}

__attribute__((noipa)) int descend(int depth, const char* what) {
  Square square(depth + 1);
  std::vector<int> numbers{1, 2, 3, depth};
  if (depth < kDepth) return descend(depth + 1, what) + square.side;
  return measure(numbers, what, &square, 2.5, nullptr) + numbers[0];
}

__attribute__((noipa)) void waitForEver(int patience) {
  volatile int left = patience;
  for (;;) {
    pause();
    left = left - 1;
  }
}

int main(int argc, char** argv) {
  mode = argc > 1 ? argv[1] : "";
  std::thread waiter(waitForEver, 42);
  usleep(50'000);  // until it waits
  if (std::strcmp(mode, "wait") == 0) {
    std::puts("ready");
    std::fflush(stdout);
    waitForEver(1);
  }
  std::printf("%d\n", descend(0, "a name that is longer than any short string"));
}
