// A function that finds a value of its caller's in xmm15: a calling convention of its own. Who else of the
// program has one cannot be told.
#include <stdio.h>

unsigned long passes(unsigned long n);

__asm__(
    ".text\n"
    ".type passes, @function\n"
    "passes:\n"
    ".cfi_startproc\n"
    "  lea 1(%rdi,%rdi), %rax\n"
    "  movq %rax, %xmm15\n"
    "  call 2f\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size passes, . - passes\n"
    "2:\n"  // has no name
    ".cfi_startproc\n"
    "  xor %eax, %eax\n"
    "1: inc %rax\n"
    "  cmp %rdi, %rax\n"
    "  jb 1b\n"
    "  movq %xmm15, %rcx\n"
    "  add %rcx, %rax\n"
    "  ret\n"
    ".cfi_endproc\n");

int main(void) {
  unsigned long sum = 0;
  for (unsigned long n = 0; n < 16; ++n) sum = sum * 5 + passes(n);
  printf("%lu\n", sum);
}
