// Exceptions: what they leave on their way, and who goes on behind them, seen or not.
#include <QTest>

#include "tests/loader/reconstruction.h"

using namespace traceback;
using tests::compare;
using tests::reconstruct;
using tests::stubs;

namespace {

// As it is where a function that catches is not traced.
constexpr std::string_view kUnseenCatch = R"(
  function main 1000
  dag
  a 4 call 2000 b
  dag
  b 4 return returnpoint
  function outer 2000
  dag
  a 4 call 2400 b          # left no records
  dag
  b 4 return returnpoint
  function inner 2800
  dag
  a 4 call 3000 b
  dag
  b 4 return returnpoint
  function leaf 3000
  dag
  a 4 call 9100 -           # __cxa_throw
  function after 4000
  dag
  a 4 return
  function __cxa_throw 5000
  dag
  a 4 call 6000 -
  function _Unwind_RaiseException 6000
  dag
  a 4 tail 0
)";

}  // namespace

class ExceptionsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
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
      exception g.a+4 shop::OutOfStock
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
        g 3000-3003
        exception shop::OutOfStock
        return g interrupted
      f 2008-200b catch
      return f interrupted
    main 1008-100b catch
    return main
    sync 2
    )");
    QCOMPARE(got.notes(), std::string());
  }

  // A C++ library that is linked in is called past the runtime, which leaves no record of what is thrown.
  void callOfItsOwnThrowerIsAnException() {
    constexpr std::string_view map = R"(
      function main 1000
      dag
      a 4 call 3000 b
      dag
      b 4 return returnpoint
      dag
      p 4 return pad
      function g 3000
      dag
      a 4 call 5000 z
      dag
      z 4 return returnpoint
      function __cxa_throw 5000
      dag
      a 4 call 6000 -
      function _Unwind_RaiseException 6000
      dag
      a 4 tail 0
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      main.a
      g.a
      __cxa_throw.a
      _Unwind_RaiseException.a
      main.p
      thread-end
    )"});
    compare(got.text, R"(
    call main
    main 1000-1003
      call g
      g 3000-3003
      exception
        call __cxa_throw
        __cxa_throw 5000-5003
          call _Unwind_RaiseException
          _Unwind_RaiseException 6000-6003
          return _Unwind_RaiseException
        return __cxa_throw interrupted
      return g interrupted
    main 1008-100b catch
    return main
    sync 2
    )");
    QCOMPARE(got.notes(), std::string());
  }

  // main calls outer, that an untraced function, that leaf, which throws: what follows is not called by leaf.
  void whatCatchesAnExceptionUnseenIsNotTheThrower() {
    const auto got = reconstruct({.map = kUnseenCatch, .ring = R"(
      start
      main.a
      outer.a
      inner.a
      leaf.a
      exception leaf.a+3
      after.a
      after.a
      outer.b
      main.b
      thread-end
    )"});
    compare(got.text, R"(
    sync 1
    call main
    main 1000-1003
      call outer
      outer 2000-2003
        call inner
        inner 2800-2803
          call leaf
          leaf 3000-3003
          exception
          return leaf interrupted
        return inner interrupted
      gap unknown
        call after
        after 4000-4003
        return after
        call after
        after 4000-4003
        return after
      outer 2004-2007
      return outer
    main 1004-1007
    return main
    sync 2
    )");
    QCOMPARE(got.notes(), std::string());
  }

  // The unwinder itself leaves records, up to its jump to the landing pad.
  void whatCatchesAnExceptionUnseenIsNotTheUnwinder() {
    const auto got = reconstruct({.map = kUnseenCatch,
                                  .ring = R"(
      start
      main.a
      outer.a
      inner.a
      leaf.a
      exception leaf.a+3
      __cxa_throw.a
      _Unwind_RaiseException.a
      after.a
      outer.b
      main.b
      thread-end
    )",
                                  .lines = stubs({{0x9100, "__cxa_throw"}})});
    compare(got.text, R"(
    sync 1
    call main
    main 1000-1003
      call outer
      outer 2000-2003
        call inner
        inner 2800-2803
          call leaf
          leaf 3000-3003
          exception
            call __cxa_throw
            __cxa_throw 5000-5003
              call _Unwind_RaiseException
              _Unwind_RaiseException 6000-6003
              return _Unwind_RaiseException interrupted
            return __cxa_throw interrupted
          return leaf interrupted
        return inner interrupted
      gap unknown
        call after
        after 4000-4003
        return after
      outer 2004-2007
      return outer
    main 1004-1007
    return main
    sync 2
    )");
  }

  void theUnwindersOtherJumpsAreTailCalls() {
    constexpr std::string_view map = R"(
      function _Unwind_DeleteException 1000
      dag
      a 4 tail 0
      function cleanup 2000
      dag
      a 4 return
    )";
    const auto got = reconstruct({.map = map, .ring = "_Unwind_DeleteException.a\ncleanup.a\nthread-end\n"});
    compare(got.text, R"(
    call _Unwind_DeleteException
    _Unwind_DeleteException 1000-1003
    return _Unwind_DeleteException
    call cleanup tail
    cleanup 2000-2003
    return cleanup
    sync 2
    )");
  }

  // What ends the program is called by the thrower, for all that is known.
  void whereNothingUnseenMayHaveCaughtItTheThrowerStays() {
    const auto got = reconstruct({.map = kUnseenCatch, .ring = R"(
      start
      inner.a
      leaf.a
      exception leaf.a+3
      after.a
      thread-end
    )"});
    compare(got.text, R"(
    sync 1
    call inner
    inner 2800-2803
      call leaf
      leaf 3000-3003
      exception
      gap unknown
        call after
        after 4000-4003
        return after
      sync 2
      return leaf interrupted
    return inner interrupted
    )");
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
};

QTEST_APPLESS_MAIN(ExceptionsTest)
#include "tst_reconstruct_exceptions.moc"
