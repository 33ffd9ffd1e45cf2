// The codes of a module's DAGs (runtime/format/record.h).
#pragma once

#include <cstdint>

#include "runtime/format/record.h"

namespace traceback::instrument {

// A process has one program, which has the most codes, so programs have a part for themselves.
struct CodeSpace {
  std::uint32_t first = 0, end = 0;
};
inline constexpr std::uint32_t kFirstOfPrograms = 0x5000'0000;
inline constexpr CodeSpace kAllCodes{.first = format::kFirstCode, .end = format::kEndCode};
inline constexpr CodeSpace kLibraryCodes{.first = format::kFirstCode, .end = kFirstOfPrograms};
inline constexpr CodeSpace kProgramCodes{.first = kFirstOfPrograms, .end = format::kEndCode};

struct Codes {
  std::uint32_t span = 0;
  std::uint32_t unit = 0;  // power of two: of the first code
};

}  // namespace traceback::instrument
