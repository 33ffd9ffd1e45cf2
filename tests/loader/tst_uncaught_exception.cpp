// Whether an exception ended the process is told where the trace shows it, and only there.
#include <QTest>

#include "tests/loader/reconstruction.h"

using namespace traceback;
using tests::reconstruct;

namespace {

// main calls g, which throws; the C++ library is recorded. An untraced function stands between both.
constexpr std::string_view kThrows = R"(
  function main 1000
  dag
  a 4 call 1800 b
  dag
  b 4 call 7800 c returnpoint
  dag
  c 4 return returnpoint
  dag
  p 4 call 7000 q pad
  dag
  q 4 return returnpoint
  function outer 1800
  dag
  a 4 call 2400 b           # left no records
  dag
  b 4 return returnpoint
  function inner 1c00
  dag
  a 4 call 2000 b
  dag
  b 4 return returnpoint
  function g 2000
  dag
  a 4 call 9100 z           # __cxa_throw, by way of the runtime
  dag
  z 4 return returnpoint
  function __cxa_throw 5000
  dag
  a 4 call 6000 b
  dag
  b 4 call 7000 - returnpoint
  function _Unwind_RaiseException 6000
  dag
  a 4 call 6800 b
  dag
  b 4 return returnpoint
  dag
  l 4 tail 0
  function __gxx_personality_v0 6800
  dag
  a 4 branch r t
  t 4 call 7000 - bit=0
  r 4 return bit=1
  function _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE 5800
  dag
  a 4 call 6000 b
  dag
  b 4 call 7000 - returnpoint
  function _ZSt9terminatev 7000
  dag
  a 4 call 9200 -           # abort
  function later 7800
  dag
  a 4 call 9300 z           # std::rethrow_exception, by way of the runtime
  dag
  z 4 return returnpoint
  function handler 8000
  dag
  a 4 return
)";

tests::Outcome behindTheThrow(const QByteArray& ring, std::uint32_t signal) {
  const std::string words =
      "start\nmain.a\nouter.a\ninner.a\ng.a\nexception g.a+3 shop::Empty\n" + ring.toStdString();
  return reconstruct({.map = kThrows, .ring = words, .signal = signal});
}

}  // namespace

class UncaughtExceptionTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void whoseThrowerIsWhatTerminatesIsNotCaught_data() {
    QTest::addColumn<QByteArray>("ring");
    QTest::newRow("no catch") << QByteArray(R"(
      __cxa_throw.a
      _Unwind_RaiseException.a
      __gxx_personality_v0.a r
      _Unwind_RaiseException.b
      __cxa_throw.b
      _ZSt9terminatev.a
      signal 6 at _ZSt9terminatev.a+3 fatal
    )");
    QTest::newRow("a noexcept function is in the way") << QByteArray(R"(
      __cxa_throw.a
      _Unwind_RaiseException.a
      __gxx_personality_v0.a t
      _ZSt9terminatev.a
      signal 6 at _ZSt9terminatev.a+3 fatal
    )");
    QTest::newRow("another signal comes between") << QByteArray(R"(
      __cxa_throw.a
      _Unwind_RaiseException.a
      __gxx_personality_v0.a t
      _ZSt9terminatev.a
      signal 14 at _ZSt9terminatev.a+3
        handler.a
      return
      signal 6 at _ZSt9terminatev.a+3 fatal
    )");
  }
  void whoseThrowerIsWhatTerminatesIsNotCaught() {
    QFETCH(QByteArray, ring);
    const auto got = behindTheThrow(ring, 6);
    QCOMPARE(got.trace().summary.uncaught, std::optional<std::string>("shop::Empty"));
    const auto fault = got.thread().info().fault;
    QVERIFY2(fault.has_value(), got.text.c_str());
    const model::Entry entry = got.thread().entry(*fault);
    QCOMPARE(entry.kind, model::EntryKind::Exception);
    QCOMPARE(got.trace().function(entry.function)->name, std::string("g"));
  }

  void whatIsThrownAgainWasThrownFirstWhereItsTimeSays_data() {
    QTest::addColumn<QByteArray>("again");
    QTest::addColumn<bool>("known");
    QTest::newRow("when it was thrown") << QByteArray("again 500") << true;
    QTest::newRow("when something else was") << QByteArray("again 499") << false;
    QTest::newRow("not known") << QByteArray("again 0") << false;
  }
  void whatIsThrownAgainWasThrownFirstWhereItsTimeSays() {
    QFETCH(QByteArray, again);
    QFETCH(bool, known);
    const std::string rethrow = "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE";
    const std::string words =
        "start\nmain.a\nouter.a\ninner.a\ng.a\ntime 500\nexception g.a+3 shop::Empty\n"
        "g.z\ninner.b\nouter.b\nmain.b\nlater.a\nexception later.a+3 shop::Empty " +
        again.toStdString() + "\n" + rethrow + ".a\n_Unwind_RaiseException.a\n" +
        "__gxx_personality_v0.a r\n_Unwind_RaiseException.b\n" + rethrow + ".b\n" +
        "_ZSt9terminatev.a\nsignal 6 at _ZSt9terminatev.a+3 fatal\n";
    const auto got = reconstruct({.map = kThrows, .ring = words, .signal = 6});
    QVERIFY2(got.trace().summary.uncaught.has_value(), got.text.c_str());
    QCOMPARE(*got.trace().summary.uncaught, std::string("shop::Empty"));
    const model::Entry fault = got.thread().entry(got.thread().info().fault.value());
    QCOMPARE(got.trace().function(fault.function)->name, std::string("later"));
    QVERIFY((fault.flags & model::kEntryAgain) != 0);
    const auto first = got.trace().firstThrowOfFault();
    QCOMPARE(first.has_value(), known);
    if (!known) return;
    const model::Entry thrown = got.thread().entry(first->entry);
    QCOMPARE(thrown.kind, model::EntryKind::Exception);
    QCOMPARE(got.trace().function(thrown.function)->name, std::string("g"));
  }

  void whatAnExceptionSaidIsKnownByItsTime_data() {
    using Thrown = std::vector<std::pair<std::uint64_t, std::string>>;
    QTest::addColumn<Thrown>("thrown");
    QTest::addColumn<QByteArray>("said");
    QTest::newRow("when it was thrown")
        << Thrown{{499, "before"}, {500, "no room\n"}} << QByteArray("no room");
    QTest::newRow("when something else was") << Thrown{{499, "before"}} << QByteArray();
    QTest::newRow("more than was kept")
        << Thrown{{500, std::string(255, 'x')}} << QByteArray(255, 'x') + "...";
    QTest::newRow("when two say something") << Thrown{{500, "no room"}, {500, "no time"}} << QByteArray();
    QTest::newRow("no more than its type") << Thrown{{500, "shop::Empty"}} << QByteArray();
  }
  void whatAnExceptionSaidIsKnownByItsTime() {
    using Thrown = std::vector<std::pair<std::uint64_t, std::string>>;
    QFETCH(Thrown, thrown);
    QFETCH(QByteArray, said);
    const auto got = reconstruct({.map = kThrows,
                                  .ring = "start\nmain.a\nouter.a\ninner.a\ng.a\ntime 500\n"
                                          "exception g.a+3 shop::Empty\ng.z\ninner.b\nouter.b\nmain.b\n",
                                  .thrown = thrown});
    unsigned exceptions = 0;
    for (model::EntryIndex i = 0; i < got.thread().entryCount(); ++i) {
      const model::Entry entry = got.thread().entry(i);
      const bool isException = entry.kind == model::EntryKind::Exception;
      exceptions += isException ? 1 : 0;
      QCOMPARE(got.trace().thrownText(entry), isException ? said.toStdString() : std::string());
    }
    QCOMPARE(exceptions, 1U);
  }

  void otherEndsAreNotOfTheException_data() {
    QTest::addColumn<QByteArray>("ring");
    QTest::addColumn<std::uint32_t>("signal");
    QTest::newRow("caught, and terminated for something else") << QByteArray(R"(
      __cxa_throw.a
      _Unwind_RaiseException.l
      main.p
      _ZSt9terminatev.a
      signal 6 at _ZSt9terminatev.a+3 fatal
    )") << 6U;
    QTest::newRow("caught by who left no records, and terminated for something else") << QByteArray(R"(
      __cxa_throw.a
      _Unwind_RaiseException.l
      _ZSt9terminatev.a
      signal 6 at _ZSt9terminatev.a+3 fatal
    )") << 6U;
    QTest::newRow("thrown, and the C++ library is not recorded") << QByteArray(R"(
      signal 6 at 0x10 fatal
    )") << 6U;
    QTest::newRow("a fault while it terminates") << QByteArray(R"(
      __cxa_throw.a
      _Unwind_RaiseException.a
      __gxx_personality_v0.a t
      _ZSt9terminatev.a
      signal 11 at _ZSt9terminatev.a+3 fault fatal
    )") << 11U;
  }
  void otherEndsAreNotOfTheException() {
    QFETCH(QByteArray, ring);
    QFETCH(std::uint32_t, signal);
    const auto got = behindTheThrow(ring, signal);
    QVERIFY2(got.text.find("signal") != std::string::npos, got.text.c_str());
    QVERIFY2(!got.trace().summary.uncaught, got.text.c_str());
    const auto fault = got.thread().info().fault;
    QVERIFY(!fault || got.thread().entry(*fault).kind != model::EntryKind::Exception);
  }
};

QTEST_APPLESS_MAIN(UncaughtExceptionTest)
#include "tst_uncaught_exception.moc"
