// Hand-made records of one thread without signals, and the path that they prove.
#include <QTest>

#include "tests/loader/reconstruction.h"

using namespace traceback;
using tests::compare;
using tests::kLoop;
using tests::reconstruct;

namespace {

// Bits of branches: c, which ends by one, is part of both DAGs.
constexpr std::string_view kBranches = R"(
  version 2
  function main 1000
  dag 2
  a 8 branch c b bit=1 taken
  b 4 call 2000 p
  dag 2
  p 4 fall c returnpoint
  c 4 branch e d bit=0
  d 4 fall e
  e 4 return
)";

}  // namespace

class PathsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void pathsCallsAndLoops() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      start
      main.a
      main.h c
      f.a x y
      main.d
      main.h c
      f.a y
      main.d
      main.h r
      thread-end
    )"});
    compare(got.text, R"(
    sync 1
    call main
    main 1000-1007
    main 1008-100b
    main 100c-100f
      call f
      f 2000-2007
      f 2008-200f
      f 2010-2013
      return f
    main 1014-1017
    main 1008-100b
    main 100c-100f
      call f
      f 2000-2007
      f 2010-2013
      return f
    main 1014-1017
    main 1008-100b
    main 1010-1013
    return main
    sync 2
    )");
    QCOMPARE(got.notes(), std::string());
  }

  void executedBlocksArePlain() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      main.a
      main.h c
      f.a y
      main.d
      thread-end
    )"});
    const auto steps = got.snap.executedBlocks(0);
    std::string text;
    for (const auto& step : steps) text += std::format("{:x}+{} ", step.start.value, step.size);
    QCOMPARE(text, std::string("1000+8 1008+4 100c+4 2000+8 2010+4 1014+4 "));
  }

  void calleeWithoutRecordsIsMarked() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      main.a
      main.h c
      main.d
      main.h r
      thread-end
    )"});
    compare(got.text, R"(
    call main
    main 1000-1007
    main 1008-100b
    main 100c-100f untraced
    main 1014-1017
    main 1008-100b
    main 1010-1013
    return main
    sync 2
    )");
  }

  void killedThreadShowsOnlyWhatItsBitsProve() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      main.a
      main.h
    )"});
    compare(got.text, R"(
    call main
    main 1000-1007
    main 1008-100b partial
    gap path-unknown
    )");
    const auto further = reconstruct({.map = kLoop, .ring = R"(
      main.a
      main.h c
    )"});
    compare(further.text, R"(
    call main
    main 1000-1007
    main 1008-100b
    main 100c-100f partial
    gap path-unknown
    )");
    QVERIFY(further.snap.executedBlocks(0).back().open);
  }

  void bitsOfBranchesSayWhichEdgeWasTaken() {
    const auto got = reconstruct({.map = kBranches, .ring = R"(
      start
      main.a a
      main.a
      main.p c
      main.a a c
      thread-end
    )"});
    compare(got.text, R"(
    sync 1
    call main
    main 1000-1007
    main 1010-1013
    main 1018-101b
    return main
    call main
    main 1000-1007
    main 1008-100b untraced
    main 100c-100f
    main 1010-1013
    main 1014-1017
    main 1018-101b
    return main
    call main
    main 1000-1007
    main 1010-1013
    main 1014-1017
    main 1018-101b
    return main
    sync 2
    )");
    QCOMPARE(got.notes(), std::string());
  }

  void clearBitsOfAKilledThreadProveNothing() {
    const auto none = reconstruct({.map = kBranches, .ring = "main.a\n"});
    compare(none.text, R"(
    call main
    main 1000-1007 partial
    gap path-unknown
    )");
    const auto one = reconstruct({.map = kBranches, .ring = "main.a a\n"});
    compare(one.text, R"(
    call main
    main 1000-1007
    main 1010-1013 partial
    gap path-unknown
    )");
    const auto stopped = reconstruct({.map = kBranches, .ring = "main.a a\n", .pc = "main.e"});
    compare(stopped.text, R"(
    call main
    main 1000-1007
    main 1010-1013
    )");
  }

  void aBitThatNoBranchHasIsDamage() {
    const auto got = reconstruct({.map = kBranches, .ring = "main.p a\nthread-end\n"});
    QVERIFY(got.notes().contains("path"));
  }

  void stoppedThreadIsTrimmedAtItsPc() {
    const auto got = reconstruct({.map = kLoop, .ring = "main.a\n", .pc = "main.a+3"});
    compare(got.text, R"(
    call main
    main 1000-1002 partial
    )");
    const auto inCallee = reconstruct({.map = kLoop, .ring = "main.a\nmain.h c\n", .pc = "outside"});
    compare(inCallee.text, R"(
    call main
    main 1000-1007
    main 1008-100b
    main 100c-100f untraced
    )");
  }

  void faultingInstructionIsTheLast() {
    const auto got = reconstruct({.map = kLoop,
                                  .ring = R"(
      main.a
      main.h c
      f.a x
    )",
                                  .signal = 11,
                                  .pc = "f.x+2"});
    compare(got.text, R"(
    call main
    main 1000-1007
    main 1008-100b
    main 100c-100f
      call f
      f 2000-2007
      f 2008-200a fault partial
    )");
    QVERIFY(got.thread().info().fault == model::EntryIndex{6});
    const auto last = got.snap.executedBlocks(0).back();
    QVERIFY(last.faulted && last.start.value == 0x2008 && last.size == 2);
  }

  void faultOfABlocksFirstInstruction() {
    const auto got = reconstruct({.map = kLoop, .ring = "main.a\n", .signal = 11, .pc = "main.a"});
    compare(got.text, R"(
    call main
    main 1000-1000 fault partial
    )");
  }

  void fatalSignalRecordTrims() {
    const auto got = reconstruct({.map = kLoop,
                                  .ring = R"(
      main.a
      main.h c
      f.a x
      signal 11 at f.x+4 fault fatal
    )",
                                  .signal = 11,
                                  .pc = "f.x+4"});
    compare(got.text, R"(
    call main
    main 1000-1007
    main 1008-100b
    main 100c-100f
      call f
      f 2000-2007
      f 2008-200c fault partial
      signal 11
    )");
    QVERIFY(got.thread().info().fault == model::EntryIndex{6});
  }

  void faultThatTheProcessOutlivedForAMomentRunsOnce() {
    // As `traceback recover` finds it, if no snap could be written: no registers, and the signal has an end.
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      f.a x
      signal 11 at f.x+4 fault fatal
      return
    )"});
    compare(got.text, R"(
    call f
    f 2000-2007
    f 2008-200c fault partial
    signal 11
    )");
    QVERIFY(got.thread().info().fault == model::EntryIndex{2});
  }

  void killedInTheMiddleOfARecordThatAHandlerInterrupted() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      f.a
      signal 14 at f.a+4
      main.a
      main.h r
      return
      + x
    )"});
    compare(got.text, R"(
    call f
    f 2000-2003 partial
    signal 14
      call main handler
      main 1000-1007 handler
      main 1008-100b handler
      main 1010-1013 handler
      return main handler
    f 2004-2007
    f 2008-200f partial
    gap path-unknown
    )");
  }

  void faultInUntracedCalleeStandsAtTheCall() {
    const auto got = reconstruct({.map = kLoop,
                                  .ring = R"(
      main.a
      main.h c
      signal 6 at 0x7f0000000010 fatal
    )",
                                  .signal = 6,
                                  .pc = "outside"});
    compare(got.text, R"(
    call main
    main 1000-1007
    main 1008-100b
    main 100c-100f fault untraced
    signal 6
    )");
  }
};

QTEST_APPLESS_MAIN(PathsTest)
#include "tst_reconstruct_paths.moc"
