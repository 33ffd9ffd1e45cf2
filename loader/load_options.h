// What a caller may choose about the loading of a snap.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loader/symbols/line_source.h"
#include "model/trace.h"

namespace traceback::loader {

struct LoadOptions {
  // Folders and files to search first for debug information.
  std::vector<std::string> debugPaths;
  // Maps that the snap lacks may be taken from the instrumented files of this machine, if their ids agree.
  bool useLocalMaps = true;
  // False: no debug information is looked for; functions come from the maps, entries are blocks.
  bool useDebugInformation = true;
  // For tests; empty: debug information by libdw.
  LineSourceFactory lineSources;
  // If the snap is large: called on the loading thread with traces that show a part of it, so that nobody has
  // to wait for all. In the first, threads have their newest records only; then the first thread grows.
  // Functions and files keep their numbers from one trace to the next, entries count from another beginning.
  std::function<void(std::shared_ptr<const model::Trace>)> preview;
  std::uint64_t largeFrom = 1 << 20;  // words, of all threads
};

}  // namespace traceback::loader
