// Every path through a DAG is told from every other by its record, as the map's reader reads it.
#include <QTest>

#include <optional>
#include <random>

#include "assemble.h"
#include "instrument/flow/flow_graph.h"
#include "instrument/flow/program_tiling.h"
#include "instrument/flow/tiling.h"
#include "instrument/plan.h"
#include "loader/mapped_file.h"
#include "runtime/format/record.h"

using namespace traceback::instrument;
namespace format = traceback::format;
namespace loader = traceback::loader;

namespace {

// As the map says it.
bool isInside(const Function& f, const Block& block, BlockIndex to) {
  if (to == kNone) return false;
  return !f.blocks[to].head || f.passesHead(block, block.successor[0] == to ? 0 : 1);
}

struct Place {
  const Function* function;
  BlockIndex block;

  const Block& operator*() const { return function->blocks[block]; }
  bool operator==(const Place&) const = default;
};

// The algorithm of map.h, from its description. `all`: what Block::callee counts in.
std::vector<Place> readPath(std::span<const Function> all, const Function& f, const Dag& dag,
                            std::uint32_t path) {
  std::vector<Place> out{{&f, dag.head}};
  for (;;) {
    const Place at = out.back();
    const Block& block = *at;
    BlockIndex next = kNone;
    if (block.kind == format::BlockEnd::FallThrough || block.kind == format::BlockEnd::Jump) {
      next = block.successor[0];
    } else if (block.kind == format::BlockEnd::Branch) {
      if (block.bit != format::kNoBit)
        next = block.successor[(path >> block.bit & 1) != 0 ? block.bitEdge : 1 - block.bitEdge];
      else if (block.successor[0] == block.successor[1])
        next = block.successor[0];
    }
    if (block.passesEntry && block.bySlot && (path >> block.bit & 1) != 0) return out;
    if (block.passesEntry)
      out.push_back({&all[block.callee], 0});
    else if (isInside(*at.function, block, next))
      out.push_back({at.function, next});
    else
      return out;
  }
}

// Walks the DAGs at random, to where they are left, and compares.
void checkRandomPaths(const Function& f, std::mt19937& random, int walks,
                      std::span<const Function> all = {}) {
  for (const Dag& dag : f.dags) {
    QVERIFY(dag.bits <= format::kMaxPathBits);
    QCOMPARE(dag.code % (1u << dag.bits), 0u);
    for (int w = 0; w < walks; ++w) {
      std::vector<Place> walked{{&f, dag.head}};
      std::uint32_t path = 0;
      for (;;) {
        const Place at = walked.back();
        const Block& block = *at;
        if (block.passesEntry && block.bySlot && random() % 2 != 0) {
          QVERIFY(block.bit < dag.bits);
          QVERIFY((path >> block.bit & 1) == 0);
          path |= 1u << block.bit;
          break;
        }
        if (block.passesEntry) {
          walked.push_back({&all[block.callee], 0});
          QVERIFY(walked.size() < 10'000);
          continue;
        }
        const bool branch = block.kind == format::BlockEnd::Branch;
        if (!branch && block.kind != format::BlockEnd::FallThrough && block.kind != format::BlockEnd::Jump)
          break;
        const unsigned edge = branch ? random() % 2 : 0;
        if (block.bit != format::kNoBit && edge == block.bitEdge) {
          QVERIFY(block.bit < dag.bits);
          QVERIFY((path >> block.bit & 1) == 0);
          path |= 1u << block.bit;
        }
        if (!isInside(*at.function, block, block.successor[edge])) break;
        QVERIFY(!branch || block.bit != format::kNoBit || block.successor[0] == block.successor[1]);
        walked.push_back({at.function, block.successor[edge]});
      }
      QVERIFY(readPath(all, f, dag, path) == walked);
    }
  }
}

// Of all functions, whose codes must be nobody else's.
void checkAll(const Program& program, std::uint32_t span, std::uint32_t unit) {
  std::mt19937 random(3);
  std::uint32_t lastCode = 0;
  for (const Function& f : program.functions) {
    if (f.skip != format::SkipReason::None) continue;
    checkRandomPaths(f, random, 4, program.functions);
    for (const Dag& dag : f.dags) {
      QVERIFY(dag.code >= lastCode);
      QVERIFY(unit % (1u << dag.bits) == 0);
      lastCode = dag.code + (1u << dag.bits);
    }
    if (QTest::currentTestFailed()) return;
  }
  QVERIFY(lastCode <= span);
}

unsigned mostBits(const Function& f) {
  return f.dags.empty() ? 0 : std::ranges::max(f.dags, {}, &Dag::bits).bits;
}

}  // namespace

class TestTiling : public QObject {
  Q_OBJECT

