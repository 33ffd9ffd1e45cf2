// A function that keeps a value in xmm15 over a call of code without unwind information, which calls a
// function in turn that nobody else calls so.
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
    "  call unseen\n"
    "  movq %xmm15, %rcx\n"
    "  xor %rcx, %rax\n"
    "  add $8, %rsp\n"
    ".cfi_def_cfa_offset 8\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size over, . - over\n"
    ".type unseen, @function\n"
    "unseen:\n"
    "  sub $8, %rsp\n"
    "  call counts\n"
    "  add $8, %rsp\n"
    "  inc %rax\n"
    "  ret\n"
    ".size unseen, . - unseen\n"
    ".type counts, @function\n"
    "counts:\n"
    ".cfi_startproc\n"
    "  mov $0, %eax\n"
    "1: lea 3(%rax,%rdi), %rax\n"
    "  test $1, %al\n"
    "  je 2f\n"
    "  inc %rax\n"
    "2: dec %rdi\n"
    "  jns 1b\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size counts, . - counts\n");

int main(void) {
  unsigned long sum = 0;
  for (unsigned long n = 0; n < 16; ++n) sum = sum * 5 + over(n);
  printf("%lu\n", sum);
}
