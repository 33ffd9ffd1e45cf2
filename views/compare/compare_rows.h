// The rows of a comparison: what answers each other stands in one row, and so does what only one side has
// beside what only the other has, from the parting on. Long stretches are folded to what lies next to a
// difference; a folded row unfolds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/compare/comparison.h"
#include "model/compare/entry_keys.h"

namespace traceback::views {

using Stretch = model::Stretch;

// What stands on one side of a row.
struct CompareCell {
  std::optional<model::EntryIndex> entry;  // nothing: the side has none here, or the row is folded
  bool missing = false;                    // the other side has an entry, this has none
};

class CompareRows {
 public:
  CompareRows() = default;
  explicit CompareRows(model::Comparison comparison);

  const model::Comparison& comparison() const { return m_comparison; }
  int count() const;
  CompareCell cell(int row, model::Side side) const;
  Stretch::Kind kind(int row) const;
  // How many rows a folded row stands for; 0 of others.
  std::uint64_t folded(int row) const;
  // Further rounds of a loop that the row is of, on that side.
  std::uint64_t rounds(int row, model::Side side) const;
  // Whether the row is the first of its stretch on that side.
  bool beginsStretch(int row, model::Side side) const;
  void unfold(int row);
  // The row that shows an entry, unfolding it if need be; -1 if none does.
  int reveal(model::Side side, model::EntryIndex entry);

  int differences() const { return static_cast<int>(m_comparison.differences.size()); }
  // Of a difference, its first row.
  int rowOf(int difference) const;
  // Of the differences, the one around the row, or the nearest behind or before it; -1 if there is none.
  int differenceAt(int row) const;
  int nextDifference(int row) const;
  int previousDifference(int row) const;

 private:
  // Rows side by side: of one stretch, or of a Left and a Right one next to each other.
  struct Band {
    Stretch::Kind kind = Stretch::Kind::Same;
    model::EntryIndex left = 0, right = 0;
    std::uint64_t leftCount = 0, rightCount = 0;
    std::uint64_t leftRounds = 0, rightRounds = 0;
    bool isFolded = false;  // one row for all
    bool begins = true;     // it is the first part of its stretch
    int difference = -1;
    int firstRow = 0;
    std::uint64_t height() const { return leftCount > rightCount ? leftCount : rightCount; }
  };
  void addFolded(Band band, bool after, bool before);
  static Band part(const Band& band, std::uint64_t from, std::uint64_t count);
  void number();
  const Band& bandAt(int row) const;

  model::Comparison m_comparison;
  std::vector<Band> m_bands;
  std::vector<int> m_firstRows;  // of the differences
};

}  // namespace traceback::views
