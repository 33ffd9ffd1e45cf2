// Whether a piece of inlined code begins a call, or goes on with one that was left.
//
// Compilers mix what they inline with the code around it, so one call runs as several pieces, with the
// caller's code or that of other calls between them. Debug information says which code is of which inlined
// instance (DWARF 5, 3.3.8), not which executions are of one call. Taken for one call is what runs until a
// piece of it, or of what is around it, runs again: nothing runs twice in a call but by a loop, and a loop
// that leaves the inlined code is the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/ids.h"

namespace traceback::loader {

// An inlined instance of a function, by number; 0: none.
using InlinedInstance = std::uint32_t;

struct InlinedFunction {
  model::FunctionId function;
  InlinedInstance instance = 0;
  model::FileId file;  // where it is called; none if not known
  std::uint32_t line = 0;
  friend auto operator<=>(const InlinedFunction&, const InlinedFunction&) = default;
};

// Of one activation of a function. Not for use by several threads at once.
class InlinedCalls {
 public:
  bool anyRan() const { return m_now != 0; }

  // The piece at that address runs, so many inlined functions deep.
  void run(std::uint32_t address, std::size_t depth);

  // Control is still in these, outermost first. How many are still in the same call: the piece that runs ran
  // before in that of the others, but not since control came there, so that enter() then begins a new one.
  std::size_t underWayOf(std::span<const InlinedFunction> stack) const;

  // Control has come into the instance, so deep, with the piece that runs: outer ones first. Whether that
  // begins a call of it.
  bool enter(InlinedInstance instance, std::size_t depth);

 private:
  using Moment = std::uint32_t;
  struct Piece {
    std::uint32_t address = 0;
    Moment last = 0;
  };
  struct Call {
    InlinedInstance instance = 0;
    std::uint32_t depth = 0;
    Moment begin = 0;
    Moment entered = 0;  // last from outside
  };
  // All is forgotten once there are so many.
  static constexpr std::size_t kMostPieces = 256;

  Piece& find(std::uint32_t address);

  std::vector<Piece> m_pieces;  // by hash, half of them free at least
  std::size_t m_known = 0;
  std::vector<Call> m_calls;  // under way, or left and not known to be over
  Moment m_now = 0;
  Moment m_lastEntered = 0;
  Moment m_before = 0;  // when the piece that runs ran last; 0: never
};

}  // namespace traceback::loader
