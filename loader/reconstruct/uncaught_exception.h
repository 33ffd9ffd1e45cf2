// Whether a thread was ended by an exception that nobody caught.
//
// Exceptions are followed by the calls of the C++ library (Itanium C++ ABI, exception handling):
// `__cxa_throw` throws one, landing pads that only clean up end in `_Unwind_Resume`, those that catch it
// begin with
// `__cxa_begin_catch`, and `__cxa_rethrow` throws that one again. Where the unwinder finds no catch, or a
// noexcept function is in the way, std::terminate() is called on top of these. What std::rethrow_exception
// raises has a record of its own, too; without one, and raised otherwise, it is followed as one that is not
// known. So it is told only where the C++ library is recorded, and nothing in between is left open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "loader/reconstruct/trace_names.h"
#include "model/entry.h"
#include "model/ids.h"

namespace traceback::loader {

class UncaughtException {
 public:
  // Before the names are frozen.
  explicit UncaughtException(const TraceNames& names) : m_names(names) {}

  // All entries of a thread, in order.
  void add(model::EntryIndex index, const model::Entry& entry);

  // The Exception, if the thread then met SIGABRT; and the detail of that entry.
  std::optional<model::EntryIndex> entry() const {
    return m_aborted ? m_exceptions.back().entry : std::nullopt;
  }
  std::uint32_t type() const { return m_exceptions.back().type; }
  model::Ticks time() const { return m_exceptions.back().time; }  // when it was thrown; 0: not known

 private:
  enum class State : std::uint8_t {
    Thrown,  // the unwinder looks for a catch, or goes there
    CleansUp,  // in a landing pad, of which it is not known yet whether it catches
    Caught,
    Terminates,
  };
  struct Exception {
    std::optional<model::EntryIndex> entry = {};  // nothing: one that is not known
    std::uint32_t type = 0;
    model::Ticks time = {};
    State state = State::Thrown;
    bool again = false;  // by std::rethrow_exception
    bool seen = false;  // Thrown: the C++ library's own call is in the trace
    bool raised = false;  // Thrown: and the unwinder's
    unsigned handlers = 0;  // that it is in
    std::int32_t depth = 0;  // of what called that, or has the landing pad
  };

  static constexpr std::size_t kMost = 256;

  static bool isLeft(const Exception& one, std::int32_t depth);
  void push(const Exception& one);
  void addThrown(model::EntryIndex index, const model::Entry& entry);
  void addCall(const model::Entry& call);
  void startAgain(const model::Entry& call);
  void raise(const model::Entry& call);
  void endHandler();
  void throwAgain(const model::Entry& call);

  const TraceNames& m_names;
  std::vector<Exception>
      m_exceptions;  // that are on their way or handled, each by what handles the one before
  std::int32_t m_frameDepth = 0;  // of the function that runs, without what is inlined
  bool m_followsInlinedCall = false;
  bool m_aborted = false;
};

}  // namespace traceback::loader
