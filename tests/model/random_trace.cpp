#include "tests/model/random_trace.h"

#include <random>

namespace traceback::tests {

using namespace model;

std::vector<Entry> randomEntries(std::uint32_t seed, std::size_t count, Shape shape) {
  std::mt19937 random(seed);
  const auto upTo = [&](std::uint32_t limit) { return static_cast<std::int32_t>(random() % limit); };
  std::vector<Entry> entries;
  std::int32_t depth = upTo(4);
  for (std::size_t i = 0; i < count; ++i) {
    Entry entry;
    entry.line = static_cast<std::uint32_t>(1 + upTo(9));
    entry.file = FileId{0};
    entry.address = entry.last = {i};
    const int choice = upTo(20);
    if (shape == Shape::Wild) {
      entry.kind = static_cast<EntryKind>(upTo(7));
      entry.depth = upTo(6);
    } else if (choice < 4) {
      entry.kind = EntryKind::Call;
      entry.depth = ++depth;
    } else if (choice < 8 && depth > 0) {
      entry.kind = EntryKind::Return;
      entry.depth = depth--;
    } else {
      constexpr EntryKind kRare[] = {EntryKind::Exception, EntryKind::Signal, EntryKind::Sync,
                                     EntryKind::Gap};
      entry.kind = choice == 8 ? kRare[upTo(4)] : EntryKind::Line;
      entry.depth = depth;
    }
    entry.function = FunctionId{static_cast<std::uint32_t>(entry.depth)};
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace traceback::tests