  static Function tiled(const char* text) {
    Function f = functionOf(traceback::tests::assemble(text));
    if (f.instructions.empty()) return f;
    buildFlowGraph(f);
    tile(f, format::kMaxPathBits);
    assignCodes(f, 0);
    return f;
  }
  // So many in a row.
  static QByteArray branches(unsigned count) {
    return QByteArray("test %rdi, %rdi\n je 1f\n inc %rax\n 1:\n").repeated(count) + "ret";
  }
  static Function functionOf(const QByteArray& code) { return traceback::tests::functionOf(code); }

 private slots:
  void straightLineIsOneDagWithoutBits() {
    const Function f = tiled("mov %rdi, %rax\n add $1, %rax\n ret");
    QCOMPARE(f.dags.size(), 1u);
    QCOMPARE(f.dags[0].bits, std::uint8_t(0));
  }

  void branchThatJoinsTakesOneBit() {
    const Function f = tiled("test %rdi, %rdi\n je 1f\n inc %rax\n 1: ret");
    QCOMPARE(f.dags.size(), 1u);
    QCOMPARE(f.blocks.size(), 3u);
    QCOMPARE(f.dags[0].bits, std::uint8_t(1));
    QCOMPARE(f.blocks[0].bit, std::uint8_t(0));
    QCOMPARE(f.blocks[1].bit, format::kNoBit);
    QCOMPARE(f.blocks[2].bit, format::kNoBit);
  }

  void whatSeveralDagsLeadToIsPartOfAll() {
    // Behind the call is a head; what is behind both needs none.
    const Function f = tiled(
        "test %rdi, %rdi\n je 1f\n call .+0x1000\n nop\n 1: test %rax, %rax\n je 2f\n inc %rax\n 2: ret");
    QCOMPARE(f.dags.size(), 2u);
    for (const Dag& dag : f.dags) QCOMPARE(dag.bits, std::uint8_t(dag.head == 0 ? 2 : 1));
  }

  void loopsSetABitWhenTheyEnd() {
    const Function f = tiled("nop\n 1: dec %rdi\n jne 1b\n inc %rax\n ret");
    const Block& loop = f.blocks[1];
    QVERIFY(loop.head && loop.bit != format::kNoBit);
    QCOMPARE(loop.bitEdge, std::uint8_t(1));
  }

  void aRecordGoesOnIntoALoopAndEndsWhereItTurnsBack() {
    const Function f = tiled("test %rdi, %rdi\n je 2f\n 1: dec %rdi\n jne 1b\n 2: inc %rax\n ret");
    QCOMPARE(f.dags.size(), 2u);
    QVERIFY(f.blocks[1].head && f.blocks[1].open);
    QVERIFY(f.passesHead(f.blocks[0], 1));
    QVERIFY(!f.passesHead(f.blocks[1], 0));
    QVERIFY(f.blocks[0].bit > f.blocks[1].bit && f.blocks[0].bit != format::kNoBit);
    std::mt19937 random(7);
    checkRandomPaths(f, random, 100);
    Function closed = functionOf(traceback::tests::assemble("nop\n 1: dec %rdi\n jne 1b\n ret"));
    buildFlowGraph(closed, false);
    tile(closed, format::kMaxPathBits);
    QVERIFY(closed.blocks[1].head && !closed.passesHead(closed.blocks[0], 0));
  }

  void whoeverGoesRoundACallPassesTheProbeBehindIt() {
    const Function f = tiled("test %rdi, %rdi\n je 1f\n call .+0x1000\n 1: inc %rax\n ret");
    QVERIFY(f.blocks[2].head && (f.blocks[2].flags & format::kBlockReturnPoint) != 0);
    QVERIFY(f.passesHead(f.blocks[0], 0));
    QVERIFY(!f.passesHead(f.blocks[1], 0));  // the call itself
    QCOMPARE(f.dags.size(), 2u);
    QVERIFY(!bitIsSetInTarget(f, f.blocks[0]));
  }

