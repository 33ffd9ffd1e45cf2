// Folders that must be the user's alone: whoever may write there could forge what is read, or listen.
#pragma once

#include <filesystem>

#include "model/error.h"

namespace traceback::collect {

// Fails unless it is a folder, no link, the caller's own, and nobody else may look into it. Root's will do,
// too.
model::Result<void> checkPrivateFolder(const std::filesystem::path& folder);

// Makes it if it is missing, and checks it.
model::Result<void> makePrivateFolder(const std::filesystem::path& folder);

}  // namespace traceback::collect
