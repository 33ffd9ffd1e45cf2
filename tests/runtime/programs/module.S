// A module instrumented by hand: a module table and copies with probes, as module.h has them, so that
// the runtime is tested without an instrumentor. The linker is told the three sections' addresses
// (CMakeLists.txt), which so lie in segments of their own, and are constants here.
//
// Each function NAME is a gate: it leads to the copy if the module is bound, else to the same code
// without probes.

#ifndef CODE_BASE
#define CODE_BASE 0x00100000
#endif
#ifndef CODE_SPAN
#define CODE_SPAN 0x4000
#endif
#ifndef MODULE_VERSION
#define MODULE_VERSION 8
#endif
#ifndef MODULE_MAP_ID
#define MODULE_MAP_ID "hand-made module"
#endif
#define MODULE_ADDRESS 0x10000000   // .traceback.text
#define SLOTS_ADDRESS 0x11000000    // .traceback.slots
#define ORIGINAL_ADDRESS 0x12000000 // .traceback.original
// The codes of the DAGs below, 1024 each.
#define CODE_COUNT (CODE_BASE + 0x0000)
#define CODE_HANDLER (CODE_BASE + 0x0400)
#define CODE_STORE (CODE_BASE + 0x0800)
#define CODE_CALL (CODE_BASE + 0x0C00)
#define CODE_RETURN (CODE_BASE + 0x1000)
#define CODE_RECURSE (CODE_BASE + 0x1400)
#define CODE_REGISTERS (CODE_BASE + 0x1800)

  .set kSlot, -4096

  // ModuleSlots
  .section .traceback.slots, "aw", @nobits
  .p2align 3
slots:
  .zero 264

  .section .traceback.text, "ax", @progbits
  .p2align 12
module:
  .quad 0x0A0D444F4D544254
  .long MODULE_VERSION, 120
  .ascii MODULE_MAP_ID
  .quad MODULE_ADDRESS
  .quad SLOTS_ADDRESS
  .long CODE_BASE, CODE_SPAN
  .quad MODULE_ADDRESS + (copies - module)
  .quad MODULE_ADDRESS + (copies_end - module)
  .long addresses - module, address_count
  .long fixups - module, fixup_count
  .quad 0, 0, 0, 0

  // Tables are put together by the macros; sub-sections of this one keep them in the segment.
  .subsection 1
  .p2align 3
copies_end:
addresses:
  .subsection 2
  .p2align 2
fixups:
  .subsection 0
  .set address_total, 0
  .set fixup_total, 0

  // addw $4, to the low half of that register
  .macro step16 number
  .byte 0x66
  .if \number >= 8
  .byte 0x41
  .endif
  .byte 0x83, 0xC0 | (\number & 7), 4
  .endm

  .macro store_cursor reg, header
  movq %\header, %fs:kSlot + 8
  movq %fs:kSlot, %\header
  movq %\reg, (%\header)
  movq %fs:kSlot + 8, %\header
  .endm

  // A head probe with the scratch register named, as the instrumentor writes it.
  .macro head reg, number, code
  movq %fs:kSlot, %\reg
  movq (%\reg), %\reg
92: step16 \number
  jc 91f
  movl $0x80000000 | (\code), (%\reg)
93:
  .ifc \reg,rax
  store_cursor rax, rcx
  .else
  store_cursor \reg, rax
  .endif
  .subsection 2
  .long 93b - 4 - module
  .subsection 0
  .set fixup_total, fixup_total + 1
  jmp 94f // what the instrumentor puts behind the function
91: leaq 92b(%rip), %\reg
  jmp *slots + 8 + 8 * \number(%rip)
94:
  .endm

  .macro same_address label, original
  .subsection 1
  .long MODULE_ADDRESS + (\label - module), ORIGINAL_ADDRESS + (\original - originals)
  .subsection 0
  .set address_total, address_total + 1
  .endm

  // Stands for one original instruction, up to the next entry.
  .macro fixed_address label, original
  .subsection 1
  .long MODULE_ADDRESS + (\label - module), 0x80000000 + ORIGINAL_ADDRESS + (\original - originals)
  .subsection 0
  .set address_total, address_total + 1
  .endm

  .macro gate name
  .globl \name
  .type \name, @function
\name:
  cmpq $0, slots(%rip)
  jne copy_\name
  .endm

copies:

  // void count(volatile uint64_t *counter, uint64_t n): n times adds 1 to the counter and then records
  // the counter's low ten bits as the path.
  .macro count_body probes
1: addq $1, (%rdi)
  .if \probes
  head rax, 0, CODE_COUNT
  movq (%rdi), %rcx
  andl $1023, %ecx
  movq %fs:kSlot, %rax
  movq (%rax), %rax
  orl %ecx, (%rax)
  .endif
  subq $1, %rsi
  jne 1b
  ret
  .endm

copy_count:
  .cfi_startproc
  fixed_address copy_count, original_count
  count_body 1
  .cfi_endproc

  // The same for a signal handler, with its own codes, other registers and 20 records.
  .macro handler_body probes
  movl $20, %esi
