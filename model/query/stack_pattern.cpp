#include "model/query/stack_pattern.h"

#include <algorithm>

namespace traceback::model {

StackPattern::StackPattern(const Trace& trace, const std::vector<std::string>& frames)
    : m_words(frames.size() / kBits + 1), m_open(m_words) {
  for (const auto& frame : frames)
    m_frames.push_back(frame == "*" ? std::nullopt : std::optional<FunctionSet>(std::in_place, trace, frame));
  follow(m_open, 0);
}

// `*` may stand for nothing.
void StackPattern::follow(std::vector<Word>& next, std::size_t frame) const {
  for (;; ++frame) {
    next[frame / kBits] |= Word{1} << (frame % kBits);
    if (frame == m_frames.size() || m_frames[frame]) return;
  }
}

std::vector<StackPattern::Word> StackPattern::behind(const Word* open, FunctionId function) const {
  std::vector<Word> next(m_words);
  for (std::size_t frame = 0; frame < m_frames.size(); ++frame) {
    if ((open[frame / kBits] >> (frame % kBits) & 1) == 0) continue;
    if (!m_frames[frame])
      follow(next, frame);
    else if (m_frames[frame]->contains(function))
      follow(next, frame + 1);
  }
  return next;
}

bool StackPattern::holds(RunningStack& stack, EntryIndex at, const Entry& entry) {
  const auto levels = stack.levels(at);
  std::size_t known = std::min(m_serials.size(), levels.size());
  while (known > 0 && m_serials[known - 1] != levels[known - 1].serial) --known;
  m_serials.resize(known);
  m_open.resize((known + 1) * m_words);
  for (const auto& level : levels.subspan(known)) {
    const auto next = behind(m_open.data() + m_serials.size() * m_words, level.function);
    m_open.insert(m_open.end(), next.begin(), next.end());
    m_serials.push_back(level.serial);
  }
  std::vector<Word> open(m_open.end() - static_cast<std::ptrdiff_t>(m_words), m_open.end());
  if (entry.kind == EntryKind::Call) open = behind(open.data(), entry.function);
  return (open[m_frames.size() / kBits] >> (m_frames.size() % kBits) & 1) != 0;
}

}  // namespace traceback::model
