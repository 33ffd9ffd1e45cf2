// Where maps come from: a slice in a snap, or the whole map in an instrumented file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "loader/map/map_view.h"
#include "model/error.h"

namespace traceback::loader {

// A map together with the bytes it is a view of.
struct LoadedMap {
  std::shared_ptr<const void> bytes;
  MapView view;
};

model::Result<std::shared_ptr<const LoadedMap>> mapFromBytes(std::vector<std::byte> bytes,
                                                             const std::string& origin);

// The section .traceback.map of an instrumented ELF file.
model::Result<std::shared_ptr<const LoadedMap>> mapFromElf(const std::filesystem::path& file);

}  // namespace traceback::loader
