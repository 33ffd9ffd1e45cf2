// Questions in words: how they are read, and what they find.
#include <QTest>
#include <algorithm>
#include <format>

#include "model/call_tree.h"
#include "model/queries.h"
#include "model/query/answer.h"
#include "model/query/patterns.h"
#include "tests/builders/trace_text.h"

using namespace traceback::model;
using namespace traceback::tests;

namespace {

constexpr const char* kStory = R"(
    call main main.c
      10
      call open door.c
        30
      11
      call visit visit.c
        20
        call open door.c
          30
          31
        21
        exception
      12
      call close door.c
        40
      call visit visit.c
        20
        call open door.c
          30
        21 fault
      signal 11
    thread 2 worker
    gap overwritten
    in work work.c
      5
      call open door.c
        30
)";

QString problemOf(const char* text) {
  const auto parsed = parseQuestion(text);
  return parsed ? QString("none")
                : QString::number(parsed.error().offset) + ": " + parsed.error().message.c_str();
}

struct Asked {
  std::shared_ptr<const Trace> trace = traceOf(kStory, 3);

  Answer ask(const char* text, std::optional<EntryIndex> at = {}, std::size_t limit = 100) const {
    const auto parsed = parseQuestion(text);
    if (!parsed) qFatal("%s: %s", text, parsed.error().message.c_str());
    return answer(*trace, {ThreadIndex{0}, at}, *parsed, limit);
  }
  // "1:30 1:30 2:30": thread and line where one would stand.
  std::string places(const char* text, std::optional<EntryIndex> at = {}) const {
    std::string list;
    for (const AnswerRow& row : ask(text, at).rows) {
      const Entry entry = trace->threads[row.thread.value]->entry(row.position.value());
      list +=
          (list.empty() ? "" : " ") + std::to_string(row.thread.value + 1) + ":" + std::to_string(entry.line);
    }
    return list;
  }
  EntryIndex line(std::uint32_t number, int nth = 1) const { return lineAt(*trace->threads[0], number, nth); }
};

// Whether all frames from one on stand for all of a stack from a level on.
bool fits(const std::vector<std::string>& frames, std::size_t frame, const std::vector<std::string>& stack,
          std::size_t level) {
  if (frame == frames.size()) return level == stack.size();
  if (frames[frame] != "*")
    return level < stack.size() && stack[level] == frames[frame] && fits(frames, frame + 1, stack, level + 1);
  for (std::size_t to = stack.size() + 1; to-- > level;)
    if (fits(frames, frame + 1, stack, to)) return true;
  return false;
}

// By activeCalls(); of a Call with its callee.
std::vector<std::string> stackAt(const Trace& trace, const ThreadTrace& thread, EntryIndex at) {
  std::vector<std::string> stack;
  const auto add = [&](FunctionId id) {
    const Function* function = trace.function(id);
    stack.push_back(function != nullptr ? function->name : std::string());
  };
  if (thread.entry(at).kind == EntryKind::Call) add(thread.entry(at).function);
  for (const CallSpan& call : activeCalls(thread, at)) add(call.function);
  std::ranges::reverse(stack);
  return stack;
}

}  // namespace

class QuestionTest : public QObject {
  Q_OBJECT

 private slots:
  void theLongFormIsRead() {
    const auto parsed =
        parseQuestion("goto current backward block_entry 2 where stack=<*,a,b> and src=<foo.c,7>");
    QVERIFY(parsed.has_value());
    const auto& asked = std::get<Goto>(*parsed);
    QVERIFY(asked.from == Goto::From::Current && !asked.forward && asked.event == EventKind::Block);
    QCOMPARE(asked.count, 2u);
    QVERIFY(asked.where && asked.where->kind == Condition::Kind::And);
    QCOMPARE(asked.where->parts.size(), 2u);
    QCOMPARE(asked.where->parts[0].frames, (std::vector<std::string>{"*", "a", "b"}));
    QCOMPARE(asked.where->parts[1].source, (SourcePattern{"foo.c", 7, 7}));
  }

