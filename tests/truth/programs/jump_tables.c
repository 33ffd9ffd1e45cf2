// Jumps through tables as they are written by hand: with an index that the table does not have, with another
// table than in front, with what the program still wants of registers and flags, through tables that it
// writes.
#include <stdio.h>

// Each takes an index, and says by its value where it went.
#define FUNCTION(name, body)                                                                                 \
  ".globl " name "\n.type " name ", @function\n" name ":\n.cfi_startproc\n" body ".cfi_endproc\n.size " name \
  ", . - " name "\n"

long beyond(long), range(long), kept(long), flags(long), tested(long, long), mixed(long, long), written(long),
    overBase(long, long), loops(long), addresses(long), addressesKept(long), between(long), masked(long),
    behindAbort(long, long), intoCold(long), padded(long), shifted(long);
long helper(long n) { return n + 1; }

__asm__(
    ".text\n"
    // An index of 3 is an entry of the next table, which leads elsewhere from here.
    FUNCTION("beyond",
             "  lea 10f(%rip), %rdx\n  movslq (%rdx,%rdi,4), %rax\n  add %rdx, %rax\n  jmp *%rax\n"
             "1: mov $11, %eax\n  ret\n2: mov $12, %eax\n  ret\n3: mov $13, %eax\n  ret\n"
             "4: mov $14, %eax\n  ret\n5: lea 20f(%rip), %rcx\n  mov $15, %eax\n  ret\n"
             ".pushsection .rodata\n.balign 4\n10: .long 1b - 10b, 2b - 10b, 3b - 10b\n"
             "20: .long 4b - 10b, 5b - 10b, 77\n.popsection\n")
    // Few values, and entries that are read behind the table.
    FUNCTION("range",
             "  lea 10f(%rip), %rdx\n  and $7, %edi\n  movslq (%rdx,%rdi,4), %rax\n  mov $5, %r8d\n"
             "  add %rdx, %rax\n  jmp *%rax\n"
             "1: lea 20(%r8), %eax\n  ret\n2: lea 21(%r8), %eax\n  ret\n"
             ".pushsection .rodata\n.balign 4\n"
             "10: .long 1b - 10b, 2b - 10b, 2b - 10b, 1b - 10b, 2b - 10b, 77, 77, 77\n.popsection\n")
    // What is jumped to looks at the register that it was jumped to by.
    FUNCTION("kept",
             "  cmp $2, %edi\n  ja 3f\n  mov %edi, %edi\n  lea 10f(%rip), %rdx\n"
             "  movslq (%rdx,%rdi,4), %rax\n  add %rdx, %rax\n  jmp *%rax\n"
             "1: lea 1b(%rip), %rcx\n  sub %rcx, %rax\n  add $31, %rax\n  ret\n"
             "2: lea 1b(%rip), %rcx\n  sub %rcx, %rax\n  add $32, %rax\n  ret\n3: mov $33, %eax\n  ret\n"
             ".pushsection .rodata\n.balign 4\n10: .long 1b - 10b, 2b - 10b, 1b - 10b\n.popsection\n")
    // And at the flags that the add left.
    FUNCTION("flags",
             "  cmp $1, %rdi\n  ja 3f\n  lea 10f(%rip), %rdx\n"
             "  movslq (%rdx,%rdi,4), %rcx\n  add %rdx, %rcx\n  jmp *%rcx\n"
             "1: setp %al\n  movzbl %al, %eax\n  add $41, %eax\n  ret\n"
             "2: setc %al\n  movzbl %al, %eax\n  add $43, %eax\n  ret\n3: mov $45, %eax\n  ret\n"
             ".pushsection .rodata\n.balign 4\n10: .long 1b - 10b, 2b - 10b\n.popsection\n")
    // And at those of an instruction behind the add, alone or beside the add's.
    FUNCTION("tested",
             "  cmp $1, %rdi\n  ja 3f\n  lea 10f(%rip), %rdx\n"
             "  movslq (%rdx,%rdi,4), %rcx\n  add %rdx, %rcx\n  test %rsi, %rsi\n  jmp *%rcx\n"
             "1: sete %al\n  movzbl %al, %eax\n  add $151, %eax\n  ret\n"
             "2: setne %al\n  movzbl %al, %eax\n  add $153, %eax\n  ret\n3: mov $155, %eax\n  ret\n"
             ".pushsection .rodata\n.balign 4\n10: .long 1b - 10b, 2b - 10b\n.popsection\n")
        FUNCTION("mixed",
                 "  cmp $1, %rdi\n  ja 3f\n  lea 10f(%rip), %rdx\n"
                 "  movslq (%rdx,%rdi,4), %rcx\n  add %rdx, %rcx\n  inc %rsi\n  jmp *%rcx\n"
                 "1: setc %al\n  movzbl %al, %eax\n  add $161, %eax\n  ret\n"
                 "2: sete %al\n  movzbl %al, %eax\n  add $163, %eax\n  ret\n3: mov $165, %eax\n  ret\n"
                 ".pushsection .rodata\n.balign 4\n10: .long 1b - 10b, 2b - 10b\n.popsection\n")
    // The program may write this one, and does.
    FUNCTION("written",
             "  lea 10f(%rip), %rdx\n  movslq 4(%rdx), %rcx\n  mov %ecx, (%rdx)\n"
             "  movslq (%rdx,%rdi,4), %rax\n  add %rdx, %rax\n  jmp *%rax\n"
             "1: mov $51, %eax\n  ret\n2: mov $52, %eax\n  ret\n3: mov $53, %eax\n  ret\n"
             ".pushsection .data\n.balign 4\n10: .long 1b - 10b, 2b - 10b, 3b - 10b\n.popsection\n")
    // Of two tables one: by a register that only the copy's comparison can know.
    FUNCTION("overBase",
             "  push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbx, -16\n"
             "  lea 10f(%rip), %rbx\n  lea 20f(%rip), %rax\n  test %rsi, %rsi\n  cmovne %rax, %rbx\n"
             "  jmp 4f\n"
             "4: movslq (%rbx,%rdi,4), %rdi\n  add %rbx, %rdi\n  jmp *%rdi\n"
             "1: mov $61, %eax\n  jmp 5f\n2: mov $62, %eax\n  jmp 5f\n3: mov $63, %eax\n"
             "5: pop %rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbx\n  ret\n"
             ".pushsection .rodata\n.balign 4\n10: .long 1b - 10b, 2b - 10b\n20: .long 2b - 20b, 3b - 20b\n"
             ".popsection\n")
    // The base in front of a loop with calls in it.
    FUNCTION(
        "loops",
        "  push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbx, -16\n"
        "  push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -24\n"
        "  push %r12\n.cfi_adjust_cfa_offset 8\n.cfi_offset %r12, -32\n"
        "  lea 10f(%rip), %rbp\n  xor %ebx, %ebx\n  xor %r12d, %r12d\n"
        "0: mov %rbx, %rax\n  and $3, %eax\n  movslq (%rbp,%rax,4), %rax\n  add %rbp, %rax\n  jmp *%rax\n"
        "1: add $1, %r12\n  jmp 4f\n2: add $10, %r12\n  jmp 4f\n3: add $100, %r12\n"
        "4: mov %rbx, %rdi\n  call helper\n  mov %rax, %rbx\n  cmp $20, %rbx\n  jb 0b\n  mov %r12, %rax\n"
        "  pop %r12\n.cfi_adjust_cfa_offset -8\n.cfi_restore %r12\n"
        "  pop %rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbp\n"
        "  pop %rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbx\n  ret\n"
        ".pushsection .rodata\n.balign 4\n10: .long 1b - 10b, 2b - 10b, 3b - 10b, 2b - 10b\n.popsection\n")
    // Addresses, with an index beyond the table: an opcode that there is not.
    FUNCTION("addresses",
             "  lea 10f(%rip), %r9\n  jmp *(%r9,%rdi,8)\n"
             "1: mov $81, %eax\n  ret\n2: mov $82, %eax\n  ret\n3: mov $83, %eax\n  ret\n"
             ".pushsection .data.rel.ro, \"aw\"\n.balign 8\n10: .quad 1b, 2b\n.popsection\n"
             ".pushsection .data.rel.ro, \"aw\"\n20: .quad 3b\n.popsection\n  lea 20b(%rip), %rax\n  ret\n")
    // All registers are wanted where it leads.
    FUNCTION("addressesKept",
             "  lea 10f(%rip), %r11\n  mov $1, %eax\n  mov $2, %ecx\n  mov $4, %edx\n  mov $8, %esi\n"
             "  mov $16, %r8d\n  mov $32, %r9d\n  mov $64, %r10d\n  jmp 4f\n"
             "4: jmp *(%r11,%rdi,8)\n"
             "1: add $128, %eax\n2: add %rcx, %rax\n  add %rdx, %rax\n  add %rsi, %rax\n  add %r8, %rax\n"
             "  add %r9, %rax\n  add %r10, %rax\n  add %rdi, %rax\n  sub %r11, %rax\n  lea 10f(%rip), %rdi\n"
             "  add %rdi, %rax\n  add %rbx, %rax\n  sub %rbx, %rax\n  add %rbp, %rax\n  sub %rbp, %rax\n"
             "  add %r12, %rax\n  sub %r12, %rax\n  add %r13, %rax\n  sub %r13, %rax\n  add %r14, %rax\n"
             "  sub %r14, %rax\n  add %r15, %rax\n  sub %r15, %rax\n  ret\n"
             ".pushsection .data.rel.ro, \"aw\"\n.balign 8\n10: .quad 1b, 2b\n.popsection\n")
    // What stands between the load and the jump looks at the register: it must have what the program loads.
    FUNCTION("between",
             "  and $1, %edi\n  lea 10f(%rip), %rdx\n  movslq (%rdx,%rdi,4), %rax\n  mov %rax, %rcx\n"
             "  add %rdx, %rax\n  jmp *%rax\n"
             "1: lea 1b(%rip), %rax\n  sub %rdx, %rax\n  sub %rcx, %rax\n  add $91, %rax\n  ret\n"
             "2: lea 2b(%rip), %rax\n  sub %rdx, %rax\n  sub %rcx, %rax\n  add $92, %rax\n  ret\n"
             ".pushsection .rodata\n.balign 4\n10: .long 1b - 10b, 2b - 10b\n.popsection\n")
    // A case stands behind a call that never comes back: what it reads nobody leaves alone.
    FUNCTION("behindAbort",
             "  cmp $1, %edi\n  ja 3f\n  mov %edi, %edi\n  lea 10f(%rip), %rdx\n"
             "  movslq (%rdx,%rdi,4), %rax\n  add %rdx, %rax\n  jmp *%rax\n"
             "3: push %rax\n.cfi_adjust_cfa_offset 8\n  call abort@plt\n.cfi_adjust_cfa_offset -8\n"
             "1: lea 111(%rsi,%rdi), %rax\n  ret\n2: lea 112(%rsi), %rax\n  ret\n"
             ".pushsection .rodata\n.balign 4\n10: .long 1b - 10b, 2b - 10b\n.popsection\n")
    // Another function jumps to behind such a call, with flags.
    FUNCTION("intoCold", "  mov $121, %eax\n  test %rdi, %rdi\n  jmp 9f\n")
        FUNCTION("cold",
                 "  xor %eax, %eax\n  push %rax\n.cfi_adjust_cfa_offset 8\n  call "
                 "abort@plt\n.cfi_adjust_cfa_offset -8\n"
                 "9: je 1f\n  inc %eax\n1: ret\n")
    // Behind padding too; and what changes flags, or does not look at them, in front of who does. (Two that
    // are not run.)
    FUNCTION(
        "padded",
        "  mov $131, %eax\n  test %rdi, %rdi\n  jne 1f\n  push %rax\n.cfi_adjust_cfa_offset 8\n"
        "  cmp %rax, %rax\n  jne 2f\n  pop %rax\n.cfi_adjust_cfa_offset -8\n  test %rdi, %rdi\n  jmp 1f\n"
        "2: .cfi_adjust_cfa_offset 8\n  call abort@plt\n.cfi_adjust_cfa_offset -8\n  nopl (%rax)\n"
        "1: je 1f\n  inc %eax\n1: ret\n") FUNCTION("shifted",
                                                   "  push %rax\n.cfi_adjust_cfa_offset 8\n  call helper\n  "
                                                   "shr $32, %rax\n  jne 1f\n  add $141, %eax\n"
                                                   "1: pop %rcx\n.cfi_adjust_cfa_offset -8\n  ret\n")
        FUNCTION("processId", "  mov $39, %eax\n  syscall\n  shr $32, %rax\n  ret\n")
            FUNCTION("clockRead", "  rdtsc\n  shr $32, %rax\n  ret\n")
#ifndef __PIE__
    // By the table's address, and no register but the index.
    FUNCTION("masked",
             "  cmp $1, %rdi\n  ja 3f\n  jmp *10f(,%rdi,8)\n"
             "1: mov 20f(,%rdi,8), %rax\n  mov %rdi, %rcx\n  jmp *%rax\n2: mov $102, %eax\n  ret\n"
             "3: and $3, %edi\n  mov 10f(,%rdi,8), %rax\n  jmp *%rax\n4: mov $104, %eax\n  ret\n"
             ".pushsection .rodata\n.balign 8\n10: .quad 1b, 2b, 4b, 2b\n20: .quad 4b\n.popsection\n")
#else
                FUNCTION("masked", "  xor %eax, %eax\n  ret\n")
#endif
);

