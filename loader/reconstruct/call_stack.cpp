#include "loader/reconstruct/call_stack.h"

namespace traceback::loader {

std::vector<Frame> stackAfter(std::span<const StackDifference> differences) {
  if (differences.empty()) return {};
  const auto& last = differences.back();
  std::vector<Frame> frames(last.keep + last.above.size());
  std::ranges::copy(last.above, frames.begin() + static_cast<std::ptrdiff_t>(last.keep));
  auto missing = last.keep;  // frames [0, missing) are still to be found in earlier differences
  for (auto i = differences.size() - 1; i-- > 0 && missing > 0;) {
    const auto& earlier = differences[i];
    if (earlier.keep >= missing) continue;
    for (auto k = earlier.keep; k < missing; ++k) frames[k] = earlier.above[k - earlier.keep];
    missing = earlier.keep;
  }
  return frames;
}

}  // namespace traceback::loader
