#include <QTest>
#include <deque>

#include "model/call_tree.h"
#include "model/stepping.h"
#include "tests/builders/trace_text.h"
#include "tests/model/random_trace.h"

using namespace traceback;
using namespace traceback::model;
using namespace traceback::tests;

namespace {

// A call tree made the plain way: by walking over all entries with a stack.
struct Node {
  CallSpan span;
  std::vector<std::pair<EntryIndex, const Node*>> children;  // no node: a line of the call itself
};

class WalkedTree {
 public:
  explicit WalkedTree(const std::vector<Entry>& entries) : m_active(entries.size()) {
    std::int32_t outermost = INT32_MAX;
    for (const Entry& entry : entries) {
      if (entry.kind != EntryKind::Sync) outermost = std::min(outermost, entry.depth);
    }
    push(unseen(0, outermost - 1));
    for (EntryIndex at = 0; at < entries.size(); ++at) take(at, entries[at]);
    closeFrom(outermost, entries.size());
    m_nodes.front().span.end = entries.size();
  }

  const Node& root() const { return m_nodes.front(); }
  const std::deque<Node>& nodes() const { return m_nodes; }
  const std::vector<const Node*>& activeAt(EntryIndex at) const { return m_active[at]; }  // outermost first

 private:
  static CallSpan unseen(EntryIndex first, std::int32_t depth) {
    CallSpan span;
    span.first = first;
    span.depth = depth;
    return span;
  }
  void push(CallSpan span) {
    m_nodes.push_back({span, {}});
    Node* node = &m_nodes.back();
    if (!m_stack.empty()) m_stack.back()->children.push_back({span.call.value_or(span.first), node});
    m_stack.push_back(node);
  }
  void closeFrom(std::int32_t depth, EntryIndex end) {
    while (m_stack.size() > 1 && m_stack.back()->span.depth >= depth) {
      m_stack.back()->span.end = end;
      m_stack.pop_back();
    }
  }
  void openTo(std::int32_t depth, EntryIndex first) {
    while (m_stack.back()->span.depth < depth) push(unseen(first, m_stack.back()->span.depth + 1));
  }
  void remember(EntryIndex at) { m_active[at].assign(m_stack.begin() + 1, m_stack.end()); }

  void take(EntryIndex at, const Entry& entry) {
    if (entry.kind == EntryKind::Sync) return;
    const bool call = entry.kind == EntryKind::Call;
    closeFrom(call ? entry.depth : entry.depth + 1, at);
    openTo(call ? entry.depth - 1 : entry.depth, at);
    remember(at);
    if (call) {
      CallSpan span = unseen(at + 1, entry.depth);
      span.call = at;
      push(span);
    } else if (entry.kind == EntryKind::Return) {
      m_stack.back()->span.finished = true;
      closeFrom(entry.depth, at + 1);
    } else {
      m_stack.back()->children.push_back({at, nullptr});
    }
  }

  std::deque<Node> m_nodes;
  std::vector<Node*> m_stack;
  std::vector<std::vector<const Node*>> m_active;
};

QString text(const CallSpan& span) {
  return QString("call %1, %2 to %3, depth %4%5")
      .arg(span.call ? QString::number(*span.call) : "unseen")
      .arg(span.first)
      .arg(span.end)
      .arg(span.depth)
      .arg(span.finished ? ", finished" : "");
}

QString text(EntryIndex index, const CallSpan* span) {
  return QString::number(index) + (span ? " (" + text(*span) + ")" : QString());
}

}  // namespace

class CallTreeTest : public QObject {
  Q_OBJECT

 private:
  static QStringList names(const Trace& trace, const std::vector<CallSpan>& spans) {
    QStringList list;
    for (const CallSpan& span : spans) {
      const Function* function = trace.function(span.function);
      list << (function ? QString::fromStdString(function->name) : "?");
    }
    return list;
  }
  static QStringList rows(const Trace& trace, const std::vector<Child>& children) {
    QStringList list;
    for (const Child& child : children) {
      if (child.call) {
        list << names(trace, {*child.call}).front();
      } else {
        list << QString::number(child.entry.line);
      }
    }
    return list;
  }

 private slots:
  void activeCallsAreThoseThatHaveNotReturned() {
    const auto trace = traceOf(R"(
        call main main.c
          10
          call parse parse.c
            20
            call visit
              30
          11
          call dump dump.c
            40 fault
    )");
    const ThreadTrace& thread = *trace->threads[0];
    QCOMPARE(names(*trace, activeCalls(thread, lineAt(thread, 40))), (QStringList{"dump", "main"}));
    QCOMPARE(names(*trace, activeCalls(thread, lineAt(thread, 30))), (QStringList{"visit", "parse", "main"}));
    QCOMPARE(names(*trace, activeCalls(thread, lineAt(thread, 11))), (QStringList{"main"}));
    QCOMPARE(names(*trace, activeCalls(thread, callAt(*trace, thread, "dump"))), (QStringList{"main"}));
    QVERIFY(activeCalls(thread, thread.entryCount()).empty());
  }

