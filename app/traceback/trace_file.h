// Opening a snap for a command.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/error.h"
#include "model/load_report.h"
#include "model/trace.h"

namespace traceback::app {

model::Result<std::shared_ptr<const model::Trace>> openTrace(const std::string& snap);

// The threads that --thread names, by number from 1 or "all": by default the one at fault, or all if none is.
model::Result<std::vector<model::ThreadIndex>> threadsNamed(const model::Trace& trace,
                                                            const std::string& snap, const std::string& name);

// Why the snap was made: "SIGSEGV at address 0x8".
std::string reasonText(const model::Trace::Summary& summary);

// A line for each process that was snapped together with this one, with the snap, if that can be found: where
// it was made, or beside `snap`.
std::vector<std::string> groupLines(const model::Trace::Summary& summary, const std::string& snap);

// UTC, as ISO 8601 has it; "unknown" for zero.
std::string whenText(model::Nanoseconds when);

// A line on standard error for each thing that was lost, so that nobody takes the rest for all of it.
void complainAboutDamage(const std::string& snap, const model::LoadReport& report);

}  // namespace traceback::app
