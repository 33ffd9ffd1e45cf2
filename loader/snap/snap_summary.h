// What a snap is of, without its trace.
#pragma once

#include <filesystem>

#include "loader/snap/snap_contents.h"
#include "model/error.h"
#include "model/trace.h"

namespace traceback::loader {

model::Trace::Summary summaryOf(const SnapContents& contents);

// Reads the head of a file alone, however large it is. Fails on what is no snap, and on one without
// anything to tell.
model::Result<model::Trace::Summary> readSummary(const std::filesystem::path& file);

}  // namespace traceback::loader
