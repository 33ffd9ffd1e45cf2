#include "model/fuller.h"

#include <algorithm>

#include "model/trace.h"

namespace traceback::model {

namespace {

constexpr EntryIndex kSearched = 2000;  // entries to either side

bool alike(const Entry& a, const Entry& b) {
  return a.kind == b.kind && a.module == b.module && a.function == b.function && a.address == b.address &&
         a.detail == b.detail;
}

}  // namespace

EntryIndex sameEntry(const ThreadTrace& part, EntryIndex at, const ThreadTrace& fuller) {
  const EntryIndex total = fuller.entryCount();
  if (total == 0) return 0;
  const EntryIndex fromEnd = part.entryCount() - std::min(at, part.entryCount());
  const EntryIndex guess = std::min(total - std::min(fromEnd, total), total - 1);
  const Entry wanted = part.entry(at);
  for (EntryIndex away = 0; away <= kSearched; ++away) {
    if (guess + away < total && alike(fuller.entry(guess + away), wanted)) return guess + away;
    if (away <= guess && alike(fuller.entry(guess - away), wanted)) return guess - away;
  }
  return guess;
}

}  // namespace traceback::model
