// Everything that walks or leaves frames from within signal handlers: through the signal's frame into the
// functions below. Each frame is shown by the file that it is in, its place there and its name, so what a
// recorded run shows is held to be what a plain one does.
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>
#include <unwind.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

int main();

namespace {

struct Noted {
  const char* name;
  ~Noted() { std::printf("%s is left\n", name); }
};

const char* nameOf(const Dl_info& info) { return info.dli_sname == nullptr ? "?" : info.dli_sname; }

// Where an address is, by libc.
void show(const char* how, const void* address) {
  Dl_info own{}, info{};
  dladdr(reinterpret_cast<void*>(&main), &own);
  if (dladdr(address, &info) == 0) {
    std::printf("  %s: nowhere\n", how);
    return;
  }
  const char* slash = std::strrchr(info.dli_fname, '/');
  const char* file = slash == nullptr ? info.dli_fname : slash + 1;
  std::printf("  %s: %s+%#tx %s\n", how, info.dli_fbase == own.dli_fbase ? "program" : file,
              static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase), nameOf(info));
}

// Addresses that libgcc tells are those of the code that runs: of them the names alone.
_Unwind_Reason_Code showOne(_Unwind_Context* context, void*) {
  int before = 0;
  const auto address = reinterpret_cast<char*>(_Unwind_GetIPInfo(context, &before));
  Dl_info info{};
  const bool known = dladdr(address - (before == 0 ? 1 : 0), &info) != 0;
  std::printf("  frame of %s%s\n", known ? nameOf(info) : "?", before != 0 ? ", interrupted" : "");
  return _URC_NO_REASON;
}

__attribute__((noinline)) void showFrames() {
  void* addresses[64];
  const int count = backtrace(addresses, 64);
  std::printf(" %d frames\n", count);
  for (int i = 0; i < count; ++i) show("at", addresses[i]);
  void* first[3];
  std::printf(" %d of 3 frames\n", backtrace(first, 3));
  show("third", first[2]);
  _Unwind_Backtrace(showOne, nullptr);
}

enum class Deed { Show, ShowAndJump, Throw, RaiseAnother, ThrowFromInner };
volatile Deed deed = Deed::Show;
sigjmp_buf outside;
// By a pointer, for compilers know that it does not throw.
int (*volatile raiser)(int) = raise;

void letIn(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace

// By these names they are found.
extern "C" {

void onSignal(int signal, siginfo_t* info, void* data) {
  auto* context = static_cast<ucontext_t*>(data);
  std::printf("signal %d\n", signal);
  if (info->si_code > 0) show("pc", reinterpret_cast<void*>(context->uc_mcontext.gregs[REG_RIP]));
  switch (deed) {
    case Deed::Show:
      showFrames();
      break;
    case Deed::ShowAndJump:
      showFrames();
      siglongjmp(outside, signal);
    case Deed::RaiseAnother: {
      deed = Deed::Show;
      Noted noted{"outer handler"};
      raiser(SIGUSR2);
      break;
    }
    case Deed::ThrowFromInner: {
      deed = Deed::Throw;
      Noted noted{"outer handler"};
      raiser(SIGUSR2);
      break;
    }
    case Deed::Throw:
      letIn(signal);
      letIn(SIGUSR1);
      throw std::runtime_error("thrown by the handler");
  }
}

__attribute__((noinline)) int readFrom(const int* where) {
  return *const_cast<const volatile int*>(where) + 1;
}

int (*volatile reader)(const int*) = readFrom;

__attribute__((noinline)) int readDeep(const int* where, int depth) {
  Noted noted{"readDeep"};
  return depth == 0 ? reader(where) : readDeep(where, depth - 1) + 1;
}

__attribute__((noinline)) int raiseDeep(int signal, int depth) {
  return depth == 0 ? raiser(signal) + 1 : raiseDeep(signal, depth - 1) + 1;
}

int caughtOutside(const int* where) {
  try {
    return readDeep(where, 2);
  } catch (const std::exception& error) {
    std::printf("caught: %s\n", error.what());
  }
  return -1;
}

#ifndef __clang__  // which does not know that a load may throw
__attribute__((noinline)) int caughtInside(const int* where) {
  int value = 5;
  try {
    value += *const_cast<const volatile int*>(where);
    std::printf("not thrown\n");
  } catch (const std::runtime_error& error) {
    std::printf("caught at once: %s\n", error.what());
    value = -value;
  }
  return value;
}
#endif

int caughtFromRaise(int signal) {
  try {
    return raiseDeep(signal, 3);
  } catch (...) {
    std::printf("caught something\n");
  }
  return -2;
}

ucontext_t here, there;
char stack[1 << 17];

void coroutine() {
  deed = Deed::Show;
  std::printf("%d\n", raiseDeep(SIGUSR1, 1));
  swapcontext(&there, &here);
  deed = Deed::Throw;
  std::printf("%d\n", caughtFromRaise(SIGUSR1));
  swapcontext(&there, &here);
}

void* cancelled(void* type) {
  Noted noted{"cancelled"};
  int before = 0;
  pthread_setcanceltype(*static_cast<int*>(type), &before);
  pthread_cancel(pthread_self());
  std::printf("cancelled later\n");
  pthread_testcancel();
  std::printf("not reached\n");
  return nullptr;
}

void onCancelling(int) {
  Noted noted{"handler"};
  pthread_exit(nullptr);
}

void* endedByHandler(void*) {
  Noted noted{"endedByHandler"};
  raiseDeep(SIGALRM, 2);
  return nullptr;
}
}

int main() {
  void* frames[1];
  backtrace(frames, 1);  // loads what it needs
  struct sigaction action{};
  action.sa_sigaction = onSignal;
  action.sa_flags = SA_SIGINFO;
  for (int signal : {SIGSEGV, SIGUSR1, SIGUSR2}) sigaction(signal, &action, nullptr);

  std::printf("raised: %d\n", raiseDeep(SIGUSR1, 2));
  deed = Deed::RaiseAnother;
  std::printf("in a handler: %d\n", raiseDeep(SIGUSR1, 1));
  deed = Deed::ShowAndJump;
  if (sigsetjmp(outside, 1) == 0) std::printf("%d\n", readDeep(nullptr, 2));
  deed = Deed::Throw;
  static const int good = 41;
  for (int i = 0; i < 3; ++i) {
    std::printf("%d\n", caughtOutside(i % 2 == 0 ? nullptr : &good));
#ifndef __clang__
    std::printf("%d\n", caughtInside(i % 2 == 0 ? nullptr : &good));
#endif
  }
  std::printf("%d\n", caughtFromRaise(SIGUSR1));
  deed = Deed::ThrowFromInner;
  std::printf("%d\n", caughtFromRaise(SIGUSR1));

  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = sizeof stack;
  there.uc_link = &here;
  makecontext(&there, coroutine, 0);
  swapcontext(&here, &there);
  swapcontext(&here, &there);

  for (int type : {PTHREAD_CANCEL_DEFERRED, PTHREAD_CANCEL_ASYNCHRONOUS}) {
    pthread_t thread;
    void* result = nullptr;
    pthread_create(&thread, nullptr, cancelled, &type);
    pthread_join(thread, &result);
    std::printf("%s\n", result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
  }
  signal(SIGALRM, onCancelling);
  pthread_t thread;
  pthread_create(&thread, nullptr, endedByHandler, nullptr);
  pthread_join(thread, nullptr);
}
