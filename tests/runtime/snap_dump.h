// An independent reading of a snap, from snap.h alone: shares no code with the loader.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ring_dump.h"
#include "runtime/format/snap.h"

namespace traceback::testing {

struct SnapDump {
  format::ProcessHeader process;
  std::vector<format::ProcessModule> modules;
  std::vector<format::ThrownText> thrown;
  format::SnapReasonData reason;
  std::vector<format::SnapThread> threads;
  std::vector<RingDump> rings;
  std::map<std::uint32_t, std::vector<std::uint8_t>> maps;  // by module
  std::string mappings, host, files, group;
  std::vector<format::MemoryRange> memoryRanges;
  std::map<std::uint32_t, std::vector<std::uint8_t>> memory;  // by range
  std::vector<std::uint8_t> auxiliaryVector;
  std::map<std::uint32_t, std::vector<std::uint8_t>> extendedRegisters;  // by thread

  const format::SnapThread* faulting() const;
};

// Nothing if any part is wrong.
std::optional<SnapDump> dumpSnap(const std::filesystem::path& file);

// The bytes of all sections, one behind the other, as they were before they were deflated; empty if any part
// is wrong.
std::string inflatedSections(const std::filesystem::path& file);

}  // namespace traceback::testing
