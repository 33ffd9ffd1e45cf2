// A function that keeps a value in xmm15 over a call, as compilers do that look at what is called. So it is
// not free in what is called, though nothing there names it; whoever else calls that has nothing there.
#include <stdio.h>

#define ACROSS(name, called)         \
  ".type " name ", @function\n" name \
  ":\n"                              \
  ".cfi_startproc\n"                 \
  "  sub $8, %rsp\n"                 \
  ".cfi_def_cfa_offset 16\n"         \
  "  movq %rdi, %xmm15\n"            \
  "  call " called                   \
  "\n"                               \
  "  movq %xmm15, %rcx\n"            \
  "  xor %rcx, %rax\n"               \
  "  add $8, %rsp\n"                 \
  ".cfi_def_cfa_offset 8\n"          \
  "  ret\n"                          \
  ".cfi_endproc\n"                   \
  ".size " name ", . - " name "\n"

// Of integers alone, as a compiler knows that looks at what it calls.
#define STEPS                   \
  "  mov $0, %eax\n"            \
  "1: lea 3(%rax,%rdi), %rax\n" \
  "  test $1, %al\n"            \
  "  je 2f\n"                   \
  "  inc %rax\n"                \
  "2: dec %rdi\n"               \
  "  jns 1b\n"                  \
  "  ret\n"

unsigned long across(unsigned long n);
unsigned long acrossParts(unsigned long n);
unsigned long acrossMoved(unsigned long n);

__asm__(
    ".text\n"
    ACROSS("across", "steps")
    ".type steps, @function\n"
    "steps:\n"
    ".cfi_startproc\n"
    STEPS
    ".cfi_endproc\n"
    ".size steps, . - steps\n"
    // Goes to the middle of another.
    ACROSS("acrossParts", "part")
    ".type part, @function\n"
    "part:\n"
    ".cfi_startproc\n"
    "  test $1, %dil\n"
    "  je apart\n"
    "  lea 5(%rdi), %rax\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size part, . - part\n"
    ".type whole, @function\n"
    "whole:\n"
    ".cfi_startproc\n"
    "  mov $0, %edi\n"
    "apart:\n"
    STEPS
    ".cfi_endproc\n"
    ".size whole, . - whole\n"
    // Goes to one of its parts by a table.
    ACROSS("acrossMoved", "chooses")
    ".type chooses, @function\n"
    "chooses:\n"
    ".cfi_startproc\n"
    "  mov %rdi, %rcx\n"
    "  and $1, %ecx\n"
    "  lea choices(%rip), %rdx\n"
    "  jmp *(%rdx,%rcx,8)\n"
    "near:\n"
    "  lea 7(%rdi), %rax\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size chooses, . - chooses\n"
    ".type moved, @function\n"
    "moved:\n"
    ".cfi_startproc\n"
    "  mov $0, %edi\n"
    "far:\n"
    "  sub $8, %rsp\n"
    ".cfi_def_cfa_offset 16\n"
    "  call deeper\n"
    "  add $8, %rsp\n"
    ".cfi_def_cfa_offset 8\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size moved, . - moved\n"
    ".type deeper, @function\n"
    "deeper:\n"
    ".cfi_startproc\n"
    STEPS
    ".cfi_endproc\n"
    ".size deeper, . - deeper\n"
    ".section .data.rel.ro.local, \"aw\"\n"
    ".p2align 3\n"
    "choices: .quad near, far\n"
    ".text\n");

int main(void) {
  unsigned long sum = 0;
  for (unsigned long n = 0; n < 16; ++n) sum = sum * 5 + across(n) + acrossParts(n) + acrossMoved(n);
  printf("%lu\n", sum);
}
