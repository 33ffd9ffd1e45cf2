# For the second decoder: instructions that its disassembler does not know or describes wrongly, each in a loop
# whose probes may use what it leaves alone. Only read, never run: hardly any processor knows all of them.
#
# unusual.ld lays the program out as linkers did before notes had segments by themselves.
        .macro  loops name, instruction:vararg
        .globl  \name
        .type   \name, @function
\name:  .cfi_startproc
        endbr64
        movl    $9, %r8d
0:      movl    $1, %r9d                   # r9 and the flags are free before this
        movl    $1, %r10d
        \instruction
        addl    %r10d, %r9d
        subl    $1, %r8d
        jne     0b
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .text
        # AVX-VNNI, and its forms for other signs and sizes; AVX-IFMA
        loops   vnni_dpbusd, {vex} vpdpbusd (%rsi), %ymm1, %ymm3
        loops   vnni_dpbusds, {vex} vpdpbusds 64(%rsi,%rcx,4), %xmm8, %xmm3
        loops   vnni_dpwssd, {vex} vpdpwssd %ymm9, %ymm1, %ymm13
        loops   vnni_dpwssds, {vex} vpdpwssds here(%rip), %ymm1, %ymm3
        loops   int8_dpbssd, vpdpbssd (%rsi), %ymm1, %ymm3
        loops   int8_dpbsuds, vpdpbsuds (%rsi), %ymm1, %ymm3
        loops   int8_dpbuud, vpdpbuud (%r15), %xmm1, %xmm3
        loops   int16_dpwsud, vpdpwsud (%rsi), %ymm1, %ymm3
        loops   int16_dpwuuds, vpdpwuuds (%rsi), %ymm1, %ymm3
        loops   ifma_low, {vex} vpmadd52luq (%rsi), %ymm1, %ymm3
        loops   ifma_high, {vex} vpmadd52huq 0x20(%rcx), %ymm2, %ymm5
        # SHA512, SM3, SM4
        loops   sha512_rounds, vsha512rnds2 %xmm1, %ymm2, %ymm3
        loops   sha512_first, vsha512msg1 %xmm1, %ymm3
        loops   sha512_second, vsha512msg2 %ymm1, %ymm3
        loops   sm3_first, vsm3msg1 (%rsi), %xmm1, %xmm3
        loops   sm4_key, vsm4key4 (%rsi), %ymm1, %ymm3
        # VIA's: random numbers, ciphers, digests, products
        loops   via_random, .byte 0x0f, 0xa7, 0xc0           # xstore
        loops   via_randoms, .byte 0xf3, 0x0f, 0xa7, 0xc0    # rep xstore
        loops   via_ecb, .byte 0xf3, 0x0f, 0xa7, 0xc8
        loops   via_cbc, .byte 0xf3, 0x0f, 0xa7, 0xd0
        loops   via_ctr, .byte 0xf3, 0x0f, 0xa7, 0xd8
        loops   via_cfb, .byte 0xf3, 0x0f, 0xa7, 0xe0
        loops   via_ofb, .byte 0xf3, 0x0f, 0xa7, 0xe8
        loops   via_product, .byte 0xf3, 0x0f, 0xa6, 0xc0    # montmul
        loops   via_sha1, .byte 0xf3, 0x0f, 0xa6, 0xc8
        loops   via_sha256, .byte 0xf3, 0x0f, 0xa6, 0xd0

        .globl  main
        .type   main, @function
main:   .cfi_startproc
        xorl    %edi, %edi
        call    exit@PLT
        .cfi_endproc
        .size   main, . - main

        .section .rodata
here:   .skip   32
        .section .note.GNU-stack, "", @progbits