  void andBindsCloserThanOr() {
    const auto parsed = parseQuestion("next signal where func=a or func=b and not (func=c or func=d)");
    QVERIFY(parsed.has_value());
    const Condition& where = *std::get<Goto>(*parsed).where;
    QVERIFY(where.kind == Condition::Kind::Or);
    QVERIFY(where.parts[1].kind == Condition::Kind::And);
    QVERIFY(where.parts[1].parts[1].kind == Condition::Kind::Not);
    QVERIFY(where.parts[1].parts[1].parts[0].kind == Condition::Kind::Or);
  }

  void exceptionsAreAskedForByTypeAndText() {
    const auto parsed = parseQuestion("previous exception where thrown=shop::Empty and said=\"no room\"");
    QVERIFY(parsed.has_value());
    const Condition& where = *std::get<Goto>(*parsed).where;
    QVERIFY(where.parts[0].kind == Condition::Kind::Thrown && where.parts[1].kind == Condition::Kind::Said);
    QCOMPARE(where.parts[0].frames, std::vector<std::string>{"shop::Empty"});
    QCOMPARE(where.parts[1].frames, std::vector<std::string>{"no room"});
    const auto wrong = parseQuestion("next exception where said=");
    QVERIFY(!wrong && wrong.error().message == "what an exception said is missing");
  }

  void placesAreLinesOrFunctions() {
    QCOMPARE(
        std::get<Place>(std::variant<Place>(std::get<Never>(*parseQuestion("never(a/foo.c:3-9)")).place)),
        Place(SourcePattern{"a/foo.c", 3, 9}));
    QCOMPARE(std::get<Never>(*parseQuestion("never(ns::f)")).place, Place(std::string("ns::f")));
    QCOMPARE(std::get<Never>(*parseQuestion("never(\"operator new(unsigned long)\")")).place,
             Place(std::string("operator new(unsigned long)")));
  }

  void aFileWhoseNameHoldsSignsIsQuotedWithOrWithoutItsLine() {
    const auto isLine = [](const Place& place, const char* file, std::uint32_t first, std::uint32_t last) {
      const auto* line = std::get_if<SourcePattern>(&place);
      return line != nullptr && line->file == file && line->first == first && line->last == last;
    };
    for (const char* text : {"never(\"a(1) b,c.cpp\":15)", "never(\"a(1) b,c.cpp:15\")"}) {
      const auto parsed = parseQuestion(text);
      QVERIFY2(parsed.has_value(), text);
      QVERIFY2(isLine(std::get<Never>(*parsed).place, "a(1) b,c.cpp", 15, 15), text);
    }
    for (const char* text : {"lines(\"a b.c\":3-9) where func=f", "lines(\"a b.c:3-9\")"}) {
      const auto parsed = parseQuestion(text);
      QVERIFY2(parsed.has_value(), text);
      QVERIFY2(isLine(std::get<Occurrences>(*parsed).place, "a b.c", 3, 9), text);
    }
    const auto between = std::get<Between>(*parseQuestion("between(\"a b.c:3\", \"f(int)\")"));
    QVERIFY(isLine(between.from, "a b.c", 3, 3));
    QCOMPARE(between.to, Place(std::string("f(int)")));
    // A colon in a function's name leads to no line.
    for (const char* name : {"ns::f(int)", "f(A::B)", "main::{lambda()#1}::operator()", "a:b", "x::3", ":3"})
      QCOMPARE(std::get<Never>(*parseQuestion("never(\"" + std::string(name) + "\")")).place,
               Place(std::string(name)));
    QCOMPARE(problemOf("lines(\"a b.c\":0)"), "14: a line is a number, or two joined by '-'");
    QCOMPARE(problemOf("lines(\"a b.c\")"), "0: lines() takes FILE:N");
  }

  void aQuotedNameOfAFunctionThatIsCalledSoIsNoLine() {
    const auto trace = traceOf("call main main.c\n  10\n");
    Function odd;
    odd.name = "main.c:10";
    trace->functions.push_back(odd);
    const auto ask = [&](const char* text) {
      return answer(*trace, {ThreadIndex{0}, {}}, *parseQuestion(text), 9);
    };
    QCOMPARE(ask("never(main.c:10)").rows.size(), 1u);
    QCOMPARE(ask("never(\"/src/main.c:10\")").rows.size(), 1u);
    QCOMPARE(ask("never(\"main.c:10\")").rows.size(), 0u);
    QCOMPARE(ask("calls(\"main.c:10\")").rows.size(), 0u);
  }

