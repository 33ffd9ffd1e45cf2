// The modules of a snap: their maps and their debug information.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loader/load_options.h"
#include "loader/reconstruct/module_table.h"
#include "loader/snap/snap_contents.h"
#include "loader/snap/snap_reader.h"
#include "loader/symbols/line_source.h"
#include "model/load_report.h"
#include "model/trace.h"

namespace traceback::loader {

struct SnapModules {
  std::shared_ptr<const ModuleTable> table;
  std::vector<std::shared_ptr<const LineSource>> lines;  // by module; null: none
  std::vector<model::Module> shown;
  std::vector<std::string> mapProblems;  // why there is no map; may be shorter
};

// `goOn` is called with the share that is done and what is being done; if it says no, the rest is left out.
SnapModules findModules(const SnapReader& snap, const SnapContents& contents, const LoadOptions& options,
                        model::LoadReport& report,
                        const std::function<bool(double, const std::string&)>& goOn);

}  // namespace traceback::loader
