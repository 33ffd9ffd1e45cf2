// Two traces side by side: what is aligned with what, and where they part.

#include <QRandomGenerator>
#include <QTest>
#include <format>

#include "model/compare/comparison.h"
#include "model/compare/entry_keys.h"
#include "model/compare/sequences.h"
#include "model/text_format.h"
#include "random_trace.h"
#include "tests/builders/trace_text.h"

using namespace traceback;
using model::Comparison;
using model::Side;
using Kind = model::Stretch::Kind;

namespace {

std::shared_ptr<model::Trace> built(std::string_view text, std::string_view buildId = "b1") {
  auto trace = tests::traceOf(text, 5);
  for (model::Module& module : trace->modules) module.buildId = buildId;
  return trace;
}

Comparison compare(const model::Trace& left, const model::Trace& right) {
  return model::compareThreads(left, {0}, right, {0});
}

// The rows as a diff has them: "  10", "< 11", "> 12", "? ", "- " (before); calls are their functions.
QStringList rows(const model::Trace& left, const model::Trace& right, const Comparison& comparison) {
  QStringList result;
  const auto text = [](const model::Trace& trace, model::EntryIndex at) {
    const model::Entry entry = trace.threads[0]->entry(at);
    QString function = QString::fromStdString(model::functionText(trace, entry.function));
    switch (entry.kind) {
      case model::EntryKind::Line:
        return QString::number(entry.line);
      case model::EntryKind::Call:
        return function;
      case model::EntryKind::Return:
        return u'/' + function;
      default:
        return QString::fromUtf8(model::kindName(entry.kind).data());
    }
  };
  for (const model::Stretch& each : comparison.stretches) {
    const QString mark = each.kind == Kind::Same      ? QStringLiteral("  ")
                         : each.kind == Kind::Unknown ? QStringLiteral("? ")
                         : each.kind == Kind::Before  ? QStringLiteral("- ")
                                                      : QString();
    for (std::uint64_t i = 0; i < each.leftCount; ++i)
      result.append((mark.isEmpty() ? QStringLiteral("< ") : mark) + text(left, each.left + i));
    if (each.kind == Kind::Same) continue;
    for (std::uint64_t i = 0; i < each.rightCount; ++i)
      result.append((mark.isEmpty() ? QStringLiteral("> ") : mark) + text(right, each.right + i));
  }
  return result;
}

QStringList rows(std::string_view left, std::string_view right) {
  const auto l = built(left), r = built(right);
  return rows(*l, *r, compare(*l, *r));
}

// Everything that binds: stretches cover both sides in order, and what is Same is alike.
void checkWhole(const model::Trace& left, const model::Trace& right, const Comparison& comparison) {
  const model::EntryKeys keys(left, right);
  model::EntryIndex l = 0, r = 0;
  for (const model::Stretch& each : comparison.stretches) {
    QCOMPARE(each.left, l);
    QCOMPARE(each.right, r);
    QVERIFY(each.leftCount + each.rightCount > 0);
    if (each.kind == Kind::Left) QCOMPARE(each.rightCount, 0U);
    if (each.kind == Kind::Right) QCOMPARE(each.leftCount, 0U);
    if (each.kind == Kind::Same) {
      QCOMPARE(each.leftCount, each.rightCount);
      for (std::uint64_t i = 0; i < each.leftCount; ++i)
        QCOMPARE(keys.key(Side::Left, left.threads[0]->entry(l + i)),
                 keys.key(Side::Right, right.threads[0]->entry(r + i)));
    }
    l += each.leftCount;
    r += each.rightCount;
  }
  QCOMPARE(l, left.threads[0]->entryCount());
  QCOMPARE(r, right.threads[0]->entryCount());
}

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace

class Compare : public QObject {
  Q_OBJECT

 private slots:
  void aTraceIsTheSameAsItself() {
    const auto trace = built("call main main.c\n  1\n  call f f.c\n    5 x3\n  2 fault\n");
    const Comparison found = compare(*trace, *trace);
    QVERIFY(found.same());
    QCOMPARE(found.stretches.size(), 1U);
    QCOMPARE(found.sameCount(), trace->threads[0]->entryCount());
    QVERIFY(found.notes.empty());
  }

  void pathsPartAtABranchAndMeetAgain() {
    QCOMPARE(rows("call main main.c\n  1\n  2\n  3\n  6\n", "call main main.c\n  1\n  4\n  5\n  6\n"),
             (QStringList{"  main", "  1", "< 2", "< 3", "> 4", "> 5", "  6"}));
  }