  void whatIsWrongIsSaidWithItsPlace() {
    QCOMPARE(problemOf(""),
             "0: a question begins with goto, next, previous, calls, lines, exceptions, between or never");
    QCOMPARE(problemOf("goto here forward signal"), "5: current, first or last must stand here, not 'here'");
    QCOMPARE(problemOf("next"), "4: func_enter, func_exit, block_entry, exception or signal is missing");
    QCOMPARE(problemOf("calls(push<int>)"),
             "10: ')' must stand here, not '<'; a name that holds it stands in \"quotes\"");
    QCOMPARE(problemOf("next signal 0"), "12: a count from 1, or where must stand here, not '0'");
    QCOMPARE(problemOf("calls(f) f"), "9: 'f' is too much");
    QCOMPARE(problemOf("calls(f.c:3)"), "0: calls() takes the name of a function");
    QCOMPARE(problemOf("lines(f.c:0)"), "10: a line is a number, or two joined by '-'");
    QCOMPARE(problemOf("calls(\"f)"), "0: a quote is not closed");
    QCOMPARE(problemOf("next signal where stack=<a"), "26: ',' or '>' is missing");
    const std::string deep = "next signal where " + std::string(1000, '(');
    QVERIFY(problemOf(deep.c_str()).endsWith("too many brackets"));
  }

  void aSearchBoxKnowsAQuestion() {
    for (const char* text :
         {"goto last backward signal", "calls(f)", "next exception", "exceptions()", "never(x.c:1)"})
      QVERIFY2(looksLikeQuestion(text), text);
    for (const char* text :
         {"next", "calls", "nextItem", "goto(", "main.c:10", "never mind(", "exceptions", ""})
      QVERIFY2(!looksLikeQuestion(text), text);
  }

  void namesMayLeaveOutScopeAndArguments() {
    QVERIFY(nameMatches("f", "ns::f(int)"));
    QVERIFY(nameMatches("ns::f", "ns::f(int)"));
    QVERIFY(nameMatches("ns::*", "ns::f(int)"));
    QVERIFY(nameMatches("operator()", "A<void (int)>::operator()(int) const"));
    QVERIFY(nameMatches("g", "(anonymous namespace)::g(std::vector<int, std::allocator<int> >)"));
    QVERIFY(!nameMatches("f", "ns::ff(int)"));
    QVERIFY(!nameMatches("int", "ns::f(int)"));
    QVERIFY(pathMatches("foo.c", "/src/foo.c") && !pathMatches("foo.c", "/src/afoo.c"));
  }

  void theNthEventIsFoundEitherWay() {
    const Asked story;
    QCOMPARE(story.places("goto first forward func_enter 2"), "1:30");
    QCOMPARE(story.places("goto first forward func_enter 3"), "1:20");
    QCOMPARE(story.places("goto last backward func_enter 1"), "1:30");
    QCOMPARE(story.places("goto last backward block_entry 1"), "1:21");
    QCOMPARE(story.places("goto last backward exception"), QString("1:%1").arg(0).toStdString());
    QCOMPARE(story.places("previous func_exit", story.line(12)), "1:0");
    QCOMPARE(story.places("next func_enter", story.line(12)), "1:40");
    // The call whose first line one stands on is not gone to again.
    QCOMPARE(story.places("previous func_enter", story.line(30, 2)), "1:20");
    QCOMPARE(story.places("previous func_enter 100", story.line(30, 2)), "");
  }

  void whatCatchesAnExceptionIsFoundAsOne() {
    const auto trace =
        traceOf("call main main.c\n  10\n  call f f.c\n    5\n    6 catch\n  11 catch\n  12\n");
    const auto places = [&](const char* text) {
      return answer(*trace, {ThreadIndex{0}, {}}, *parseQuestion(text), 9).rows.at(0).position;
    };
    QCOMPARE(places("previous exception"), std::optional(lineAt(*trace->threads[0], 11)));
    QCOMPARE(places("previous exception 2"), std::optional(lineAt(*trace->threads[0], 6)));
  }

