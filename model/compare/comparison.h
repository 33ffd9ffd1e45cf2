// How the path of one thread compares with that of another: in which stretches they went the same way, and
// where they parted.
//
// The paths are aligned from the outermost calls inwards: what happened in two calls that answer each other
// is aligned (sequences.h) by what it is as a whole, then, in between, calls by their function alone, whose
// insides are then aligned in turn. Where both traces begin with their threads, everything up to the first
// difference is the same by position. Where one begins later, it is aligned from its end, and the rows
// before are told apart from differences. The effort is bounded; what was not found out is Unknown.
//
// Read-only and callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "model/entry.h"
#include "model/ids.h"

namespace traceback::model {

class Trace;

struct Stretch {
  enum class Kind : std::uint8_t {
    Same,     // leftCount == rightCount, and entry i of one answers entry i of the other
    Left,     // only in the left trace: rightCount == 0
    Right,    // only in the right one: leftCount == 0
    Unknown,  // no alignment is known, or a gap hides what ran
    Before,   // on one side or both: older than what the other trace holds
  };
  Kind kind = Kind::Same;
  EntryIndex left = 0, right = 0;  // where it begins, or would
  std::uint64_t leftCount = 0, rightCount = 0;
  std::uint64_t rounds = 0;  // of Left and Right: it is so many more rounds of a loop that both ran

  friend bool operator==(const Stretch&, const Stretch&) = default;
};

// Stretches side by side that are neither Same nor Before.
struct Difference {
  std::size_t first = 0, end = 0;  // of Comparison::stretches
};

struct Comparison {
  // In order; together they cover both threads.
  std::vector<Stretch> stretches;
  std::vector<Difference> differences;
  // What is aligned by what, and what is not known: a sentence each.
  std::vector<std::string> notes;
  bool cancelled = false;

  bool same() const { return differences.empty() && !cancelled; }
  // How many entries of both sides answer each other.
  std::uint64_t sameCount() const;
};

Comparison compareThreads(const Trace& left, ThreadIndex leftThread, const Trace& right,
                          ThreadIndex rightThread, std::stop_token stop = {});

// Which thread of one trace answers which of the other: by name and start function, then by start function,
// then by name, each in the order of the threads' numbers; main threads answer each other. In the order of
// the left trace; those that only the right one has come last.
struct ThreadPair {
  std::optional<ThreadIndex> left, right;
  friend bool operator==(const ThreadPair&, const ThreadPair&) = default;
};
std::vector<ThreadPair> matchThreads(const Trace& left, const Trace& right);

}  // namespace traceback::model