  void callsAnswerEachOtherWhateverHappensInThem() {
    QCOMPARE(rows("call main main.c\n  1\n  call f f.c\n    5\n    6\n  2\n",
                  "call main main.c\n  1\n  call f f.c\n    5\n    7\n  2\n"),
             (QStringList{"  main", "  1", "  f", "  5", "< 6", "> 7", "  /f", "  2"}));
  }

  void aCallThatOneSideSkippedIsLeftOutAsAWhole() {
    const std::string call = "  1\n  call f f.c\n    {}\n";
    const auto round = [&call](int line) { return std::vformat(call, std::make_format_args(line)); };
    // Behind the first parting; up to there both did the same.
    QCOMPARE(rows("call main main.c\n  8\n" + round(5) + round(6) + round(7) + "  2\n",
                  "call main main.c\n  9\n" + round(5) + round(7) + "  2\n")
                 .filter(QRegularExpression("^[<>]")),
             (QStringList{"< 8", "> 9", "< 1", "< f", "< 6", "< /f"}));
  }

  void untilTheFirstPartingTheyAreTheSameByPosition() {
    const auto found = rows("call main main.c\n  1\n  call f f.c\n    6\n  1\n  call f f.c\n    7\n  2\n",
                            "call main main.c\n  1\n  call f f.c\n    7\n  2\n");
    QCOMPARE(found.first(6), (QStringList{"  main", "  1", "  f", "< 6", "> 7", "  /f"}));
  }

  void anUnwoundCallIsNoReturn() {
    QCOMPARE(rows("call main main.c\n  1\n  call f f.c\n    5\n  2\n",
                  "call main main.c\n  1\n  call f f.c interrupted\n    5\n  9 catch\n"),
             (QStringList{"  main", "  1", "  f", "  5", "< /f", "< 2", "> /f", "> 9"}));
  }

  void aFaultEndsOneSide() {
    const auto found = rows("call main main.c\n  1\n  call f f.c\n    5\n    6\n  2\n",
                            "call main main.c\n  1\n  call f f.c\n    5 fault partial\n    signal 11\n");
    QCOMPARE(found, (QStringList{"  main", "  1", "  f", "  5", "< 6", "< /f", "< 2", "> signal"}));
  }

  void furtherRoundsOfALoopAreCounted() {
    const std::string round = "  1\n  call f f.c\n    5\n  2\n";
    const auto left = built("call main main.c\n" + repeated(round, 9) + "  1\n  3\n");
    const auto right = built("call main main.c\n" + repeated(round, 4) + "  1\n  3\n");
    const Comparison found = compare(*left, *right);
    QCOMPARE(found.differences.size(), 1U);
    const model::Stretch& more = found.stretches[found.differences[0].first];
    QCOMPARE(more.kind, Kind::Left);
    QCOMPARE(more.rounds, 5U);
    checkWhole(*left, *right, found);
  }

  void aBranchAfterManyEqualRoundsIsFoundAtItsRound() {
    const std::string round = "  1\n  2\n  3\n";
    const auto left = built("call main main.c\n" + repeated(round, 1000) + "  9\n");
    const auto right = built("call main main.c\n" + repeated(round, 500) + "  1\n  2\n  4\n" +
                             repeated(round, 499) + "  9\n");
    const Comparison found = compare(*left, *right);
    QCOMPARE(found.differences.size(), 1U);
    const model::Stretch& first = found.stretches[found.differences[0].first];
    QCOMPARE(left->threads[0]->entry(first.left).line, 3U);
    QCOMPARE(right->threads[0]->entry(first.right).line, 4U);
    QCOMPARE(first.left, first.right);
    QCOMPARE(first.left, model::EntryIndex{1 + 500 * 3 + 2});
  }

  void modulesMayLieElsewhereAndTablesBeOrderedOtherwise() {
    const auto left = built("call main main.c\n  1\n  call f f.c\n    5\n  2\n");
    // `f` is met first here, so that all numbers differ; addresses within the one module differ, too.
    auto right = built(
        "thread 2 other\ncall f f.c\n  5\nthread 1 main\ncall main main.c\n  1\n  call f f.c\n    5\n  2\n",
        "b2");
    right->modules[0].bias.value += 0x10000;
    const Comparison found = model::compareThreads(*left, {0}, *right, {1});
    QVERIFY(found.same());
    QCOMPARE(found.notes.size(), 1U);
    QVERIFY(found.notes[0].contains("different builds"));
    QVERIFY(found.notes[0].contains("told apart by function, file and line"));
  }

