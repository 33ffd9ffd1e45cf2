// Who called whom: recursion, tail calls, parts moved away, jumps over frames.
#include <QTest>

#include "runtime/format/skip_reason.h"
#include "tests/loader/reconstruction.h"

using namespace traceback;
using tests::compare;
using tests::reconstruct;
using tests::stubs;

class CallsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
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

  // Nor is every indirect jump of a function that has tables by one of them.
  void aTableMayLeadToThePartThatWasMovedAwayAndBack() {
    constexpr std::string_view map = R"(
      function f.cold 800
      dag
      p 4 jump q
      dag
      q 4 multi table
      function f 1000
      dag
      a 4 multi
      dag
      b 4 multi table
      function g 3000
      dag
      a 4 return
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      f.a
      f.cold.q
      f.b                    # calls g in its place
      g.a
      thread-end
    )"});
    compare(got.text, R"(
    call f
    f 1000-1003
    f 804-807
    f 1004-1007
    return f
    call g tail
    g 3000-3003
    return g
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

  void callsWithoutRecordsTellWhatWasCalledAndWhyItIsNotTraced() {
    constexpr std::string_view map = R"(
      function main 1000
      dag
      a 4 call 3000 b
      dag
      b 4 call 9000 c returnpoint
      dag
      c 4 icall d returnpoint
      dag
      d 4 call 4000 e returnpoint
      dag
      e 4 call 5008 f returnpoint
      dag
      f 4 return returnpoint
      left rseq 3000 64 15
      left - 4000 16 8         # .plt.sec
      left - 5000 64 8         # .plt
    )";
    const auto got = reconstruct({.map = map, .ring = "main.a\nmain.b\nmain.c\nmain.d\nmain.e\nmain.f\n"});
    using Kind = model::UntracedCallee::Kind;
    const Kind kinds[] = {Kind::Function, Kind::Stub, Kind::Unknown, Kind::Stub, Kind::Stub};
    for (std::uint64_t i = 0; i < 5; ++i) {
      const model::Entry line = got.thread().entry(1 + i);
      QVERIFY((line.flags & model::kEntryUntracedCall) != 0);
      QCOMPARE(model::calleeOf(line).kind, kinds[i]);
    }
    const model::Function* callee = got.trace().function(model::calleeOf(got.thread().entry(1)).function);
    QVERIFY(callee != nullptr);
    QCOMPARE(callee->name, std::string("rseq"));
    QCOMPARE(callee->untraced,
             std::string(format::skipReasonSentence(format::SkipReason::RestartableSequence)));
    QCOMPARE(got.trace().function(got.thread().entry(0).function)->untraced, std::string());
  }

  void callsThroughStubsTellWhoseTheyAre() {
    constexpr std::string_view map = R"(
      function main 1000
      dag
      a 4 call 4000 b
      dag
      b 4 call 4010 c returnpoint
      dag
      c 4 return returnpoint
      left - 4000 32 8         # .plt.sec
    )";
    const auto got = reconstruct(
        {.map = map, .ring = "main.a\nmain.b\nmain.c\n", .lines = stubs({{0x4000, "_ZN3Foo3barEv"}})});
    const model::UntracedCallee named = model::calleeOf(got.thread().entry(1));
    QCOMPARE(named.kind, model::UntracedCallee::Kind::Function);
    const model::Function* callee = got.trace().function(named.function);
    QVERIFY(callee != nullptr);
    QCOMPARE(callee->name, std::string("Foo::bar()"));
    QVERIFY(!callee->module.valid());
    QVERIFY(callee->untraced.contains("another file"));
    QCOMPARE(model::calleeOf(got.thread().entry(2)).kind, model::UntracedCallee::Kind::Stub);
  }

  // A constructor ends in a jump to a function of libc; the linker then calls the next one.
  void whatIsEnteredBehindATailJumpToAnotherFunctionIsNoTailCall() {
    constexpr std::string_view map = R"(
      function setup 2000
      dag
      a 4 tail 4000
      function next 3000
      dag
      a 4 return
      left - 4000 16 8         # .plt.sec
    )";
    const auto isTailCall = [&](const char* name) {
      const auto got =
          reconstruct({.map = map, .ring = "setup.a\nnext.a\n", .lines = stubs({{0x4000, name}})});
      for (model::EntryIndex i = 0; i < got.thread().entryCount(); ++i) {
        const model::Entry entry = got.thread().entry(i);
        const model::Function* function = got.trace().function(entry.function);
        if (entry.kind == model::EntryKind::Call && function != nullptr && function->name == "next")
          return (entry.flags & model::kEntryTailCall) != 0;
      }
      qFatal("next was not called");
      return false;
    };
    QVERIFY(isTailCall("next"));
    QVERIFY(!isTailCall("atexit"));
    QVERIFY(isTailCall(""));  // it may have been
  }
};

QTEST_APPLESS_MAIN(CallsTest)
#include "tst_reconstruct_calls.moc"
