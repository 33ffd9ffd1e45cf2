#include "model/query/answer.h"

#include <algorithm>
#include <format>
#include <unordered_map>

#include "model/call_tree.h"
#include "model/executions.h"
#include "model/query/patterns.h"
#include "model/query/running_stack.h"
#include "model/query/stack_pattern.h"
#include "model/stepping.h"
#include "model/trace.h"

namespace traceback::model {

namespace {

// Between looks at the stop token.
constexpr std::size_t kBatch = 2048;

// An entry of a thread that a condition is asked about.
struct Moment {
  const ThreadTrace& thread;
  EntryIndex index;
  const Entry& entry;
  std::optional<EntryIndex> position;
  RunningStack& stack;  // there
};

// A condition with its names looked up.
class Test {
 public:
  Test(const Trace& trace, const Condition& condition) : m_trace(&trace), m_kind(condition.kind) {
    for (const auto& part : condition.parts) m_parts.emplace_back(trace, part);
    if (m_kind == Condition::Kind::Source) m_lines.emplace(trace, condition.source);
    if (m_kind == Condition::Kind::Stack) m_stack.emplace(trace, condition.frames);
    if (m_kind == Condition::Kind::Function) m_function.emplace(trace, condition.frames.front());
    if (m_kind == Condition::Kind::Thrown || m_kind == Condition::Kind::Said)
      m_pattern = condition.frames.front();
  }

  // Whether moments must have their stack.
  bool asksForStacks() const { return m_stack || std::ranges::any_of(m_parts, &Test::asksForStacks); }

  bool holds(const Moment& moment) {
    switch (m_kind) {
      case Condition::Kind::And:
        return std::ranges::all_of(m_parts, [&](Test& part) { return part.holds(moment); });
      case Condition::Kind::Or:
        return std::ranges::any_of(m_parts, [&](Test& part) { return part.holds(moment); });
      case Condition::Kind::Not:
        return !m_parts.front().holds(moment);
      case Condition::Kind::Function:
        return m_function->contains(moment.entry.function);
      case Condition::Kind::Source:
        return sourceHolds(moment);
      case Condition::Kind::Stack:
        return m_stack->holds(moment.stack, moment.index, moment.entry);
      case Condition::Kind::Thrown:
        return moment.entry.kind == EntryKind::Exception &&
               nameMatches(m_pattern, m_trace->exceptionType(moment.entry.detail));
      case Condition::Kind::Said:
        return moment.entry.kind == EntryKind::Exception &&
               textMatches(m_pattern, m_trace->thrownText(moment.entry));
    }
    return false;
  }

 private:
  // The line at which one stands then: of a call the first of the callee, of a return the last.
  bool sourceHolds(const Moment& moment) const {
    const bool itself = isSteppable(moment.entry.kind);
    if (!itself && !moment.position) return false;
    const Entry at = itself ? moment.entry : moment.thread.entry(*moment.position);
    return m_lines->contains(at.file, at.line);
  }

