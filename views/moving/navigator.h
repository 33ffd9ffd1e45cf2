// Where the user stands in a trace, and every way to move: the six steps, jumps, and the history of jumps.
// All panes watch one navigator and move by it, which is what keeps them in step.
#pragma once

#include <QObject>
#include <memory>
#include <optional>
#include <vector>

#include "model/order.h"
#include "model/stepping.h"
#include "model/trace.h"

namespace traceback::views {

// Its entry is steppable, as model/stepping.h has it.
using Position = model::TracePlace;

class Navigator : public QObject {
  Q_OBJECT

 public:
  explicit Navigator(QObject* parent = nullptr);

  // Stands at the initial position of the first thread that has one. Null closes the trace.
  void setTrace(std::shared_ptr<const model::Trace> trace);
  // The same trace with more of its past: one goes on standing where one stood, in all threads.
  void setFullerTrace(std::shared_ptr<const model::Trace> trace);

  const std::shared_ptr<const model::Trace>& trace() const { return m_trace; }
  model::ThreadIndex threadIndex() const { return m_thread; }
  const model::ThreadTrace* thread() const;        // null without a trace
  std::optional<model::EntryIndex> entryIndex() const;
  std::optional<Position> position() const;
  std::optional<model::Entry> entry() const;

  // False if the trace ends before such a step; nothing moves then.
  bool step(model::Step how);
  bool canStep(model::Step how) const;

  // The instruction of the entry at which one stands, where one has been going by instructions.
  std::optional<model::VirtAddr> instruction() const { return m_instruction; }
  // To an instruction of an entry of this thread, as a step.
  void standAt(model::EntryIndex entry, std::optional<model::VirtAddr> instruction);

  enum class Remember : std::uint8_t { No, Yes };
  // Goes to the entry, or, where nobody can stand on it, to the nearest one that can be stood on: the next
  // one for a call, else the previous.
  bool goTo(model::ThreadIndex thread, model::EntryIndex entry, Remember remember);
  // To where the thread was left, at first to its initial position.
  bool goToThread(model::ThreadIndex thread);
  // That at fault, if it has anywhere to stand. Asked at each step, so it reads no entries.
  std::optional<model::ThreadIndex> faultThread() const;
  // To where a viewer opens that one; false if there is none.
  bool goToFault();

  bool canGoBack() const { return !m_past.empty(); }
  bool canGoForward() const { return !m_future.empty(); }
  void historyBack();
  void historyForward();

 signals:
  void traceChanged();
  void threadChanged();
  void moved();

 private:
  const model::ThreadTrace* threadAt(model::ThreadIndex index) const;
  void stand(Position where, std::optional<model::VirtAddr> instruction = {});

  std::shared_ptr<const model::Trace> m_trace;
  model::ThreadIndex m_thread;
  std::vector<std::optional<model::EntryIndex>> m_entries;  // one a thread
  std::optional<model::VirtAddr> m_instruction;
  std::vector<Position> m_past, m_future;
};

}  // namespace traceback::views
