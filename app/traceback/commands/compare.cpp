// traceback compare: where the path of one run parted from that of another.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <format>
#include <span>

#include "app/traceback/command.h"
#include "app/traceback/output.h"
#include "app/traceback/say.h"
#include "app/traceback/source_text.h"
#include "app/traceback/trace_file.h"
#include "model/compare/comparison.h"
#include "model/export/text_rows.h"
#include "model/text_format.h"
#include "model/utf8.h"

namespace traceback::app {

namespace {

using model::Comparison;
using model::EntryIndex;
using model::Stretch;
using model::ThreadPair;
using model::Trace;

// As diff(1) ends.
constexpr int kSame = 0, kDifferent = 1, kTrouble = 2;

struct CompareCall {
  std::string good, bad;
  std::string threads;
  std::uint64_t context = 8;
  std::uint64_t differences = 1;
  std::string format = "text";
  std::vector<std::string> sourcePaths;
};

constexpr int kPlaceWidth = 24;

// Rows of one side, indented below the shallowest that is printed.
class Printer {
 public:
  Printer(const Trace& trace, SourceText& sources)
      : m_sources(sources.lines()), m_rows(trace, m_sources, model::TextRows::Shape::Tree) {}

  void print(char mark, const model::ThreadTrace& thread, EntryIndex begin, std::uint64_t count,
             std::int32_t outermost) const {
    for (const model::Entry& entry : thread.entries(begin, static_cast<std::size_t>(count)))
      sayLine("{} {}", mark, m_rows.row(entry, outermost));
  }

 private:
  model::SourceLine m_sources;
  model::TextRows m_rows;
};

std::string threadText(const Trace& trace, model::ThreadIndex index) {
  const auto& info = trace.threads[index.value]->info();
  return std::format("{} {}", model::threadNumber(index), model::printable(info.name));
}

std::int32_t leastDepth(const model::ThreadTrace& thread, EntryIndex begin, std::uint64_t count) {
  std::int32_t least = INT32_MAX;
  for (const model::Entry& entry : thread.entries(begin, static_cast<std::size_t>(count)))
    least = std::min(least, entry.depth);
  return least;
}

class Report {
 public:
  Report(const Trace& good, const Trace& bad, const CompareCall& call, SourceText& sources)
      : m_good(good), m_bad(bad), m_call(call), m_goodText(good, sources), m_badText(bad, sources) {}

  // Whether the two threads are known to be the same.
  bool pair(const ThreadPair& pair) {
    if (!pair.left || !pair.right) {
      if (m_call.format == "json")
        sayLine("{{\"left\":{},\"right\":{},\"same\":false}}", number(pair.left), number(pair.right));
      else
        sayLine("thread {}: only in {}",
                pair.left ? threadText(m_good, *pair.left) : threadText(m_bad, *pair.right),
                model::printable(pair.left ? m_call.good : m_call.bad));
      return false;
    }
    const Comparison found = model::compareThreads(m_good, *pair.left, m_bad, *pair.right);
    if (m_call.format == "json")
      json(pair, found);
    else
      text(pair, found);
    return found.same();
  }

 private:
  static std::string number(std::optional<model::ThreadIndex> index) {
    return index ? std::to_string(model::threadNumber(*index)) : "null";
  }

  void json(const ThreadPair& pair, const Comparison& found) const {
    std::string notes;
    for (const auto& note : found.notes) notes += (notes.empty() ? "" : ",") + model::jsonString(note);
    std::string first = "null", all;
    for (const model::Difference& each : shown(found)) {
      const Stretch& begin = found.stretches[each.first];
      const auto parting = std::format("{{\"left\":{},\"right\":{},\"known\":{}}}", begin.left, begin.right,
                                       begin.kind != Stretch::Kind::Unknown);
      if (all.empty()) first = parting;
      all += (all.empty() ? "" : ",") + parting;
    }
    sayLine(
        "{{\"left\":{},\"right\":{},\"same\":{},\"entries\":{},\"differences\":{},\"parting\":{},"
        "\"partings\":[{}],\"notes\":[{}]}}",
        number(pair.left), number(pair.right), found.same(), found.sameCount(), found.differences.size(),
        first, all, notes);
  }

