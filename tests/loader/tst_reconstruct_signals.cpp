// Handlers: in the middle of a DAG, nested, left by a jump.
#include <QTest>

#include "tests/loader/reconstruction.h"

using namespace traceback;
using tests::compare;
using tests::kLoop;
using tests::reconstruct;

class SignalsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  // A ring that was full read the clock; before that was written a signal came, and read it too.
  void aReadingThatASignalOvertookIsOlderThanTheHandlers() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      start
      main.a
      main.h c
      f.a
      signal 14 at f.a+4
      main.a
      return
      + x y
      time 1000
      main.d
      thread-end
    )"});
    QVERIFY(got.thread().times().trusted());
    QCOMPARE(got.notes().find("clock"), std::string::npos);
  }

  void aClockThatRunsBackwardsIsSaid() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      time 2000
      main.a
      time 1000
      main.h r
    )"});
    QVERIFY(!got.thread().times().trusted());
    QVERIFY(got.notes().find("its clock ran backwards") != std::string::npos);
  }

  // What was over when the thread began to wait, and what began when that was over, are told apart.
  void aWaitDividesALineByTheClock() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      start
      main.a
      main.h c
      time 5000
      wait 7
      time 9000
      f.a y
      main.d
      wait 4
      time 9500
      wait 99
      time 9600
      main.h r
      thread-end
    )"});
    // What a later recorder calls a wait is left out; its reading of the clock counts.
    QCOMPARE(got.notes(), std::string("thread 7: syncs of unknown kind 99, left out x1\n"));
    const auto& thread = got.thread();
    const auto& times = thread.times();
    QVERIFY(times.trusted());
    std::vector<std::uint32_t> waits;
    for (const auto& entry : thread.entries(0, 100)) {
      const auto cause = static_cast<model::SyncCause>(entry.detail);
      if (entry.kind == model::EntryKind::Sync && model::isWait(cause)) waits.push_back(entry.detail);
    }
    QCOMPARE(waits,
             std::vector<std::uint32_t>({static_cast<std::uint32_t>(model::SyncCause::WaitPoll),
                                         static_cast<std::uint32_t>(model::SyncCause::WaitCondition)}));
    for (model::EntryIndex at = 0; at + 1 < thread.entryCount(); ++at) {
      const auto entry = thread.entry(at);
      if (entry.kind != model::EntryKind::Sync ||
          entry.detail != static_cast<std::uint32_t>(model::SyncCause::WaitPoll))
        continue;
      const auto before = times.boundsOf(at - 1), behind = times.boundsOf(at + 1);
      QVERIFY(before.to && *before.to <= model::Ticks{5001});
      QVERIFY(behind.from && *behind.from >= model::Ticks{9000});
    }
    // They are no marks on a picture of the thread over time.
    for (const auto& event : times.events())
      QVERIFY(!(event.kind == model::EntryKind::Sync &&
                model::isWait(static_cast<model::SyncCause>(event.detail))));
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

  // What it interrupted is divided where it was, and its signal is told once, whether its beginning is there
  // or not; where it is not, the trace says so.
  void aHandlerThatGoesOnInOtherSubBuffersIsOneHandler_data() {
    QTest::addColumn<int>("rounds");
    QTest::addColumn<bool>("isOverwritten");
    QTest::newRow("of which the first is there") << 150 << false;
    QTest::newRow("of which the first is overwritten") << 1000 << true;
  }
  void aHandlerThatGoesOnInOtherSubBuffersIsOneHandler() {
    QFETCH(int, rounds);
    QFETCH(bool, isOverwritten);
    std::string handler;
    for (int i = 0; i < rounds; ++i) handler += "f.a y\n";
    tests::RingText::Options options;
    options.subBufferWords = 64;
    options.continuesSignals = true;
    const auto got = reconstruct({.map = kLoop,
                                  .ring = "main.a\nmain.h c\nf.a\nsignal 11 at f.a+4 fault\n" + handler +
                                          "return\n+ x y\nmain.d\nthread-end\n",
                                  .options = options});
    const auto countOf = [&](std::string_view part) {
      int count = 0;
      for (auto at = got.text.find(part); at != std::string::npos; at = got.text.find(part, at + 1)) ++count;
      return count;
    };
    QCOMPARE(countOf("signal 11"), 1);
    QCOMPARE(countOf("gap overwritten"), isOverwritten ? 1 : 0);
    QCOMPARE(got.text.find("signal 11\n  gap overwritten") != std::string::npos, isOverwritten);
    QVERIFY2(got.text.find("f 2000-2004 fault partial\n  signal 11") != std::string::npos, got.text.c_str());
    QVERIFY2(got.text.find("  f 2004-2007\n  f 2008-200f\n  f 2010-2013\n  return f\nmain 1014-1017\n") !=
                 std::string::npos,
             got.text.c_str());
    QCOMPARE(got.notes(), std::string());
  }

  void theFaultInWhoseHandlerAnotherSignalIsRaisedIsTheFault() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      main.a
      main.h c
      f.a
      signal 11 at f.a+4 fault
      main.a
      signal 6 at main.a+4 fatal
    )"});
    const auto fault = got.thread().info().fault;
    QVERIFY(fault.has_value());
    QVERIFY2(got.text.find("f 2000-2004 fault partial\n") != std::string::npos, got.text.c_str());
    std::size_t marks = 0;
    for (auto at = got.text.find(" fault"); at != std::string::npos; at = got.text.find(" fault", at + 1))
      ++marks;
    QCOMPARE(marks, std::size_t{1});
    QCOMPARE(got.thread().entry(*fault).address.value, std::uint64_t{0x2000});
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
    const auto got = reconstruct({.map = kLoop,
                                  .ring = R"(
      main.a
      claim
      signal 14 at main.h-probe
      f.a y
      return
      main.h r
      thread-end
    )",
                                  .options = {.version = 1}});
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

  void signalInTheProbeOfALoopThatTheRecordWentInto() {
    // h was entered past its probe, so the first record has its first round, too.
    constexpr std::string_view map = R"(
      version 3
      function main 1000
      dag 1
      a 4 fall h pass0
      dag
      h 8 branch h r bit=0 loop
      r 4 return
      function f 2000
      dag
      a 4 return
    )";
    const auto again = reconstruct({.map = map, .ring = R"(
      main.a
      signal 14 at main.h-probe
      f.a
      return
      main.h h
      thread-end
    )"});
    compare(again.text, R"(
    call main
    main 1000-1003
    main 1004-100b
    signal 14
      call f handler
      f 2000-2003 handler
      return f handler
    main 1004-100b
    main 100c-100f
    return main
    sync 2
    )");
    const auto before = reconstruct({.map = map, .ring = R"(
      main.a
      signal 14 at main.h
      f.a
      return
      main.h h
      thread-end
    )"});
    compare(before.text, R"(
    call main
    main 1000-1003
    signal 14
      call f handler
      f 2000-2003 handler
      return f handler
    main 1004-100b
    main 1004-100b
    main 100c-100f
    return main
    sync 2
    )");
    QCOMPARE(before.notes() + again.notes(), std::string());
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
};

QTEST_APPLESS_MAIN(SignalsTest)
#include "tst_reconstruct_signals.moc"
