// Functions that call each other directly, and what may end one before anything in it begins a record: a
// return, an exception, a fault, a jump out of it, a switch to another stack.
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#define APART __attribute__((noinline))

namespace {

sigjmp_buf back;
volatile int* page;
long pageSize;
ucontext_t here, there;
volatile int seen;

struct Guard {
  ~Guard() { seen = seen + 1; }
};

APART int leaf(int n) {
  int value = n;
  if ((n & 1) != 0) value *= 3;
  if ((n & 2) != 0) value ^= 21;
  return value;
}

APART int middle(int n) { return n > 4 ? leaf(n) - 1 : leaf(n + 2) + 1; }

APART int top(int n) {
  if (n % 5 == 0) return n;
  return middle(n) + 2;
}

APART int next(int n) {  // jumps
  if (n < 3) return middle(n + 1);
  return leaf(n);
}

APART int throwing(int n) {
  if (n % 3 == 1) throw n;
  return n / 2;
}

APART int guarded(int n) {
  const Guard guard;
  return throwing(n) + 1;
}

APART int caught(int n) {
  try {
    return guarded(n);
  } catch (int thrown) {
    return -thrown;
  }
}

APART int leaving(int n) {
  if (n % 2 == 0) siglongjmp(back, n + 1);
  return n;
}

APART int left(int n) { return leaving(n) + 1; }

APART int reading(int n) {
  int value = n;
  if (n > 2) value += *page;  // may fault
  if (n > 3) ++value;
  return value;
}

APART int reader(int n) { return reading(n) * 2; }

void onFault(int, siginfo_t* info, void*) {
  seen = seen + leaf(info->si_code);
  if (seen % 2 == 0) siglongjmp(back, 7);
  mprotect(const_cast<int*>(page), std::size_t(pageSize), PROT_READ | PROT_WRITE);
}

APART int odd(unsigned n);
APART int even(unsigned n) { return n == 0 ? 1 : odd(n - 1) + 0; }
APART int odd(unsigned n) { return n == 0 ? 0 : even(n - 1) + 0; }

APART void switching(int n) {
  if (n % 2 == 0)
    swapcontext(&here, &there);
  else
    seen = seen + n;
}

void coroutine() {
  for (int i = 0;; ++i) {
    seen = seen + top(i);
    swapcontext(&there, &here);
  }
}

int protectedly(int (*work)(int), int n) {
  const int by = sigsetjmp(back, 1);
  return by != 0 ? -by : work(n);
}

}  // namespace

int main() {
  for (int n = 0; n < 9; ++n) std::printf("%d: %d %d %d\n", n, top(n), next(n), caught(n));
  std::printf("%d %d\n", even(6), odd(6));
  for (int n = 0; n < 5; ++n) std::printf("left %d\n", protectedly(left, n));

  pageSize = sysconf(_SC_PAGESIZE);
  page = static_cast<int*>(
      mmap(nullptr, std::size_t(pageSize), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  struct sigaction action{};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  for (int n = 0; n < 7; ++n) {
    mprotect(const_cast<int*>(page), std::size_t(pageSize), PROT_NONE);
    seen = n;
    std::printf("read %d\n", protectedly(reader, n));
  }

  alignas(16) static char stack[1 << 16];
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = sizeof stack;
  makecontext(&there, coroutine, 0);
  for (int n = 0; n < 6; ++n) switching(n);
  std::printf("seen %d\n", int(seen));

  int results[2] = {};
  std::thread one([&] {
    for (int n = 0; n < 6; ++n) results[0] += top(n);
  });
  std::thread two([&] {
    for (int n = 0; n < 6; ++n) results[1] += caught(n);
  });
  one.join();
  two.join();
  std::printf("%d %d\n", results[0], results[1]);
}
