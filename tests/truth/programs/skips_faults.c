// Its handler goes on behind the instruction that faulted, as those of virtual machines do. From there up to
// the return a recorded program runs original code, and what that calls leaves an address in xmm15. Once more
// in a library that is opened then.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

// Where nobody writes.
__attribute__((used)) static volatile unsigned long untouched[64];

// Without unwind tables, so it is not copied.
void leaveAddress(void);
__asm__(
    ".text\n"
    ".type leaveAddress, @function\n"
    "leaveAddress:\n"
    "  lea untouched(%rip), %rdx\n"
    "  movq %rdx, %xmm15\n"
    "  ret\n"
    ".size leaveAddress, . - leaveAddress\n");
static void (*volatile leave)(void) = leaveAddress;

static void skip(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] += 3;
}

__attribute__((noinline)) static unsigned long probe(const unsigned long* at) {
  unsigned long value = 7;
  __asm__ volatile("mov (%%rdi), %%rax" : "+a"(value) : "D"(at));
  leave();
  return value;
}

unsigned long probeOften(void) {
  unsigned long sum = 0;
  for (unsigned long n = 0; n < 20; ++n) {
    sum += probe(n % 3 == 0 ? &n : (const unsigned long*)n);
    for (unsigned i = 0; i < sizeof untouched / sizeof *untouched; ++i)
      if (untouched[i] != 0) sum = 1000000;
  }
  return sum;
}

#ifndef LIBRARY
int main(int count, char** arguments) {
  struct sigaction action = {.sa_sigaction = skip, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  printf("%lu", probeOften());
  void* library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  unsigned long (*inLibrary)(void) =
      library != NULL ? (unsigned long (*)(void))dlsym(library, "probeOften") : NULL;
  printf(" %lu\n", inLibrary != NULL ? inLibrary() : 0);
  fflush(stdout);
  abort();
}
#endif
