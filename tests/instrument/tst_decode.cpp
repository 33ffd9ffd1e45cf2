// What the rewriter believes of single instructions.
#include <QTest>

#include "assemble.h"

using namespace traceback::instrument;
using traceback::tests::assemble;
using traceback::tests::functionOf;

class TestDecode : public QObject {
  Q_OBJECT

  static Instruction first(const char* text) {
    const Function f = functionOf(assemble(text));
    return f.instructions.empty() ? Instruction{} : f.instructions.front();
  }
  static RegisterSet set(std::initializer_list<unsigned> registers) {
    RegisterSet out = 0;
    for (const unsigned r : registers) out |= registerBit(r);
    return out;
  }

 private slots:
  void effectsOnRegisters_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<quint16>("reads");
    QTest::addColumn<quint16>("kills");
    const auto row = [](const char* text, RegisterSet reads, RegisterSet kills) {
      QTest::newRow(text) << QByteArray(text) << quint16(reads) << quint16(kills);
    };
    row("mov %rcx, %rax", set({1}), set({0}));
    row("mov %ecx, %eax", set({1}), set({0}));
    row("mov %cx, %ax", set({1}), 0);               // the upper part stays
    row("mov %cl, %ah", set({1}), 0);
    row("xor %eax, %eax", 0, set({0}));
    row("xor %al, %al", set({0}), 0);
    row("sub %rdx, %rdx", 0, set({2}));
    row("add %rbx, (%rax,%r9,4)", set({3, 0, 9}), 0);
    row("lea 8(%r12,%r13), %r14d", set({12, 13}), set({14}));
    row("cmove %rcx, %rax", set({1}), 0);        // may leave it
    row("test %r8, (%rdi)", set({8, 7}), 0);        // some decoders forget the register
    row("imul %rbx", set({3, 0}), set({0, 2}));
    row("div %ebx", set({3, 0, 2}), set({0, 2}));
    row("cqo", set({0}), set({2}));
    row("adox %rcx, %rdx", set({1, 2}), set({2}));
    row("xchg %rax, %r10", set({0, 10}), set({0, 10}));
    row("cmpxchg %rcx, (%rdx)", set({0, 1, 2}), 0);
    row("bsf %rcx, %rax", set({1}), 0);             // leaves it for a zero operand
    row("push %rbp", set({4, 5}), set({4}));
    row("pop %rbp", set({4}), set({4, 5}));
    row("leave", set({5}), set({4, 5}));
    row("tzcnt %rcx, %rax", set({1}), 0);           // is bsf on older processors
    row("rdsspq %rax", 0, 0);                       // does nothing without shadow stacks
    row("mulx %rcx, %rax, %rbx", set({1, 2}), set({0, 3}));
  }
  void effectsOnRegisters() {
    QFETCH(QByteArray, text);
    QFETCH(quint16, reads);
    QFETCH(quint16, kills);
    const Instruction insn = first(text.constData());
    QVERIFY(insn.length > 0);
    // Naming too much as read, or too little as killed, is safe; the other way round is not.
    QCOMPARE(insn.reads & reads, reads);
    QCOMPARE(insn.kills & ~kills, 0);
  }

  void effectsOnXmm15_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("reads");
    QTest::addColumn<bool>("kills");
    QTest::addColumn<bool>("leaves");
    const auto row = [](const char* text, bool reads, bool kills, bool leaves) {
      QTest::newRow(text) << QByteArray(text) << reads << kills << leaves;
    };
    row("mov %rcx, %rax", false, false, true);
    row("paddq %xmm14, %xmm13", false, false, true);
    row("call *%rax", false, false, true);
    row("movaps %xmm1, %xmm15", false, true, false);
    row("movaps %xmm15, %xmm1", true, false, false);
    row("movaps %xmm15, -16(%rsp)", true, false, false);
    row("paddq %xmm1, %xmm15", true, false, false);
    row("pxor %xmm15, %xmm15", false, true, false);
    row("movq %rax, %xmm15", false, true, false);
    row("cvtsi2sd %rax, %xmm15", false, false, false);  // the upper half stays
    row("movsd %xmm1, %xmm15", false, false, false);
    row("vaddpd %ymm1, %ymm2, %ymm15", false, true, false);
    row("vfmadd231sd %xmm1, %xmm2, %xmm15", true, false, false);
    row("vaddpd %zmm1, %zmm2, %zmm15{%k1}", false, false, false);
    row("vpgatherdd %xmm2, (%rax,%xmm15,4), %xmm1", true, false, false);
    row("vaddpd %ymm1, %ymm2, %ymm3", false, false, false);
    row("vzeroall", false, false, false);
    row("vzeroupper", false, false, true);
    row("fxsave (%rax)", true, false, false);
    row("xrstor (%rcx)", true, false, false);
    row("syscall", false, false, false);
    row("int3", false, false, false);
    row("xgetbv", false, false, true);
  }
  void effectsOnXmm15() {
    QFETCH(QByteArray, text);
    QFETCH(bool, reads);
    QFETCH(bool, kills);
    QFETCH(bool, leaves);
    const Instruction insn = first(text.constData());
    QVERIFY(insn.length > 0);
    if (reads) QVERIFY((insn.flagsRead & kXmm15) != 0);
    if (!kills) QVERIFY((insn.flagsKilled & kXmm15) == 0);
    if (!leaves) QVERIFY(!insn.leavesXmm15);
    if (leaves) QVERIFY(insn.leavesXmm15 && (insn.flagsRead & kXmm15) == 0);
  }

  void whatLeavesTheFunctionReadsAllRegisters_data() {
    QTest::addColumn<QByteArray>("text");
    for (const char* text : {"ret", "call *%rax", "jmp *%rax", "call .+0x100", "syscall", "ud2"})
      QTest::newRow(text) << QByteArray(text);
  }
  void whatLeavesTheFunctionReadsAllRegisters() {
    QFETCH(QByteArray, text);
    const Instruction insn = first(text.constData());
    QCOMPARE(insn.reads, kAllRegisters);
    QCOMPARE(insn.kills, 0);
  }

  void effectsOnFlags_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("reads");
    QTest::addColumn<bool>("killsAll");
    const auto row = [](const char* text, bool reads, bool killsAll) {
      QTest::newRow(text) << QByteArray(text) << reads << killsAll;
    };
    row("add %rax, %rbx", false, true);
    row("cmp $1, %rbx", false, true);
    row("inc %rax", false, false);        // keeps the carry
    row("adc %rax, %rbx", true, true);
    row("sete %al", true, false);
    row("shl %cl, %rax", false, false);   // by zero: none
    row("shl $3, %rax", false, true);
    row("shl $0, %rax", false, false);
    row("repe cmpsb", false, false);      // may not run at all
    row("mov %rax, %rbx", false, false);
    row("lahf", true, false);
    row("pushfq", true, false);
    row("jne .+4", true, false);
  }
  void effectsOnFlags() {
    QFETCH(QByteArray, text);
    QFETCH(bool, reads);
    QFETCH(bool, killsAll);
    const Instruction insn = first(text.constData());
    QVERIFY(insn.length > 0);
    if (reads) QVERIFY(insn.flagsRead != 0);
    QCOMPARE(insn.flagsKilled == kAllFlags, killsAll);
  }

  void flow_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("flow");
    const auto row = [](const char* text, Flow flow) {
      QTest::newRow(text) << QByteArray(text) << int(flow);
    };
    row("jmp .+8", Flow::Jump);
    row("jg .+8", Flow::Branch);
    row("jrcxz .+8", Flow::ShortBranch);
    row("loop .+8", Flow::ShortBranch);
    row("call .+8", Flow::Call);
    row("call *(%rax)", Flow::IndirectCall);
    row("notrack jmp *%rax", Flow::IndirectJump);
    row("ret", Flow::Return);
    row("ret $8", Flow::Return);
    row("hlt", Flow::Stop);
    row("nop", Flow::Next);
    row("syscall", Flow::Next);
  }
  void flow() {
    QFETCH(QByteArray, text);
    QFETCH(int, flow);
    const Instruction insn = first(text.constData());
    QCOMPARE(int(insn.flow), flow);
    QVERIFY(!insn.unsafe);
  }

  void whatCannotBeMovedIsMarked_data() {
    QTest::addColumn<QByteArray>("text");
    for (const char* text :
         {"lcall *(%rax)", "ljmp *(%rax)", "lret", "iretq", "xbegin .+16", "lea 4(%eip), %eax", "int $0x80"})
      QTest::newRow(text) << QByteArray(text);
  }
  void whatCannotBeMovedIsMarked() {
    QFETCH(QByteArray, text);
    const Instruction insn = first(text.constData());
    QVERIFY(insn.length > 0);
    QVERIFY(insn.unsafe);
  }

  void ripOperandIsFoundBehindAnImmediate() {
    const Instruction insn = first("cmpl $0x12345678, 0x100(%rip)");
    QCOMPARE(insn.ripOffset, std::uint8_t(2));
    QCOMPARE(insn.ripTarget.value, traceback::tests::kAssembledAt + insn.length + 0x100);
  }
};

QTEST_GUILESS_MAIN(TestDecode)
#include "tst_decode.moc"
