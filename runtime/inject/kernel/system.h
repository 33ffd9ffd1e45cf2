// The kernel, without libc: raw system calls, and the few memory functions a compiler expects.
//
// Code in this folder runs inside other people's programs, in signal handlers and between their
// instructions: no errno, no locks, no allocator, no libc calls except where a file says so.
#pragma once

#include <asm/unistd.h>

#include <cstddef>
#include <cstdint>

namespace traceback::inject {

inline constexpr std::uint64_t kPage = 4096;  // the small ones, in bytes

inline long systemCall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

// A system call's result is an error number if it is in the last page of the address space.
inline bool failed(long result) { return result < 0 && result > -4096; }

// Whether a thread at this place stands right behind a `syscall` of the same page.
inline bool isBehindSystemCall(std::uint64_t pc) {
  constexpr std::uint8_t kSystemCall[] = {0x0F, 0x05};
  constexpr std::uint64_t kInPage = 4095;
  const auto* code = reinterpret_cast<const std::uint8_t*>(pc);
  return (pc & kInPage) >= sizeof kSystemCall && code[-2] == kSystemCall[0] && code[-1] == kSystemCall[1];
}

template <typename T>
long asLong(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

// Keeps the compiler from moving memory accesses over it: what a signal handler on this thread sees.
inline void compilerBarrier() { __asm__ volatile("" ::: "memory"); }

inline constexpr std::uint64_t kAllSignals = ~std::uint64_t{0};
// But SIGBUS and SIGSEGV, 7 and 11, which the runtime may cause by itself (own_fault.h).
inline constexpr std::uint64_t kAllButFaults =
    kAllSignals & ~(std::uint64_t{1} << (7 - 1)) & ~(std::uint64_t{1} << (11 - 1));

// Blocks every signal, or those given, for as long as it lives.
class SignalsBlocked {
 public:
  explicit SignalsBlocked(const std::uint64_t& signals = kAllSignals) {
    systemCall(__NR_rt_sigprocmask, 0 /* SIG_BLOCK */, asLong(&signals), asLong(&m_before), 8);
  }
  ~SignalsBlocked() { systemCall(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, asLong(&m_before), 0, 8); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  std::uint64_t before() const { return m_before; }

 private:
  std::uint64_t m_before = 0;
};

// A text of bounded length that is put together piece by piece; once it overflows it stays bad.
template <std::size_t N>
class Text {
 public:
  Text& add(const char* text) {
    while (*text != 0) addByte(*text++);
    return *this;
  }
  Text& add(std::uint64_t number) {
    char digits[20];
    unsigned count = 0;
    do digits[count++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (count != 0) addByte(digits[--count]);
    return *this;
  }
  Text& addHexadecimal(std::uint64_t number) {
    int shift = 60;
    while (shift > 0 && number >> shift == 0) shift -= 4;
    for (; shift >= 0; shift -= 4) addByte("0123456789abcdef"[number >> shift & 15]);
    return *this;
  }
  void clear() { m_size = 0, m_good = true, m_bytes[0] = 0; }
  bool good() const { return m_good; }
  bool empty() const { return m_size == 0; }
  std::size_t size() const { return m_size; }
  const char* c_str() const { return m_bytes; }
  char* bytes() { return m_bytes; }  // size() of them, and a zero

 private:
  void addByte(char byte) {
    if (m_size + 1 >= N) {
      m_good = false;
      return;
    }
    m_bytes[m_size++] = byte;
    m_bytes[m_size] = 0;
  }
  char m_bytes[N] = {};
  std::size_t m_size = 0;
  bool m_good = true;
};

using Path = Text<1024>;

}  // namespace traceback::inject

// The compiler calls these by itself; ours are hidden, so no program's replacement is ever reached.
extern "C" {  // NOLINTBEGIN(readability-redundant-declaration)
void* memcpy(void* to, const void* from, std::size_t size);
void* memmove(void* to, const void* from, std::size_t size);
void* memset(void* to, int value, std::size_t size);
int memcmp(const void* a, const void* b, std::size_t size);
std::size_t strlen(const char* text);
int strcmp(const char* a, const char* b);
int strncmp(const char* a, const char* b, std::size_t size);
}  // NOLINTEND(readability-redundant-declaration)

namespace traceback::inject {

inline bool endsWith(const char* text, const char* end) {
  const std::size_t size = strlen(text), endSize = strlen(end);
  return size >= endSize && strcmp(text + size - endSize, end) == 0;
}

}  // namespace traceback::inject
