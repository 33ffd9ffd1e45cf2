// A map, and every question that it can be asked.
#include <algorithm>

#include "loader/map/map_view.h"
#include "loader/reconstruct/path.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace traceback;
  const auto map = loader::MapView::parse(tests::bytesOf(data, size), "fuzz");
  if (!map) return 0;
  std::size_t sum = map->originalName().size() + map->buildId().size();
  loader::DagPath path;
  for (loader::MapFunction i = 0; i < map->functionCount(); ++i) {
    const auto& function = map->function(i);
    sum += map->functionName(i).size();
    for (const auto address : {function.original, function.copy, function.copy + function.copySize / 2}) {
      sum += map->functionAt({address}).value_or(0);
      if (const auto original = map->originalOf({address})) sum += original->address.value;
    }
  }
  for (std::uint32_t code = 0; code < std::min(map->header().codeSpan, std::uint32_t{1} << 14); ++code) {
    const auto dag = map->dagOf(code);
    if (!dag) continue;
    loader::decodePath(*map, *dag, code - dag->entry.code, path);
    sum += path.blocks.size();
  }
  return sum == 1 ? 1 : 0;
}