  void edgesToWhatEndsBadlySetTheBit() {
    const Function f = tiled("test %rdi, %rdi\n jne 1f\n ud2\n 1: inc %rax\n 2: ret");
    QCOMPARE(f.blocks[0].bitEdge, std::uint8_t(1));
    const Function g = tiled("test %rdi, %rdi\n je 1f\n inc %rax\n ret\n 1: ud2");
    QCOMPARE(g.blocks[0].bitEdge, std::uint8_t(0));
    QVERIFY(bitIsSetInTarget(g, g.blocks[0]));
  }

  void whatAProfileSaysComesBeforeGuesses() {
    const auto edgeIf = [](std::optional<std::uint8_t> taken) {
      Function f = functionOf(traceback::tests::assemble("test %rdi, %rdi\n jne 1f\n inc %rax\n 1: ret"));
      buildFlowGraph(f);
      f.blocks[0].taken = taken;
      tile(f, format::kMaxPathBits);
      return f.blocks[0].bitEdge;
    };
    QCOMPARE(edgeIf(0), std::uint8_t(0));
    QCOMPARE(edgeIf(3), std::uint8_t(0));
    QCOMPARE(edgeIf(97), std::uint8_t(1));
    QCOMPARE(edgeIf(100), std::uint8_t(1));
    const Function loop = tiled("nop\n 1: dec %rdi\n jne 1b\n inc %rax\n ret");
    QCOMPARE(loop.blocks[1].bitEdge, std::uint8_t(1));
    Function seldom = functionOf(traceback::tests::assemble("nop\n 1: dec %rdi\n jne 1b\n inc %rax\n ret"));
    buildFlowGraph(seldom);
    seldom.blocks[1].taken = 1;
    tile(seldom, format::kMaxPathBits);
    QCOMPARE(seldom.blocks[1].bitEdge, std::uint8_t(0));
  }

  void whereHardlyAnythingRunsTheEdgeThatTakesFewerBytesSetsTheBit() {
    const auto edgeIf = [](bool cold) {
      // Guessed: that it is taken seldom. There a probe would stand out of line, and jump back.
      Function f = functionOf(traceback::tests::assemble("test %rdi, %rdi\n jne 1f\n inc %rax\n 1: ret"));
      buildFlowGraph(f);
      for (Block& block : f.blocks) block.cold = cold;
      tile(f, format::kMaxPathBits);
      return f.blocks[0].bitEdge;
    };
    QCOMPARE(edgeIf(false), std::uint8_t(0));
    QCOMPARE(edgeIf(true), std::uint8_t(1));
  }

  void branchesThatLeaveEitherWayNeedNoBit() {
    const Function f = tiled("1: dec %rdi\n 2: dec %rax\n je 1b\n jne 2b\n ret");
    for (const Block& block : f.blocks)
      if (block.kind == format::BlockEnd::Branch && block.successor[0] != kNone &&
          f.blocks[block.successor[0]].head && f.blocks[block.successor[1]].head)
        QCOMPARE(block.bit, format::kNoBit);
    std::mt19937 random(4);
    checkRandomPaths(f, random, 50);
  }

  void fewerBitsMakeMoreHeads() {
    QByteArray text;
    for (int i = 0; i < 9; ++i) text += "test %rdi, %rdi\n je 1f\n inc %rax\n 1:\n";
    text += "ret";
    Function f = functionOf(traceback::tests::assemble(text.constData()));
    buildFlowGraph(f);
    tile(f, format::kMaxPathBits);
    QCOMPARE(f.dags.size(), 1u);
    tile(f, 4);
    assignCodes(f, 0);
    QVERIFY(f.dags.size() > 1);
    for (const Dag& dag : f.dags) QVERIFY(dag.bits <= 4);
    std::mt19937 random(5);
    checkRandomPaths(f, random, 100);
    tile(f, format::kMaxPathBits);
    QCOMPARE(f.dags.size(), 1u);
  }

  void aRecordGoesOnIntoACalleeAsFarAsThereIsRoom() {
    std::vector<Function> all;
    all.push_back(functionOf(traceback::tests::assemble("test %rdi, %rdi\n je 1f\n call .+0x1000\n 1: ret")));
    all.push_back(
        tiled("test %rdi, %rdi\n je 1f\n inc %rax\n 1: test %rax, %rax\n je 2f\n inc %rax\n 2: ret"));
    QCOMPARE(all[1].entryBits, std::uint8_t(2));
    Function& f = all[0];
    buildFlowGraph(f);
    f.blocks[1].callee = 1;
    f.blocks[1].mayPass = true;
    tile(f, format::kMaxPathBits, all);
    QVERIFY(f.blocks[1].passesEntry);
    QCOMPARE(f.blocks[0].bit, std::uint8_t(2));
    QCOMPARE(f.entryBits, std::uint8_t(3));
    QCOMPARE(f.dags.size(), 2u);
    assignCodes(f, 0);
    std::mt19937 random(8);
    checkRandomPaths(f, random, 100, all);
    tile(f, 2, all);
    QVERIFY(!f.blocks[1].passesEntry);
    QCOMPARE(f.blocks[0].bit, std::uint8_t(0));
    QCOMPARE(f.dags.size(), 2u);
  }

