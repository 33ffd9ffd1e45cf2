// What `run` was asked to run: where it is, and whether it can be traced.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/error.h"

namespace traceback::app {

// As execvp would find it: a name with a slash is a path, another is looked up in PATH.
model::Result<std::filesystem::path> findProgram(const std::string& name);

// Why a program runs as it is, in words for the user; nothing if it, or its interpreter, can be traced.
// Looks at what the instrumentor does not: whether the runtime could be loaded into it.
std::optional<std::string> reasonToRunAsIs(const std::filesystem::path& program);

bool isElf(const std::filesystem::path& file);
bool isInstrumented(const std::filesystem::path& file);

}  // namespace traceback::app