  void exceptionsAreFoundByTypeAndByWhatTheySaid() {
    const auto trace = traceOf(R"(
        in main main.c
          10
          time 5
          exception shop::Empty
          11 catch
          time 6
          exception std::runtime_error
          12
    )");
    trace->thrownTexts = {{5, "No room for 3"}, {6, "no time"}};
    const auto found = [&](const char* text) {
      const auto rows = answer(*trace, {ThreadIndex{0}, {}}, *parseQuestion(text), 9).rows;
      return rows.size() == 1 ? trace->exceptionType(trace->threads[0]->entry(rows[0].match).detail) : "";
    };
    QCOMPARE(found("previous exception where thrown=Empty"), "shop::Empty");
    QCOMPARE(found("previous exception where thrown=std::*"), "std::runtime_error");
    QCOMPARE(found("previous exception where said=\"NO ROOM\""), "shop::Empty");
    QCOMPARE(found("previous exception where said=no*3"), "shop::Empty");
    QCOMPARE(found("previous exception where said=\"no \""), "std::runtime_error");
    QCOMPARE(found("previous exception where thrown=Empty and said=time"), "");
    QCOMPARE(found("goto last backward exception 3 where said=no"), "");
    QCOMPARE(found("exceptions() where thrown=Empty"), "shop::Empty");
    QCOMPARE(found("exceptions() where said=no"), "");  // both
    QCOMPARE(found("exceptions() where said=nobody"), "");
    // What catches one says nothing.
    const auto caught = answer(*trace, {ThreadIndex{0}, {}},
                               *parseQuestion("goto first forward exception where not said=no"), 9);
    QCOMPARE(caught.rows.size(), 1u);
    QCOMPARE(trace->threads[0]->entry(caught.rows[0].match).line, 11u);
  }

  void stacksAndSourcesNarrow() {
    const Asked story;
    QCOMPARE(story.ask("calls(open)").rows.size(), 4u);
    QCOMPARE(story.ask("calls(open) where stack=<*,visit,open>").rows.size(), 2u);
    QCOMPARE(story.ask("calls(open) where stack=<main,open>").rows.size(), 1u);
    QCOMPARE(story.ask("calls(open) where not stack=<*,visit,*>").rows.size(), 2u);
    QCOMPARE(story.places("lines(door.c:31)"), "1:31");
    QCOMPARE(story.places("goto last backward block_entry 2 where stack=<*,main,visit> and src=<visit.c,20>"),
             "1:20");
    QCOMPARE(story.places("goto last backward func_enter where src=<door.c,40>"), "1:40");
  }

  void stretchesGoFromOneToTheNextOfTheOther() {
    const Asked story;
    const auto found = story.ask("between(main.c:10, main.c:12)");
    QCOMPARE(found.rows.size(), 1u);
    QCOMPARE(found.rows[0].match, story.line(10));
    QCOMPARE(found.rows[0].end, std::optional(story.line(12)));
    // Two opens before the one close; what follows it stays open.
    QCOMPARE(story.ask("between(open, close)").rows.size(), 2u);
  }

  void aStretchBeginsInACallThatWasUnderWayAsTheTraceBegan() {
    const auto trace = traceOf(R"(
        in main main.c
          10
          call step step.c
            20
          11
          call step step.c
            20
    )");
    const ThreadTrace& thread = *trace->threads[0];
    const Answer found = answer(*trace, {ThreadIndex{0}, {}}, *parseQuestion("between(main, step)"), 9);
    QCOMPARE(found.rows.size(), 1u);
    QCOMPARE(found.rows[0].position, std::optional(lineAt(thread, 10)));
    QCOMPARE(found.rows[0].end, std::optional(callAt(*trace, thread, "step")));
    QCOMPARE(found.note, std::string());
  }

  void aStretchEndsNowhereBeforeItsBegin() {
    const auto trace = traceOf("in main main.c\n  call step step.c\n    20\n  11\n");
    const Answer found = answer(*trace, {ThreadIndex{0}, {}}, *parseQuestion("between(main, step)"), 9);
    QCOMPARE(found.rows.size(), 1u);
    QCOMPARE(found.rows[0].end, std::optional(EntryIndex{0}));
    QVERIFY(found.rows[0].match <= *found.rows[0].end);
  }