  void aCallBySlotHasABitOfItsOwn() {
    std::vector<Function> all;
    all.push_back(functionOf(traceback::tests::assemble("test %rdi, %rdi\n je 1f\n call .+0x1000\n 1: ret")));
    all.push_back(
        tiled("test %rdi, %rdi\n je 1f\n inc %rax\n 1: test %rax, %rax\n je 2f\n inc %rax\n 2: ret"));
    Function& f = all[0];
    buildFlowGraph(f);
    f.blocks[1].callee = 1;
    f.blocks[1].mayPass = true;
    f.blocks[1].bySlot = true;
    tile(f, format::kMaxPathBits, all);
    QVERIFY(f.blocks[1].passesEntry);
    QCOMPARE(f.blocks[1].bit, std::uint8_t(2));
    QCOMPARE(f.blocks[0].bit, std::uint8_t(3));
    QCOMPARE(f.entryBits, std::uint8_t(4));
    assignCodes(f, 0);
    std::mt19937 random(9);
    checkRandomPaths(f, random, 100, all);
    // Room for the callee's bits, but not for its own.
    tile(f, 3, all);
    QVERIFY(!f.blocks[1].passesEntry);
    QCOMPARE(f.blocks[1].bit, format::kNoBit);
    QCOMPARE(f.blocks[0].bit, std::uint8_t(0));
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
    const Function f = tiled(branches(format::kMaxPathBits + 2).constData());
    QVERIFY(f.dags.size() > 1);
    std::mt19937 random(1);
    checkRandomPaths(f, random, 200);
  }

  void irreducibleLoopIsCut() {
    const Function f = tiled("test %rdi, %rdi\n je 2f\n 1: dec %rax\n 2: dec %rbx\n jne 1b\n ret");
    std::mt19937 random(2);
    checkRandomPaths(f, random, 50);
  }

  void codeThatNothingLeadsToHasNoProbes() {
    const Function f = tiled("jmp 1f\n nopw 0(%rax)\n 1: ret");
    QCOMPARE(f.blocks.size(), 3u);
    QVERIFY(!f.blocks[1].reached && !f.blocks[1].head);
    QCOMPARE(f.order, (std::vector<BlockIndex>{0, 2}));
    QCOMPARE(f.blocks[2].predecessors, (std::vector<BlockIndex>{0}));
    const Function g = tiled("jmp 2f\n 1: dec %rax\n jne 1b\n 2: ret");
    QCOMPARE(g.dags.size(), 1u);
    const Function h = tiled("int3\n inc %rax\n ret");
    QVERIFY(h.blocks[1].head);
  }

  void aLoopThatACallCutsHasNoOtherHead() {
    const Function f = tiled("nop\n 1: dec %rdi\n call .+0x1000\n test %rax, %rax\n jne 1b\n ret");
    QCOMPARE(f.dags.size(), 2u);  // the entry, and where the call returns
    QVERIFY((f.blocks[1].flags & format::kBlockLoopHead) == 0 && !f.blocks[1].head);
    const Function g =
        tiled("nop\n 1: dec %rdi\n je 2f\n call .+0x1000\n inc %rax\n 2: test %rax, %rax\n jne 1b\n ret");
    QCOMPARE(g.dags.size(), 3u);  // there is a way round the call
    std::mt19937 random(6);
    checkRandomPaths(g, random, 100);
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
    checkAll(plan->program, plan->codeSpan, plan->codeUnit);
    if (QTest::currentTestFailed()) return;
    // Whatever goes on through calls, there are no more heads for it.
    Options closed;
    closed.without.emplace(kPassedEntries);
    const auto other = makePlan(*image, closed, {});
    QVERIFY(other.has_value());
    std::size_t passed = 0;
    for (std::size_t i = 0; i < plan->program.functions.size(); ++i) {
      const Function& with = plan->program.functions[i];
      const Function& without = other->program.functions[i];
      QCOMPARE(with.dags.size(), without.dags.size());
      for (std::size_t b = 0; b < with.blocks.size(); ++b) {
        QCOMPARE(with.blocks[b].head, without.blocks[b].head);
        QVERIFY(!without.blocks[b].passesEntry);
        passed += with.blocks[b].passesEntry ? 1 : 0;
      }
    }
    QVERIFY(passed > 10);
  }

