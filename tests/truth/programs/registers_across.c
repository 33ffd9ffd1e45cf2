// Registers that calling conventions let every function change, but which carry values all the same: over
// calls of functions that leave them alone, into functions, and out of them, as compilers (-fipa-ra) and
// hand-written code have it. So they are not free in what is called, though nothing there names them.
#include <stdio.h>

#include "assembly.h"

// What is set before the call is added behind it.
#define ACROSS(name, called)                                                                   \
  FUNCTION(name)                                                                               \
  ENTER                                                                                        \
  "  lea 1(%rdi), %rcx\n  lea 2(%rdi), %rdx\n  lea 3(%rdi), %rsi\n  lea 5(%rdi), %r8\n"        \
  "  lea 7(%rdi), %r9\n  lea 11(%rdi), %r10\n  lea 13(%rdi), %r11\n"                           \
  "  " called                                                                                  \
  "\n"                                                                                         \
  "  imul $3, %rcx\n  imul $5, %rdx\n  imul $7, %rsi\n  imul $9, %r8\n  imul $11, %r9\n"       \
  "  imul $13, %r10\n  imul $17, %r11\n  add %rcx, %rax\n  add %rdx, %rax\n  add %rsi, %rax\n" \
  "  add %r8, %rax\n  add %r9, %rax\n  add %r10, %rax\n  add %r11, %rax\n" LEAVE               \
  END(name)

unsigned long across(unsigned long n);
unsigned long acrossJump(unsigned long n);
unsigned long acrossPointer(unsigned long n);
unsigned long acrossUnseen(unsigned long n);
unsigned long bothWays(unsigned long n);
unsigned long byReturn(unsigned long n);

__asm__(
    ".text\n"
    ACROSS("across", "call steps")
    FUNCTION("steps") STEPS "  ret\n" END("steps")
    // Somebody else returns in its place.
    ACROSS("acrossJump", "call jumps")
    FUNCTION("jumps") "  test $1, %dil\n  je stepsOn\n  inc %rdi\n  jmp stepsOn\n" END("jumps")
    FUNCTION("stepsOn") STEPS "  ret\n" END("stepsOn")
    // Nothing but its address leads to whom it calls.
    ACROSS("acrossPointer", "lea stepsByPointer(%rip), %rax\n  call *%rax")
    FUNCTION("stepsByPointer") STEPS "  ret\n" END("stepsByPointer")
    // The call is made by code without unwind information.
    ".type acrossUnseen, @function\n"
    "acrossUnseen:\n"
    "  lea 5(%rdi), %r8\n  lea 7(%rdi), %rsi\n  sub $8, %rsp\n  call counts\n  add $8, %rsp\n"
    "  imul $3, %r8\n  imul $5, %rsi\n  add %r8, %rax\n  add %rsi, %rax\n  ret\n"
    ".size acrossUnseen, . - acrossUnseen\n"
    FUNCTION("counts") STEPS "  ret\n" END("counts")
    // Arguments in r10 and r11, results in r9 and r11.
    FUNCTION("bothWays") ENTER
    "  lea 5(%rdi), %r10\n  lea 9(%rdi), %r11\n  call takes\n"
    "  test $1, %al\n  je 1f\n  inc %rax\n1: lea (%rax,%r9,4), %rax\n  lea (%rax,%r11,8), %rax\n" LEAVE END("bothWays")
    FUNCTION("takes") STEPS
    "  mov %r10, %r9\n  cmp $9, %rax\n  jb 3f\n  add %r11, %r9\n3: xor %rax, %r11\n"
    "  test $1, %r11\n  je 4f\n  inc %r11\n4: ret\n" END("takes")
    // A return that leads where nobody called from, with arguments.
    FUNCTION("byReturn")
    "  lea 5(%rdi), %rsi\n  lea 7(%rdi), %r9\n  lea 9(%rdi), %r11\n"
    "  lea returnedTo(%rip), %rcx\n  push %rcx\n  test $1, %dil\n  je 1f\n  inc %rdi\n1: ret\n" END("byReturn")
    FUNCTION("returnedTo") STEPS
    "  add %rsi, %rax\n  lea (%rax,%r9,2), %rax\n  lea (%rax,%r11,4), %rax\n  ret\n" END("returnedTo"));

// What the compiler keeps over the call, as it looks at what is called.
static __attribute__((noinline)) unsigned long leaf(unsigned long n) {
  unsigned long sum = 1;
  while (n != 0) {
    if ((n & 3) == 1) sum += n;
    n >>= 1;
  }
  return sum;
}

static __attribute__((noinline)) unsigned long keeps(unsigned long a, unsigned long b, unsigned long c,
                                                     unsigned long d, unsigned long e, unsigned long f) {
  const unsigned long first = leaf(a);
  return leaf(b + first) * 3 + a * 5 + b * 7 + c * 11 + d * 13 + e * 17 + f * 19;
}

int main(void) {
  unsigned long sum = 0;
  for (unsigned long n = 0; n < 40; ++n) {
    sum = sum * 5 + across(n);
    sum = sum * 5 + acrossJump(n);
    sum = sum * 5 + acrossPointer(n);
    sum = sum * 5 + acrossUnseen(n);
    sum = sum * 5 + bothWays(n);
    sum = sum * 5 + byReturn(n);
    sum = sum * 5 + keeps(n, n + 1, n * 3, n ^ 5, n + 9, n * 7);
  }
  printf("%lu\n", sum);
}
