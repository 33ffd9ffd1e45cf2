// Instructions that compilers seldom make: called from rare_main.c, each gives a number.
        .text
        .macro function name
        .p2align 4
        .globl \name
        .type \name, @function
\name:  .cfi_startproc
        .endm
        .macro finish name
        .cfi_endproc
        .size \name, . - \name
        .endm

        function strings                # rep movsb, repne scasb, repe cmpsb: rdi text; its length
        push %rdi
        .cfi_adjust_cfa_offset 8
        xor %eax, %eax
        mov $-1, %rcx
        repne scasb
        not %rcx
        lea -1(%rcx), %rax
        pop %rsi
        .cfi_adjust_cfa_offset -8
        mov %rax, %rcx
        lea buffer(%rip), %rdi
        rep movsb
        mov %rax, %rcx
        sub %rax, %rsi
        lea buffer(%rip), %rdi
        repe cmpsb
        jne 1f
        ret
1:      mov $-1, %eax
        ret
        finish strings

        function loops                  # loop, loopne, jrcxz, jecxz: edi rounds
        mov %edi, %ecx
        xor %eax, %eax
        jrcxz 3f
1:      add $3, %eax
        loop 1b
        mov $10, %ecx
2:      inc %eax
        cmp $60, %eax
        loopne 2b
        .byte 0x67
        jrcxz 3f
        add $1000, %eax
3:      ret
        finish loops

        function frames                 # enter, leave, and the flags kept on the stack over a call
        enter $32, $0
        .cfi_def_cfa %rbp, 16
        .cfi_offset %rbp, -16
        mov %edi, -4(%rbp)
        cmp $5, %edi
        pushfq
        call plus_one
        popfq
        jg 1f
        add $100, %eax
1:      add -4(%rbp), %eax
        leave
        .cfi_def_cfa %rsp, 8
        ret
        finish frames

        function plus_one
        lea 1(%rdi), %eax
        cmp %eax, %eax
        ret
        finish plus_one

        function flags                  # lahf, sahf, setcc far from what set it, adc chains, bt, cmc
        xor %eax, %eax
        mov %edi, %ecx
        stc
        adc $0, %ecx
        lahf
        add $0x7f, %cl
        seto %dl
        sahf
        adc $1, %ecx
        bt $2, %edi
        cmc
        sbb %edx, %edx
        and $15, %edx
        lea (%rcx,%rdx,8), %eax
        ret
        finish flags

        function locked                 # lock, xchg, cmpxchg16b, xacquire and xrelease
        push %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_offset %rbx, -16
        lea word(%rip), %r8
        movl $5, (%r8)
        mov $7, %eax
        lock xaddl %eax, (%r8)
        xacquire lock orl $16, (%r8)
        xrelease lock andl $0x1f, (%r8)
        lea pair(%rip), %r9
        mov (%r9), %rax
        mov 8(%r9), %rdx
        mov $11, %rbx
        mov $13, %rcx
        lock cmpxchg16b (%r9)
        mov (%r8), %eax
        jnz 1f
        add (%r9), %eax
        add 8(%r9), %eax
1:      pop %rbx
        .cfi_adjust_cfa_offset -8
        ret
        finish locked

        function position               # reads its own place: left alone
        call 1f
1:      pop %rax
        lea 1b(%rip), %rcx
        sub %rcx, %rax
        add $77, %eax
        ret
        finish position

        function table                  # a jump table right in the code, behind the function
        cmp $3, %edi
        ja 9f
        lea 8f(%rip), %rdx
        movslq (%rdx,%rdi,4), %rax
        add %rdx, %rax
        notrack jmp *%rax
1:      mov $11, %eax
        ret
2:      mov $22, %eax
        ret
3:      mov $33, %eax
        ret
9:      xor %eax, %eax
        ret
        finish table
        .p2align 2
8:      .long 1b - 8b, 2b - 8b, 3b - 8b, 1b - 8b

        function keeps_flags            # entered by a jump with the carry flag as an argument
        cmp %esi, %edi
        jmp takes_flags
        finish keeps_flags

        function takes_flags
        setc %al
        movzbl %al, %eax
        add $40, %eax
        ret
        finish takes_flags

        function shortest               # shorter than the jump to a copy, and followed by others
        ret
        finish shortest
        .globl short_two
        .type short_two, @function
short_two:
        .cfi_startproc
        mov %edi, %eax
        ret
        .cfi_endproc
        .size short_two, . - short_two
        .globl entered_again
        .type entered_again, @function
entered_again:                          # a loop back to the second instruction of the entry
        .cfi_startproc
        xor %eax, %eax
1:      inc %eax
        dec %edi
        jnz 1b
        ret
        .cfi_endproc
        .size entered_again, . - entered_again

        function thunked                # a return trampoline, as -mindirect-branch makes
        lea plus_one(%rip), %rax
        push %rbx
        .cfi_adjust_cfa_offset 8
        call 1f
        jmp 2f
1:      push %rax
        .cfi_adjust_cfa_offset 8
        ret
        .cfi_adjust_cfa_offset -8
2:      pop %rbx
        .cfi_adjust_cfa_offset -8
        ret
        finish thunked

        .bss
        .p2align 4
pair:   .skip 16
word:   .skip 16
buffer: .skip 256
        .section .note.GNU-stack,"",@progbits
