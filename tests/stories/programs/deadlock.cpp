// Two threads that take the same two locks, each in its own order.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

namespace {

std::mutex accounts, journal;
std::atomic<int> ready;
int moved, written;

void meet() {
  ++ready;
  while (ready < 2) std::this_thread::yield();
}

void transfer() {
  const std::lock_guard holding(accounts);
  ++moved;
  meet();
  const std::lock_guard waiting(journal);  // transfer waits
  ++written;
}

void report() {
  const std::lock_guard holding(journal);
  meet();
  const std::lock_guard waiting(accounts);  // report waits
  ++written;
}

}  // namespace

int main() {
  std::thread one(transfer), two(report);
  while (ready < 2) std::this_thread::yield();
  std::puts("ready");
  std::fflush(stdout);
  one.join();
  two.join();
}
