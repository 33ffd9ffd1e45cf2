// Functions that keep registers which calling conventions let them change, for callers that are not seen or
// call through pointers; and one that has to have all of its registers kept by whom it calls so, though what
// it does there is far from the call. (As OCaml's run-time system and its plugins have it.)
#include <stdio.h>

#include "assembly.h"

#define PUSH(reg) "  push %" reg "\n.cfi_adjust_cfa_offset 8\n"
#define POP(reg) "  pop %" reg "\n.cfi_adjust_cfa_offset -8\n"

// Of rax alone.
#define BRANCHES          \
  "  test $1, %al\n"      \
  "  je 3f\n"             \
  "  inc %rax\n"          \
  "3: test $2, %al\n"     \
  "  je 4f\n"             \
  "  lea 5(%rax), %rax\n" \
  "4:\n"

#define SET "  lea 3(%rdi), %rsi\n  lea 7(%rdi), %r9\n  lea 11(%rdi), %r10\n  lea 13(%rdi), %r11\n"
#define ADD                                                                                 \
  "  imul $3, %rdi\n  imul $7, %rsi\n  imul $11, %r9\n  imul $13, %r10\n  imul $17, %r11\n" \
  "  add %rdi, %rax\n  add %rsi, %rax\n  add %r9, %rax\n  add %r10, %rax\n  add %r11, %rax\n"

// Without unwind information; only a word of the data leads to whom it calls.
#define UNSEEN(name, called)                                                                   \
  ".type " name ", @function\n" name                                                           \
  ":\n"                                                                                        \
  "  push %r14\n  push %r15\n  sub $8, %rsp\n  lea 17(%rdi), %r14\n  lea 29(%rdi), %r15\n" SET \
  "  call *" called "At(%rip)\n" ADD                                                           \
  "  imul $19, %r15\n  add %r15, %rax\n"                                                       \
  "  add $8, %rsp\n  pop %r15\n  pop %r14\n  ret\n"                                            \
  ".size " name ", . - " name                                                                  \
  "\n"                                                                                         \
  ".pushsection .data.rel, \"aw\"\n.balign 8\n" called "At: .quad " called "\n.popsection\n"

unsigned long retries(unsigned long n);
unsigned long retriesThroughMemory(unsigned long n);
unsigned long toPops(unsigned long n);
unsigned long toLoads(unsigned long n);
unsigned long toTakes(unsigned long n);

#define RETRIES(name, called, more)                                                            \
  FUNCTION(name)                                                                               \
  PUSH("rbx")                                                                                  \
  "  mov %rdi, %rbx\n  lea 5(%rdi), %rcx\n  lea 7(%rdi), %rdx\n  lea 9(%rdi), %r8\n" SET       \
  "  xor %eax, %eax\n"                                                                         \
  "5: add %rcx, %rax\n  add %rdx, %rax\n  add %r8, %rax\n  add %rsi, %rax\n  add %rdi, %rax\n" \
  "  add %r9, %rax\n  add %r10, %rax\n" more "  dec %rbx\n  js 6f\n" BRANCHES "  " called      \
  "\n  jmp 5b\n"                                                                               \
  "6:\n" POP("rbx") "  ret\n" END(name)

__asm__(
    ".text\n"
    // Through the procedure linkage table, which may change r11, to one that is found as the program starts.
    RETRIES("retries", "call resolved", "")
    ".type resolved, @gnu_indirect_function\n"
    "resolved:\n.cfi_startproc\n  lea unseen(%rip), %rax\n  ret\n" END("resolved")
    // Has no unwind information.
    ".type unseen, @function\nunseen:\n  push %rcx\n  push %rdi\n  push %r10\n  mov %eax, %edi\n  and $7, %edi\n"
    STEPS "  pop %r10\n  pop %rdi\n  pop %rcx\n  ret\n.size unseen, . - unseen\n"
    RETRIES("retriesThroughMemory", "call *keepsAllAt(%rip)", "  add %r11, %rax\n")
    ".pushsection .data.rel, \"aw\"\n.balign 8\nkeepsAllAt: .quad keepsAll\n.popsection\n"
    FUNCTION("keepsAll")
    PUSH("rcx") PUSH("rdx") PUSH("rsi") PUSH("rdi") PUSH("r8") PUSH("r9") PUSH("r10") PUSH("r11")
    "  mov %eax, %edi\n  and $7, %edi\n" STEPS
    POP("r11") POP("r10") POP("r9") POP("r8") POP("rdi") POP("rsi") POP("rdx") POP("rcx")
    BRANCHES "  ret\n" END("keepsAll")

    UNSEEN("toPops", "pops")
    FUNCTION("pops")
    PUSH("rsi") PUSH("rdi") PUSH("r9") PUSH("r10") PUSH("r11")
    "  xor %esi, %esi\n  mov $1, %r9d\n  mov $2, %r10d\n  mov $3, %r11d\n" STEPS
    POP("r11") POP("r10") POP("r9") POP("rdi") POP("rsi")
    BRANCHES "  ret\n" END("pops")

    // Some are not touched, and somebody else returns in its place.
    UNSEEN("toLoads", "loads")
    FUNCTION("loads")
    "  mov %rdi, -8(%rsp)\n  mov %rsi, -16(%rsp)\n  xor %esi, %esi\n" STEPS
    "  mov -8(%rsp), %rdi\n  mov -16(%rsp), %rsi\n  test $1, %al\n  jne branchesOn\n  inc %rax\n"
    "  jmp branchesOn\n" END("loads")
    FUNCTION("branchesOn") BRANCHES "  ret\n" END("branchesOn")

    // What it is passed is in a register that callees keep.
    UNSEEN("toTakes", "takes")
    FUNCTION("takes")
    "  lea (%r14,%r14,2), %rax\n  sub $16, %r15\n  cmp %r14, %r15\n  jae 1f\n  inc %rax\n1:\n" BRANCHES
    "  ret\n" END("takes"));

int main(void) {
  unsigned long sum = 0;
  for (unsigned long n = 0; n < 40; ++n) {
    sum = sum * 5 + retries(n);
    sum = sum * 5 + retriesThroughMemory(n);
    sum = sum * 5 + toPops(n);
    sum = sum * 5 + toLoads(n);
    sum = sum * 5 + toTakes(n);
  }
  printf("%lu\n", sum);
}
