// Records that go on in functions that are called: a call that leads past the probe of an entry.
#include <QTest>

#include "tests/loader/reconstruction.h"

using namespace traceback;
using tests::compare;
using tests::reconstruct;

namespace {

// main calls f, which calls g, each past the entry's probe; then f calls something untraced, and jumps to g.
constexpr std::string_view kDeep = R"(
  version 4
  function main 1000
  dag 3
  a 8 branch e c bit=2 taken
  c 4 call 2000 r into
  e 4 return
  dag
  r 4 return returnpoint
  function f 2000
  dag 2
  a 8 branch y x bit=1 taken
  x 4 call 3000 z into
  y 4 return
  dag
  z 4 call 9000 w returnpoint
  dag 1
  w 4 tail 3000 into returnpoint
  function g 3000
  dag 1
  a 8 branch l k bit=0 taken
  k 4 icall q
  l 4 return
  dag
  q 4 return returnpoint
)";

}  // namespace

class PassedTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void callsAndATailJumpThatARecordGoesOnThrough() {
    const auto got = reconstruct({.map = kDeep, .ring = R"(
      start
      main.a g.a
      f.z
      f.w
      g.q
      main.r
      main.a main.a
      main.a f.a
      main.r
      thread-end
    )"});
    compare(got.text, R"(
    sync 1
    call main
    main 1000-1007
    main 1008-100b
      call f
      f 2000-2007
      f 2008-200b
        call g
        g 3000-3007
        g 300c-300f
        return g
      f 2010-2013 untraced
      f 2014-2017
      return f
      call g tail
      g 3000-3007
      g 3008-300b untraced
      g 3010-3013
      return g
    main 1010-1013
    return main
    call main
    main 1000-1007
    main 100c-100f
    return main
    call main
    main 1000-1007
    main 1008-100b
      call f
      f 2000-2007
      f 200c-200f
      return f
    main 1010-1013
    return main
    sync 2
    )");
    QCOMPARE(got.notes(), std::string());
  }

