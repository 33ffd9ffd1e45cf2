// What a snap is of, without its trace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "loader/snap/snap_contents.h"
#include "model/error.h"
#include "model/trace.h"

namespace traceback::loader {

model::Trace::Summary summaryOf(const SnapContents& contents);

// Of what a process's file keeps of its last words, and its exceptions', what people read: on one line, and
// with dots where it was cut off.
std::string sentence(const std::uint8_t (&field)[256]);

// Reads the head of a file alone, however large it is. Fails on what is no snap, and on one without
// anything to tell.
model::Result<model::Trace::Summary> readSummary(const std::filesystem::path& file);

}  // namespace traceback::loader
