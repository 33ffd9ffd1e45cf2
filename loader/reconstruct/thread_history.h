// The entries of a coarse history as functions and lines.
#pragma once

#include <memory>

#include "loader/reconstruct/trace_names.h"
#include "loader/ring/history_view.h"
#include "model/history.h"

namespace traceback::loader {

// Looks up in `names`, which still is to be frozen, what it needs. Null if there are no entries.
std::shared_ptr<const model::ThreadHistory> resolveHistory(const HistoryView& view,
                                                           std::uint32_t subBufferWords,
                                                           const ModuleTable& modules, TraceNames& names);

}  // namespace traceback::loader
