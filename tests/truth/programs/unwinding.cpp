// Everything that walks or leaves frames: exceptions that are thrown again, kept and passed on, walks of the
// stack, jumps out of frames, and stacks that are switched.
#include <execinfo.h>
#include <setjmp.h>
#include <ucontext.h>
#include <unwind.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

namespace {

struct Noted {
  const char* name;
  ~Noted() { std::printf("%s is left\n", name); }
};

_Unwind_Reason_Code count(_Unwind_Context*, void* frames) {
  ++*static_cast<int*>(frames);
  return _URC_NO_REASON;
}

// How many frames there are, by two ways of walking them.
__attribute__((noinline)) int walked() {
  void* addresses[64];
  int frames = 0;
  _Unwind_Backtrace(count, &frames);
  return frames * 100 + backtrace(addresses, 64);
}

__attribute__((noinline)) int deeper(int n) {
  if (n == 0) return walked();
  const int below = deeper(n - 1);
  return n % 2 == 0 ? below : below + walked();
}

__attribute__((noinline)) void thrower(int kind) {
  Noted noted{"thrower"};
  if (kind == 0) throw std::runtime_error("first");
  if (kind == 1) throw 7;
  if (kind == 2) throw std::string("text");
}

__attribute__((noinline)) void passesOn(int kind) {
  Noted noted{"passesOn"};
  try {
    thrower(kind);
  } catch (const std::runtime_error&) {
    std::printf("%d frames in the handler\n", walked());
    throw;
  } catch (int value) {
    try {
      Noted inner{"inner"};
      throw value * 1.5;
    } catch (double twice) {
      throw static_cast<int>(twice);
    }
  }
}

__attribute__((noinline)) std::exception_ptr kept(int kind) {
  try {
    passesOn(kind);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void exceptions(int kind) {
  try {
    if (const std::exception_ptr exception = kept(kind)) std::rethrow_exception(exception);
    std::printf("nothing was thrown\n");
  } catch (const std::exception& error) {
    std::printf("exception %s\n", error.what());
  } catch (int value) {
    std::printf("number %d\n", value);
  } catch (const std::string& text) {
    std::printf("%s\n", text.c_str());
  }
}

jmp_buf outside;

__attribute__((noinline)) void jumper(int n) {
  if (n == 0) longjmp(outside, walked() % 100);
  jumper(n - 1);
  std::printf("not reached\n");
}

ucontext_t here, there;
char stack[1 << 17];
int passed;

void coroutine() {
  for (int i = 0; i < 4; ++i) {
    passed = passed * 3 + deeper(i) % 100;
    try {
      thrower(i);
    } catch (...) {
      passed += 10000;
    }
    swapcontext(&there, &here);
  }
}

}  // namespace

int main() {
  for (int n = 0; n < 5; ++n) std::printf("%d frames\n", deeper(n));
  for (int kind = 0; kind < 4; ++kind) exceptions(kind);
  volatile int jumps = 0;
  const int got = setjmp(outside);
  if (jumps < 3) {
    jumps = jumps + 1;
    jumper(jumps);
  }
  std::printf("%d after %d jumps\n", got, jumps);
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = sizeof stack;
  there.uc_link = &here;
  makecontext(&there, coroutine, 0);
  for (int i = 0; i < 4; ++i) {
    swapcontext(&here, &there);
    std::printf("passed %d\n", passed);
  }
}
