// Where head probes come whose sub-buffer is full: sixteen entries, one for each scratch register, and as many
// for probes that keep the cursor in xmm15.
//
// On entry the scratch register holds the address at which the copy goes on; every other register belongs
// to the interrupted function, and so does the red zone. The functions below answer with a cursor, behind
// which the probe may write, for the scratch register, and for xmm15 if that is kept; all else is put back.
// wrap.h has the frame, for whoever interrupts the first of them.
// (Nothing here, nor what it calls, uses any other vector register.)
//
// To an unwinder each entry is a signal frame: its caller is the copy, interrupted at that address, with
// the stack pointer as it is on entry.

  .set kStepOver, 128 // the red zone

  .macro saved reg, number
  pushq %\reg
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset \number, 0
  .endm

  .macro restored reg, number
  popq %\reg
  .cfi_adjust_cfa_offset -8
  .cfi_same_value \number
  .endm

  .macro entry scratch, number, place, kept
  .p2align 4
  .type wrap\kept\()_\scratch, @function
wrap\kept\()_\scratch:
  .cfi_startproc
  .cfi_signal_frame
  .cfi_def_cfa %rsp, 0
  .cfi_val_offset %rsp, 0
  .cfi_register %rip, \number
  endbr64
  leaq -kStepOver(%rsp), %rsp
  .cfi_adjust_cfa_offset kStepOver
  pushq %\scratch
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rip, 0
  pushfq
  .cfi_adjust_cfa_offset 8
  cld
  saved rax, 0
  saved rdx, 1
  saved rcx, 2
  saved rbx, 3
  saved rsi, 4
  saved rdi, 5
  saved rbp, 6
  saved r8, 8
  saved r9, 9
  saved r10, 10
  saved r11, 11
  saved r12, 12
  saved r13, 13
  saved r14, 14
  saved r15, 15
  movq %rsp, %rbx
  .cfi_def_cfa_register %rbx
  movq %rsp, %rdi
  movl $\place, %esi
  .ifnb \kept
  movl $1, %edx
  .else
  xorl %edx, %edx
  .endif
  andq $-16, %rsp
  call traceback_step
  testq %rax, %rax
  jne 1f
  leaq 17*8+kStepOver(%rbx), %rdi
  movq %rbx, %rsi
  call traceback_wrap
1:
  movq %rbx, %rsp
  .cfi_def_cfa_register %rsp
  movq %rax, \place*8(%rsp)
  .ifnb \kept
  movq %rax, %xmm15
  .endif
  restored r15, 15
  restored r14, 14
  restored r13, 13
  restored r12, 12
  restored r11, 11
  restored r10, 10
  restored r9, 9
  restored r8, 8
  restored rbp, 6
  restored rdi, 5
  restored rsi, 4
  restored rbx, 3
  restored rcx, 2
  restored rdx, 1
  restored rax, 0
  popfq
  .cfi_adjust_cfa_offset -8
  ret $kStepOver // to the address saved first; a jump would need a register or the red zone
  .cfi_endproc
  .size wrap\kept\()_\scratch, . - wrap\kept\()_\scratch
  .endm

  .text
  // register, DWARF number, words above the stack pointer once all is saved
  .macro entries kept
  entry rax, 0, 14, \kept
  entry rcx, 2, 12, \kept
  entry rdx, 1, 13, \kept
  entry rbx, 3, 11, \kept
  entry rbp, 6, 8, \kept
  entry rsi, 4, 10, \kept
  entry rdi, 5, 9, \kept
  entry r8, 8, 7, \kept
  entry r9, 9, 6, \kept
  entry r10, 10, 5, \kept
  entry r11, 11, 4, \kept
  entry r12, 12, 3, \kept
  entry r13, 13, 2, \kept
  entry r14, 14, 1, \kept
  entry r15, 15, 0, \kept
  .endm
  entries
  entries _kept

  .section .data.rel.ro.local, "aw", @progbits
  .p2align 3
  .globl traceback_wrap_entries // in the order of the x86 register numbers
  .hidden traceback_wrap_entries
traceback_wrap_entries:
  .quad wrap_rax, wrap_rcx, wrap_rdx, wrap_rbx, 0, wrap_rbp, wrap_rsi, wrap_rdi
  .quad wrap_r8, wrap_r9, wrap_r10, wrap_r11, wrap_r12, wrap_r13, wrap_r14, wrap_r15
  .globl traceback_wrap_kept_entries
  .hidden traceback_wrap_kept_entries
traceback_wrap_kept_entries:
  .quad wrap_kept_rax, wrap_kept_rcx, wrap_kept_rdx, wrap_kept_rbx, 0, wrap_kept_rbp, wrap_kept_rsi
  .quad wrap_kept_rdi, wrap_kept_r8, wrap_kept_r9, wrap_kept_r10, wrap_kept_r11, wrap_kept_r12
  .quad wrap_kept_r13, wrap_kept_r14, wrap_kept_r15

  // The probation segment: see thread.h.
  .data
  .p2align 6
  .globl traceback_probation
  .hidden traceback_probation
traceback_probation:
  .quad -4          // cursor: the end of a window of any size, where no word is before the first wrap
  .quad 0           // base
  .quad 0           // ordinal
  .long 1, 1        // words, sub-buffers
  .quad 0           // offset in the file
  .long 1, 0        // stride, reserved
  .quad 4, 0        // step

  .section .note.GNU-stack, "", @progbits
