// A function, as they are written by hand, whose frame is found by a register that nothing in it needs.
#include <stdio.h>

unsigned long keptFrame(unsigned long n);

__asm__(
    ".text\n"
    ".type keptFrame, @function\n"
    "keptFrame:\n"
    ".cfi_startproc\n"
    "  mov %rsp, %rax\n"
    ".cfi_def_cfa_register %rax\n"
    "  sub $40, %rsp\n"
    "  mov %rax, (%rsp)\n"
    "  xor %ecx, %ecx\n"
    "1: add %rdi, %rcx\n"
    "  dec %rdi\n"
    "  jnz 1b\n"
    "  mov (%rsp), %rdx\n"
    ".cfi_def_cfa %rdx, 8\n"
    "  mov %rdx, %rsp\n"
    ".cfi_def_cfa_register %rsp\n"
    "  mov %rcx, %rax\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size keptFrame, . - keptFrame\n");

int main(void) {
  unsigned long sum = 0;
  for (unsigned long n = 1; n < 8; ++n) sum += keptFrame(n);
  printf("%lu\n", sum);
}
