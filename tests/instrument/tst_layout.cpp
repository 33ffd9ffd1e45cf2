// In which order blocks stand that a profile speaks of.
#include <QTest>

#include <algorithm>
#include <random>

#include "assemble.h"
#include "instrument/flow/flow_graph.h"
#include "instrument/flow/layout.h"

using namespace traceback::instrument;

class TestLayout : public QObject {
  Q_OBJECT

  // Of the blocks by address: how often each ran.
  static Function ran(const char* text, std::vector<std::uint64_t> times) {
    Function f = traceback::tests::functionOf(traceback::tests::assemble(text));
    if (f.instructions.empty()) return f;
    buildFlowGraph(f);
    for (std::size_t b = 0; b < std::min(times.size(), f.blocks.size()); ++b) f.blocks[b].ran = times[b];
    return f;
  }

  using Order = std::vector<BlockIndex>;

 private slots:
  void withoutAProfileAsInTheOriginal() {
    const Function f = ran("test %rdi, %rdi\n je 1f\n inc %rax\n 1: ret", {});
    QCOMPARE(layOut(f), (Order{0, 1, 2}));
  }

  void whatDidNotRunIsBehindTheRest() {
    const Function f = ran("test %rdi, %rdi\n je 1f\n inc %rax\n 1: ret", {9, 0, 9});
    QCOMPARE(layOut(f), (Order{0, 2, 1}));
  }

  void controlFallsToWhereItGoesMostOften() {
    const char* text = "test %rdi, %rdi\n je 1f\n inc %rax\n jmp 2f\n 1: dec %rax\n 2: ret";
    QCOMPARE(layOut(ran(text, {9, 1, 8, 9})), (Order{0, 2, 3, 1}));
    Function f = ran(text, {10, 8, 2, 10});
    f.blocks[0].taken = 20;
    QCOMPARE(layOut(f), (Order{0, 1, 3, 2}));
    f = ran(text, {10, 2, 8, 10});
    f.blocks[0].taken = 80;
    QCOMPARE(layOut(f), (Order{0, 2, 3, 1}));
  }

  void theEntryStaysInFront() {
    const Function f = ran("1: test %rdi, %rdi\n je 2f\n dec %rdi\n jmp 1b\n 2: ret", {100, 99, 1});
    QCOMPARE(layOut(f).front(), BlockIndex{0});
  }

  void whatIsBehindACallStaysThere() {
    const Function f = ran(
        "test %rdi, %rdi\n je 1f\n call .+0x1000\n inc %rax\n 1: test %rax, %rax\n je 2f\n inc %rax\n 2: ret",
        {9, 9, 0, 9, 1, 9});
    const Order order = layOut(f);
    const auto call = std::ranges::find(order, BlockIndex{1});
    QVERIFY(call != order.end() && std::next(call) != order.end());
    QCOMPARE(*std::next(call), BlockIndex{2});
  }

  void eachBlockStandsThereOnce() {
    // Branches forward and back, over each other.
    QByteArray text;
    for (int i = 0; i < 12; ++i)
      text += QString("%1: test %rdi, %rdi\n je %2f\n jne %3%4\n")
                  .arg(i)
                  .arg(12 + i * 7 % 12)
                  .arg(i * 5 % 12 + (i * 5 % 12 > i ? 12 : 0))
                  .arg(i * 5 % 12 > i ? "f" : "b")
                  .toUtf8();
    for (int i = 12; i < 24; ++i) text += QByteArray::number(i) + ": nop\n";
    text += "ret";
    Function f = ran(text.constData(), {});
    QVERIFY(f.blocks.size() > 30);
    std::mt19937 random(3);
    for (int round = 0; round < 50; ++round) {
      for (Block& block : f.blocks) {
        block.ran = random() % 2 * (random() % 1000);
        if (random() % 2 != 0) block.taken = std::uint8_t(random() % 101);
      }
      Order order = layOut(f);
      QCOMPARE(order.front(), BlockIndex{0});
      std::ranges::sort(order);
      QCOMPARE(order.size(), f.blocks.size());
      for (BlockIndex b = 0; b < order.size(); ++b) QCOMPARE(order[b], b);
    }
  }
};

QTEST_GUILESS_MAIN(TestLayout)
#include "tst_layout.moc"
