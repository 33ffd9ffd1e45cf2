// What the exceptions of a process said as they were thrown.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "loader/reconstruct/thread_source.h"
#include "runtime/format/process.h"

namespace traceback::loader {

// By the time in the record. Sources by thread; null for one without records. Left out are those of which the
// time does not tell whose they are.
std::unordered_map<std::uint64_t, std::string> findThrownTexts(std::span<const format::ThrownText> texts,
                                                               std::span<const ThreadSource* const> sources);

}  // namespace traceback::loader
