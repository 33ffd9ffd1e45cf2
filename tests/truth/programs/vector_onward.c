// A function that keeps a value in xmm15 over a call of one that runs past its end, into the next.
#include <stdio.h>

unsigned long over(unsigned long n);

__asm__(
    ".text\n"
    ".type over, @function\n"
    "over:\n"
    ".cfi_startproc\n"
    "  sub $8, %rsp\n"
    ".cfi_def_cfa_offset 16\n"
    "  movq %rdi, %xmm15\n"
    "  call first\n"
    "  movq %xmm15, %rcx\n"
    "  xor %rcx, %rax\n"
    "  add $8, %rsp\n"
    ".cfi_def_cfa_offset 8\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size over, . - over\n"
    ".type first, @function\n"
    "first:\n"
    ".cfi_startproc\n"
    "  add $2, %rdi\n"
    "  lea 1(%rdi), %rdi\n"
    ".cfi_endproc\n"
    ".size first, . - first\n"
    "second:\n"
    ".cfi_startproc\n"
    "  mov $0, %eax\n"
    "1: lea 3(%rax,%rdi), %rax\n"
    "  test $1, %al\n"
    "  je 2f\n"
    "  inc %rax\n"
    "2: dec %rdi\n"
    "  jns 1b\n"
    "  ret\n"
    ".cfi_endproc\n");

int main(void) {
  unsigned long sum = 0;
  for (unsigned long n = 0; n < 16; ++n) sum = sum * 5 + over(n);
  printf("%lu\n", sum);
}
