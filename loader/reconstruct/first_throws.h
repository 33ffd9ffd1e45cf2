// Where the exceptions of a process were thrown first that are thrown again from a std::exception_ptr, often
// by another thread.
#pragma once

#include <span>
#include <vector>

#include "loader/reconstruct/thread_source.h"
#include "model/trace.h"

namespace traceback::loader {

// Sources by thread; null for one without records. Left out is what has no record, and what the time in the
// record does not tell apart.
std::vector<model::Trace::ThrownAgain> findFirstThrows(std::span<const ThreadSource* const> sources);

}  // namespace traceback::loader
