// Where head probes come that found a sentinel: sixteen entries, one for each scratch register.
//
// On entry the scratch register holds the address at which the copy goes on; every other register belongs
// to the interrupted function, and so does the red zone. The function below answers with the address of
// the word to write, which goes into the scratch register; all else is put back.
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

  .macro entry scratch, number, place
  .p2align 4
  .type wrap_\scratch, @function
wrap_\scratch:
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
  leaq 17*8+kStepOver(%rsp), %rdi
  andq $-16, %rsp
  call traceback_wrap
  movq %rbx, %rsp
  .cfi_def_cfa_register %rsp
  movq %rax, \place*8(%rsp)
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
  .size wrap_\scratch, . - wrap_\scratch
  .endm

  .text
  // register, DWARF number, words above the stack pointer once all is saved
  entry rax, 0, 14
  entry rcx, 2, 12
  entry rdx, 1, 13
  entry rbx, 3, 11
  entry rbp, 6, 8
  entry rsi, 4, 10
  entry rdi, 5, 9
  entry r8, 8, 7
  entry r9, 9, 6
  entry r10, 10, 5
  entry r11, 11, 4
  entry r12, 12, 3
  entry r13, 13, 2
  entry r14, 14, 1
  entry r15, 15, 0

  .section .data.rel.ro.local, "aw", @progbits
  .p2align 3
  .globl traceback_wrap_entries // in the order of the x86 register numbers
  .hidden traceback_wrap_entries
traceback_wrap_entries:
  .quad wrap_rax, wrap_rcx, wrap_rdx, wrap_rbx, 0, wrap_rbp, wrap_rsi, wrap_rdi
  .quad wrap_r8, wrap_r9, wrap_r10, wrap_r11, wrap_r12, wrap_r13, wrap_r14, wrap_r15

  // The probation segment: see thread.h.
  .data
  .p2align 6
  .globl traceback_probation, traceback_probation_words
  .hidden traceback_probation, traceback_probation_words
traceback_probation:
  .quad traceback_probation_words // cursor
  .quad traceback_probation_words // base
  .quad 0                         // ordinal
  .long 4096, 1                   // words, sub-buffers
  .quad 0, 0, 0, 0
  .p2align 6
traceback_probation_words:
  .fill 4096, 4, 0xFFFFFFFF

  .section .note.GNU-stack, "", @progbits
