// A snap as the process that it was made of: what stood in its memory and registers, and where its code is
// from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "loader/byte_source.h"
#include "loader/load_options.h"
#include "loader/reconstruct/module_table.h"
#include "loader/snap/snap_contents.h"
#include "loader/snap/snap_reader.h"
#include "model/error.h"
#include "model/load_report.h"
#include "model/trace.h"
#include "runtime/format/mappings.h"

namespace traceback::loader {

struct RecordedMemory {
  format::MemoryRange range;
  std::shared_ptr<const ByteSource> bytes;  // range.size of them
};

// Immutable once opened, and usable from any thread.
struct RecordedProcess {
  SnapReader snap;
  SnapContents contents;
  std::vector<format::Mapping> mappings;
  std::vector<RecordedMemory> memory;  // by address; no two overlap
  std::vector<std::byte> auxiliaryVector;
  std::shared_ptr<const ModuleTable> modules;
  std::vector<model::Module> shown;  // of `modules`
  model::LoadReport report;          // what is damaged

  bool hasStacks() const;
};

// Fails as SnapReader::openFile() does.
model::Result<RecordedProcess> openRecordedProcess(const std::filesystem::path& file);

// Of one that is open. What is missing or damaged is noted.
RecordedProcess readRecordedProcess(SnapReader snap, const LoadOptions& options);

// What /proc/PID/maps said; nothing if the snap does not have it.
std::vector<format::Mapping> mappingsIn(const SnapReader& snap);

}  // namespace traceback::loader
