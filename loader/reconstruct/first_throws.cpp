#include "loader/reconstruct/first_throws.h"

#include <cstdint>
#include <unordered_map>

namespace traceback::loader {

std::vector<model::Trace::ThrownAgain> findFirstThrows(std::span<const ThreadSource* const> sources) {
  struct Found {
    model::TracePlace place;
    unsigned threads = 0;
  };
  std::unordered_map<std::uint64_t, Found> wanted;  // by time
  for (const auto* source : sources) {
    if (source == nullptr) continue;
    for (const auto& again : source->throwsAgain())
      if (again.first.value != 0) wanted.try_emplace(again.first.value);
  }
  std::vector<model::Trace::ThrownAgain> all;
  if (wanted.empty()) return all;
  const auto threadAt = [](std::size_t i) { return model::ThreadIndex{static_cast<std::uint32_t>(i)}; };
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] == nullptr) continue;
    for (const auto& thrown : sources[i]->throws()) {
      const auto known = wanted.find(thrown.time.value);
      if (known == wanted.end()) continue;
      Found& found = known->second;
      // Of one thread the first has the record: one that left none has the time of the record before.
      if (found.threads != 0 && found.place.thread == threadAt(i)) continue;
      found.place = {.thread = threadAt(i), .entry = thrown.entry};
      ++found.threads;
    }
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] == nullptr) continue;
    for (const auto& again : sources[i]->throwsAgain()) {
      const auto known = wanted.find(again.first.value);
      if (known != wanted.end() && known->second.threads == 1)
        all.push_back({.at = {.thread = threadAt(i), .entry = again.entry}, .first = known->second.place});
    }
  }
  return all;
}

}  // namespace traceback::loader
