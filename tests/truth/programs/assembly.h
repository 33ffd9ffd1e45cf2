// What functions in assembly begin and end with, and what several of them do.
#pragma once

#define FUNCTION(name) ".type " name ", @function\n" name ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " name ", . - " name "\n"

// Around calls: the stack is to be aligned.
#define ENTER "  sub $8, %rsp\n.cfi_def_cfa_offset 16\n"
#define LEAVE "  add $8, %rsp\n.cfi_def_cfa_offset 8\n  ret\n"

// Of rax and rdi alone, with branches and a loop.
#define STEPS                   \
  "  mov $0, %eax\n"            \
  "1: lea 3(%rax,%rdi), %rax\n" \
  "  test $1, %al\n"            \
  "  je 2f\n"                   \
  "  inc %rax\n"                \
  "2: dec %rdi\n"               \
  "  jns 1b\n"
