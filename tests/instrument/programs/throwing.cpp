// Everything that walks the stack: exceptions of all kinds, forced unwinding, backtraces. Prints what
// happened.
#include <alloca.h>
#include <execinfo.h>
#include <pthread.h>
#include <unistd.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Noisy {
  explicit Noisy(const char* name) : m_name(name) {}
  ~Noisy() { std::printf("~%s ", m_name); }
  Noisy(const Noisy&) = delete;
  Noisy& operator=(const Noisy&) = delete;
  const char* m_name;
};

struct Base {
  virtual ~Base() = default;
  int value = 1;
};
struct Derived : Base {};

[[gnu::noipa]] void throwBy(int kind) {
  Noisy local("local");
  switch (kind) {
    case 0:
      throw 42;
    case 1:
      throw Derived();
    case 2:
      throw std::runtime_error("runtime");
    case 3:
      throw "text";
    case 4:
      throw std::string("string");
    default:
      std::printf("nothing ");
  }
}

[[gnu::noipa]] void catchSome(int kind) {
  Noisy outer("outer");
  try {
    Noisy inner("inner");
    throwBy(kind);
  } catch (int number) {
    std::printf("int %d ", number);
  } catch (const Base& base) {
    std::printf("base %d ", base.value);
    throwBy(3);
  }
}

[[gnu::noipa]] int deep(int depth, int kind) {
  std::vector<std::string> kept(static_cast<std::size_t>(depth % 3), "kept");
  auto* space = static_cast<char*>(alloca(static_cast<std::size_t>(16 + depth)));
  std::memset(space, depth, static_cast<std::size_t>(16 + depth));
  alignas(64) volatile char aligned[64] = {};
  aligned[depth % 64] = 1;
  if (depth == 0) catchSome(kind);
  const int below = depth > 0 ? deep(depth - 1, kind) : 0;
  return below + static_cast<int>(kept.size()) + space[depth] + aligned[depth % 64];
}

[[gnu::noipa]] void rethrowing(int kind) {
  try {
    deep(4, kind);
  } catch (const char* text) {
    std::printf("text %s ", text);
  } catch (const std::exception& error) {
    std::printf("std %s, again ", error.what());
    throw;
  }
}

struct Member {
  Member(int kind) try : m_noisy("member") { deep(2, kind); } catch (...) {
    std::printf("constructor ");
  }
  Noisy m_noisy;
};

[[gnu::noipa]] int traced(int depth) {
  if (depth > 0) {
    const int frames = traced(depth - 1);
    asm volatile("" ::: "memory");  // not a tail call
    return frames;
  }
  void* frames[64];
  return backtrace(frames, 64);
}

void* cancelled(void*) {
  Noisy thread("thread");
  for (;;) pause();
}

std::jmp_buf place;
[[gnu::noipa]] void jumper(int depth) {
  if (depth == 0) std::longjmp(place, 5);
  jumper(depth - 1);
  std::printf("not reached ");
}

[[gnu::noipa]] void mayNotThrow() noexcept {
  Noisy last("last");
  throwBy(2);
}

}  // namespace

int main() {
  setvbuf(stdout, nullptr, _IONBF, 0);
  for (int kind = 0; kind < 6; ++kind) {
    try {
      rethrowing(kind);
    } catch (...) {
      const auto kept = std::current_exception();
      try {
        std::rethrow_exception(kept);
      } catch (const std::string& text) {
        std::printf("caught %s ", text.c_str());
      } catch (const std::exception& error) {
        std::printf("caught %s ", error.what());
      }
    }
    try {
      Member member(kind);
    } catch (...) {
      std::printf("rethrown ");
    }
    std::printf("\n");
  }
  std::function<void(int)> indirect = catchSome;
  try {
    indirect(2);
  } catch (const std::exception&) {
    std::printf("through a function object\n");
  }
  std::printf("frames %d\n", traced(9) - traced(0));
  if (const int code = setjmp(place); code == 0) {
    jumper(4);
  } else {
    std::printf("jumped %d\n", code);
  }
  pthread_t thread;
  pthread_create(&thread, nullptr, cancelled, nullptr);
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  std::printf("cancelled %d\n", result == PTHREAD_CANCELED);
  std::set_terminate([] {
    std::printf("terminated\n");
    _exit(7);
  });
  mayNotThrow();
}