  void inDifferentBuildsLinesCountFromTheirFunctions() {
    const auto left = built("call main main.c\n  11\n  12\n  15\n");
    auto right = built("call main main.c\n  31\n  32\n  36\n", "b2");
    left->functions[0].line = 10;
    right->functions[0].line = 30;
    QCOMPARE(rows(*left, *right, compare(*left, *right)),
             (QStringList{"  main", "  11", "  12", "< 15", "> 36"}));
    // Without knowing where a function begins, its lines are what they are.
    right->functions[0].line = 0;
    QVERIFY(!rows(*left, *right, compare(*left, *right)).contains("  11"));
  }

  void whatIsOlderThanTheOtherTraceIsNoDifference() {
    const auto left = built("call main main.c\n  1\n  2\n  3\n  4\n  5\n  6\n");
    const auto right = built("gap overwritten\nin main main.c\n  4\n  5\n  7\n");
    const Comparison found = compare(*left, *right);
    checkWhole(*left, *right, found);
    QCOMPARE(rows(*left, *right, found).filter(QRegularExpression("^[ <>?]")),
             (QStringList{"  4", "  5", "< 6", "> 7"}));
    QVERIFY(std::ranges::any_of(found.notes,
                                [](const auto& note) { return note.contains("The right trace begins"); }));
  }

  void roundsOfALoopThatBeganEarlierAreAlignedFromTheEnd() {
    const std::string round = "  1\n  2\n  3\n";
    const auto left = built("gap overwritten\nin main main.c\n" + repeated(round, 50) + "  7\n  8\n");
    const auto right = built("gap overwritten\nin main main.c\n" + repeated(round, 20) + "  1\n  2\n  9\n");
    const Comparison found = compare(*left, *right);
    checkWhole(*left, *right, found);
    QCOMPARE(found.stretches.front().kind, Kind::Before);
    QCOMPARE(found.differences.size(), 1U);
    QVERIFY(found.sameCount() >= 60);
  }

  void aTraceThatNeverCameBackToItsCallersIsFoundWithinTheOther() {
    const auto left = built(
        "call main main.c\n  1\n  call load load.c\n    20\n    21\n  2\n  call work work.c\n    30\n    "
        "31\n    32\n  3\n");
    const auto right = built("gap overwritten\nin work work.c\n  31\n  33\n", "b2");
    const Comparison found = compare(*left, *right);
    checkWhole(*left, *right, found);
    const auto seen = rows(*left, *right, found);
    QVERIFY(seen.contains("  31"));
    QVERIFY(seen.contains("< 32") && seen.contains("> 33"));
    QVERIFY(seen.contains("- 20"));
  }

  void tracesWithNothingInCommonAreNotAligned() {
    const auto left = built("gap overwritten\nin f f.c\n  1\n  2\n");
    const auto right = built("gap overwritten\nin g g.c\n  7\n  8\n");
    const Comparison found = compare(*left, *right);
    checkWhole(*left, *right, found);
    QVERIFY(!found.same());
    for (const auto& line : rows(*left, *right, found))
      QVERIFY2(!line.startsWith('<') && !line.startsWith('>'), qPrintable(line));
  }

  void aGapHidesWhatRan() {
    const auto left = built("call main main.c\n  1\n  2\n  3\n  4\n");
    const auto right = built("call main main.c\n  1\n  gap damaged\n  4\n");
    const Comparison found = compare(*left, *right);
    QCOMPARE(found.differences.size(), 1U);
    QVERIFY(
        std::ranges::any_of(found.stretches, [](const auto& each) { return each.kind == Kind::Unknown; }));
    QVERIFY(!std::ranges::contains(rows(*left, *right, found), QStringLiteral("> gap")));
  }

  void randomTracesAreCoveredAndTheirMatchesAreAlike_data() {
    QTest::addColumn<quint32>("seed");
    for (quint32 seed = 1; seed <= 40; ++seed) QTest::addRow("%u", seed) << seed;
  }
  void randomTracesAreCoveredAndTheirMatchesAreAlike() {
    QFETCH(quint32, seed);
    QRandomGenerator random(seed);
    const auto trace = [&random](bool late) {
      std::string text = late ? "gap overwritten\nin main main.c\n" : "call main main.c\n";
      int depth = 1;
      for (int i = 0; i < 120; ++i) {
        const auto indent = std::string(static_cast<std::size_t>(2 * depth), ' ');
        switch (random.bounded(6)) {
          case 0:
            if (depth < 6) {
              text += std::format("{}call f{} f.c\n", indent, random.bounded(4));
              ++depth;
              text += std::format("{}  1\n", indent);
            }
            break;
          case 1:
            if (depth > 1) --depth;
            break;
          default:
            text += std::format("{}{}\n", indent, 1 + random.bounded(5));
        }
      }
      return built(text);
    };
    const auto left = trace(seed % 3 == 0), right = trace(seed % 4 == 0);
    checkWhole(*left, *right, compare(*left, *right));
    const Comparison self = compare(*left, *left);
    QVERIFY(self.same());
  }

