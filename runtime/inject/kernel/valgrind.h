// Whether Valgrind runs this process.
#pragma once

#include <cstdint>

namespace traceback::inject {

// Valgrind's client request RUNNING_ON_VALGRIND (valgrind.h): a program that executes itself would run on
// outside of it.
inline bool inValgrind() {
  const volatile std::uint64_t request[6] = {0x1001};
  std::uint64_t result = 0;
  __asm__ volatile(
      "rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
      : "+d"(result)
      : "a"(&request)
      : "cc", "memory");
  return result != 0;
}

}  // namespace traceback::inject
