// Work on many functions at once. Results must not depend on the order: each call writes only what is its
// own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

namespace traceback::instrument {

// As many as processors if 0 is asked for.
inline unsigned threadCount(unsigned asked) {
  constexpr unsigned kMost = 64;
  const unsigned count = asked == 0 ? std::thread::hardware_concurrency() : asked;
  return std::clamp(count, 1U, kMost);
}

// Calls work(i) once for each i below `count`, on this thread and others; returns when all are done.
// `progress`, if any, is called on this thread now and then with the part that is done, 0 to 1.
template <typename Work>
void forEachIndex(std::size_t count, unsigned threads, const Work& work,
                  const std::function<void(double)>& progress = {}) {
  constexpr std::size_t kChunk = 32;
  std::atomic<std::size_t> next = 0;
  const auto takeChunk = [&] {
    const std::size_t first = next.fetch_add(kChunk, std::memory_order_relaxed);
    for (std::size_t i = first; i < std::min(first + kChunk, count); ++i) work(i);
    return first + kChunk < count;
  };
  std::vector<std::jthread> others;
  const std::size_t useful = std::min<std::size_t>(threadCount(threads), (count + kChunk - 1) / kChunk);
  try {
    while (others.size() + 1 < useful)
      others.emplace_back([&] {
        while (takeChunk()) {
        }
      });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): fewer threads, then
  }
  double shown = 0;
  while (takeChunk()) {
    const double done = std::min(1.0, double(next.load(std::memory_order_relaxed)) / double(count));
    if (progress && done - shown >= 0.05) progress(shown = done);
  }
}

}  // namespace traceback::instrument
