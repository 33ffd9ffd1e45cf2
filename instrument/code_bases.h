// The file in which modules that are instrumented together agree on their codes (record.h), so that none has
// to be moved to others when it is loaded. (The paper, section 2.3: a DAG base file.) Text, a module a line:
//
//   0xBASE 0xSPAN NAME
//
// NAME is what is written, with its folder. Of several lines of one name the last one counts; # begins a
// comment. Lines are only ever added, under a lock, so that builds may run side by side.
#pragma once

#include <cstdint>
#include <filesystem>

#include "instrument/codes.h"
#include "model/error.h"

namespace traceback::instrument {

// The first code for a module of that name that takes `span` codes, a multiple of `unit`, which is a power of
// two: where it was, if it fits there still, else `wish` if nobody has these codes, else the next free ones
// in that range. The file is made if it is missing. Fails, with the number of the line, if it cannot be
// understood, or if no codes are left.
model::Result<std::uint32_t> takeCodes(const std::filesystem::path& file, const std::filesystem::path& name,
                                       std::uint32_t span, std::uint32_t unit, std::uint32_t wish,
                                       const CodeSpace& within = kAllCodes);

}  // namespace traceback::instrument
