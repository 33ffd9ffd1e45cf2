# What the stepper itself is tested with: every executed instruction can be told from its label.
#
#   what a hypervisor may carry out itself, twice; a loop of three rounds; an instruction that repeats
#   itself; a system call; a signal that the program sends itself, whose handler returns; a callback out of
#   the C library; a fault.
        .text
        .globl  main
        .type   main, @function
main:
        pushq   %rbx
        cpuid
        cpuid
        movl    $3, %ebx
round:  decl    %ebx
again:  jnz     round
        leaq    buffer(%rip), %rdi
        movl    $100, %ecx
store:  rep stosb
        leaq    handler(%rip), %rsi
        movl    $10, %edi                  # SIGUSR1
handle: call    signal@PLT
        movl    $10, %edi
send:   call    raise@PLT
        leaq    values(%rip), %rdi
        movl    $2, %esi
        movl    $4, %edx
        leaq    compare(%rip), %rcx
sort:   call    qsort@PLT
fault:  ud2
        .size   main, . - main

        .globl  handler
        .type   handler, @function
handler:
        nop
handler_end:
        ret
        .size   handler, . - handler

        .globl  compare
        .type   compare, @function
compare:
        movl    (%rdi), %eax
        subl    (%rsi), %eax
compare_end:
        ret
        .size   compare, . - compare

        .data
values: .long   1, 2
        .bss
buffer: .skip   100
        .section .note.GNU-stack, "", @progbits
