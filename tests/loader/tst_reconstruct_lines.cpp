// Blocks to lines: folded, inlined, with a table of lines instead of debug information.
#include <QTest>

#include "tests/loader/reconstruction.h"

using namespace traceback;
using tests::compare;
using tests::kLoop;
using tests::reconstruct;

namespace {

// Lines of kLoop's code: main's blocks a and h are line 10, c and d line 11; f is inlined into itself, so to
// say: its block x is line 31 of a function "small" that was inlined at line 21.
class TableOfLines : public loader::LineSource {
 public:
  bool hasLines() const override { return true; }
  std::vector<loader::LineRange> rangesIn(model::VirtAddr start, model::VirtAddr end) const override {
    std::vector<loader::LineRange> found;
    for (const auto& line : all()) {
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

 protected:
  static loader::LineRange range(std::uint64_t from, std::uint64_t to,
                                 std::vector<loader::LineFrame> frames) {
    return {{from}, {to}, true, std::move(frames)};
  }
  static loader::LineFrame frame(std::string_view function, std::uint32_t line) {
    return {function, "/src/prog.c", line, {}};
  }
  virtual std::vector<loader::LineRange> all() const {
    return {
        range(0x1000, 0x100c, {frame("main", 10)}),
        range(0x100c, 0x1010, {frame("main", 11)}),
        range(0x1014, 0x1018, {frame("main", 11)}),
        range(0x2000, 0x2002, {frame("f", 20)}),
        range(0x2002, 0x2004, {frame("f", 0)}),  // made by the compiler
        range(0x2004, 0x2008, {frame("f", 21)}),
        range(0x2008, 0x2010, {frame("small", 31), frame("f", 21)}),
        range(0x2010, 0x2014, {frame("f", 22)}),
    };
  }
};

// f's blocks a and y are of one line, between which the other way leads through another.
class LineInParts : public TableOfLines {
 protected:
  std::vector<loader::LineRange> all() const override {
    return {range(0x2000, 0x2008, {frame("f", 20)}), range(0x2008, 0x2010, {frame("f", 21)}),
            range(0x2010, 0x2014, {frame("f", 20)})};
  }
};

// f's block a ends with a call of "small" that is inlined there, and so does x begin with one; y goes on with
// the latter.
class CallsInARow : public TableOfLines {
 protected:
  static loader::LineFrame small(std::uint32_t line, std::uint64_t instance) {
    return {
        .function = "small", .file = "/src/prog.c", .line = line, .functionStart = {}, .instance = instance};
  }
  std::vector<loader::LineRange> all() const override {
    return {range(0x2000, 0x2004, {frame("f", 20)}), range(0x2004, 0x2008, {small(31, 1), frame("f", 21)}),
            range(0x2008, 0x200c, {small(31, 2), frame("f", 22)}), range(0x200c, 0x2010, {frame("f", 23)}),
            range(0x2010, 0x2014, {small(32, 2), frame("f", 22)})};
  }
};

std::unique_ptr<loader::LineSource> tableOfLines(const loader::ModuleFiles&, std::string&) {
  return std::make_unique<TableOfLines>();
}

}  // namespace

class LinesTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
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

  void theCodeOfALineIsWhatRanOfIt() {
    const auto got = reconstruct(
        {.map = kLoop,
         .ring = "f.a y\nf.a x y\nthread-end\n",
         .lines = [](const loader::ModuleFiles&, std::string&) { return std::make_unique<LineInParts>(); }});
    compare(got.text, R"(
    call f
    f:20
    return f
    call f
    f:20
    f:21
    f:20
    return f
    sync 2
    )");
    const auto& thread = got.thread();
    const std::vector<model::CodeRange> parts{{{0x2000}, {0x2007}}, {{0x2010}, {0x2013}}};
    QCOMPARE(thread.code(1), parts);
    QVERIFY((thread.entry(1).flags & model::kEntrySkips) != 0);
    QCOMPARE(thread.code(4), std::vector<model::CodeRange>{parts[0]});
    QVERIFY((thread.entry(4).flags & model::kEntrySkips) == 0);
  }

  void inlinedCallsInARowAreToldApartAndOneThatIsLeftGoesOn() {
    const auto got = reconstruct(
        {.map = kLoop,
         .ring = "f.a x y\nthread-end\n",
         .lines = [](const loader::ModuleFiles&, std::string&) { return std::make_unique<CallsInARow>(); }});
    compare(got.text, R"(
    call f
    f:20
      call small inlined
      small:31 inlined
      return small inlined
      call small inlined
      small:31 inlined
      return small inlined
    f:23
      call small inlined resumed
      small:32 inlined
      return small inlined
    return f
    sync 2
    )");
    const auto first = got.thread().entry(2), second = got.thread().entry(5);
    QCOMPARE(first.line, 21U);
    QCOMPARE(second.line, 22U);
    QCOMPARE(got.trace().file(second.file)->path, std::string("/src/prog.c"));
    QCOMPARE(second.address.value, std::uint64_t{0x2008});
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
};

QTEST_APPLESS_MAIN(LinesTest)
#include "tst_reconstruct_lines.moc"
