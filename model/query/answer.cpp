#include "model/query/answer.h"

#include <algorithm>
#include <format>
#include <memory>

#include "model/call_tree.h"
#include "model/query/patterns.h"
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
};

// A condition with its names looked up.
class Test {
 public:
  Test(const Trace& trace, const Condition& condition) : m_kind(condition.kind) {
    for (const auto& part : condition.parts) m_parts.emplace_back(trace, part);
    if (m_kind == Condition::Kind::Source) m_lines.emplace(trace, condition.source);
    for (const auto& frame : condition.frames) {
      const bool any = m_kind == Condition::Kind::Stack && frame == "*";
      m_frames.push_back(any ? std::nullopt : std::optional<FunctionSet>(std::in_place, trace, frame));
    }
  }

  bool holds(const Moment& moment) const {
    switch (m_kind) {
      case Condition::Kind::And:
        return std::ranges::all_of(m_parts, [&](const Test& part) { return part.holds(moment); });
      case Condition::Kind::Or:
        return std::ranges::any_of(m_parts, [&](const Test& part) { return part.holds(moment); });
      case Condition::Kind::Not:
        return !m_parts.front().holds(moment);
      case Condition::Kind::Function:
        return m_frames.front()->contains(moment.entry.function);
      case Condition::Kind::Source:
        return sourceHolds(moment);
      case Condition::Kind::Stack:
        return stackHolds(moment);
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

  bool stackHolds(const Moment& moment) const {
    std::vector<FunctionId> stack;
    if (moment.entry.kind == EntryKind::Call) stack.push_back(moment.entry.function);
    for (const CallSpan& call : activeCalls(moment.thread, moment.index)) stack.push_back(call.function);
    std::ranges::reverse(stack);
    return framesMatch(stack);
  }

  // As with `*` in text.
  bool framesMatch(const std::vector<FunctionId>& stack) const {
    std::size_t p = 0, s = 0, resume = 0;
    std::optional<std::size_t> star;
    while (s < stack.size()) {
      if (p < m_frames.size() && !m_frames[p]) {
        star = p++;
        resume = s;
      } else if (p < m_frames.size() && m_frames[p]->contains(stack[s])) {
        ++p;
        ++s;
      } else if (star) {
        p = *star + 1;
        s = ++resume;
      } else {
        return false;
      }
    }
    while (p < m_frames.size() && !m_frames[p]) ++p;
    return p == m_frames.size();
  }

  Condition::Kind m_kind;
  std::vector<Test> m_parts;
  std::vector<std::optional<FunctionSet>> m_frames;  // nothing: any calls
  std::optional<LineSet> m_lines;
};

std::optional<EntryIndex> positionOf(const ThreadTrace& thread, EntryIndex index, EntryKind kind) {
  if (isSteppable(kind)) return index;
  return kind == EntryKind::Return ? thread.previousAtMost(index, INT32_MAX)
                                   : thread.nextAtMost(index, INT32_MAX);
}

bool isEvent(EventKind event, const Entry& entry) {
  const EntryKind kind = entry.kind;
  switch (event) {
    case EventKind::Enter:
      return kind == EntryKind::Call;
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
      m_lines.emplace(trace, *source);
    } else {
      m_functions.emplace(trace, std::get<std::string>(place));
    }
  }
  bool unknown() const { return m_lines ? m_lines->empty() : m_functions->empty(); }
  // A function that it names and whose calls leave no records; null if there is none.
  const Function* untraced(const Trace& trace) const {
    for (std::uint32_t i = 0; m_functions && i < trace.functions.size(); ++i)
      if (m_functions->contains({i}) && !trace.functions[i].untraced.empty()) return &trace.functions[i];
    return nullptr;
  }
  bool isRunBy(const Entry& entry) const {
    return m_lines ? entry.kind == EntryKind::Line && m_lines->contains(entry.file, entry.line)
                   : entry.kind == EntryKind::Call && m_functions->contains(entry.function);
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
    const auto test = testOf(asked.where);
    std::uint64_t left = asked.count;
    const auto visit = [&](EntryIndex index, const Entry& entry) {
      if (!isEvent(asked.event, entry)) return true;
      const auto position = positionOf(thread, index, entry.kind);
      // Where one stands already is not gone to.
      if (asked.from == Goto::From::Current && position == m_from.at) return true;
      if (test && !test->holds({thread, index, entry, position})) return true;
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
      backward(thread, at, visit);
    }
    if (m_answer.rows.empty() && !m_answer.cancelled) m_answer.note = "there is no such place " + doubts();
    return std::move(m_answer);
  }

  Answer operator()(const Occurrences& asked) {
    const PlaceTest place(m_trace, asked.place);
    const auto test = testOf(asked.where);
    eachThread([&](ThreadIndex number, const ThreadTrace& thread) {
      const auto add = [&](EntryIndex index, const Entry& entry) {
        const auto position = positionOf(thread, index, entry.kind);
        return (test && !test->holds({thread, index, entry, position})) ||
               addRow({number, index, position, {}});
      };
      for (const EntryIndex index : place.underWay(thread)) {
        if (!add(index, thread.entry(index))) return;
      }
      forward(thread, 0, [&](EntryIndex index, const Entry& entry) {
        return !place.isRunBy(entry) || add(index, entry);
      });
    });
    if (m_answer.rows.empty() && !m_answer.cancelled) noteNever(place);
    return std::move(m_answer);
  }

  Answer operator()(const Between& asked) {
    const PlaceTest from(m_trace, asked.from), to(m_trace, asked.to);
    eachThread([&](ThreadIndex number, const ThreadTrace& thread) {
      std::vector<AnswerRow> open;
      forward(thread, 0, [&](EntryIndex index, const Entry& entry) {
        if (to.isRunBy(entry)) {
          for (AnswerRow& row : open) {
            row.end = index;
            if (!addRow(row)) return false;
          }
          open.clear();
        }
        if (from.isRunBy(entry)) {
          if (open.size() >= m_limit) {
            m_answer.more = true;
          } else {
            open.push_back({number, index, positionOf(thread, index, entry.kind), {}});
          }
        }
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
  std::unique_ptr<const Test> testOf(const std::optional<Condition>& where) const {
    return where ? std::make_unique<const Test>(m_trace, *where) : nullptr;
  }

  // Visits entries from `begin` on, until the visitor has enough.
  template <typename Visitor>
  void forward(const ThreadTrace& thread, EntryIndex begin, const Visitor& visit) {
    for (EntryIndex at = begin; at < thread.entryCount();) {
      if (isStopped()) return;
      for (const Entry& entry : thread.entries(at, kBatch)) {
        countDoubt(entry);
        if (!visit(at++, entry)) return;
      }
    }
  }

  // And those before `end`, newest first.
  template <typename Visitor>
  void backward(const ThreadTrace& thread, EntryIndex end, const Visitor& visit) {
    while (end > 0) {
      if (isStopped()) return;
      const EntryIndex begin = end - std::min<EntryIndex>(end, kBatch);
      const auto batch = thread.entries(begin, static_cast<std::size_t>(end - begin));
      for (std::size_t i = batch.size(); i-- > 0;) {
        countDoubt(batch[i]);
        if (!visit(begin + i, batch[i])) return;
      }
      end = begin;
    }
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
    if (place.unknown()) m_answer.note += "; nothing in it has that name";
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
};

}  // namespace

Answer answer(const Trace& trace, const Standpoint& from, const Question& question, std::size_t limit,
              std::stop_token stop) {
  return std::visit(Answering(trace, from, limit, std::move(stop)), question);
}

}  // namespace traceback::model
