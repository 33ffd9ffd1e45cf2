// The starter as it was linked, room for its header included.
  .section .rodata
  .p2align 4
  .globl traceback_starter_begin, traceback_starter_end
  .hidden traceback_starter_begin, traceback_starter_end
traceback_starter_begin:
  .incbin TRACEBACK_STARTER_CODE
traceback_starter_end:

  .section .note.GNU-stack, "", @progbits
