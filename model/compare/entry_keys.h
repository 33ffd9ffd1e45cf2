// What is alike in two traces. Their tables number modules, functions and files each for itself, and the
// same program lies elsewhere in each process; keys are the same for both.
//
// Modules answer each other by build id, else by name; the programs do whatever they are called. In modules
// of one build a line is known by its address, so that the same line elsewhere is not taken for it. In
// different builds it is known by its function, its file's name and by how far it lies below the function's
// first line, so that edits elsewhere in the file do no harm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace.h"

namespace traceback::model {

enum class Side : std::uint8_t { Left, Right };

class EntryKeys {
 public:
  EntryKeys(const Trace& left, const Trace& right);

  // Equal if the entries are alike. Never 0.
  std::uint64_t key(Side side, const Entry& entry) const;
  // The same for functions, 0 for none.
  std::uint64_t function(Side side, FunctionId id) const;
  // What is known by what, in words, a sentence each: only what is out of the ordinary.
  const std::vector<std::string>& notes() const { return m_notes; }

 private:
  struct Table {
    std::vector<std::uint64_t> modules, functions, files, exceptionTypes;
    std::vector<bool> oneBuild;                // of a module: the other trace has the same
    std::vector<std::uint32_t> firstLines;     // of a function: what its lines are counted from
    std::vector<VirtAddr> starts;              // of a function
  };
  std::uint64_t placeKey(const Table& table, const Entry& entry) const;

  Table m_tables[2];
  std::vector<std::string> m_notes;
};

// Mixes two keys into one.
constexpr std::uint64_t combine(std::uint64_t a, std::uint64_t b) {
  // The finalizer of MurmurHash3, over a sum in which order counts.
  std::uint64_t x = a * 0x9E37'79B9'7F4A'7C15 + b + 0x632B'E59B'D9B4'E019;
  x = (x ^ (x >> 33)) * 0xFF51'AFD7'ED55'8CCD;
  x = (x ^ (x >> 33)) * 0xC4CE'B9FE'1A85'EC53;
  x ^= x >> 33;
  return x != 0 ? x : 1;
}

}  // namespace traceback::model