  std::span<const model::Difference> shown(const Comparison& found) const {
    return std::span(found.differences)
        .first(
            static_cast<std::size_t>(std::min<std::uint64_t>(found.differences.size(), m_call.differences)));
  }

  void text(const ThreadPair& pair, const Comparison& found) const {
    const auto& left = *m_good.threads[pair.left->value];
    const auto& right = *m_bad.threads[pair.right->value];
    std::string head = std::format("thread {}", threadText(m_good, *pair.left));
    if (const auto other = threadText(m_bad, *pair.right); other != threadText(m_good, *pair.left))
      head += std::format(" | thread {}", other);
    if (found.differences.empty()) {
      sayLine("{}: the same, {} entries", head, found.sameCount());
    } else {
      std::uint64_t before = 0;
      for (std::size_t i = 0; i < found.differences.front().first; ++i)
        if (found.stretches[i].kind == Stretch::Kind::Same) before += found.stretches[i].leftCount;
      const std::size_t more = found.differences.size() - 1;
      sayLine("{}: {} after {} equal entries{}", head,
              found.stretches[found.differences.front().first].kind == Stretch::Kind::Unknown
                  ? "no longer aligned"
                  : "part",
              before,
              more > 0 ? std::format("; {} more difference{} behind", more, more > 1 ? "s" : "") : "");
    }
    for (const auto& note : found.notes) sayLine("  ({})", model::printable(note));
    std::uint64_t printed = 0;  // of what is the same behind the one before
    for (const model::Difference& each : shown(found)) printed = parting(left, right, found, each, printed);
    if (!found.differences.empty()) sayLine("");
  }

  // Says how many entries of those that are the same behind it were printed.
  std::uint64_t parting(const model::ThreadTrace& left, const model::ThreadTrace& right,
                        const Comparison& found, const model::Difference& difference,
                        std::uint64_t printed) const {
    const Stretch& first = found.stretches[difference.first];
    const bool isFirst = &difference == &found.differences.front();
    if (isFirst) sayLine("");
    std::uint64_t before = 0;
    if (difference.first > 0 && found.stretches[difference.first - 1].kind == Stretch::Kind::Same) {
      const std::uint64_t same = found.stretches[difference.first - 1].leftCount - printed;
      before = std::min(same, m_call.context);
      if (!isFirst && same > before) sayLine("  {:{}}  ... {} equal entries", "", kPlaceWidth, same - before);
    }
    const std::int32_t outermost = std::min(leastDepth(left, first.left - before, before + m_call.context),
                                            leastDepth(right, first.right, m_call.context));
    m_goodText.print(' ', left, first.left - before, before, outermost);
    for (std::size_t i = difference.first; i < difference.end; ++i) {
      const Stretch& stretch = found.stretches[i];
      side('<', m_goodText, left, stretch.left, stretch.leftCount, stretch, outermost);
      side('>', m_badText, right, stretch.right, stretch.rightCount, stretch, outermost);
    }
    if (difference.end == found.stretches.size()) return 0;
    const Stretch& after = found.stretches[difference.end];
    if (after.kind != Stretch::Kind::Same) return 0;
    const std::uint64_t count = std::min(after.leftCount, m_call.context);
    m_goodText.print(' ', left, after.left, count, outermost);
    return count;
  }

  void side(char mark, const Printer& printer, const model::ThreadTrace& thread, EntryIndex begin,
            std::uint64_t count, const Stretch& stretch, std::int32_t outermost) const {
    if (count == 0) return;
    if (stretch.kind == Stretch::Kind::Unknown)
      sayLine("{} {:{}}  (no alignment is known for what follows)", mark, "", kPlaceWidth);
    if (stretch.rounds > 0)
      sayLine("{} {:{}}  ({} more round{} of the loop)", mark, "", kPlaceWidth, stretch.rounds,
              stretch.rounds > 1 ? "s" : "");
    printer.print(mark, thread, begin, std::min(count, m_call.context), outermost);
    if (count > m_call.context)
      sayLine("{} {:{}}  ... {} more entries", mark, "", kPlaceWidth, count - m_call.context);
  }

