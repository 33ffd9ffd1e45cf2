// Random threads from a seed, for comparing what is found through the index with what a walk finds.
#pragma once

#include <cstdint>
#include <vector>

#include "model/entry.h"

namespace traceback::tests {

enum class Shape {
  WellFormed,  // every Return has its Call; may begin inside calls and end inside others
  Wild,        // any kind at any depth, as damage may leave it
};

std::vector<model::Entry> randomEntries(std::uint32_t seed, std::size_t count, Shape shape);

}  // namespace traceback::tests
