// A function that jumps to a computed place within itself, as libffi's assembly and interpreters' do: of the
// places only the first has its address anywhere, but each begins with an endbr64.
#include <stdio.h>

int place(long number);

__asm__(
    // Far from code without unwind tables, whose bytes might look like jumps here.
    ".text\n.skip 512, 0xCC\n.globl place\n.type place, @function\n"
    "place:\n.cfi_startproc\nendbr64\nlea 1f(%rip), %rax\nshl $4, %rdi\nadd %rdi, %rax\njmp *%rax\n"
    ".balign 16\n1: endbr64\nmov $7, %eax\nret\n"
    ".balign 16\nendbr64\nmov $11, %eax\nret\n"
    ".balign 16\nendbr64\nmov $13, %eax\nret\n"
    ".cfi_endproc\n.size place, . - place\n.skip 512, 0xCC\n");

int main(void) {
  for (long i = 0; i < 3; ++i) printf("%d\n", place(i));
  return 0;
}
