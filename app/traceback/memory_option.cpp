#include "app/traceback/memory_option.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <vector>

namespace traceback::app {

void addMemoryOption(CLI::App& command, std::string& memory) {
  command
      .add_option("--memory", memory,
                  "What a snap keeps of the program's memory, for the values of variables: none, stacks\n"
                  "(256 KiB of each thread's), writable, or all (default: stacks)")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(format::kKeptMemoryNames),
                                                     std::end(format::kKeptMemoryNames))));
}

std::optional<format::KeptMemory> keptMemory(const std::string& memory) {
  const auto* const found = std::ranges::find(format::kKeptMemoryNames, memory);
  if (found == std::end(format::kKeptMemoryNames)) return std::nullopt;
  return static_cast<format::KeptMemory>(found - std::begin(format::kKeptMemoryNames));
}

}  // namespace traceback::app