1: movq handled_here(%rip), %rcx
  addq $1, %rcx
  movq %rcx, handled_here(%rip)
  .if \probes
  head rdx, 2, CODE_HANDLER
  andl $1023, %ecx
  movq %fs:kSlot, %r8
  movq (%r8), %r8
  orl %ecx, (%r8)
  .endif
  subl $1, %esi
  jne 1b
  ret
  .endm

copy_traced_handler:
  .cfi_startproc
  fixed_address copy_traced_handler, original_traced_handler
  handler_body 1
  .cfi_endproc

  // void store(int *address): a record, then the store.
copy_store:
  .cfi_startproc
  same_address copy_store, original_store
  head r11, 11, CODE_STORE
copy_store_access:
  same_address copy_store_access, original_store_access
  movl $1, (%rdi)
  ret
  .cfi_endproc

  // void call(void (*function)(void *), void *argument): records around the call.
copy_call:
  .cfi_startproc
  fixed_address copy_call, original_call
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  head rax, 0, CODE_CALL
  movq %rdi, %rax
  movq %rsi, %rdi
  call *%rax
  head rcx, 1, CODE_RETURN
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc

  // void recurse(void): for ever.
copy_recurse:
  .cfi_startproc
  fixed_address copy_recurse, original_recurse
  head rax, 0, CODE_RECURSE
  subq $1024, %rsp
  .cfi_adjust_cfa_offset 1024
  movq %rax, (%rsp)
  call copy_recurse
  addq $1024, %rsp
  .cfi_adjust_cfa_offset -1024
  ret
  .cfi_endproc

  // uint64_t registers(void): records with every scratch register in turn; answers with how many other
  // registers, or words of the red zone, were changed.
  .macro set_all
  .irp reg, rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
  movabsq $pattern_\reg, %\reg
  .endr
  movq $0x5A5A, -8(%rsp)
  movq $0x3C3C, -128(%rsp)
  .endm
  .macro check_all except
  .irp reg, rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
  .ifnc \reg,\except
  cmpq $pattern_\reg, %\reg
  je 95f
  incq changed(%rip)
95:
  .endif
  .endr
  cmpq $0x5A5A, -8(%rsp)
  je 95f
  incq changed(%rip)
95: cmpq $0x3C3C, -128(%rsp)
  je 95f
  incq changed(%rip)
95:
  .endm
  .set pattern_rax, 0x1001
  .set pattern_rcx, 0x1102
  .set pattern_rdx, 0x1203
  .set pattern_rbx, 0x1304
  .set pattern_rbp, 0x1405
  .set pattern_rsi, 0x1506
  .set pattern_rdi, 0x1607
  .set pattern_r8, 0x1708
  .set pattern_r9, 0x1809
  .set pattern_r10, 0x190A
  .set pattern_r11, 0x1A0B
  .set pattern_r12, 0x1B0C
  .set pattern_r13, 0x1C0D
  .set pattern_r14, 0x1D0E
  .set pattern_r15, 0x1E0F

  .macro try reg, number
  set_all
  head \reg, \number, CODE_REGISTERS + \number
  check_all \reg
  .endm

copy_registers:
  .cfi_startproc
  fixed_address copy_registers, original_registers
  .irp reg, rbx, rbp, r12, r13, r14, r15
  pushq %\reg
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset \reg, 0
  .endr
  movq $0, changed(%rip)
  try rax, 0
  try rcx, 1
  try rdx, 2
  try rbx, 3
  try rbp, 5
  try rsi, 6
  try rdi, 7
  try r8, 8
  try r9, 9
  try r10, 10
  try r11, 11
  try r12, 12
  try r13, 13
  try r14, 14
  try r15, 15
  movq changed(%rip), %rax
  .irp reg, r15, r14, r13, r12, rbp, rbx
  popq %\reg
  .cfi_adjust_cfa_offset -8
  .cfi_restore \reg
  .endr
  ret
  .cfi_endproc

  .bss
  .p2align 3
changed:
  .zero 8
  .globl handled
handled:
handled_here:
  .zero 8

  .set address_count, address_total
  .set fixup_count, fixup_total

  .section .traceback.original, "ax", @progbits
  .p2align 12
originals:
  .cfi_startproc
  gate count
original_count:
  count_body 0
  .cfi_endproc
  gate traced_handler
original_traced_handler:
  handler_body 0
  gate store
original_store:
  .cfi_startproc
original_store_access:
  movl $1, (%rdi)
  ret
  .cfi_endproc
  gate call
original_call:
  .cfi_startproc
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  movq %rdi, %rax
  movq %rsi, %rdi
  call *%rax
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  gate recurse
original_recurse:
  subq $1024, %rsp
  call original_recurse
  addq $1024, %rsp
  ret
  gate registers
original_registers:
  xorl %eax, %eax
  ret

  .globl store_instruction
  .set store_instruction, original_store_access

  .section .note.GNU-stack, "", @progbits