  const Trace &m_good, &m_bad;
  const CompareCall& m_call;
  Printer m_goodText, m_badText;
};

// "L" or "L:R", numbers from 1.
model::Result<std::vector<ThreadPair>> pairsToCompare(const Trace& good, const Trace& bad,
                                                      const CompareCall& call) {
  auto all = model::matchThreads(good, bad);
  if (call.threads.empty()) return all;
  const auto colon = call.threads.find(':');
  const auto find = [](const Trace& trace, const std::string& file,
                       const std::string& text) -> model::Result<model::ThreadIndex> {
    for (std::uint32_t i = 0; i < trace.threads.size(); ++i)
      if (text == std::to_string(model::threadNumber({i}))) return model::ThreadIndex{i};
    return model::fail(std::format("has no thread {}: they count from 1 to {}", text, trace.threads.size()),
                       file);
  };
  const auto left = find(good, call.good, call.threads.substr(0, colon));
  if (!left) return std::unexpected(left.error());
  if (colon == std::string::npos) {
    const auto pair = std::ranges::find(all, std::optional(*left), &ThreadPair::left);
    return std::vector{*pair};
  }
  const auto right = find(bad, call.bad, call.threads.substr(colon + 1));
  if (!right) return std::unexpected(right.error());
  return std::vector{ThreadPair{*left, *right}};
}

int troubled(const model::Error& error) {
  complain(error);
  return kTrouble;
}

int runCompare(const CompareCall& call) {
  auto mappings = SourceText::parseMappings(call.sourcePaths);
  if (!mappings) return complainAboutCall("compare: " + mappings.error());
  const auto good = openTrace(call.good);
  if (!good) return troubled(good.error());
  const auto bad = openTrace(call.bad);
  if (!bad) return troubled(bad.error());
  const auto pairs = pairsToCompare(**good, **bad, call);
  if (!pairs) return troubled(pairs.error());
  SourceText sources(std::move(*mappings));
  if (call.format == "text") {
    sayLine("< {}: {}", model::printable(call.good), reasonText((*good)->summary));
    sayLine("> {}: {}", model::printable(call.bad), reasonText((*bad)->summary));
  }
  Report report(**good, **bad, call, sources);
  bool same = true;
  for (const ThreadPair& pair : *pairs) same &= report.pair(pair);
  complainAboutDamage(call.good, (*good)->report);
  complainAboutDamage(call.bad, (*bad)->report);
  sources.complainAboutOthers((*bad)->summary.when);
  return same ? kSame : kDifferent;
}

}  // namespace

void addCompare(CLI::App& app, Action& chosen) {
  auto call = std::make_shared<CompareCall>();
  auto* command = app.add_subcommand("compare", "Compares the paths of two runs, and prints where they part");
  command->add_option("GOOD", call->good, "NAME.tbsnap, of a run that went well")->required()->type_name("");
  command->add_option("BAD", call->bad, "NAME.tbsnap, of one that did not")->required()->type_name("");
  command
      ->add_option(
          "--thread", call->threads,
          "Only thread LEFT of the first, with RIGHT of the second (default: all, matched by name and start)")
      ->type_name("LEFT[:RIGHT]");
  command->add_option("--context", call->context, "Entries to print before and after (default: 8)")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1'000'000}))
      ->type_name("N");
  command
      ->add_option("--differences", call->differences,
                   "At most so many of a thread, not the first alone (default: 1)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
      ->type_name("N");
  command->add_option("--format", call->format, "text, or json: one object a pair of threads (default: text)")
      ->check(CLI::IsMember({"text", "json"}));
  addSourcePathOption(*command, call->sourcePaths);
  command->footer(
      "Lines that only GOOD ran are marked <, those that only BAD ran >.\n"
      "Exit status: 0 if all threads took the same path, 1 if not or if that is not known, 2 if there was "
      "trouble.");
  command->callback([call, &chosen] { chosen = [call] { return runCompare(*call); }; });
}

}  // namespace traceback::app
