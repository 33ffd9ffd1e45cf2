// Hand-made maps and records, and the trace that they must give.
#include <QTest>

#include "tests/loader/reconstruction.h"

using namespace traceback;
using tests::reconstruct;
using tests::Scenario;
using tests::trimmed;

namespace {

// Compares as text, so that a failure shows both traces.
void compare(const std::string& actual, const char* expected) {
  const auto wanted = trimmed(expected, 4);
  if (actual != wanted) qWarning("expected:\n%s\ngot:\n%s", wanted.c_str(), actual.c_str());
  QVERIFY(actual == wanted);
}

// main calls f at 2000 in a loop; f has two ways through it.
constexpr std::string_view kLoop = R"(
  function main 1000
  dag
  a 8 fall h
  dag
  h 4 branch c r loop
  c 4 call 2000 d bit=0
  r 4 return bit=1
  dag
  d 4 jump h returnpoint
  function f 2000
  dag
  a 8 branch y x
  x 8 fall y bit=0
  y 4 return bit=1
)";

// Lines of kLoop's code: main's blocks a and h are line 10, c and d line 11; f is inlined into itself, so to
// say: its block x is line 31 of a function "small" that was inlined at line 21.
class TableOfLines : public loader::LineSource {
 public:
  bool hasLines() const override { return true; }
  std::vector<loader::LineRange> rangesIn(model::VirtAddr start, model::VirtAddr end) const override {
    const auto range = [](std::uint64_t from, std::uint64_t to, std::vector<loader::LineFrame> frames) {
      return loader::LineRange{{from}, {to}, true, std::move(frames)};
    };
    const auto frame = [](std::string_view function, std::uint32_t line) {
      return loader::LineFrame{function, "/src/prog.c", line, {}};
    };
    const std::vector<loader::LineRange> all = {
        range(0x1000, 0x100c, {frame("main", 10)}),
        range(0x100c, 0x1010, {frame("main", 11)}),
        range(0x1014, 0x1018, {frame("main", 11)}),
        range(0x2000, 0x2002, {frame("f", 20)}),
        range(0x2002, 0x2004, {frame("f", 0)}),  // made by the compiler
        range(0x2004, 0x2008, {frame("f", 21)}),
        range(0x2008, 0x2010, {frame("small", 31), frame("f", 21)}),
        range(0x2010, 0x2014, {frame("f", 22)}),
    };
    std::vector<loader::LineRange> found;
    for (const auto& line : all) {
      if (line.start < end && start < line.end) {
        found.push_back(line);
        found.back().start = std::max(line.start, start);
        found.back().end = std::min(line.end, end);
      }
    }
    return found;
  }
  std::optional<loader::FunctionInfo> functionAt(model::VirtAddr address) const override {
    if (address.value >= 0x2000) return loader::FunctionInfo{"f", {0x2000}, 20, "/src/prog.c", 19};
    return loader::FunctionInfo{"main", {0x1000}, 24, "/src/prog.c", 9};
  }
};

std::unique_ptr<loader::LineSource> tableOfLines(const loader::ModuleFiles&, std::string&) {
  return std::make_unique<TableOfLines>();
}

}  // namespace

class ReconstructTest : public QObject {
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