  void programsAndLibrariesHaveNoCodesInCommon() {
    std::vector<std::uint32_t> programs, libraries;
    for (const char* file : {"/usr/bin/lua5.4", "/usr/bin/gzip", "/usr/bin/sqlite3", "/bin/sleep",
                             "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                             "/usr/lib/x86_64-linux-gnu/libz.so.1", "/usr/lib/x86_64-linux-gnu/libm.so.6"}) {
      const auto mapped = loader::MappedFile::open(file);
      QVERIFY(mapped.has_value());
      const auto image = loader::ElfImage::parse(mapped->bytes(), file);
      QVERIFY(image.has_value());
      const auto plan = makePlan(*image, {}, {});
      QVERIFY(plan.has_value());
      const bool isLibrary = std::string_view(file).contains(".so");
      (isLibrary ? libraries : programs).push_back(plan->codeBase);
      if (isLibrary) libraries.push_back(plan->codeBase + plan->codeSpan);
    }
    QVERIFY(std::ranges::min(programs) >= std::ranges::max(libraries));
  }

  void pathsAreLongInWhatRuns() {
    const auto mapped = loader::MappedFile::open("/usr/bin/lua5.4");
    QVERIFY(mapped.has_value());
    const auto image = loader::ElfImage::parse(mapped->bytes(), "/usr/bin/lua5.4");
    QVERIFY(image.has_value());
    auto plan = makePlan(*image, {}, {});
    QVERIFY(plan.has_value());
    QCOMPARE(plan->codeUnit, format::kCodeUnit);
    std::vector<Function>& functions = plan->program.functions;
    std::vector<Function*> hot, others;
    for (Function& f : functions)
      if (mostBits(f) == kShortPathBits) (hot.size() <= others.size() ? hot : others).push_back(&f);
    QVERIFY(others.size() > 4);
    std::size_t heads = 0;
    for (Function* f : hot) {
      heads += f->dags.size();
      f->blocks.front().ran = 1;
      f->blocks.front().cold = false;
    }
    const Waves waves = findPassableEntries(plan->program, OwnSlots(), true, true, 1);
    const Codes codes = tileProgram(plan->program, waves, 1);
    checkAll(plan->program, codes.span, codes.unit);
    if (QTest::currentTestFailed()) return;
    QCOMPARE(codes.unit, 1u << kLongPathBits);
    std::size_t fewer = 0;
    for (const Function* f : hot) {
      QVERIFY(mostBits(*f) <= kLongPathBits);
      fewer += f->dags.size();
    }
    QVERIFY(fewer < heads);
    for (const Function* f : others) QVERIFY(mostBits(*f) <= kShortPathBits);
  }

  void whereCodesDoNotLastForAllTheHottestHaveThem() {
    Program program;
    Function f = tiled(branches(kLongPathBits).constData());
    for (Block& block : f.blocks) block.cold = false;
    constexpr std::uint32_t kFunctions = 6000;  // a few more than have room
    Waves waves(1);
    for (std::uint32_t i = 0; i < kFunctions; ++i) {
      f.blocks.back().ran = 1 + i * 7919 % kFunctions;
      program.functions.push_back(f);
      waves.front().push_back(i);
    }
    tileProgram(program, waves, 1);
    std::uint64_t codes = 0;
    for (const Function& each : program.functions)
      for (const Dag& dag : each.dags) codes += std::uint64_t{1} << dag.bits;
    QVERIFY(codes <= 1u << 26);
    std::ranges::sort(program.functions, {}, [](const Function& each) { return each.blocks.back().ran; });
    QVERIFY(std::ranges::is_sorted(program.functions, {}, mostBits));
    QVERIFY(mostBits(program.functions.front()) <= kShortPathBits);
    QCOMPARE(mostBits(program.functions.back()), kLongPathBits);
    QVERIFY(mostBits(program.functions[kFunctions * 2 / 3]) == kLongPathBits);
  }
};

QTEST_GUILESS_MAIN(TestTiling)
#include "tst_tiling.moc"
