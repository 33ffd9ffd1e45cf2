#include "loader/reconstruct/inlined_calls.h"

#include <algorithm>
#include <utility>

namespace traceback::loader {

// Where that piece is, or is to be.
InlinedCalls::Piece& InlinedCalls::find(std::uint32_t address) {
  const auto mask = m_pieces.size() - 1;
  auto at = (address * 0x9E37'79B9U >> 16) & mask;
  while (m_pieces[at].last != 0 && m_pieces[at].address != address) at = (at + 1) & mask;
  return m_pieces[at];
}

void InlinedCalls::run(std::uint32_t address, std::size_t depth) {
  if (m_known == kMostPieces || m_now == UINT32_MAX) *this = {};
  if (m_known * 2 >= m_pieces.size()) {
    constexpr std::size_t kFewest = 16;
    const auto old = std::exchange(m_pieces, std::vector<Piece>(std::max(kFewest, 2 * m_pieces.size())));
    for (const Piece& each : old)
      if (each.last != 0) find(each.address) = each;
  }
  ++m_now;
  Piece& piece = find(address);
  m_before = std::exchange(piece.last, m_now);
  if (m_before == 0) {
    piece.address = address;
    ++m_known;
    return;
  }
  std::erase_if(m_calls, [&](const Call& each) { return each.depth > depth && each.begin < m_before; });
}

std::size_t InlinedCalls::underWayOf(std::span<const InlinedFunction> stack) const {
  if (m_before == 0 || m_before >= m_lastEntered) return stack.size();
  std::size_t count = stack.size();
  for (const Call& each : m_calls) {
    const bool isOver = each.begin <= m_before && m_before < each.entered;
    if (isOver && each.depth <= count && stack[each.depth - 1].instance == each.instance)
      count = each.depth - 1;
  }
  return count;
}

bool InlinedCalls::enter(InlinedInstance instance, std::size_t depth) {
  m_lastEntered = m_now;
  const auto known = std::ranges::find(m_calls, instance, &Call::instance);
  if (known != m_calls.end() && m_before < known->begin) {
    known->entered = m_now;
    return false;
  }
  if (known != m_calls.end()) m_calls.erase(known);
  std::erase_if(m_calls, [&](const Call& each) { return each.depth > depth; });
  m_calls.push_back(
      {.instance = instance, .depth = static_cast<std::uint32_t>(depth), .begin = m_now, .entered = m_now});
  return true;
}

}  // namespace traceback::loader