  const Trace* m_trace;
  Condition::Kind m_kind;
  std::vector<Test> m_parts;
  std::string m_pattern;  // of Thrown and Said
  std::optional<StackPattern> m_stack;
  std::optional<FunctionSet> m_function;
  std::optional<LineSet> m_lines;
};

bool isEvent(EventKind event, const Entry& entry) {
  const EntryKind kind = entry.kind;
  switch (event) {
    case EventKind::Enter:
      return beginsCall(entry);
    case EventKind::Exit:
      return kind == EntryKind::Return;
    case EventKind::Block:
      return kind == EntryKind::Line;
    case EventKind::Exception:
      return kind == EntryKind::Exception || (kind == EntryKind::Line && (entry.flags & kEntryCatch) != 0);
    case EventKind::Signal:
      return kind == EntryKind::Signal;
  }
  return false;
}

// What runs a place: its lines, or the calls of a function.
class PlaceTest {
 public:
  PlaceTest(const Trace& trace, const Place& place) {
    if (const auto* source = std::get_if<SourcePattern>(&place)) {
      if (!source->function.empty()) m_functions.emplace(trace, source->function);
      if (m_functions && !m_functions->empty()) return;
      m_functions.reset();
      m_lines.emplace(trace, *source);
    } else {
      m_functions.emplace(trace, std::get<std::string>(place));
    }
  }
  bool isOfLines() const { return m_lines.has_value(); }
  bool unknown() const { return m_lines ? m_lines->empty() : m_functions->empty(); }
  // A function that it names and whose calls leave no records; null if there is none.
  const Function* untraced(const Trace& trace) const {
    for (std::uint32_t i = 0; m_functions && i < trace.functions.size(); ++i)
      if (m_functions->contains({i}) && !trace.functions[i].untraced.empty()) return &trace.functions[i];
    return nullptr;
  }
  bool isRunBy(const ThreadTrace& thread, EntryIndex index, const Entry& entry) const {
    if (m_lines)
      return runsLine(entry) && m_lines->contains(entry.file, entry.line) &&
             (entry.kind == EntryKind::Line || !continuesLine(thread, index, entry));
    return beginsCall(entry) && m_functions->contains(entry.function);
  }
  // Calls that were under way when the trace begins have no entry; they are found by their first one.
  std::vector<EntryIndex> underWay(const ThreadTrace& thread) const {
    std::vector<EntryIndex> found;
    if (!m_functions || thread.entryCount() == 0) return found;
    const bool here = isSteppable(thread.entry(0).kind);
    const auto first = here ? std::optional<EntryIndex>(0) : thread.nextAtMost(0, INT32_MAX);
    if (!first) return found;
    for (const CallSpan& call : activeCalls(thread, *first)) {
      if (!call.call && m_functions->contains(call.function)) found.push_back(*first);
    }
    return found;
  }

 private:
  std::optional<LineSet> m_lines;
  std::optional<FunctionSet> m_functions;
};

class Answering {
 public:
  Answering(const Trace& trace, const Standpoint& from, std::size_t limit, std::stop_token stop)
      : m_trace(trace), m_from(from), m_limit(limit), m_stop(std::move(stop)) {}

  Answer operator()(const Goto& asked) {
    if (m_from.thread.value >= m_trace.threads.size()) return {};
    const ThreadTrace& thread = *m_trace.threads[m_from.thread.value];
    setCondition(asked.where);
    std::uint64_t left = asked.count;
    const auto isCandidate = [&](const Entry& entry) { return isEvent(asked.event, entry); };
    const auto visit = [&](EntryIndex index, const Entry& entry) {
      if (!isEvent(asked.event, entry)) return true;
      const auto position = standingPlace(thread, index, entry.kind);
      // Where one stands already is not gone to.
      if (asked.from == Goto::From::Current && position == m_from.at) return true;
      if (!fits(thread, index, entry, position)) return !m_answer.cancelled;
      if (--left > 0) return true;
      m_answer.rows.push_back({m_from.thread, index, position, {}});
      return false;
    };
    const EntryIndex count = thread.entryCount();
    EntryIndex at = asked.from == Goto::From::First ? 0 : count;
    if (asked.from == Goto::From::Current) at = std::min(m_from.at.value_or(count), count);
    if (asked.forward) {
      forward(thread, at, visit);
    } else {
      backward(thread, at, isCandidate, visit);
    }
    if (m_answer.rows.empty() && !m_answer.cancelled) m_answer.note = "there is no such place " + doubts();
    return std::move(m_answer);
  }

