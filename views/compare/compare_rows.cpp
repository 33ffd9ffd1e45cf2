#include "views/compare/compare_rows.h"

#include <algorithm>
#include <limits>

namespace traceback::views {
namespace {

using Kind = Stretch::Kind;

// Rows of a long stretch that stay in sight, next to a difference and within one.
constexpr std::uint64_t kContext = 30;
constexpr std::uint64_t kShownOfDifference = 500;
constexpr int kMostRows = std::numeric_limits<int>::max() / 2;

}  // namespace

CompareRows::CompareRows(model::Comparison comparison) : m_comparison(std::move(comparison)) {
  const auto& stretches = m_comparison.stretches;
  std::size_t difference = 0;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    while (difference < m_comparison.differences.size() && m_comparison.differences[difference].end <= i)
      ++difference;
    const bool differs =
        difference < m_comparison.differences.size() && m_comparison.differences[difference].first <= i;
    const Stretch& each = stretches[i];
    Band band{.kind = each.kind,
              .left = each.left,
              .right = each.right,
              .leftCount = each.leftCount,
              .rightCount = each.rightCount,
              .leftRounds = each.leftCount > 0 ? each.rounds : 0,
              .rightRounds = each.rightCount > 0 ? each.rounds : 0,
              .difference = differs ? static_cast<int>(difference) : -1};
    const bool paired =
        each.kind == Kind::Left && i + 1 < stretches.size() && stretches[i + 1].kind == Kind::Right;
    if (paired) {
      band.rightCount = stretches[++i].rightCount;
      band.rightRounds = stretches[i].rounds;
    }
    addFolded(band, i > 0, i + 1 < stretches.size());
  }
  number();
}

CompareRows::Band CompareRows::part(const Band& band, std::uint64_t from, std::uint64_t count) {
  const auto cut = [&](std::uint64_t all) { return from >= all ? 0 : std::min(count, all - from); };
  Band result = band;
  result.begins = from == 0;
  result.left += std::min(from, band.leftCount);
  result.right += std::min(from, band.rightCount);
  result.leftCount = cut(band.leftCount);
  result.rightCount = cut(band.rightCount);
  return result;
}

void CompareRows::addFolded(Band band, bool after, bool before) {
  const std::uint64_t height = band.height();
  const bool differs = band.difference >= 0;
  const std::uint64_t head = differs ? kShownOfDifference : after ? kContext : 0;
  const std::uint64_t tail = differs || before ? kContext : after ? 0 : kContext;
  if (height <= head + tail + 1) return m_bands.push_back(band);
  if (head > 0) m_bands.push_back(part(band, 0, head));
  Band middle = part(band, head, height - head - tail);
  middle.isFolded = true;
  m_bands.push_back(middle);
  if (tail > 0) m_bands.push_back(part(band, height - tail, tail));
}

void CompareRows::number() {
  m_firstRows.assign(m_comparison.differences.size(), -1);
  int row = 0;
  for (Band& band : m_bands) {
    band.firstRow = row;
    if (band.difference >= 0 && m_firstRows[static_cast<std::size_t>(band.difference)] < 0)
      m_firstRows[static_cast<std::size_t>(band.difference)] = row;
    const std::uint64_t rows = band.isFolded ? 1 : band.height();
    row = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(row) + rows, kMostRows));
  }
}

int CompareRows::count() const {
  if (m_bands.empty()) return 0;
  const Band& last = m_bands.back();
  return static_cast<int>(std::min<std::uint64_t>(
      static_cast<std::uint64_t>(last.firstRow) + (last.isFolded ? 1 : last.height()), kMostRows));
}

const CompareRows::Band& CompareRows::bandAt(int row) const {
  return *(std::ranges::upper_bound(m_bands, row, {}, &Band::firstRow) - 1);
}

CompareCell CompareRows::cell(int row, model::Side side) const {
  const Band& band = bandAt(row);
  if (band.isFolded) return {};
  const auto offset = static_cast<std::uint64_t>(row - band.firstRow);
  const bool isLeft = side == model::Side::Left;
  if (offset >= (isLeft ? band.leftCount : band.rightCount)) return {.entry = {}, .missing = true};
  return {.entry = (isLeft ? band.left : band.right) + offset};
}

Stretch::Kind CompareRows::kind(int row) const { return bandAt(row).kind; }

std::uint64_t CompareRows::folded(int row) const {
  const Band& band = bandAt(row);
  return band.isFolded ? band.height() : 0;
}

std::uint64_t CompareRows::rounds(int row, model::Side side) const {
  const Band& band = bandAt(row);
  return side == model::Side::Left ? band.leftRounds : band.rightRounds;
}

bool CompareRows::beginsStretch(int row, model::Side side) const {
  const Band& band = bandAt(row);
  return band.begins && row == band.firstRow && !cell(row, side).missing;
}

void CompareRows::unfold(int row) {
  Band& band = m_bands[static_cast<std::size_t>(&bandAt(row) - m_bands.data())];
  band.isFolded = false;
  number();
}

int CompareRows::reveal(model::Side side, model::EntryIndex entry) {
  const bool isLeft = side == model::Side::Left;
  for (const Band& band : m_bands) {
    const model::EntryIndex first = isLeft ? band.left : band.right;
    if (entry < first || entry - first >= (isLeft ? band.leftCount : band.rightCount)) continue;
    if (band.isFolded) unfold(band.firstRow);
    return band.firstRow + static_cast<int>(entry - first);
  }
  return -1;
}

int CompareRows::rowOf(int difference) const { return m_firstRows[static_cast<std::size_t>(difference)]; }

int CompareRows::differenceAt(int row) const { return count() > 0 ? bandAt(row).difference : -1; }

int CompareRows::nextDifference(int row) const {
  const auto next = std::ranges::upper_bound(m_firstRows, row);
  return next == m_firstRows.end() ? -1 : static_cast<int>(next - m_firstRows.begin());
}

int CompareRows::previousDifference(int row) const {
  return static_cast<int>(std::ranges::lower_bound(m_firstRows, row) - m_firstRows.begin()) - 1;
}

}  // namespace traceback::views
