#include <QTest>

#include "model/instruction_steps.h"
#include "tests/builders/trace_text.h"

using namespace traceback::model;
using namespace traceback::tests;

namespace {

// A line N is the four bytes from 4 * N into its function: two instructions of two here.
constexpr const char* kText = R"(
    call main main.c
      10
      call tail main.c inlined
        40
        call deep deep.c
          50
        41
      11
      call work work.c
        20
        gap damaged
        21 fault
)";

std::vector<VirtAddr> pairs(ModuleId, const CodeRange& range) {
  std::vector<VirtAddr> all;
  for (std::uint64_t at = range.first.value; at <= range.last.value; at += 2) all.push_back({at});
  return all;
}

}  // namespace

class InstructionStepTest : public QObject {
  Q_OBJECT

 private:
  // "10" and "10'" are the first and second instruction of line 10.
  static QString name(const ThreadTrace& thread, const InstructionPlace& place) {
    const Entry entry = thread.entry(place.entry);
    if (entry.kind == EntryKind::Gap) return QStringLiteral("gap");
    const bool second = place.address && *place.address != entry.address;
    return QString::number(entry.line) + (second ? QStringLiteral("'") : QString());
  }
  static QString walk(Step how, InstructionPlace at, const InstructionsOf& of = pairs) {
    const auto trace = traceOf(kText, 3);
    const ThreadTrace& thread = *trace->threads[0];
    QStringList names{name(thread, at)};
    while (const auto to = stepInstruction(thread, at, how, of)) {
      names.append(name(thread, *to));
      at = *to;
    }
    return names.join(u' ');
  }
  static InstructionPlace place(std::uint32_t line, bool second = false) {
    const auto trace = traceOf(kText);
    const EntryIndex at = lineAt(*trace->threads[0], line);
    return {at, VirtAddr{trace->threads[0]->entry(at).address.value + (second ? 2 : 0)}};
  }

 private slots:
  void stepsVisitEveryInstructionThatRan() {
    QCOMPARE(walk(Step::Into, place(10)),
             QStringLiteral("10 10' 40 40' 50 50' 41 41' 11 11' 20 20' gap 21 21'"));
    QCOMPARE(walk(Step::Back, place(21, true)),
             QStringLiteral("21' 21 gap 20' 20 11' 11 41' 41 50' 50 40' 40 10' 10"));
  }
  void overGoesIntoWhatIsInlinedAndPastWhatIsCalled() {
    QCOMPARE(walk(Step::Over, place(10, true)), QStringLiteral("10' 40 40' 41 41' 11 11'"));
    QCOMPARE(walk(Step::BackOver, place(11, true)), QStringLiteral("11' 11 41' 41 40' 40 10' 10"));
    // At the end of a callee it goes on in the caller, and at its beginning it came from there.
    QCOMPARE(walk(Step::Over, place(50, true)), QStringLiteral("50' 41 41' 11 11'"));
    QCOMPARE(walk(Step::BackOver, place(20)), QStringLiteral("20 11' 11 41' 41 40' 40 10' 10"));
  }
  void outLeavesAFrameOfTheMachine() {
    QCOMPARE(walk(Step::Out, place(50)), QStringLiteral("50 41"));
    QCOMPARE(walk(Step::BackOut, place(50)), QStringLiteral("50 40'"));
    // Inlined code is the function's around it, which has no caller here.
    QCOMPARE(walk(Step::Out, place(40)), QStringLiteral("40"));
    QCOMPARE(walk(Step::BackOut, place(21)), QStringLiteral("21 11'"));
  }
  void entriesWhoseInstructionsCannotBeReadAreOneStep() {
    const auto none = [](ModuleId, const CodeRange&) { return std::vector<VirtAddr>(); };
    QCOMPARE(walk(Step::Into, place(10), none), QStringLiteral("10 40 50 41 11 20 gap 21'"));
  }
  void aFaultStandsAtTheInstructionThatFaulted() {
    const auto trace = traceOf(kText);
    const ThreadTrace& thread = *trace->threads[0];
    const Entry fault = thread.entry(*thread.info().fault);
    QCOMPARE(standingInstruction(fault)->value, fault.last.value);
    QCOMPARE(standingInstruction(thread.entry(lineAt(thread, 10)))->value, 0x1000U + 40);
    QVERIFY(!standingInstruction(thread.entry(*thread.info().fault - 1)));
  }
};

QTEST_GUILESS_MAIN(InstructionStepTest)
#include "tst_instruction_steps.moc"
