// A function that keeps a value in xmm15 over a call, as compilers do that look at what is called. So it is
// not free in what is called, though nothing there names it; whoever else calls that has nothing there.
#include <stdio.h>

unsigned long across(unsigned long n);

__asm__(
    ".text\n"
    ".type across, @function\n"
    "across:\n"
    ".cfi_startproc\n"
    "  sub $8, %rsp\n"
    ".cfi_def_cfa_offset 16\n"
    "  movq %rdi, %xmm15\n"
    "  call steps\n"
    "  movq %xmm15, %rcx\n"
    "  xor %rcx, %rax\n"
    "  add $8, %rsp\n"
    ".cfi_def_cfa_offset 8\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size across, . - across\n"
    // Of integers alone, as a compiler knows that looks at what it calls.
    ".type steps, @function\n"
    "steps:\n"
    ".cfi_startproc\n"
    "  xor %eax, %eax\n"
    "1: lea 3(%rax,%rdi), %rax\n"
    "  test $1, %al\n"
    "  je 2f\n"
    "  inc %rax\n"
    "2: dec %rdi\n"
    "  jns 1b\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size steps, . - steps\n");

int main(void) {
  unsigned long sum = 0;
  for (unsigned long n = 0; n < 16; ++n) sum = sum * 5 + across(n);
  printf("%lu\n", sum);
}
