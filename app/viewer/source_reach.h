// What the source folders lead to on this machine, for the files of a trace.
#pragma once

#include <QList>
#include <QStringList>
#include <functional>
#include <stop_token>
#include <vector>

#include "app/viewer/settings.h"
#include "model/trace.h"

namespace traceback::app {

struct SourceReach {
  struct Folder {
    bool exists = false;   // where it leads to
    std::size_t files = 0;  // of the trace that were compiled below its `from`
    std::size_t found = 0;  // of them, that are there
    std::size_t first = 0;  // of those, that no folder before it leads to
    QStringList missing;    // some of the others, as the trace has them
  };
  std::vector<Folder> folders;  // as the mappings
  std::size_t files = 0;        // of the trace
  std::size_t found = 0;        // by a folder, or where they were compiled
};

// Looks at the file system for each file and folder: not on the user interface's thread.
using ReachFunction =
    std::function<SourceReach(const QList<SourceMapping>&, const model::Trace&, std::stop_token)>;
SourceReach sourceReach(const QList<SourceMapping>& mappings, const model::Trace& trace,
                        const std::stop_token& stop);

}  // namespace traceback::app
