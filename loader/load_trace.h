// Opens a snap as a model::Trace: the loader's one door.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "loader/load_options.h"
#include "loader/reconstruct/thread_source.h"
#include "model/error.h"
#include "model/trace.h"

namespace traceback::loader {

// The share that is done, 0 to 1, and what is being done. Called on the loading thread.
using Progress = std::function<void(double, std::string_view)>;

// A trace, and the sources of its threads in the order of trace->threads (null if a thread has no ring).
struct LoadedSnap {
  std::shared_ptr<const model::Trace> trace;
  std::vector<std::shared_ptr<const ThreadSource>> sources;

  // The plain sequence of blocks that a thread executed.
  std::vector<BlockStep> executedBlocks(std::size_t thread) const {
    return thread < sources.size() && sources[thread] ? sources[thread]->executedBlocks()
                                                      : std::vector<BlockStep>{};
  }
};

// An error names the file, the reason and the offset; "cancelled" if stop was requested. What is damaged but
// can be opened around is in the trace's report. May be called from any thread; the result may be used from
// several.
model::Result<LoadedSnap> loadSnap(const std::filesystem::path& file, const LoadOptions& options = {},
                                   const Progress& progress = {}, std::stop_token stop = {});
// The same of bytes in memory; `origin` names them in errors.
model::Result<LoadedSnap> loadSnapBytes(std::vector<std::byte> bytes, const std::string& origin,
                                        const LoadOptions& options = {}, const Progress& progress = {},
                                        std::stop_token stop = {});

model::Result<std::shared_ptr<const model::Trace>> loadTrace(const std::filesystem::path& file,
                                                             const LoadOptions& options = {},
                                                             const Progress& progress = {},
                                                             std::stop_token stop = {});

}  // namespace traceback::loader
