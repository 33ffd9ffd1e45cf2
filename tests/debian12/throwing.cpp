// Threads that throw and catch; `throwing crash` then writes to address 16 in one of them, after a catch.
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

bool crashes;

struct Counted {
  explicit Counted(long& to) : count(to) {}
  ~Counted() { ++count; }
  long& count;
};

int deeper(int n, long& destroyed) {
  const Counted counted(destroyed);
  if (n == 0) throw std::out_of_range("the end");
  return deeper(n - 1, destroyed) + 1;
}

void store(int* where) {
  *where = 7;  // the fault
}

void work(int number, long& destroyed, int& caught) {
  for (int i = 0; i < 200; ++i) {
    try {
      deeper(i % 20, destroyed);
    } catch (const std::out_of_range& error) {
      caught += static_cast<int>(std::strlen(error.what()));
    }
  }
  if (crashes && number == 3) store(reinterpret_cast<int*>(16));
}

}  // namespace

int main(int count, char**) {
  crashes = count > 1;
  constexpr int kThreads = 4;
  long destroyed[kThreads] = {};
  int caught[kThreads] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back(work, i, std::ref(destroyed[i]), std::ref(caught[i]));
  for (auto& thread : threads) thread.join();
  for (int i = 0; i < kThreads; ++i) std::printf("%ld %d\n", destroyed[i], caught[i]);
}
