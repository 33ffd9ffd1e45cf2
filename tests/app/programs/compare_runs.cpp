// Does the same whatever its input, but for one place; then aborts, so that a good run leaves a snap, too.
//
//   compare_runs words WORD...     reads numbers; what is none is thrown, caught and forgotten
//   compare_runs rounds COUNT ODD  COUNT rounds, of which number ODD goes another way
//   compare_runs threads ODD       three threads, of which number ODD goes another way
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace {

volatile long sum = 0;

[[gnu::noinline]] int number(const char* word) {
  int value = 0;
  for (; *word != 0; ++word) {
    if (*word < '0' || *word > '9') {
      throw std::invalid_argument(word);  // no number
    }
    value = 10 * value + (*word - '0');
  }
  return value;
}

[[gnu::noinline]] void take(const char* word) {
  try {
    sum = sum + number(word);
  } catch (const std::exception&) {
    sum = sum + 0;  // swallowed
  }
}

[[gnu::noinline]] void usual(int i) { sum = sum + i; }
[[gnu::noinline]] void unusual(int i) { sum = sum - i; }

[[gnu::noinline]] void rounds(int count, int odd) {
  for (int i = 0; i < count; ++i) {
    if (i == odd)
      unusual(i);
    else
      usual(i);
  }
}

[[gnu::noinline]] void work(int number, int odd) {
  rounds(20, number == odd ? 7 : -1);
  char name[16];
  std::snprintf(name, sizeof name, "worker-%d", number);
  pthread_setname_np(pthread_self(), name);
  for (;;) pause();
}

// All three sleep, so that each always ends in the same place. In a shell, for waiting takes as long as it
// takes, and what is not traced is no part of a path.
constexpr const char* kWait =
    "until [ \"$(grep -l '^Name:.worker-' /proc/$PPID/task/*/status | xargs grep -c '^State:.S' /dev/null | "
    "grep -c ':1$')\" = 3 ]; do :; done";

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (std::strcmp(argv[1], "words") == 0) {
    for (int i = 2; i < argc; ++i) take(argv[i]);
  } else if (std::strcmp(argv[1], "rounds") == 0 && argc == 4) {
    rounds(std::atoi(argv[2]), std::atoi(argv[3]));
  } else if (std::strcmp(argv[1], "threads") == 0 && argc == 3) {
    const int odd = std::atoi(argv[2]);
    for (int i = 1; i <= 3; ++i) std::thread(work, i, odd).detach();
    if (std::system(kWait) != 0) return 1;
  }
  std::abort();
}
