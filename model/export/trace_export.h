// A trace, or a stretch of it, as a file that others can read.
//
//   Text      as `traceback print --tree` prints it
//   Json      one object a line for every entry: entryJson() of text_format.h; before a thread's first one
//             those of historyJson() (history_text.h)
//   Html      one page that needs nothing else: the trace as a tree that folds, with the source lines
//   Perfetto  JSON in the Trace Event Format ("Trace Event Format", Google, 2016; the JSON that Perfetto and
//             chrome://tracing open): a slice for each call, an instant for each line and event
//
// Each begins a thread with what is known of the time before its trace, if the thread is exported from its
// beginning: in a Perfetto trace a slice for each stretch of time of which there are samples.
//
// Between two readings of the clock a trace knows the order of its entries, but no times; a Perfetto trace
// needs some: they are spread evenly there, and each event's arguments say which reading it follows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>

#include "model/export/text_rows.h"
#include "model/ids.h"
#include "model/trace.h"

namespace traceback::model {

enum class ExportFormat : std::uint8_t { Text, Json, Html, Perfetto };
// By the name that the command line gives it: "text", "json", "html", "perfetto".
std::optional<ExportFormat> exportFormat(std::string_view name);

struct ExportRange {
  ThreadIndex thread;
  EntryIndex first = 0, end = 0;
};
// All of a thread.
ExportRange wholeThread(const Trace& trace, ThreadIndex thread);

// Takes the next piece; false if it cannot be written, which ends the export.
using Sink = std::function<bool(std::string_view piece)>;

// True if all was written.
bool exportTrace(const Trace& trace, std::span<const ExportRange> ranges, ExportFormat format,
                 const SourceLine& sources, const Sink& sink, std::stop_token stop = {});

}  // namespace traceback::model