  // Either way, with calls that were not seen: all that activeCalls() says.
  void stacksAreThoseOfTheActiveCalls_data() {
    QTest::addColumn<QString>("text");
    QTest::newRow("plain") << kStory;
    QTest::newRow("under way") << R"(
      in main main.c
        10
        in f f.c
          1
          call g g.c
            2
        in h h.c
          3
        11
        call f f.c
          call g g.c
            2
            call f f.c
              sync
              1
              call f f.c
                1
              exception
          signal 11
        gap damaged
        in g g.c
          2
          call main main.c
            10
      in f f.c
        call h h.c
          3
      in main main.c
        call g g.c interrupted
          2
          gap damaged
        12
    )";
    // Down, in part up again, and so on, over several batches.
    QString deep = "in main main.c\n";
    for (int round = 0, depth = 1; round < 8; ++round) {
      for (int i = 0; i < 150; ++i, ++depth)
        deep += QString(depth, u' ') + (i % 7 == 0 ? "call g g.c\n" : "call f f.c\n") +
                QString(depth + 1, u' ') + "5\n";
      for (int i = 0; i < (round == 3 ? 300 : 90); ++i) deep += QString(--depth, u' ') + "6\n";
    }
    QTest::newRow("several batches") << deep;
  }
  void stacksAreThoseOfTheActiveCalls() {
    QFETCH(QString, text);
    const auto trace = traceOf(text.toStdString(), 7);
    for (std::uint32_t number = 0; number < trace->threads.size(); ++number) {
      const ThreadTrace& thread = *trace->threads[number];
      std::vector<std::vector<std::string>> stacks;
      for (EntryIndex at = 0; at < thread.entryCount(); ++at) stacks.push_back(stackAt(*trace, thread, at));
      const auto check = [&](const std::string& condition, const char* event, EntryKind kind) {
        const auto parsed = parseQuestion("next signal where " + condition);
        const auto& frames = std::get<Goto>(*parsed).where->frames;
        std::vector<EntryIndex> expected;
        for (EntryIndex at = 0; at < thread.entryCount(); ++at)
          if (thread.entry(at).kind == kind && fits(frames, 0, stacks[at], 0)) expected.push_back(at);
        const std::size_t count = expected.size();
        for (const std::size_t nth : {std::size_t{1}, count / 3, count / 2, count, count + 1})
          for (const bool forward : {true, false}) {
            if (nth == 0) continue;
            const auto asked = std::format(
                "goto {} {} {} where {}", forward ? "first forward" : "last backward", event, nth, condition);
            const Answer found = answer(*trace, {ThreadIndex{number}, {}}, *parseQuestion(asked), 1);
            QVERIFY2(found.rows.empty() == (nth > count), asked.c_str());
            if (nth <= count)
              QVERIFY2(found.rows[0].match == expected[forward ? nth - 1 : count - nth], asked.c_str());
          }
      };
      for (const char* condition :
           {"stack=<*,g>", "stack=<main,*>", "stack=<*,f,*>", "stack=<*,f,g,*>", "stack=<*,main,*,f>",
            "stack=<f>", "stack=<*>", "stack=<main,f,g>", "stack=<*,f,f,*,g>", "stack=<nosuch>"}) {
        check(condition, "func_enter", EntryKind::Call);
        check(condition, "func_exit", EntryKind::Return);
        check(condition, "block_entry", EntryKind::Line);
      }
    }
  }

  // Of each of which the whole stack would be looked at, were it not kept: that would be two thousand
  // millions.
  void deepStacksAreAsked() {
    std::vector<Entry> entries(60'000);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      entries[i].kind = EntryKind::Call;
      entries[i].depth = static_cast<std::int32_t>(i);
      entries[i].function = FunctionId{i == 0 ? 0U : 1U};
    }
    Trace trace;
    for (const char* name : {"main", "f"}) {
      Function function;
      function.name = name;
      trace.functions.push_back(function);
    }
    trace.threads.push_back(threadOf(entries, 1000));
    const auto ask = [&](const char* text) {
      return answer(trace, {ThreadIndex{0}, {}}, *parseQuestion(text), 100'000).rows.size();
    };
    QCOMPARE(ask("calls(f) where stack=<nosuch>"), 0u);
    QCOMPARE(ask("calls(f) where stack=<main,*,nosuch,*>"), 0u);
    QCOMPARE(ask("calls(f) where stack=<main,*,f,f,*>"), 59'998u);
    QCOMPARE(ask("goto last backward func_enter where stack=<*,main,f>"), 1u);
  }

  void neverSaysWhatItCannotKnow() {
    const Asked story;
    QVERIFY(story.ask("never(main.c:11)").note.starts_with("it ran"));
    QCOMPARE(story.ask("never(main.c:99)").rows.size(), 0u);
    QCOMPARE(story.ask("never(main.c:99)").note,
             "never, in what the trace holds; what ran in its 1 gap is not known; a line of which the "
             "compiler left "
             "no code leaves no entry");
    QVERIFY(story.ask("never(nowhere.c:1)").note.ends_with("nothing in it has that name"));
  }

  void inlinedCallsMayBeToldMoreThanOnce() {
    const auto trace = traceOf("call main main.c\n  10\n  call small main.c inlined\n    20\n  11\n");
    const auto noteOf = [&](const char* question) {
      return answer(*trace, {ThreadIndex{0}, {}}, *parseQuestion(question), 9).note;
    };
    QVERIFY(noteOf("calls(small)").starts_with("of inlined calls more or fewer may be here"));
    QCOMPARE(noteOf("calls(main)"), std::string());
    QVERIFY(noteOf("never(small)").starts_with("it ran"));
  }

  void aLineAllOfWhoseCodeIsInlinedRan() {
    const auto trace = traceOf(R"(
call main main.c
  10
  call small small.c from 12 inlined
    5
  13
)");
    const auto ask = [&](const char* question) {
      return answer(*trace, {ThreadIndex{0}, {}}, *parseQuestion(question), 9);
    };
    QVERIFY(ask("never(main.c:12)").note.starts_with("it ran"));
    const Answer lines = ask("lines(main.c:12)");
    QCOMPARE(lines.rows.size(), 1u);
    QCOMPARE(lines.rows.front().match, EntryIndex{2});
    QCOMPARE(lines.rows.front().position, EntryIndex{3});
    QCOMPARE(ask("between(main.c:12, main.c:13)").rows.size(), 1u);
    QVERIFY(ask("never(main.c:11)").note.starts_with("never"));
  }

  void whatGoesOnIsNoCallOfItsOwn() {
    const auto trace = traceOf(R"(
call main main.c
  call small small.c from 12 inlined
    5
  13
  call small small.c from 12 inlined resumed
    6
)");
    const auto rowsOf = [&](const char* question) {
      return answer(*trace, {ThreadIndex{0}, {}}, *parseQuestion(question), 9).rows.size();
    };
    QCOMPARE(rowsOf("calls(small)"), 1u);
    QCOMPARE(rowsOf("goto first forward func_enter 2"), 1u);
    QCOMPARE(rowsOf("goto first forward func_enter 3"), 0u);
    QCOMPARE(findAll(*trace->threads[0], FunctionQuery{{FunctionId{1}}}, 9).hits.size(), 1u);
  }

  void ofWhatLeavesNoRecordsItIsNotSaidThatItNeverRan() {
    const auto trace = traceOf("call main main.c\n  10 untraced\n");
    Function puts;
    puts.name = "puts";
    puts.untraced = "it is in another file";
    trace->functions.push_back(puts);
    const Answer never = answer(*trace, {ThreadIndex{0}, {}}, *parseQuestion("never(puts)"), 9);
    QCOMPARE(
        never.note,
        std::string(
            "never, in what the trace holds; but calls of puts leave no records, for it is in another file"));
  }

  void aCallThatTheTraceBeginsInsideIsFound() {
    const Asked story;
    QCOMPARE(story.places("calls(work)"), "2:0");
  }

  void rowsEndAtTheLimit() {
    const Asked story;
    const auto found = story.ask("calls(open)", {}, 2);
    QCOMPARE(found.rows.size(), 2u);
    QVERIFY(found.more);
    std::stop_source stop;
    stop.request_stop();
    const auto cancelled =
        answer(*story.trace, {ThreadIndex{0}, {}}, *parseQuestion("calls(open)"), 9, stop.get_token());
    QVERIFY(cancelled.cancelled && cancelled.rows.empty());
  }
};

QTEST_APPLESS_MAIN(QuestionTest)
#include "tst_question.moc"
