// Hand-written functions that use xmm15 beside others that do not: what one of them has there is its own as
// long as it calls nobody, and what it leaves there nobody wants. So it is where some look as if they wanted
// it: instructions that permute write all of it, and system calls take nothing from it.
#include <stdio.h>
#include <stdlib.h>

unsigned long mixed(unsigned long n);
unsigned long jumpsOn(unsigned long n);
unsigned long endsInCall(unsigned long n);
unsigned long permuted(unsigned long n);
unsigned long asks(unsigned long n, unsigned long (*weigh)(unsigned long));

__asm__(
    ".text\n"
    ".type mixed, @function\n"
    "mixed:\n"
    ".cfi_startproc\n"
    "  movq %rdi, %xmm15\n"
    "  mov $5, %ecx\n"
    "1: paddq %xmm15, %xmm15\n"
    "  test $1, %cl\n"
    "  je 2f\n"
    "  paddq one(%rip), %xmm15\n"
    "2: dec %ecx\n"
    "  jne 1b\n"
    "  movq %xmm15, %rdi\n"
    "  sub $8, %rsp\n"
    ".cfi_def_cfa_offset 16\n"
    "  call weigh\n"
    "  add $8, %rsp\n"
    ".cfi_def_cfa_offset 8\n"
    "  movq %rdi, %xmm15\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size mixed, . - mixed\n"
    // Comes to another function with anything in xmm15.
    ".type jumpsOn, @function\n"
    "jumpsOn:\n"
    ".cfi_startproc\n"
    "  movq %rdi, %xmm15\n"
    "  cmp $3, %rdi\n"
    "  ja weigh\n"
    "  inc %rdi\n"
    "  jmp weigh\n"
    ".cfi_endproc\n"
    ".size jumpsOn, . - jumpsOn\n"
    // Its last instruction is a call that does not come back.
    ".type endsInCall, @function\n"
    "endsInCall:\n"
    ".cfi_startproc\n"
    "  movq %rdi, %xmm15\n"
    "  cmp $1000, %rdi\n"
    "  ja 4f\n"
    "  cmp $500, %rdi\n"
    "  ja behindTheCall\n"
    "  lea 3(%rdi), %rax\n"
    "  ret\n"
    "4: sub $8, %rsp\n"
    ".cfi_def_cfa_offset 16\n"
    "  call abort@PLT\n"
    ".cfi_endproc\n"
    ".size endsInCall, . - endsInCall\n"
    "behindTheCall:\n"
    ".cfi_startproc\n"
    "  jp 5f\n"
    "  add $11, %rdi\n"
    "5: lea (%rdi,%rdi,4), %rax\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size behindTheCall, . - behindTheCall\n"
    ".type permuted, @function\n"
    "permuted:\n"
    ".cfi_startproc\n"
    "  movq %rdi, %xmm1\n"
    "  vperm2i128 $0x20, %ymm1, %ymm1, %ymm15\n"
    "  vmovq %xmm15, %rax\n"
    "  vzeroupper\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size permuted, . - permuted\n"
    ".type asks, @function\n"
    "asks:\n"
    ".cfi_startproc\n"
    "  sub $8, %rsp\n"
    ".cfi_def_cfa_offset 16\n"
    "  call *%rsi\n"
    "  mov %rax, %rdi\n"
    "  mov $12, %eax\n"  // brk
    "  syscall\n"
    "  mov %rdi, %rax\n"
    "  add $8, %rsp\n"
    ".cfi_def_cfa_offset 8\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size asks, . - asks\n"
    ".section .rodata\n"
    ".p2align 4\n"
    "one: .quad 1, 0\n"
    ".text\n");

__attribute__((noinline, used)) unsigned long weigh(unsigned long n) {
  unsigned long sum = 0;
  for (; n != 0; n /= 3) sum += n % 3 == 2 ? n : 1;
  return sum;
}

int compare(const void* a, const void* b) {
  const unsigned long x = mixed(*(const unsigned long*)a), y = mixed(*(const unsigned long*)b);
  return x < y ? -1 : x > y;
}

int main(void) {
  unsigned long (*volatile wide)(unsigned long) = permuted;
  if (!__builtin_cpu_supports("avx2")) wide = weigh;
  unsigned long sum = 0, all[16];
  for (unsigned long n = 0; n < 16; ++n) {
    sum = sum * 3 + mixed(n) + jumpsOn(n) + weigh(sum) + wide(n) + asks(n, weigh);
    sum += endsInCall(n * 60);
    all[n] = sum % 101;
  }
  qsort(all, 16, sizeof *all, compare);
  for (int i = 0; i < 16; ++i) sum = sum * 7 + all[i];
  printf("%lu\n", sum);
}
