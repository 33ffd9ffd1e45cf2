// A trace of millions of entries that are made up as they are asked for, and that counts how often.
#pragma once

#include <atomic>
#include <memory>

#include "model/trace.h"

namespace traceback::tests {

// main() calls work() again and again, and faults after `rounds` rounds of six entries each:
//   main:10, call work, work:20, work:21, return of work, main:11
class RoundsSource : public model::EntrySource {
 public:
  static constexpr std::size_t kChunk = 6 * 512;

  explicit RoundsSource(std::uint64_t rounds) : m_entries(1 + 6 * rounds + 1) {}

  std::uint64_t entryCount() const { return m_entries; }
  std::size_t chunkCount() const override {
    return static_cast<std::size_t>((m_entries + kChunk - 1) / kChunk);
  }
  model::ExpandedChunk expand(std::size_t chunk) const override;
  int expanded() const { return m_expanded; }
  void forgetExpanded() { m_expanded = 0; }

 private:
  model::Entry at(std::uint64_t index) const;

  std::uint64_t m_entries;
  mutable std::atomic<int> m_expanded = 0;
};

struct LargeTrace {
  std::shared_ptr<RoundsSource> source;
  std::shared_ptr<model::Trace> trace;
};
LargeTrace largeTrace(std::uint64_t rounds);

// A function that calls itself `depth` times and faults.
std::shared_ptr<model::Trace> deepTrace(int depth);

}  // namespace traceback::tests
