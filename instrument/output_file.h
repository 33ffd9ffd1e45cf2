// Files that appear whole under their name, or not at all.
#pragma once

#include <filesystem>
#include <span>

#include "model/error.h"

namespace traceback::instrument {

// Writes beside `path` and renames, with the mode of `model`, the file that it is made from. If it takes that
// file's place (is the same path), it also has its owner, group and extended attributes, or the file stays.
// A program that runs keeps the file that it was started from.
model::Result<void> writeFile(const std::filesystem::path& path, std::span<const std::byte> bytes,
                              const std::filesystem::path& model);

}  // namespace traceback::instrument
