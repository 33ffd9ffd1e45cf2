// Functions of libc that look at who called them, or do not return: ours run a little before them and
// then jump to them, with the caller's return address and registers as they were.

  // Straight to libc's; to `unknown` if that was not looked up yet.
  .macro pass_on name, unknown
  cmpq $0, traceback_real_\name(%rip)
  je \unknown
  jmp *traceback_real_\name(%rip)
  .endm

  // With `values`, only for calls with one of them as first argument, for these are many.
  .macro hooked name, before, values:vararg
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  endbr64
  .ifc \name,__sigsetjmp // only with a mask to be kept
  testl %esi, %esi
  jnz 1f
  pass_on \name, 1f
1:
  .endif
  .ifc \name,syscall // executing a program is the same by this way
  cmpl $59, %edi // SYS_execve
  je 2f
  cmpl $322, %edi // SYS_execveat
  je 3f
  cmpl $57, %edi // SYS_fork
  je 5f
  cmpl $56, %edi // SYS_clone
  je 4f
  .endif
  .ifnb \values
  .irp value, \values
  cmpl $\value, %edi
  je 1f
  .endr
  pass_on \name, 1f
1:
  .endif
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  pushq %rcx
  .cfi_adjust_cfa_offset 8
  pushq %r8
  .cfi_adjust_cfa_offset 8
  pushq %r9
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call \before
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %r9
  .cfi_adjust_cfa_offset -8
  popq %r8
  .cfi_adjust_cfa_offset -8
  popq %rcx
  .cfi_adjust_cfa_offset -8
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *traceback_real_\name(%rip)
  .ifc \name,syscall
2:
  movq %rsi, %rdi
  movq %rdx, %rsi
  movq %rcx, %rdx
  jmp traceback_execve
3:
  movl %esi, %edi
  movq %rdx, %rsi
  movq %rcx, %rdx
  movq %r8, %rcx
  movl %r9d, %r8d
  jmp traceback_execveat
  // A child that goes on where its parent does learns here what it is, for its first probe's fault would end it
  // if the signal is blocked. One that shares the memory, or has a stack of its own, cannot return through us.
4:
  testl $0x100, %esi // CLONE_VM
  jnz 6f
  testq %rdx, %rdx
  jnz 6f
5:
  cmpq $0, traceback_real_syscall(%rip)
  je 1b
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call *traceback_real_syscall(%rip)
  testq %rax, %rax
  jnz 7f
  call traceback_after_fork
  xorl %eax, %eax
7:
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
6:
  pass_on \name, 1b
  .endif
  .cfi_endproc
  .size \name, . - \name

  .pushsection .bss
  .globl traceback_real_\name
  .hidden traceback_real_\name
  .p2align 3
traceback_real_\name:
  .zero 8
  .popsection
  .endm

  .text
  hooked dlopen, traceback_before_linker
  hooked dlmopen, traceback_before_linker
  hooked dlsym, traceback_before_linker
  hooked abort, traceback_before_abort
  hooked __assert_fail, traceback_before_abort
  hooked __assert_perror_fail, traceback_before_abort
  hooked __sigsetjmp, traceback_before_setjmp
  hooked setjmp, traceback_before_setjmp
  hooked longjmp, traceback_before_jump
  hooked _longjmp, traceback_before_jump
  hooked siglongjmp, traceback_before_jump
  hooked __longjmp_chk, traceback_before_jump

  hooked _Unwind_Backtrace, traceback_before_backtrace

  hooked prctl, traceback_before_prctl, 22 // PR_SET_SECCOMP
  // SYS_seccomp; setuid, setreuid, setresuid, capset, pivot_root, chroot, unshare, setns, landlock_restrict_self
  hooked syscall, traceback_before_syscall, 317, 105, 113, 117, 126, 155, 161, 272, 308, 446

  hooked setuid, traceback_before_confinement
  hooked seteuid, traceback_before_confinement
  hooked setreuid, traceback_before_confinement
  hooked setresuid, traceback_before_confinement
  hooked capset, traceback_before_confinement
  hooked chroot, traceback_before_confinement
  hooked unshare, traceback_before_confinement
  hooked setns, traceback_before_confinement

  .section .note.GNU-stack, "", @progbits