  void callsThatTheTraceBeginsInsideAreActiveToo() {
    const auto trace = traceOf(R"(
        in main main.c
          in parse parse.c
            in visit
              30
            21
          11
          call dump dump.c
            40 fault
    )");
    const ThreadTrace& thread = *trace->threads[0];
    const auto calls = activeCalls(thread, lineAt(thread, 30));
    QCOMPARE(names(*trace, calls), (QStringList{"visit", "parse", "main"}));
    QVERIFY(!calls[0].call && calls[0].finished && calls[0].first == 0);
    QVERIFY(!calls[2].call && !calls[2].finished);
    QCOMPARE(calls[2].end, thread.entryCount());
  }

  void consecutiveCallsFromOneLineAreToldApart() {
    const auto trace = traceOf("call main m.c\n  1\n  call f\n    2\n  call f\n    3\n  call g\n    4\n");
    const ThreadTrace& thread = *trace->threads[0];
    const auto calls = activeCalls(thread, lineAt(thread, 3));
    QCOMPARE(calls[0].call, std::optional(callAt(*trace, thread, "f", 2)));
    QCOMPARE(calls[0].end, callAt(*trace, thread, "g"));
  }

  void aTreeGoesDownFromTheWholeTraceAlongTheActiveCalls() {
    const auto trace = traceOf(R"(
        call init init.c
          1
        call main main.c
          10
          call parse parse.c
            20
          11
          12
    )");
    const ThreadTrace& thread = *trace->threads[0];
    const auto top = model::children(thread, wholeTrace(thread), 0, 100);
    QCOMPARE(rows(*trace, top), (QStringList{"init", "main"}));
    QCOMPARE(rows(*trace, model::children(thread, *top[1].call, 0, 100)),
             (QStringList{"10", "parse", "11", "12"}));
    QCOMPARE(rows(*trace, model::children(thread, *top[1].call, 0, 2)), (QStringList{"10", "parse"}));
    // From within parse: what began before is not repeated.
    QCOMPARE(rows(*trace, model::children(thread, *top[1].call, lineAt(thread, 20), 100)),
             (QStringList{"11", "12"}));
  }

  void tailCallsTakeTheirCallersPlace() {
    const auto trace = traceOf("call main m.c\n  1\n  call f\n    2\n  call g tail\n    3\n  4\n");
    const ThreadTrace& thread = *trace->threads[0];
    QCOMPARE(names(*trace, activeCalls(thread, lineAt(thread, 3))), (QStringList{"g", "main"}));
  }

  void anEmptyTraceHasNoCalls() {
    const auto thread = threadOf({}, 4);
    QVERIFY(model::children(*thread, wholeTrace(*thread), 0, 10).empty());
    const auto syncs = traceOf("sync\nsync\n");
    QVERIFY(model::children(*syncs->threads[0], wholeTrace(*syncs->threads[0]), 0, 10).empty());
    QVERIFY(activeCalls(*syncs->threads[0], 1).empty());
  }

  void theIndexGivesTheTreeThatAWalkGives_data() {
    QTest::addColumn<int>("shape");
    QTest::addColumn<std::size_t>("chunkSize");
    for (const std::size_t size : {1, 3, 10, 1000}) {
      QTest::addRow("well formed, chunks of %zu", size) << static_cast<int>(Shape::WellFormed) << size;
      QTest::addRow("wild, chunks of %zu", size) << static_cast<int>(Shape::Wild) << size;
    }
  }
  void theIndexGivesTheTreeThatAWalkGives() {
    QFETCH(int, shape);
    QFETCH(std::size_t, chunkSize);
    for (std::uint32_t seed = 1; seed <= 6; ++seed) {
      const auto all = randomEntries(seed, 200, static_cast<Shape>(shape));
      const auto thread = threadOf(all, chunkSize);
      const WalkedTree tree(all);
      QCOMPARE(text(wholeTrace(*thread)), text(tree.root().span));
      for (EntryIndex at = 0; at < all.size(); ++at) {
        if (all[at].kind == EntryKind::Sync) continue;
        QStringList found, expected;
        for (const CallSpan& span : activeCalls(*thread, at)) found.prepend(text(span));
        for (const Node* node : tree.activeAt(at)) expected << text(node->span);
        QCOMPARE(found, expected);
      }
      for (const Node& node : tree.nodes()) {
        for (const EntryIndex from :
             {EntryIndex(0), node.span.first + 1, node.span.first + 5, node.span.end}) {
          for (const std::size_t limit : {1, 4, 1000}) {
            QStringList found, expected;
            for (const Child& child : model::children(*thread, node.span, from, limit)) {
              found << text(child.index, child.call ? &*child.call : nullptr);
              QCOMPARE(child.entry.address, all[child.index].address);
            }
            for (const auto& [index, child] : node.children) {
              if (index < from || static_cast<std::size_t>(expected.size()) == limit) continue;
              expected << text(index, child ? &child->span : nullptr);
            }
            QCOMPARE(found, expected);
          }
        }
      }
    }
  }

  void functionsOfCallsAreKnownFromTheirCallEntries() {
    const auto all = randomEntries(9, 300, Shape::WellFormed);
    const auto thread = threadOf(all, 10);
    for (EntryIndex at = 0; at < all.size(); ++at) {
      // In these traces a function's id is its depth.
      for (const CallSpan& span : activeCalls(*thread, at)) {
        if (span.call || span.function.valid()) {
          QCOMPARE(span.function.value, static_cast<std::uint32_t>(span.depth));
        }
      }
    }
  }
};

QTEST_APPLESS_MAIN(CallTreeTest)
#include "tst_call_tree.moc"
