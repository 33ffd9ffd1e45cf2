// An independent reading of a ring file, from ring.h and record.h alone: shares no code with the loader.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "runtime/format/process.h"
#include "runtime/format/record.h"
#include "runtime/format/ring.h"

namespace traceback::testing {

struct Record {
  std::uint64_t position = 0;
  bool isDag = false;
  std::uint32_t code = 0;  // of a DAG record, with its path
  format::RecordType type{};
  std::uint16_t detail = 0;
  std::vector<std::uint64_t> values;
};

struct Segment {
  std::uint64_t ordinal = 0;
  std::uint32_t subBufferWords = 0;
  std::vector<Record> records;    // oldest first
  unsigned damaged = 0;           // words that belong to no record
  std::uint64_t dagRecordsEver = 0;  // of segment 0, also those that were overwritten
  std::vector<std::uint32_t> dagCodes() const;
};

struct RingDump {
  format::RingHeader header;
  std::array<Segment, format::kMaxSegments> segments;
};

std::optional<RingDump> dumpRing(const std::vector<std::uint8_t>& bytes);
std::optional<RingDump> dumpRing(const std::filesystem::path& file);
std::vector<std::uint8_t> readBytes(const std::filesystem::path& file);

}  // namespace traceback::testing