int main(void) {
  for (int round = 0; round < 3; ++round) {
    for (long i = 0; i < 5; ++i) printf("%ld ", beyond(i));
    for (long i = 0; i < 13; ++i)
      if ((i & 7) < 5) printf("%ld ", range(i));
    for (long i = 0; i < 4; ++i) printf("%ld ", kept(i));
    for (long i = 0; i < 3; ++i) printf("%ld ", flags(i));
    for (long i = 0; i < 6; ++i) printf("%ld %ld ", tested(i / 2, i % 2), mixed(i / 2, i % 2 - 1));
    for (long i = 0; i < 3; ++i) printf("%ld ", written(i));
    for (long i = 0; i < 2; ++i) printf("%ld %ld ", overBase(i, 0), overBase(i, 1));
    printf("%ld ", loops(0));
    for (long i = 0; i < 3; ++i) printf("%ld ", addresses(i));
    for (long i = 0; i < 2; ++i) printf("%ld %ld ", addressesKept(i), between(i));
    for (long i = 0; i < 2; ++i) printf("%ld %ld ", behindAbort(i, 5), intoCold(i));
    for (long i = 0; i < 2; ++i) printf("%ld %ld ", padded(i), shifted(i));
    for (long i = 0; i < 4; ++i) printf("%ld ", masked(i));
    printf("\n");
  }
}
