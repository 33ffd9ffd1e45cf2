#include "model/folding.h"

#include <algorithm>

namespace traceback::model {

std::vector<Repeat> findRepeats(std::span<const std::uint64_t> keys) {
  std::vector<Repeat> found;
  for (std::size_t first = 0; first < keys.size();) {
    Repeat best;
    const std::size_t longest = std::min(kLongestRound, (keys.size() - first) / 2);
    for (std::size_t period = 1; period <= longest && keys[first] != 0; ++period) {
      std::size_t alike = 0;  // rows that are like the one a round later
      while (first + alike + period < keys.size() && keys[first + alike] != 0 &&
             keys[first + alike] == keys[first + alike + period])
        ++alike;
      const Repeat repeat{first, period, (alike + period) / period};
      if (repeat.times >= (period == 1 ? 3U : 2U) && repeat.rows() > best.rows()) best = repeat;
    }
    if (best.times == 0) {
      ++first;
      continue;
    }
    found.push_back(best);
    first += best.rows();
  }
  return found;
}

}  // namespace traceback::model
