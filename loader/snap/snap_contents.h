// What a snap says, section by section, as far as it can be read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loader/snap/snap_reader.h"
#include "model/load_report.h"
#include "runtime/format/process.h"
#include "runtime/format/snap.h"

namespace traceback::loader {

struct SnapContents {
  std::optional<format::ProcessHeader> process;
  std::optional<format::SnapReasonData> reason;
  std::vector<format::ProcessModule> modules;
  std::vector<format::ThrownText> thrown;
  std::vector<format::SnapThread> threads;
  std::map<std::string, std::string, std::less<>> host;  // the Host section's lines
  std::vector<std::pair<std::string, std::string>> group;  // the Group section's, in their order
};

// Reads all but rings and maps. What is missing or damaged is noted, and empty in the result.
SnapContents readContents(const SnapReader& snap, model::LoadReport& report);

}  // namespace traceback::loader
