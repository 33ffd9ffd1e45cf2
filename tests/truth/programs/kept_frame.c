// Functions whose frame is found by a register that nothing in them needs: as they are written by hand, and
// as compilers write them that touch each page of a large frame.
#include <stdio.h>

unsigned long keptFrame(unsigned long n);
unsigned long touchedFrame(unsigned long, unsigned long, unsigned long, unsigned long, unsigned long,
                           unsigned long);

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
    ".size keptFrame, . - keptFrame\n"
    // Until the loop is left its frame is found by r11, and behind it nothing but r11 is free.
    ".type touchedFrame, @function\n"
    "touchedFrame:\n"
    ".cfi_startproc\n"
    "  mov $1, %eax\n"
    "  mov $2, %r10d\n"
    "  lea -64(%rsp), %r11\n"
    ".cfi_def_cfa %r11, 72\n"
    "1: sub $16, %rsp\n"
    "  cmp %r11, %rsp\n"
    "  jne 1b\n"
    ".cfi_def_cfa %rsp, 72\n"
    "  add $64, %rsp\n"
    ".cfi_def_cfa %rsp, 8\n"
    "  add %r10, %rax\n"
    "  add %rdi, %rax\n"
    "  add %rsi, %rax\n"
    "  add %rdx, %rax\n"
    "  add %rcx, %rax\n"
    "  add %r8, %rax\n"
    "  add %r9, %rax\n"
    "  xor %r11d, %r11d\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size touchedFrame, . - touchedFrame\n");

int main(void) {
  unsigned long sum = 0;
  for (unsigned long n = 1; n < 8; ++n) sum += keptFrame(n) + touchedFrame(n, 1, 2, 3, 4, 5);
  printf("%lu\n", sum);
}
