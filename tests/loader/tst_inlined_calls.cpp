// Which pieces of inlined code are of one call, as control comes to them one after the other.
#include <QTest>

#include "loader/reconstruct/inlined_calls.h"

using namespace traceback;
using loader::InlinedCalls;
using loader::InlinedFunction;
using loader::InlinedInstance;

namespace {

constexpr InlinedInstance kCallee = 1, kOther = 2, kWithin = 3;

// Pieces by one digit each, of what it says: 'p' the caller's; a, b, c the callee's, d, e another's beside
// it; x, y what is inlined into the callee. In capitals what begins a call, of those that control comes into.
class Pieces {
 public:
  std::string run(std::string_view pieces) {
    std::string begun;
    for (const char piece : pieces) begun += run(piece);
    return begun;
  }

 private:
  static std::vector<InlinedFunction> stackOf(char piece) {
    const auto one = [](InlinedInstance instance) {
      return InlinedFunction{.function = {instance}, .instance = instance, .file = {}};
    };
    switch (piece) {
      case 'p':
      case 'q':
        return {};
      case 'd':
      case 'e':
        return {one(kOther)};
      case 'x':
      case 'y':
        return {one(kCallee), one(kWithin)};
      default:
        return {one(kCallee)};
    }
  }

  char run(char piece) {
    const auto now = stackOf(piece);
    m_calls.run(static_cast<std::uint32_t>(piece), now.size());
    std::size_t stayed = 0;
    while (stayed < now.size() && stayed < m_stack.size() && now[stayed] == m_stack[stayed]) ++stayed;
    stayed = m_calls.underWayOf(std::span(now).first(stayed));
    bool begins = false;
    for (std::size_t i = stayed; i < now.size(); ++i) begins = m_calls.enter(now[i].instance, i + 1);
    m_stack = now;
    return begins ? static_cast<char>(piece - 'a' + 'A') : piece;
  }

  InlinedCalls m_calls;
  std::vector<InlinedFunction> m_stack;
};

std::string begun(std::string_view pieces) { return Pieces().run(pieces); }

}  // namespace

class InlinedCallsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void codeOfTheCallersInBetweenDoesNotEndACall() {
    QCOMPARE(begun("papbqc"), std::string("pApbqc"));
    QCOMPARE(begun("adbec"), std::string("ADbec"));
  }
  void eachRoundOfTheCallersLoopIsACall() {
    QCOMPARE(begun("papa"), std::string("pApA"));
    QCOMPARE(begun("apbqapbqapbq"), std::string("ApbqApbqApbq"));
    QCOMPARE(begun("adbeadbe"), std::string("ADbeADbe"));
  }
  void whatIsMovedOutOfTheCallersLoopIsOfItsFirstCall() {
    QCOMPARE(begun("apbqbqbq"), std::string("ApbqBqBq"));
    // In a loop around that, too, and where it runs straight into the loop.
    QCOMPARE(begun("abpbpqabpbp"), std::string("AbpBpqaBpBp"));
  }
  void loopsOfTheCalleesOwnAreNoCalls() {
    QCOMPARE(begun("pabababcp"), std::string("pAbababcp"));
    QCOMPARE(begun("pabqc"), std::string("pAbqc"));
  }
  void whatIsInlinedIntoACallIsCalledAnewByTheNext() {
    QCOMPARE(begun("paxbpaxb"), std::string("pAXbpAXb"));
    QCOMPARE(begun("paxqybp"), std::string("pAXqybp"));
    // By a loop of its caller's.
    QCOMPARE(begun("paxbxbx"), std::string("pAXbXbX"));
  }
  void manyPiecesAreForgottenAndNothingElseHappens() {
    InlinedCalls calls;
    std::size_t begun = 0;
    constexpr std::uint32_t kMany = 10'000;
    for (std::uint32_t i = 1; i <= kMany; ++i) {
      calls.run(2 * i, 0);
      calls.run(2 * i + 1, 1);
      begun += calls.enter(i, 1) ? 1 : 0;
    }
    QCOMPARE(begun, std::size_t{kMany});
  }
};

QTEST_GUILESS_MAIN(InlinedCallsTest)
#include "tst_inlined_calls.moc"