  void whatIsCalledThroughAPointerHasARecordOfItsOwn() {
    const auto got = reconstruct({.map = kDeep, .ring = R"(
      start
      f.a g.a
      g.a
      g.a g.a
      g.q
      f.z
      thread-end
    )"});
    compare(got.text, R"(
    sync 1
    call f
    f 2000-2007
    f 2008-200b
      call g
      g 3000-3007
      g 300c-300f
      return g
      call g
      g 3000-3007
      g 3008-300b
        call g
        g 3000-3007
        g 300c-300f
        return g
      g 3010-3013
      return g
    f 2010-2013 untraced
    sync 2
    return f interrupted
    )");
    QCOMPARE(got.notes(), std::string());
  }

  // main calls f by a slot, and jumps to g by another, each bound to them or not.
  void callsBySlotsLeadElsewhereIfTheirBitIsSet() {
    constexpr std::string_view kBySlots = R"(
      version 5
      function main 1000
      dag 2
      a 8 call 8000 r into own=2000 bit=1
      dag 1
      r 4 tail 8010 into own=3000 bit=0 returnpoint
      function f 2000
      dag 1
      a 8 branch y x bit=0 taken
      x 4 return
      y 4 return
      function g 3000
      dag
      a 4 return
    )";
    const auto got = reconstruct({.map = kBySlots, .ring = R"(
      start
      main.a f.a
      main.r
      main.a main.a
      main.r main.r
      main.a main.a
      f.a
      main.r main.r
      g.a
      thread-end
    )"});
    compare(got.text, R"(
    sync 1
    call main
    main 1000-1007
      call f
      f 2000-2007
      f 200c-200f
      return f
    main 1008-100b
    return main
    call g tail
    g 3000-3003
    return g
    call main
    main 1000-1007 untraced
    main 1008-100b
    return main
    call main tail
    main 1000-1007
      call f
      f 2000-2007
      f 2008-200b
      return f
    main 1008-100b
    return main
    call g tail
    g 3000-3003
    return g
    sync 2
    )");
    QCOMPARE(got.notes(), std::string());
  }

  void aKilledThreadIsNowhereThatNoBitProves() {
    const auto got = reconstruct({.map = kDeep, .ring = "main.a\n"});
    compare(got.text, R"(
    call main
    main 1000-1007 partial
    gap path-unknown
    )");
    const auto proven = reconstruct({.map = kDeep, .ring = "main.a g.a\n"});
    compare(proven.text, R"(
    call main
    main 1000-1007
    main 1008-100b
      call f
      f 2000-2007
      f 2008-200b
        call g
        g 3000-3007
        g 300c-300f partial
        gap path-unknown
    )");
    QVERIFY(proven.snap.executedBlocks(0).back().open);
  }

  void aThreadIsWhereItsProgramCounterSays() {
    const auto before = reconstruct({.map = kDeep, .ring = "main.a\n", .pc = "main.c+2"});
    compare(before.text, R"(
    call main
    main 1000-1007
    main 1008-1009 partial
    )");
    const auto entered = reconstruct({.map = kDeep, .ring = "main.a\n", .pc = "f.a"});
    compare(entered.text, R"(
    call main
    main 1000-1007
    main 1008-100b
      call f
    )");
    const auto deep = reconstruct({.map = kDeep, .ring = "main.a\n", .pc = "g.k+2"});
    compare(deep.text, R"(
    call main
    main 1000-1007
    main 1008-100b
      call f
      f 2000-2007
      f 2008-200b
        call g
        g 3000-3007
        g 3008-3009 partial
    )");
    const auto beyond = reconstruct({.map = kDeep, .ring = "main.a\n", .pc = "outside"});
    compare(beyond.text, R"(
    call main
    main 1000-1007
    main 1008-100b
      call f
      f 2000-2007
      f 2008-200b
        call g
        g 3000-3007
        g 3008-300b untraced
    )");
    const auto back = reconstruct({.map = kDeep, .ring = "main.a f.a\n", .pc = "main.r-probe"});
    compare(back.text, R"(
    call main
    main 1000-1007
    main 1008-100b
      call f
      f 2000-2007
      f 200c-200f
      return f
    )");
    QCOMPARE(before.notes() + entered.notes() + deep.notes() + beyond.notes() + back.notes(), std::string());
  }

  void aFaultInACalleeBeforeARecordOfItsOwn() {
    const auto got = reconstruct({.map = kDeep, .ring = "main.a\n", .signal = 11, .pc = "f.a+4"});
    compare(got.text, R"(
    call main
    main 1000-1007
    main 1008-100b
      call f
      f 2000-2004 fault partial
    )");
    QVERIFY(got.thread().info().fault.has_value());
  }

  void aHandlerInACalleeThatGoesOnBehindIt() {
    const auto got = reconstruct({.map = kDeep, .ring = R"(
      main.a
      signal 14 at f.a+4
      g.a g.a
      return
      + g.a
      f.z
      thread-end
    )"});
    compare(got.text, R"(
    call main
    main 1000-1007
    main 1008-100b
      call f
      f 2000-2003 partial
      signal 14
        call g handler
        g 3000-3007 handler
        g 300c-300f handler
        return g handler
      f 2004-2007
      f 2008-200b
        call g
        g 3000-3007
        g 300c-300f
        return g
      f 2010-2013 untraced
      sync 2
      return f interrupted
    return main interrupted
    )");
    QCOMPARE(got.notes(), std::string());
    const auto atTheCall = reconstruct({.map = kDeep, .ring = R"(
      main.a
      signal 14 at f.a
      main.a main.a
      return
      signal 10 at f.x
      return
      signal 12 at g.a
      return
      + g.a
      signal 12 at g.l+2
      return
      f.z
      thread-end
    )"});
    compare(atTheCall.text, R"(
    call main
    main 1000-1007
    main 1008-100b
      call f
      signal 14
        call main handler
        main 1000-1007 handler
        main 100c-100f handler
        return main handler
      f 2000-2007
      signal 10
      f 2008-200b
        call g
        signal 12
        g 3000-3007
        g 300c-300d partial
        signal 12
        g 300e-300f
        return g
      f 2010-2013 untraced
      sync 2
      return f interrupted
    return main interrupted
    )");
    QCOMPARE(atTheCall.notes(), std::string());
  }

  void aHandlerThatIsLeftByAJumpToBehindTheCall() {
    const auto got = reconstruct({.map = kDeep, .ring = R"(
      start
      main.a
      signal 11 at g.a+2 fault
      f.a f.a
      main.r
      resume
      thread-end
    )"});
    compare(got.text, R"(
    sync 1
    call main
    main 1000-1007
    main 1008-100b
      call f
      f 2000-2007
      f 2008-200b
        call g
        g 3000-3002 fault partial
        signal 11
          call f handler
          f 2000-2007 handler
          f 200c-200f handler
          return f handler
        return g interrupted
      return f interrupted
    main 1010-1013
    return main
    sync 2
    )");
  }

  void anExceptionThatACalleeThrows() {
    constexpr std::string_view map = R"(
      version 4
      function main 1000
      dag 1
      a 4 call 2000 r into
      dag
      r 4 return returnpoint
      dag
      p 4 call 9100 q pad
      dag
      q 4 return returnpoint
      function f 2000
      dag 1
      a 8 branch y x bit=0 taken
      x 4 call 9000 -
      y 4 return
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      start
      main.a
      main.p
      main.q
      thread-end
    )"});
    compare(got.text, R"(
    sync 1
    call main
    main 1000-1003
      call f
      f 2000-2007
      f 2008-200b
      return f interrupted
    main 1008-100b untraced catch
    main 100c-100f
    return main
    sync 2
    )");
    QCOMPARE(got.notes(), std::string());
  }

  void recursionHasRecordsOfItsOwn() {
    constexpr std::string_view map = R"(
      version 4
      function main 1000
      dag 1
      a 4 call 2000 r into
      dag
      r 4 return returnpoint
      function f 2000
      dag 1
      a 8 branch y x bit=0 taken
      x 4 call 2000 r
      y 4 return
      dag
      r 4 return returnpoint
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      start
      main.a
      f.a
      f.a a
      f.r
      f.r
      main.r
      thread-end
    )"});
    compare(got.text, R"(
    sync 1
    call main
    main 1000-1003
      call f
      f 2000-2007
      f 2008-200b
        call f
        f 2000-2007
        f 2008-200b
          call f
          f 2000-2007
          f 200c-200f
          return f
        f 2010-2013
        return f
      f 2010-2013
      return f
    main 1004-1007
    return main
    sync 2
    )");
    QCOMPARE(got.notes(), std::string());
    const auto inItsProbe = reconstruct({.map = map, .ring = "start\nmain.a\n", .pc = "f.a-probe"});
    compare(inItsProbe.text, R"(
    sync 1
    call main
    main 1000-1003
      call f
      f 2000-2007
      f 2008-200b
    )");
  }

  void aJumpBackFromAPartThatWasMovedAway() {
    constexpr std::string_view map = R"(
      version 4
      function f 2000
      dag
      a 8 fall c
      c 4 tail 3000
      function f.cold 3000
      dag
      a 4 call 9000 b
      dag 1
      b 4 tail 4000 into returnpoint
      function g 4000
      dag 1
      a 4 branch c b bit=0 taken
      b 4 return
      c 4 return
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      start
      f.a
      f.cold.a
      f.cold.b g.a
      thread-end
    )"});
    compare(got.text, R"(
    sync 1
    call f
    f 2000-2007
    f 2008-200b
    f 3000-3003 untraced
    f 3004-3007
    return f
    call g tail
    g 4000-4003
    g 4008-400b
    return g
    sync 2
    )");
    QCOMPARE(got.notes(), std::string());
  }

  void callsAreNotFollowedInOlderMaps() {
    std::string older(kDeep);
    older.replace(older.find("version 4"), 9, "version 3");
    const auto got = reconstruct({.map = older, .ring = R"(
      main.a
      f.a
      g.a g.a
      f.z
      thread-end
    )"});
    compare(got.text, R"(
    call main
    main 1000-1007
    main 1008-100b
      call f
      f 2000-2007
      f 2008-200b
        call g
        g 3000-3007
        g 300c-300f
        return g
      f 2010-2013 untraced
      sync 2
      return f interrupted
    return main interrupted
    )");
    QCOMPARE(got.notes(), std::string());
  }
};

QTEST_GUILESS_MAIN(PassedTest)
#include "tst_reconstruct_passed.moc"
