// Functions with a calling convention of their own: xmm15 has a value on entry, and keeps it over a call. So
// no function of the program may be taken to leave it free.
#include <stdio.h>

unsigned long across(unsigned long n);
unsigned long passes(unsigned long n);

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
    ".type passes, @function\n"
    "passes:\n"
    ".cfi_startproc\n"
    "  lea 1(%rdi,%rdi), %rax\n"
    "  movq %rax, %xmm15\n"
    "  call 2f\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size passes, . - passes\n"
    ".type taken, @function\n"
    "2:\n"
    "taken:\n"
    ".cfi_startproc\n"
    "  xor %eax, %eax\n"
    "1: inc %rax\n"
    "  cmp %rdi, %rax\n"
    "  jb 1b\n"
    "  movq %xmm15, %rcx\n"
    "  add %rcx, %rax\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size taken, . - taken\n"
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
  for (unsigned long n = 0; n < 16; ++n) sum = sum * 5 + across(n) + passes(n);
  printf("%lu\n", sum);
}
