// Calls the program's signal handler so that unwinders do not see the runtime between it and what it
// interrupted: to them the call below is the signal frame, with the interrupted registers as the kernel saved
// them, in the way that libc's own restorer is described.
//
//   void traceback_call_handler(int, siginfo_t*, ucontext_t*, handler, pc, shown)
//
// Where the context has `shown` for a program counter, the caller of that frame is at `pc`; else the program
// has put another there. Other registers are the interrupted code's, as the kernel leaves them: a program may
// have variables in them (GCC's global register variables).

  .set kRegisters, 40 // of ucontext_t: uc_mcontext.gregs

  // DW_CFA_expression: the register is saved in the context, whose address is on top of the stack.
  .macro in_context number, index
  .cfi_escape 0x10, \number, 6, 0x77, 0, 0x06, 0x23, ((kRegisters + 8 * \index) & 0x7F) | 0x80, (kRegisters + 8 * \index) >> 7
  .endm

  .macro keep register
  pushq %\register
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset \register, 0
  .endm
  .macro give_back register
  popq %\register
  .cfi_adjust_cfa_offset -8
  .cfi_restore \register
  .endm

  .text
  .globl traceback_call_handler
  .hidden traceback_call_handler
  .type traceback_call_handler, @function
traceback_call_handler:
  .cfi_startproc
  endbr64
  keep rbx
  keep rbp
  keep r12
  keep r13
  keep r14
  keep r15
  subq $24, %rsp
  .cfi_adjust_cfa_offset 24
  movq %rdx, (%rsp)
  movq %r8, 8(%rsp)
  movq %r9, 16(%rsp)
  movq kRegisters + 8 * 0(%rdx), %r8
  movq kRegisters + 8 * 1(%rdx), %r9
  movq kRegisters + 8 * 2(%rdx), %r10
  movq kRegisters + 8 * 3(%rdx), %r11
  movq kRegisters + 8 * 4(%rdx), %r12
  movq kRegisters + 8 * 5(%rdx), %r13
  movq kRegisters + 8 * 6(%rdx), %r14
  movq kRegisters + 8 * 7(%rdx), %r15
  movq kRegisters + 8 * 10(%rdx), %rbp
  movq kRegisters + 8 * 11(%rdx), %rbx
  xorl %eax, %eax // as the kernel does
  .cfi_endproc

  .cfi_startproc
  .cfi_signal_frame
  .cfi_personality 0x1B, traceback_handler_is_left
  // DW_CFA_def_cfa_expression: the interrupted stack pointer
  .cfi_escape 0x0F, 7, 0x77, 0, 0x06, 0x23, ((kRegisters + 8 * 15) & 0x7F) | 0x80, (kRegisters + 8 * 15) >> 7, 0x06
  in_context 8, 0
  in_context 9, 1
  in_context 10, 2
  in_context 11, 3
  in_context 12, 4
  in_context 13, 5
  in_context 14, 6
  in_context 15, 7
  in_context 5, 8  // rdi
  in_context 4, 9  // rsi
  in_context 6, 10 // rbp
  in_context 3, 11 // rbx
  in_context 1, 12 // rdx
  in_context 0, 13 // rax
  in_context 2, 14 // rcx
  in_context 7, 15 // rsp
  // DW_CFA_val_expression of rip: the context's; if it equals the third word of the stack, then the second
  .cfi_escape 0x16, 16, 22
  .cfi_escape 0x77, 0, 0x06, 0x23, ((kRegisters + 8 * 16) & 0x7F) | 0x80, (kRegisters + 8 * 16) >> 7, 0x06
  .cfi_escape 0x12, 0x77, 16, 0x06, 0x29    // dup, breg7+16, deref, eq
  .cfi_escape 0x28, 3, 0, 0x2F, 4, 0        // bra over skip to the end
  .cfi_escape 0x13, 0x77, 8, 0x06           // drop, breg7+8, deref
  call *%rcx
  .globl traceback_handler_returns
  .hidden traceback_handler_returns
traceback_handler_returns:
  nop
  .cfi_endproc

  .cfi_startproc
  .cfi_def_cfa_offset 80
  .cfi_offset rbx, -16
  .cfi_offset rbp, -24
  .cfi_offset r12, -32
  .cfi_offset r13, -40
  .cfi_offset r14, -48
  .cfi_offset r15, -56
  addq $24, %rsp
  .cfi_adjust_cfa_offset -24
  give_back r15
  give_back r14
  give_back r13
  give_back r12
  give_back rbp
  give_back rbx
  ret
  .cfi_endproc
  .size traceback_call_handler, . - traceback_call_handler

  .section .note.GNU-stack, "", @progbits
