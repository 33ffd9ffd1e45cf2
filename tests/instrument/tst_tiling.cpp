// Every path through a DAG is told from every other by its record, as the map's reader reads it.
#include <QTest>

#include <optional>
#include <random>

#include "assemble.h"
#include "instrument/flow/flow_graph.h"
#include "instrument/flow/tiling.h"
#include "instrument/plan.h"
#include "loader/mapped_file.h"
#include "runtime/format/record.h"

using namespace traceback::instrument;
namespace format = traceback::format;
namespace loader = traceback::loader;

namespace {

bool inDag(const Function& f, const Dag& dag, BlockIndex b) {
  return b != kNone && b != dag.blocks.front() && std::ranges::find(dag.blocks, b) != dag.blocks.end() &&
         &f.dags[f.blocks[b].dag] == &dag;
}

// The algorithm of map.h, from its description.
std::vector<BlockIndex> readPath(const Function& f, const Dag& dag, std::uint32_t path) {
  std::vector<BlockIndex> out{dag.blocks.front()};
  for (;;) {
    const Block& block = f.blocks[out.back()];
    std::optional<BlockIndex> next;
    for (const BlockIndex s : block.successor) {
      if (!inDag(f, dag, s)) continue;
      const std::uint8_t bit = f.blocks[s].bit;
      if (bit != format::kNoBit && (path >> bit & 1) == 0) continue;
      const auto position = [&](BlockIndex b) { return std::ranges::find(dag.blocks, b); };
      if (!next || position(s) < position(*next)) next = s;
    }
    if (!next) return out;
    out.push_back(*next);
  }
}

// Walks the DAG at random, stopping anywhere that control may leave it, and compares.
void checkRandomPaths(const Function& f, std::mt19937& random, int walks) {
  for (const Dag& dag : f.dags) {
    QVERIFY(dag.bits <= format::kMaxPathBits);
    QCOMPARE(dag.code % (1u << dag.bits), 0u);
    for (int w = 0; w < walks; ++w) {
      std::vector<BlockIndex> walked{dag.blocks.front()};
      std::uint32_t path = 0;
      for (;;) {
        const Block& block = f.blocks[walked.back()];
        std::vector<BlockIndex> choices;
        bool leaves = false;
        for (const BlockIndex s : block.successor) {
          if (inDag(f, dag, s))
            choices.push_back(s);
          else if (s != kNone || block.kind == format::BlockEnd::Branch)
            leaves = true;
        }
        if (choices.empty()) break;
        const std::size_t pick = random() % (choices.size() + (leaves ? 1 : 0));
        if (pick == choices.size()) break;
        walked.push_back(choices[pick]);
        if (f.blocks[walked.back()].bit != format::kNoBit) path |= 1u << f.blocks[walked.back()].bit;
      }
      QCOMPARE(readPath(f, dag, path), walked);
    }
  }
}

}  // namespace

class TestTiling : public QObject {
  Q_OBJECT

  static Function tiled(const char* text) {
    Function f = functionOf(traceback::tests::assemble(text));
    if (f.instructions.empty()) return f;
    buildFlowGraph(f);
    tile(f);
    assignCodes(f, 0);
    return f;
  }
  static Function functionOf(const QByteArray& code) { return traceback::tests::functionOf(code); }

 private slots:
  void straightLineIsOneDagWithoutBits() {
    const Function f = tiled("mov %rdi, %rax\n add $1, %rax\n ret");
    QCOMPARE(f.dags.size(), 1u);
    QCOMPARE(f.dags[0].bits, std::uint8_t(0));
  }

  void branchThatJoinsTakesOneBitForTheSideAndOneForTheJoin() {
    const Function f = tiled("test %rdi, %rdi\n je 1f\n inc %rax\n 1: ret");
    QCOMPARE(f.dags.size(), 1u);
    QCOMPARE(f.dags[0].blocks.size(), 3u);
    QCOMPARE(f.dags[0].bits, std::uint8_t(2));
  }

  void loopHeaderHeadsADag() {
    const Function f = tiled("1: dec %rdi\n jne 1b\n ret");
    QCOMPARE(f.dags.size(), 1u);   // the entry is the loop's head
    QVERIFY((f.blocks[0].flags & format::kBlockLoopHead) != 0);
    const Function g = tiled("nop\n 1: dec %rdi\n jne 1b\n ret");
    QCOMPARE(g.dags.size(), 2u);
  }

  void callReturnsToAHead() {
    const Function f = tiled("call .+0x1000\n nop\n ret");
    QCOMPARE(f.blocks.size(), 2u);
    QVERIFY(f.blocks[1].head);
    QVERIFY((f.blocks[1].flags & format::kBlockReturnPoint) != 0);
  }

  void moreBranchesThanBitsMakeAnotherHead() {
    QByteArray text;
    for (int i = 0; i < 12; ++i) text += "test %rdi, %rdi\n je 1f\n inc %rax\n 1:\n";
    text += "ret";
    const Function f = tiled(text.constData());
    QVERIFY(f.dags.size() > 1);
    std::mt19937 random(1);
    checkRandomPaths(f, random, 200);
  }

  void irreducibleLoopIsCut() {
    const Function f = tiled("test %rdi, %rdi\n je 2f\n 1: dec %rax\n 2: dec %rbx\n jne 1b\n ret");
    std::mt19937 random(2);
    checkRandomPaths(f, random, 50);
  }

  void unreachableCodeGetsAHeadOfItsOwn() {
    const Function f = tiled("jmp 1f\n inc %rax\n 1: ret");
    QVERIFY(f.blocks[1].head);
  }

  void everyPathOfRealProgramsIsRead_data() {
    QTest::addColumn<QString>("file");
    for (const char* file :
         {"/usr/bin/lua5.4", "/usr/bin/gzip", "/usr/bin/sqlite3", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"})
      QTest::newRow(file) << QString(file);
  }
  void everyPathOfRealProgramsIsRead() {
    QFETCH(QString, file);
    const auto mapped = loader::MappedFile::open(file.toStdString());
    QVERIFY(mapped.has_value());
    const auto image = loader::ElfImage::parse(mapped->bytes(), file.toStdString());
    QVERIFY(image.has_value());
    const auto plan = makePlan(*image, {}, {});
    QVERIFY(plan.has_value());
    std::mt19937 random(3);
    std::uint32_t lastCode = 0;
    for (const Function& f : plan->program.functions) {
      if (f.skip != format::SkipReason::None) continue;
      checkRandomPaths(f, random, 4);
      for (const Dag& dag : f.dags) {
        QVERIFY(dag.code >= lastCode);
        lastCode = dag.code + (1u << dag.bits);
      }
      if (QTest::currentTestFailed()) return;
    }
    QVERIFY(lastCode <= plan->codeSpan);
  }
};

QTEST_GUILESS_MAIN(TestTiling)
#include "tst_tiling.moc"