  void damagedTracesAreCoveredToo_data() { randomTracesAreCoveredAndTheirMatchesAreAlike_data(); }
  void damagedTracesAreCoveredToo() {
    QFETCH(quint32, seed);
    const auto trace = [](std::uint32_t of) {
      auto result = built("call a a.c\n  1\n");
      result->threads.clear();
      result->threads.push_back(tests::threadOf(tests::randomEntries(of, 200, tests::Shape::Wild), 7));
      return result;
    };
    const auto left = trace(seed), right = trace(seed + 1000);
    checkWhole(*left, *right, compare(*left, *right));
  }

  void alignmentIsALongestOneWhereNothingIsThereOnce_data() {
    QTest::addColumn<quint32>("seed");
    for (quint32 seed = 1; seed <= 60; ++seed) QTest::addRow("%u", seed) << seed;
  }
  void alignmentIsALongestOneWhereNothingIsThereOnce() {
    QFETCH(quint32, seed);
    QRandomGenerator random(seed);
    std::vector<std::uint64_t> left, right;
    for (int i = 0; i < 40; ++i) left.push_back(random.bounded(3));
    for (int i = 0; i < 30; ++i) right.push_back(random.bounded(3));
    std::vector<std::vector<std::size_t>> longest(left.size() + 1,
                                                  std::vector<std::size_t>(right.size() + 1));
    for (std::size_t i = 1; i <= left.size(); ++i)
      for (std::size_t j = 1; j <= right.size(); ++j)
        longest[i][j] = left[i - 1] == right[j - 1] ? longest[i - 1][j - 1] + 1
                                                    : std::max(longest[i - 1][j], longest[i][j - 1]);
    for (const auto from : {model::From::Start, model::From::End}) {
      model::Effort effort;
      const auto found = model::align(left, right, from, effort);
      std::size_t count = 0, l = 0, r = 0;
      for (const model::Common& each : found.common) {
        QVERIFY(each.left >= l && each.right >= r);
        for (std::size_t i = 0; i < each.count; ++i) QCOMPARE(left[each.left + i], right[each.right + i]);
        l = each.left + each.count;
        r = each.right + each.count;
        count += each.count;
      }
      QCOMPARE(count, longest.back().back());
      QVERIFY(!std::ranges::contains(found.unknownBefore, true));
    }
  }

  void whatIsTooMuchIsSaidToBeUnknown() {
    std::vector<std::uint64_t> left, right;
    QRandomGenerator random(1);
    for (int i = 0; i < 20'000; ++i) {
      left.push_back(random.bounded(2, 40));
      right.push_back(random.bounded(2, 40));
    }
    left.front() = right.front() = left.back() = right.back() = 1;
    model::Effort effort;
    const auto found = model::align(left, right, model::From::Start, effort);
    QVERIFY(std::ranges::contains(found.unknownBefore, true));
    QVERIFY(!found.common.empty());
  }

  void threadsAreMatchedByNameAndStart() {
    const auto left = built(
        "thread 10 main\ncall main main.c\n  1\nthread 11 pool\ncall reader r.c\n  2\nthread 12 pool\ncall "
        "writer w.c\n  3\nthread 13 gone\ncall once o.c\n  4\n");
    const auto right = built(
        "thread 22 pool\ncall writer w.c\n  3\nthread 20 main\ncall main main.c\n  1\nthread 21 pool-7\ncall "
        "reader r.c\n  2\nthread 23 new\ncall fresh n.c\n  4\n");
    left->summary.pid = 10;
    right->summary.pid = 20;
    const auto pairs = model::matchThreads(*left, *right);
    using Pair = model::ThreadPair;
    const auto index = [](std::uint32_t i) { return std::optional(model::ThreadIndex{i}); };
    QCOMPARE(pairs, (std::vector<Pair>{{index(0), index(1)},
                                       {index(1), index(2)},
                                       {index(2), index(0)},
                                       {index(3), {}},
                                       {{}, index(3)}}));
  }

  void aStoppedComparisonSaysSo() {
    const auto trace = built("call main main.c\n  1\n");
    std::stop_source stop;
    stop.request_stop();
    const Comparison found = model::compareThreads(*trace, {0}, *trace, {0}, stop.get_token());
    QVERIFY(found.cancelled);
    QVERIFY(!found.same());
  }
};

QTEST_GUILESS_MAIN(Compare)
#include "tst_compare.moc"
