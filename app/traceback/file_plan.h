// What `run` would do with a file, found out without writing anything.
#pragma once

#include <cstdint>
#include <string>

#include "app/traceback/instrumented_cache.h"
#include "app/traceback/loaded_files.h"
#include "instrument/instrument.h"

namespace traceback::app {

struct FilePlan {
  enum class State : std::uint8_t {
    New,           // can be instrumented; there is no copy yet
    Cached,        // has a copy
    Instrumented,  // is itself instrumented
    AsItIs,        // cannot be
    Excluded,      // by the patterns, or the C library
  };
  State state = State::AsItIs;
  std::string reason;  // why it stays as it is
  // Of New, Cached and Instrumented: functions, instrumented, skipped, entriesLeft; outputBytes is the size
  // of the copy.
  instrument::Report report;
  std::uint64_t fileBytes = 0;  // 0 if it cannot be read

  bool traced() const { return state != State::AsItIs && state != State::Excluded; }
};

// As JSON has it: new, cached, instrumented, as-it-is, excluded.
std::string_view stateName(FilePlan::State state);

struct Patterns {
  std::vector<std::string> only, exclude;
  // Why `run` would not look at the file; empty if it would.
  std::string reasonAgainst(const std::string& path) const;
};

// Why nothing of a program is traced whatever its files are; empty if nothing speaks against it.
std::string reasonAgainstAll(const LoadedFiles& loaded, const Patterns& patterns);

FilePlan planFor(const LoadedFile& file, InstrumentedCache::Use use,
                 const std::optional<InstrumentedCache>& cache, const Patterns& patterns,
                 const instrument::Options& options, const instrument::Progress& progress);

}  // namespace traceback::app
