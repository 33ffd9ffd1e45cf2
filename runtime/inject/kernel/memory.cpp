#include "runtime/inject/kernel/system.h"

extern "C" {

void* memcpy(void* to, const void* from, std::size_t size) {
  void* result = to;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size)::"memory");
  return result;
}

void* memmove(void* to, const void* from, std::size_t size) {
  auto* t = static_cast<unsigned char*>(to);
  const auto* f = static_cast<const unsigned char*>(from);
  if (t <= f || t >= f + size) return memcpy(to, from, size);
  while (size-- != 0) {
    t[size] = f[size];
    __asm__ volatile("");  // keeps the loop from becoming a call of memmove
  }
  return to;
}

void* memset(void* to, int value, std::size_t size) {
  void* result = to;
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(value) : "memory");
  return result;
}

int memcmp(const void* a, const void* b, std::size_t size) {
  const auto* x = static_cast<const unsigned char*>(a);
  const auto* y = static_cast<const unsigned char*>(b);
  for (; size != 0; --size, ++x, ++y)
    if (*x != *y) return *x < *y ? -1 : 1;
  return 0;
}

std::size_t strlen(const char* text) {
  const char* end = text;
  while (*end != 0) {
    ++end;
    __asm__ volatile("");
  }
  return static_cast<std::size_t>(end - text);
}

int strcmp(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
}

int strncmp(const char* a, const char* b, std::size_t size) {
  for (; size != 0; --size, ++a, ++b)
    if (*a != *b || *a == 0) return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
  return 0;
}

}  // extern "C"
