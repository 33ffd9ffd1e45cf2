// A program to be rewritten: exceptions, thread-local storage, zeroed data, the heap, and a function to
// patch.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

thread_local int perThread = 7;
thread_local int perThreadZero;
static int zeros[5000];

extern "C" [[gnu::noipa]] int subject_answer() {
  asm volatile("");
  return 1;
}

[[gnu::noinline]] static int thrower(int depth) {
  std::string local(100, 'x');
  if (depth == 0) throw std::runtime_error("thrown");
  return thrower(depth - 1) + static_cast<int>(local.size());
}

int main() {
  int sum = 0;
  for (const int zero : zeros) sum += zero != 0;
  std::thread([&] { sum += perThread + perThreadZero; }).join();
  for (int i = 0; i < 3; ++i) {
    try {
      sum += thrower(5);
    } catch (const std::exception& error) {
      std::printf("%s ", error.what());
    }
  }
  char* block = static_cast<char*>(std::calloc(1 << 20, 1));
  sum += block[12345];
  std::free(block);
  const int first = subject_answer();
  std::printf("%d %d %d\n", sum, first, subject_answer());
  return 3;
}
