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

  void whatLeavesTheFunctionReadsWhatItNames_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<quint16>("reads");
    const auto row = [](const char* text, unsigned reads) {
      QTest::newRow(text) << QByteArray(text) << quint16(reads);
    };
    row("ret", set({4}));
    row("call .+0x100", set({4}));
    row("call *%rax", set({0, 4}));
    row("call *8(%r11,%rcx,8)", set({1, 4, 11}));
    row("jmp *%rax", set({0}));
    row("ud2", kAllRegisters);
    row("int3", kAllRegisters);
    // But for what the processor itself puts into rcx and r11.
    row("syscall", unsigned{kAllRegisters} & ~set({1, 11}));
  }
  void whatLeavesTheFunctionReadsWhatItNames() {
    QFETCH(QByteArray, text);
    QFETCH(quint16, reads);
    const Instruction insn = first(text.constData());
    QCOMPARE(insn.reads, reads);
    QCOMPARE(insn.kills, 0);
  }

  void whatDependsOnNothingReadsNothing_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("reads");
    QTest::newRow("sbb") << QByteArray("sbb %ecx, %ecx") << false;
    QTest::newRow("sbb of another") << QByteArray("sbb %edx, %ecx") << true;
    QTest::newRow("sbb of a byte") << QByteArray("sbb %cl, %cl") << true;
    QTest::newRow("or -1") << QByteArray("or $-1, %rcx") << false;
    QTest::newRow("or -1, half") << QByteArray("or $-1, %ecx") << false;
    QTest::newRow("or -1, 16 bits") << QByteArray("or $-1, %cx") << true;
    QTest::newRow("or 1") << QByteArray("or $1, %rcx") << true;
    QTest::newRow("nop") << QByteArray("nopw 8(%rcx,%rcx,1)") << false;
  }
  void whatDependsOnNothingReadsNothing() {
    QFETCH(QByteArray, text);
    QFETCH(bool, reads);
    QCOMPARE((first(text.constData()).reads & registerBit(kRcx)) != 0, reads);
  }

  void effectsOnTheStackPointer_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("stores");
    QTest::addColumn<int>("stack");
    const auto row = [](const char* text, bool stores, int stack) {
      QTest::newRow(text) << QByteArray(text) << stores << stack;
    };
    row("mov %rcx, %rax", false, 0);
    row("call .+0x100", false, 0);
    row("push %rcx", false, 8);
    row("push $7", false, 8);
    row("pushq 8(%rax)", false, 8);
    row("pushw %cx", false, 2);
    row("pushfq", false, 8);
    row("pop %rcx", false, -8);
    row("popfq", false, -8);
    row("sub $40, %rsp", false, 40);
    row("add $-128, %rsp", false, 128);
    row("add $0x1000, %rsp", false, -0x1000);
    row("lea 24(%rsp), %rsp", false, -24);
    row("lea 24(%rsp), %rax", false, 0);
    row("mov %rax, 16(%rsp)", true, 16);
    row("movups %xmm0, -32(%rsp)", true, -32);
    row("mov 16(%rsp), %rax", false, 0);
    row("mov %rax, 16(%rsp,%rcx)", false, 0);
    row("sub %rax, %rsp", false, kStackUnknown);
    row("lea 24(%rbp), %rsp", false, kStackUnknown);
    row("mov %rbp, %rsp", false, kStackUnknown);
    row("pop %rsp", false, kStackUnknown);
    row("leave", false, kStackUnknown);
    row("and $-64, %rsp", false, kStackUnknown);
  }
  void effectsOnTheStackPointer() {
    QFETCH(QByteArray, text);
    QFETCH(bool, stores);
    QFETCH(int, stack);
    const Instruction insn = first(text.constData());
    QVERIFY(insn.length > 0);
    QCOMPARE(insn.storesOnStack, stores);
    QCOMPARE(insn.stack, stack);
  }

  void registersThatAreKeptAndBroughtBack_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<quint16>("loads");
    QTest::addColumn<quint16>("saves");
    const auto row = [](const char* text, RegisterSet loads, RegisterSet saves) {
      QTest::newRow(text) << QByteArray(text) << quint16(loads) << quint16(saves);
    };
    row("push %r11", 0, set({11}));
    row("pop %rsi", set({6}), 0);
    row("mov %rdi, 8(%rsp)", 0, set({7}));
    row("mov %rdi, -8(%rbp)", 0, set({7}));
    row("mov -16(%rsp), %r9", set({9}), 0);
    row("mov 8(%rdi), %rsi", set({6}), 0);
    row("mov %rdi, 8(%rsi)", 0, 0);  // may be anywhere
    row("mov %edi, 8(%rsp)", 0, 0);
    row("mov 8(%rsp), %edi", 0, 0);
    row("add 8(%rsp), %rdi", 0, 0);
    row("mov %rdi, %rsi", 0, 0);
    row("push 8(%rsp)", 0, 0);
    row("pop 8(%rsp)", 0, 0);
    row("push $8", 0, 0);
  }
  void registersThatAreKeptAndBroughtBack() {
    QFETCH(QByteArray, text);
    QFETCH(quint16, loads);
    QFETCH(quint16, saves);
    const Instruction insn = first(text.constData());
    QVERIFY(insn.length > 0);
    QCOMPARE(insn.loads, loads);
    QCOMPARE(insn.saves, saves);
  }

  void whatIsChangedInPartIsChanged() {
    QCOMPARE(first("sete %cl").changes, registerBit(kRcx));
    QCOMPARE(first("sete %cl").kills, RegisterSet{0});
    QCOMPARE(first("mov (%rax), %cx").changes, registerBit(kRcx));
    QCOMPARE(first("cmp %rax, %rcx").changes, RegisterSet{0});
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
