// The first byte of the starter's code; called as int argc, char** argv, char** envp.
  .section .text.entry, "ax", @progbits
  .globl traceback_starter
  .hidden traceback_starter
  .type traceback_starter, @function
traceback_starter:
  endbr64
  jmp traceback_start
  .size traceback_starter, . - traceback_starter

  .section .note.GNU-stack, "", @progbits
