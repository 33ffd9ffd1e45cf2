// Threads, exceptions and jumps over arrays, which AddressSanitizer keeps account of; then, if asked, a
// misuse.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

volatile int zero = 0;

[[gnu::noinline]] int deeper(int depth, std::jmp_buf* target) {
  volatile char array[100];
  array[depth] = 1;
  if (depth > 0) return deeper(depth - 1, target) + array[depth];
  if (target != nullptr) std::longjmp(*target, 1);
  throw std::runtime_error("at the end");
}

[[gnu::noinline]] int again(int rounds) {
  volatile char array[400];
  for (volatile char& each : array) each = static_cast<char>(rounds);
  return array[rounds];
}

int work() {
  int sum = 0;
  for (int i = 0; i < 50; ++i) {
    try {
      sum += deeper(20, nullptr);
    } catch (const std::runtime_error& error) {
      sum += static_cast<int>(std::strlen(error.what()));
    }
    sum += again(i);
    std::jmp_buf target;
    if (setjmp(target) == 0) sum += deeper(20, &target);
    sum += again(i);
    const auto memory = std::make_unique<std::vector<int>>(i + 1);
    sum += static_cast<int>(memory->size());
  }
  return sum;
}

[[gnu::noinline]] int readPast(const char* bytes, int at) { return bytes[at]; }

}  // namespace

int main(int count, char**) {
  std::vector<std::thread> threads;
  std::vector<int> sums(4);
  for (int& sum : sums) threads.emplace_back([&sum] { sum = work(); });
  for (std::thread& each : threads) each.join();
  std::printf("%d %s\n", sums[0] + sums[1] + sums[2] + sums[3],
              std::getenv("ASAN_OPTIONS") ? "set" : "unset");
  std::fflush(stdout);
  if (count > 1) {
    const std::unique_ptr<char[]> bytes(new char[8]());
    return readPast(bytes.get(), 8 + zero);
  }
  return 3;
}