  Answer operator()(const Occurrences& asked) {
    const PlaceTest place(m_trace, asked.place);
    setCondition(asked.where);
    bool anyInlined = false;
    eachThread([&](ThreadIndex number, const ThreadTrace& thread) {
      const auto add = [&](EntryIndex index, const Entry& entry) {
        const auto position = standingPlace(thread, index, entry.kind);
        if (!fits(thread, index, entry, position)) return !m_answer.cancelled;
        anyInlined = anyInlined || (entry.kind == EntryKind::Call && (entry.flags & kEntryInlined) != 0);
        return addRow({number, index, position, {}});
      };
      for (const EntryIndex index : place.underWay(thread)) {
        m_stack.start(thread);
        m_stack.enter(thread.entry(index));
        if (!add(index, thread.entry(index))) return;
      }
      forward(thread, 0, [&](EntryIndex index, const Entry& entry) {
        return !place.isRunBy(thread, index, entry) || add(index, entry);
      });
    });
    if (m_answer.rows.empty() && !m_answer.cancelled) noteNever(place);
    if (anyInlined)
      m_answer.note =
          "of inlined calls more or fewer may be here than there were: the compiler mixes their code with "
          "the caller's";
    return std::move(m_answer);
  }

  Answer operator()(const Throws& asked) {
    setCondition(asked.where);
    eachThread([&](ThreadIndex number, const ThreadTrace& thread) {
      forward(thread, 0, [&](EntryIndex index, const Entry& entry) {
        if (entry.kind != EntryKind::Exception) return true;
        if (!fits(thread, index, entry, index)) return !m_answer.cancelled;
        return addRow({number, index, index, {}});
      });
    });
    if (m_answer.rows.empty() && !m_answer.cancelled) m_answer.note = "none, " + doubts();
    return std::move(m_answer);
  }

  Answer operator()(const Between& asked) {
    const PlaceTest from(m_trace, asked.from), to(m_trace, asked.to);
    eachThread([&](ThreadIndex number, const ThreadTrace& thread) {
      std::vector<AnswerRow> open;
      const auto begin = [&](EntryIndex index, std::optional<EntryIndex> position) {
        if (open.size() >= m_limit) {
          m_answer.more = true;
        } else {
          open.push_back({number, index, position, {}});
        }
      };
      for (const EntryIndex index : from.underWay(thread)) begin(index, index);
      forward(thread, 0, [&](EntryIndex index, const Entry& entry) {
        if (to.isRunBy(thread, index, entry)) {
          for (AnswerRow& row : open) {
            // That of a call that was under way may come before the first place to stand at in it.
            row.match = std::min(row.match, index);
            row.end = index;
            if (!addRow(row)) return false;
          }
          open.clear();
        }
        if (from.isRunBy(thread, index, entry)) begin(index, standingPlace(thread, index, entry.kind));
        return true;
      });
    });
    if (m_answer.rows.empty() && !m_answer.cancelled) noteNever(from.unknown() ? from : to);
    return std::move(m_answer);
  }

  Answer operator()(const Never& asked) {
    m_limit = 1;
    Answer found = (*this)(Occurrences{asked.place, {}});
    found.more = false;
    if (!found.rows.empty()) found.note = "it ran: first here";
    return found;
  }

 private:
  void setCondition(const std::optional<Condition>& where) {
    if (where) m_test.emplace(m_trace, *where);
    m_withStacks = m_test && m_test->asksForStacks();
  }

  // Whether the condition, if there is one, holds; false as well if nobody wants to know any more. With
  // stacks, m_stack stands at the entry.
  bool fits(const ThreadTrace& thread, EntryIndex index, const Entry& entry,
            std::optional<EntryIndex> position) {
    if (!m_test) return true;
    if (isStopped()) return false;
    if (const auto known = m_fits.find(index); known != m_fits.end()) return known->second;
    return m_test->holds({thread, index, entry, position, m_stack});
  }

