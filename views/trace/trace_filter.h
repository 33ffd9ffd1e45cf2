// Which entries the user wants to see, and which rows are alike.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "model/call_tree.h"
#include "model/trace.h"

namespace traceback::views {

// What the user chose; all of it must hold.
struct TraceFilter {
  std::optional<model::ModuleId> module;
  QString function;  // a part of the name, in any case
  QString file;      // a part of the path

  bool any() const { return module.has_value() || !function.isEmpty() || !file.isEmpty(); }
  friend bool operator==(const TraceFilter&, const TraceFilter&) = default;
};

// How the rows of a thread are put together. Made anew for each thread and choice.
class RowRules {
 public:
  RowRules() = default;
  RowRules(const model::Trace& trace, const model::ThreadTrace& thread, const TraceFilter& filter, bool fold);

  bool fold() const { return m_fold; }
  bool filters() const { return m_filters; }
  // Faults, gaps, signals and exceptions are never left out: they say what is not as it seems.
  bool shows(const model::Entry& entry) const;
  // A call is shown if it, or anything in it, is; one too long to look through is shown.
  bool showsCall(const model::CallSpan& call) const;
  // Of a row that stands for an entry: equal for rows that read alike; 0 for what is never folded.
  std::uint64_t key(const model::Entry& entry) const;
  // Of a row that stands for a call: equal for calls of one function; 0 if the fault is in it.
  std::uint64_t key(const model::CallSpan& call) const;

 private:
  const model::ThreadTrace* m_thread = nullptr;
  bool m_fold = false;
  bool m_filters = false;
  std::optional<model::ModuleId> m_module;
  bool m_byFunction = false, m_byFile = false;
  std::vector<bool> m_functions, m_files;  // those that are shown
};

}  // namespace traceback::views
