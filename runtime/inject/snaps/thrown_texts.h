// What exceptions said as they were thrown, in the process file (ThrownTexts, runtime/format/process.h).
#pragma once

#include <cstdint>

namespace traceback::inject {

// Zero-terminated, and cut where there is no more room; `time` is that in the exception's record. Of no use
// where there is no memory for it.
void keepThrownText(std::uint64_t time, const char* text);

// In a forked child, whose process file is another.
void forgetThrownTexts();
// To another process file than the mapped one; true if there are none.
bool copyThrownTexts(int file);

}  // namespace traceback::inject