  // Visits entries from `begin` on, until the visitor has enough.
  template <typename Visitor>
  void forward(const ThreadTrace& thread, EntryIndex begin, const Visitor& visit) {
    m_stack.start(thread);
    for (EntryIndex at = begin; at < thread.entryCount();) {
      if (isStopped()) return;
      for (const Entry& entry : thread.entries(at, kBatch)) {
        countDoubt(entry);
        if (m_withStacks) m_stack.enter(entry);
        if (!visit(at++, entry)) return;
      }
    }
  }

  // And those before `end`, newest first. Candidates are what a condition may be asked about.
  template <typename IsCandidate, typename Visitor>
  void backward(const ThreadTrace& thread, EntryIndex end, const IsCandidate& isCandidate,
                const Visitor& visit) {
    m_stack.start(thread);
    while (end > 0) {
      if (isStopped()) return;
      const EntryIndex begin = end - std::min<EntryIndex>(end, kBatch);
      const auto batch = thread.entries(begin, static_cast<std::size_t>(end - begin));
      if (m_withStacks && !tryAhead(thread, begin, batch, isCandidate)) return;
      for (std::size_t i = batch.size(); i-- > 0;) {
        countDoubt(batch[i]);
        if (!visit(begin + i, batch[i])) return;
      }
      end = begin;
    }
  }

  // Stacks grow forwards. So it is found out first which entries of a batch fit. False if stopped.
  template <typename IsCandidate>
  bool tryAhead(const ThreadTrace& thread, EntryIndex begin, const std::vector<Entry>& batch,
                const IsCandidate& isCandidate) {
    m_fits.clear();
    m_stack.goBackTo(begin, batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      m_stack.enter(batch[i]);
      if (!isCandidate(batch[i])) continue;
      const EntryIndex index = begin + i;
      const bool fit = fits(thread, index, batch[i], standingPlace(thread, index, batch[i].kind));
      if (m_answer.cancelled) return false;
      m_fits.emplace(index, fit);
    }
    return true;
  }

  template <typename Visitor>
  void eachThread(const Visitor& visit) {
    for (std::uint32_t i = 0; i < m_trace.threads.size(); ++i) {
      if (m_answer.cancelled || m_answer.more) return;
      visit(ThreadIndex{i}, *m_trace.threads[i]);
    }
  }

  // Whether there is room for more.
  bool addRow(const AnswerRow& row) {
    if (m_answer.rows.size() >= m_limit) {
      m_answer.more = true;
      return false;
    }
    m_answer.rows.push_back(row);
    return true;
  }

  bool isStopped() {
    if (!m_stop.stop_requested()) return false;
    return m_answer.cancelled = m_answer.more = true;
  }

  void countDoubt(const Entry& entry) {
    if (entry.kind == EntryKind::Gap) ++m_gaps;
  }

  std::string doubts() const {
    std::string text = "in what the trace holds";
    if (m_gaps > 0)
      text += std::format("; what ran in its {} gap{} is not known", m_gaps, m_gaps == 1 ? "" : "s");
    return text;
  }

  void noteNever(const PlaceTest& place) {
    m_answer.note = "never, " + doubts();
    if (place.unknown())
      m_answer.note += "; nothing in it has that name";
    else if (place.isOfLines())
      m_answer.note += "; a line of which the compiler left no code leaves no entry";
    if (const Function* function = place.untraced(m_trace))
      m_answer.note +=
          std::format("; but calls of {} leave no records, for {}", function->name, function->untraced);
  }

  const Trace& m_trace;
  Standpoint m_from;
  std::size_t m_limit;
  std::stop_token m_stop;
  Answer m_answer;
  std::uint64_t m_gaps = 0;
  std::optional<Test> m_test;
  bool m_withStacks = false;
  RunningStack m_stack;
  std::unordered_map<EntryIndex, bool> m_fits;  // of backward(): found out already
};

}  // namespace

Answer answer(const Trace& trace, const Standpoint& from, const Question& question, std::size_t limit,
              std::stop_token stop) {
  return std::visit(Answering(trace, from, limit, std::move(stop)), question);
}

}  // namespace traceback::model
