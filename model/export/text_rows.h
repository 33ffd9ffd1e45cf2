// A thread's entries as lines of text, for people: place, function and source, or a tree of calls.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "model/entry.h"
#include "model/trace.h"

namespace traceback::model {

// The text of a source line without what it is indented by; empty if it is not known.
using SourceLine = std::function<std::string(const SourceFile& file, std::uint32_t line)>;

class TextRows {
 public:
  enum class Shape : std::uint8_t { Flat, Tree };
  // All of it outlives this.
  TextRows(const Trace& trace, const SourceLine& sources, Shape shape)
      : m_trace(trace), m_sources(sources), m_shape(shape) {}

  // Whether an entry has a row: what ran, and in a tree also the calls.
  bool shows(EntryKind kind) const;
  // Without an end of line and without control characters. `outermost` is the depth that is not indented.
  std::string row(const Entry& entry, std::int32_t outermost) const;

 private:
  const Trace& m_trace;
  const SourceLine& m_sources;
  Shape m_shape;
};

// "thread 2 (worker, tid 4712), at fault"
std::string threadHeading(const Trace& trace, ThreadIndex thread);
// The depth of the outermost line from an entry on.
std::int32_t outermostDepth(const ThreadTrace& thread, EntryIndex first);

}  // namespace traceback::model