  void handlerInTheMiddleOfADag() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      main.a
      main.h c
      f.a
      signal 14 at f.a+4
      main.a
      main.h r
      return
      + x y
      main.d
      thread-end
    )"});
    compare(got.text, R"(
    call main
    main 1000-1007
    main 1008-100b
    main 100c-100f
      call f
      f 2000-2003 partial
      signal 14
        call main handler
        main 1000-1007 handler
        main 1008-100b handler
        main 1010-1013 handler
        return main handler
      f 2004-2007
      f 2008-200f
      f 2010-2013
      return f
    main 1014-1017
    sync 2
    return main interrupted
    )");
    QCOMPARE(got.notes(), std::string());
  }

  void handlersTwiceInOneDagAndNested() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      f.a
      signal 14 at f.a+4
      f.a y
      return
      + x
      signal 10 at f.x+2
      f.a
      signal 12 at f.a+2
      f.a y
      return
      + y
      return
      + y
      thread-end
    )"});
    compare(got.text, R"(
    call f
    f 2000-2003 partial
    signal 14
      call f handler
      f 2000-2007 handler
      f 2010-2013 handler
      return f handler
    f 2004-2007
    f 2008-2009 partial
    signal 10
      call f handler
      f 2000-2001 handler partial
      signal 12 handler
        call f handler
        f 2000-2007 handler
        f 2010-2013 handler
        return f handler
      f 2002-2007 handler
      f 2010-2013 handler
      return f handler
    f 200a-200f
    f 2010-2013
    return f
    sync 2
    )");
  }

  void signalBetweenClaimAndWrite() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      main.a
      claim
      signal 14 at main.h-probe
      f.a y
      return
      main.h r
      thread-end
    )"});
    compare(got.text, R"(
    call main
    main 1000-1007
    signal 14
      call f handler
      f 2000-2007 handler
      f 2010-2013 handler
      return f handler
    main 1008-100b
    main 1010-1013
    return main
    sync 2
    )");
  }

  void synchronousFaultWithAHandlerThatReturns() {
    // The instruction runs again after the handler.
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      f.a
      signal 11 at f.a+4 fault
      return
      + y
      thread-end
    )"});
    compare(got.text, R"(
    call f
    f 2000-2004 fault partial
    signal 11
    f 2004-2007
    f 2010-2013
    return f
    sync 2
    )");
    QVERIFY(!got.thread().info().fault);
  }

  void handlerThatMovesThePcLeavesAGap() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      f.a
      signal 11 at f.a+4 fault
      return to f.a+6
      thread-end
    )"});
    compare(got.text, R"(
    call f
    f 2000-2004 fault partial
    signal 11
    gap unknown
    sync 2
    return f interrupted
    )");
  }

  void handlerLeftByLongjmp() {
    constexpr std::string_view map = R"(
      function main 1000
      dag
      a 4 call 9000 b         # setjmp
      dag
      b 4 branch d c returnpoint
      c 4 call 2000 e bit=0
      d 4 return bit=1
      dag
      e 4 return returnpoint
      function f 2000
      dag
      a 8 call 9100 z
      dag
      z 4 return returnpoint
      function h 3000
      dag
      a 8 call 9200 z         # longjmp
      dag
      z 4 return returnpoint
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      start
      main.a
      main.b c
      f.a
      signal 11 at f.a+2 fault
      h.a
      main.b d
      resume
      thread-end
    )"});
    compare(got.text, R"(
    sync 1
    call main
    main 1000-1003 untraced
    main 1004-1007
    main 1008-100b
      call f
      f 2000-2002 fault partial
      signal 11
        call h handler
        h 3000-3007 handler
        return h interrupted
      return f interrupted
    main 1004-1007
    main 100c-100f
    return main
    sync 2
    )");
    QCOMPARE(got.notes(), std::string());
  }

  void signalWhileAnAbandonedHandlersSegmentIsInUse() {
    constexpr std::string_view map = R"(
      function main 1000
      dag
      a 4 call 9000 b
      dag
      b 4 branch d c returnpoint
      c 4 call 2000 e bit=0
      d 4 return bit=1
      dag
      e 4 return returnpoint
      function f 2000
      dag
      a 8 call 9100 z
      dag
      z 4 return returnpoint
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      start
      main.a
      main.b c
      f.a
      signal 10 at 0x7f0000000010
      main.b                       # longjmp out of an untraced handler
      signal 12 at main.b+2        # before the runtime can notice
      f.a
      f.z
      return
      + d
      resume
      thread-end
    )"});
    compare(got.text, R"(
    sync 1
    call main
    main 1000-1003 untraced
    main 1004-1007
    main 1008-100b
      call f
      f 2000-2007
      signal 10
      return f interrupted
    main 1004-1005 partial
    signal 12
      call f handler
      f 2000-2007 untraced handler
      f 2008-200b handler
      return f handler
    main 1006-1007
    main 100c-100f
    return main
    sync 2
    )");
  }

  void recursion() {
    constexpr std::string_view map = R"(
      function r 1000
      dag
      a 4 branch c b
      b 4 return bit=0
      c 4 call 1000 d bit=1
      dag
      d 4 return returnpoint
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      r.a c
      r.a c
      r.a b
      r.d
      r.d
      thread-end
    )"});
    compare(got.text, R"(
    call r
    r 1000-1003
    r 1008-100b
      call r
      r 1000-1003
      r 1008-100b
        call r
        r 1000-1003
        r 1004-1007
        return r
      r 100c-100f
      return r
    r 100c-100f
    return r
    sync 2
    )");
  }

  void callbackThroughUntracedCode() {
    constexpr std::string_view map = R"(
      function main 1000
      dag
      a 4 call 9000 b         # qsort
      dag
      b 4 return returnpoint
      function compare 2000
      dag
      a 4 return
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      main.a
      compare.a
      compare.a
      main.b
      thread-end
    )"});
    compare(got.text, R"(
    call main
    main 1000-1003
      call compare
      compare 2000-2003
      return compare
      call compare
      compare 2000-2003
      return compare
    main 1004-1007
    return main
    sync 2
    )");
  }

  void tailCalls() {
    constexpr std::string_view map = R"(
      function main 1000
      dag
      a 4 call 2000 b
      dag
      b 4 call 2000 c returnpoint
      dag
      c 4 return returnpoint
      function f 2000
      dag
      a 4 branch - b
      b 4 tail 9000 bit=0
      function g 3000
      dag
      a 4 return
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      main.a
      f.a                    # jumps to g
      g.a
      main.b
      f.a b                  # jumps to what leaves no records
      main.c
      thread-end
    )"});
    compare(got.text, R"(
    call main
    main 1000-1003
      call f
      f 2000-2003
      return f
      call g tail
      g 3000-3003
      return g
    main 1004-1007
      call f
      f 2000-2003
      f 2004-2007
      return f
    main 1008-100b
    return main
    sync 2
    )");
    QCOMPARE(got.notes(), std::string());
  }

  void aPartThatWasMovedAwayIsTheSameFunction() {
    constexpr std::string_view map = R"(
      function f.cold 800
      dag
      a 4 call 9000 b
      dag
      b 4 tail 1004 returnpoint
      function f 1000
      dag
      a 4 branch - b
      dag
      b 4 return
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      f.a
      f.cold.a
      f.cold.b
      f.b
      thread-end
    )"});
    compare(got.text, R"(
    call f
    f 1000-1003
    f 800-803 untraced
    f 804-807
    f 1004-1007
    return f
    sync 2
    )");
    QCOMPARE(got.notes(), std::string());
  }

  void aPartThatWasMovedAwayMayJumpToWhereACallReturns() {
    constexpr std::string_view map = R"(
      function f.cold 800
      dag
      p 4 call 9000 b pad
      dag
      b 4 tail 1004 returnpoint
      function main 900
      dag
      a 4 call 1000 b
      dag
      b 4 return returnpoint
      function f 1000
      dag
      a 4 call 9100 b
      dag
      b 4 return returnpoint
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      main.a
      f.a
      f.cold.p
      f.cold.b
      f.b
      main.b
      thread-end
    )"});
    compare(got.text, R"(
    call main
    main 900-903
      call f
      f 1000-1003
      f 800-803 untraced catch
      f 804-807
      f 1004-1007
      return f
    main 904-907
    return main
    sync 2
    )");
  }

  void longjmpPassesOverFrames() {
    constexpr std::string_view map = R"(
      function main 1000
      dag
      a 4 call 9000 b         # setjmp
      dag
      b 4 branch d c returnpoint
      c 4 call 2000 e bit=0
      d 4 return bit=1
      dag
      e 4 return returnpoint
      function f 2000
      dag
      a 4 call 3000 z
      dag
      z 4 return returnpoint
      function g 3000
      dag
      a 4 call 9100 z         # longjmp
      dag
      z 4 return returnpoint
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      start
      main.a
      main.b c
      f.a
      g.a
      main.b d
      thread-end
    )"});
    compare(got.text, R"(
    sync 1
    call main
    main 1000-1003 untraced
    main 1004-1007
    main 1008-100b
      call f
      f 2000-2003
        call g
        g 3000-3003
        return g interrupted
      return f interrupted
    main 1004-1007
    main 100c-100f
    return main
    sync 2
    )");
  }

  void exceptionIsCaught() {
    constexpr std::string_view map = R"(
      function main 1000
      dag
      a 4 call 2000 b
      dag
      b 4 return returnpoint
      dag
      p 4 return pad
      function f 2000
      dag
      a 4 call 3000 z
      dag
      z 4 return returnpoint
      dag
      p 4 call 9400 - pad     # a cleanup, then _Unwind_Resume
      function g 3000
      dag
      a 4 call 9100 z         # __cxa_throw
      dag
      z 4 return returnpoint
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      main.a
      f.a
      g.a
      exception g.a+4
      f.p
      main.p
      thread-end
    )"});
    compare(got.text, R"(
    call main
    main 1000-1003
      call f
      f 2000-2003
        call g
        g 3000-3003 untraced
        exception
        return g interrupted
      f 2008-200b catch
      return f interrupted
    main 1008-100b catch
    return main
    sync 2
    )");
    QCOMPARE(got.notes(), std::string());
  }

  void exceptionThroughARecursionCleansUpEachLevel() {
    constexpr std::string_view map = R"(
      function main 1000
      dag
      a 4 call 2000 b
      dag
      b 4 return returnpoint
      dag
      p 4 return pad
      function f 2000
      dag
      a 4 branch c b
      b 4 call 9100 z bit=0   # __cxa_throw
      c 4 call 2000 z bit=1
      dag
      z 4 return returnpoint
      dag
      p 4 call 9400 - pad     # a cleanup, then _Unwind_Resume
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      main.a
      f.a c
      f.a b
      f.p
      f.p
      main.p
      thread-end
    )"});
    compare(got.text, R"(
    call main
    main 1000-1003
      call f
      f 2000-2003
      f 2008-200b
        call f
        f 2000-2003
        f 2004-2007
        f 2010-2013 catch
        return f interrupted
      f 2010-2013 catch
      return f interrupted
    main 1008-100b catch
    return main
    sync 2
    )");
  }

  void windowThatBeginsInTheMiddleOfAStack() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      f.a y
      main.d
      main.h c
      f.a y
      thread-end
    )"});
    // f's caller shows up when f returns: so f is at depth 1.
    compare(got.text, R"(
      call f
      f 2000-2007
      f 2010-2013
      return f
    main 1014-1017
    main 1008-100b
    main 100c-100f
      call f
      f 2000-2007
      f 2010-2013
      return f
    sync 2
    return main interrupted
    )");
  }

  void wrappedRingBeginsWithAGap() {
    std::string ring;
    for (int i = 0; i < 50; ++i) ring += "main.h c\nf.a y\nmain.d\n";
    RingTextOptions options;
    options.subBufferWords = 16;
    const auto got = reconstruct({.map = kLoop, .ring = ring + "main.h r\nthread-end\n", .options = options});
    QVERIFY(got.text.starts_with("gap overwritten\n") || got.text.starts_with("  gap overwritten\n"));
    QVERIFY(got.text.find("damaged") == std::string::npos);
    // Three sub-buffers of 15 words, and what is in the fourth.
    QVERIFY(got.thread().info().recordCount >= 45);
    QVERIFY(got.text.ends_with("main 1010-1013\nreturn main\nsync 2\n"));
  }

  void chunksGiveWhatTheWholeGives() {
    const tests::MapText map(kLoop);
    std::string script = "start\nmain.a\n";
    for (int i = 0; i < 30; ++i) {
      script += i % 3 == 0 ? "main.h c\nf.a x\nsignal 14 at f.x+2\nf.a y\nreturn\n+ y\nmain.d\n"
                           : "main.h c\nmain.d\n";
    }
    const tests::RingText ring(script, map);
    const auto whole = build(map, ring, 1000000);
    QCOMPARE(whole.size(), std::size_t{1});
    for (const std::size_t size : {1, 2, 3, 7, 64}) {
      std::vector<model::Entry> joined;
      for (const auto& chunk : build(map, ring, size))
        joined.insert(joined.end(), chunk.begin(), chunk.end());
      QCOMPARE(joined.size(), whole[0].size());
      for (std::size_t i = 0; i < joined.size(); ++i) {
        QCOMPARE(joined[i].address.value, whole[0][i].address.value);
        QCOMPARE(joined[i].depth, whole[0][i].depth);
        QCOMPARE(joined[i].flags, whole[0][i].flags);
        QCOMPARE(static_cast<int>(joined[i].kind), static_cast<int>(whole[0][i].kind));
      }
    }
  }

  void linesAreFoldedAndInlinedCallsShown() {
    const auto got = reconstruct({.map = kLoop,
                                  .ring = R"(
      main.a
      main.h c
      f.a x y
      main.d
      main.h c
      main.d
      thread-end
    )",
                                  .lines = tableOfLines});
    compare(got.text, R"(
    call main
    main:10
    main:11
      call f
      f:20
      f:21
        call small inlined
        small:31 inlined
        return small inlined
      f:22
      return f
    main:11
    main:10
    main:11 untraced
    sync 2
    return main interrupted
    )");
    const auto& trace = got.trace();
    const auto& f = trace.functions[got.thread().entry(3).function.value];
    QCOMPARE(f.name, std::string("f"));
    QCOMPARE(f.line, 19U);
    QCOMPARE(trace.file(f.file)->path, std::string("/src/prog.c"));
    const auto first = got.thread().entry(1);
    QCOMPARE(first.address.value, std::uint64_t{0x1000});
    QCOMPARE(first.last.value, std::uint64_t{0x100b});  // two blocks of one line
    QVERIFY(trace.modules[0].hasLines);
  }

  void faultInAnInlinedFunction() {
    const auto got =
        reconstruct({.map = kLoop, .ring = "f.a x\n", .signal = 11, .pc = "f.x+4", .lines = tableOfLines});
    compare(got.text, R"(
    call f
    f:20
    f:21
      call small inlined
      small:31 fault inlined partial
    )");
  }

  void aLineThatRunsAgainIsShownAgain() {
    // A loop of one block on one line.
    constexpr std::string_view map = R"(
      function main 1000
      dag
      a 8 branch a b loop
      dag
      b 4 return
    )";
    const auto got = reconstruct(
        {.map = map, .ring = "main.a\nmain.a\nmain.a\nmain.b\nthread-end\n", .lines = tableOfLines});
    compare(got.text, R"(
    call main
    main:10
    main:10
    main:10
    return main
    sync 2
    )");
  }

  void unexplainedPathIsAGap() {
    // Bit 2 belongs to no block that follows from the head without bit 0.
    constexpr std::string_view map = R"(
      function f 1000
      dag
      a 4 branch c b
      b 4 fall d bit=0
      c 4 return bit=1
      d 4 return bit=2
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      f.a b d
      f.a c d
      f.a c
      thread-end
    )"});
    compare(got.text, R"(
    call f
    f 1000-1003
    f 1004-1007
    f 100c-100f
    return f
    gap damaged
    call f
    f 1000-1003
    f 1008-100b
    return f
    sync 2
    )");
    QVERIFY(got.notes().find("whose path no block explains x1") != std::string::npos);
  }

  void aRecordThatCannotFollowIsAGap() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      main.a
      main.d
      main.h r
      thread-end
    )"});
    compare(got.text, R"(
    call main
    main 1000-1007
    gap damaged
    main 1014-1017
    main 1008-100b
    main 1010-1013
    return main
    sync 2
    )");
    QVERIFY(got.notes().find("cannot follow") != std::string::npos);
  }

  void damagedWordsAreAGap() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      main.a
      word 20000001
      word 00000005
      main.h r
      thread-end
    )"});
    compare(got.text, R"(
    call main
    main 1000-1007
    gap damaged
    main 1008-100b
    main 1010-1013
    return main
    sync 2
    )");
  }

  void missingMapCostsOnlyItsRecords() {
    const auto got =
        reconstruct({.map = kLoop, .ring = "start\nmain.a\nmain.h r\nthread-end\n", .withMap = false});
    compare(got.text, R"(
    sync 1
    gap missing-map
    sync 2
    )");
    QVERIFY(got.notes().find("map of prog: not in the snap; its records are shown as gaps x2") !=
            std::string::npos);
    QVERIFY(!got.trace().modules[0].hasMap);
  }

  void overwrittenHandlersAreCounted() {
    // The handlers' ring is short: of ten signals only the last are left, but the main ring has all.
    std::string ring = "start\nmain.a\n";
    for (int i = 0; i < 10; ++i) ring += "main.h c\nsignal 14 at 0x7f0000000010\nf.a y\nreturn\nmain.d\n";
    RingTextOptions options;
    options.subBufferWords = 64;
    const auto got = reconstruct({.map = kLoop, .ring = ring + "main.h r\nthread-end\n", .options = options});
    QVERIFY(got.text.find("damaged") == std::string::npos);
    QVERIFY(got.text.ends_with("return main\nsync 2\n"));
  }

  void unknownCodesAreDamage() {
    RingTextOptions options;
    const auto got = reconstruct(
        {.map = kLoop, .ring = "main.a\nword 80f00000\nbad-dag\nmain.h r\nthread-end\n", .options = options});
    QVERIFY(got.text.find("gap damaged") != std::string::npos);
    QVERIFY(got.text.find("gap missing-map") != std::string::npos);
    QVERIFY(got.notes().find("no known module x1") != std::string::npos);
  }

 private:
  using RingTextOptions = tests::RingText::Options;

  static std::vector<std::vector<model::Entry>> build(const tests::MapText& map, const tests::RingText& ring,
                                                      std::size_t size) {
    tests::RingText::Options options;
    loader::LoadedModule module;
    module.bias = {options.bias};
    module.start = {options.bias};
    module.end = {options.bias + 0x1000000};
    module.codeBase = options.codeBase;
    module.codeSpan = map.codeSpan();
    module.map = loader::mapFromBytes(map.bytes(), "map").value();
    std::vector<loader::LoadedModule> modules{module};
    auto context = std::make_shared<loader::TraceContext>(
        loader::ModuleTable(modules), std::vector<std::unique_ptr<const loader::LineSource>>{});
    const auto bytes = ring.bytes();
    const auto view = loader::RingView::parse(bytes, "ring").value();
    model::LoadReport report;
    loader::WalkNotes notes;
    const auto source = loader::ThreadSource::build(
        context, view.segments(), loader::buildTimeline(view, {}, "thread", report), notes, {}, size);
    std::vector<std::vector<model::Entry>> chunks;
    for (std::size_t i = source->chunkCount(); i-- > 0;) chunks.insert(chunks.begin(), source->expand(i));
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (chunks[i].size() != source->chunks()[i].entryCount) qFatal("a chunk contradicts its summary");
    }
    return chunks;
  }
};

QTEST_APPLESS_MAIN(ReconstructTest)
#include "tst_reconstruct.moc"
