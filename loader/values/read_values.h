// The values of variables and registers at the moment of a snap, asked of gdb.
//
// gdb gets a core file of the snap (loader/core/) and the original program. That must be the very one that
// ran: of another, values would be wrong.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "loader/core/recorded_process.h"
#include "model/error.h"
#include "model/values.h"

namespace traceback::loader {

struct ValuesRequest {
  std::optional<std::uint32_t> tid;      // nothing: all threads
  std::optional<std::uint32_t> frame;    // FrameValues::level; nothing: all
  std::vector<std::string> globals;      // expressions
  std::uint32_t mostFrames = 64;         // of a thread
  bool withRegisters = true;
  std::chrono::milliseconds mostTime = std::chrono::minutes(2);
};

// Whether the snap has what values are made of; else why not, in a line.
std::optional<std::string> whyNoValues(const RecordedProcess& process);

// Fails, in one line that says what is missing, if nothing can be had: no gdb, no memory, no program. What is
// missing of a thread or a frame is noted there. May be called from any thread; "cancelled" if stop was
// requested.
model::Result<model::Values> readValues(const RecordedProcess& process, const ValuesRequest& request,
                                        std::stop_token stop = {});

}  // namespace traceback::loader
