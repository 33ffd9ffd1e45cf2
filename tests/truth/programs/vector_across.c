// A function that keeps a value in xmm15 over a call, as compilers do that look at what is called. So it is
// not free in what is called, though nothing there names it; whoever else calls that has nothing there.
#include <stdio.h>

#include "assembly.h"

#define ACROSS(name, called) \
  FUNCTION(name)             \
  ENTER                      \
  "  movq %rdi, %xmm15\n"    \
  "  call " called           \
  "\n"                       \
  "  movq %xmm15, %rcx\n"    \
  "  xor %rcx, %rax\n" LEAVE \
  END(name)

unsigned long across(unsigned long n);
unsigned long acrossParts(unsigned long n);
unsigned long acrossMoved(unsigned long n);

__asm__(
    ".text\n"
    ACROSS("across", "steps")
    FUNCTION("steps")
    STEPS "  ret\n"
    END("steps")
    // Goes to the middle of another.
    ACROSS("acrossParts", "part")
    FUNCTION("part")
    "  test $1, %dil\n"
    "  je apart\n"
    "  lea 5(%rdi), %rax\n"
    "  ret\n"
    END("part")
    FUNCTION("whole")
    "  mov $0, %edi\n"
    "apart:\n"
    STEPS "  ret\n"
    END("whole")
    // Goes to one of its parts by a table.
    ACROSS("acrossMoved", "chooses")
    FUNCTION("chooses")
    "  mov %rdi, %rcx\n"
    "  and $1, %ecx\n"
    "  lea choices(%rip), %rdx\n"
    "  jmp *(%rdx,%rcx,8)\n"
    "near:\n"
    "  lea 7(%rdi), %rax\n"
    "  ret\n"
    END("chooses")
    FUNCTION("moved")
    "  mov $0, %edi\n"
    "far:\n"
    ENTER "  call deeper\n" LEAVE
    END("moved")
    FUNCTION("deeper")
    STEPS "  ret\n"
    END("deeper")
    ".section .data.rel.ro.local, \"aw\"\n"
    ".p2align 3\n"
    "choices: .quad near, far\n"
    ".text\n");

int main(void) {
  unsigned long sum = 0;
  for (unsigned long n = 0; n < 16; ++n) sum = sum * 5 + across(n) + acrossParts(n) + acrossMoved(n);
  printf("%lu\n", sum);
}
