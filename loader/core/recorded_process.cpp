#include "loader/core/recorded_process.h"

#include <algorithm>

#include "loader/reconstruct/snap_modules.h"

namespace traceback::loader {

using format::SectionType;
using model::Severity;

namespace {

std::vector<std::byte> bytesIn(const SnapReader& snap, SectionType type, model::LoadReport& report) {
  const auto* section = snap.find(type);
  if (section == nullptr) return {};
  auto bytes = snap.read(*section);
  if (bytes) return std::move(*bytes);
  report.add(Severity::DataLoss, bytes.error().message);
  return {};
}

std::vector<RecordedMemory> memoryIn(const SnapReader& snap, model::LoadReport& report) {
  const auto bytes = bytesIn(snap, SectionType::MemoryRanges, report);
  const PackedArray<format::MemoryRange> ranges(bytes);
  std::vector<RecordedMemory> memory;
  std::uint64_t end = 0;
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    const auto range = ranges[i];
    const auto* section = snap.find(SectionType::Memory, i);
    if (section == nullptr || section->size != range.size || range.start < end ||
        range.size > UINT64_MAX - range.start) {
      report.add(Severity::DataLoss, "a range of memory is missing, or contradicts the others");
      continue;
    }
    auto source = snap.openSection(*section);
    if (!source || (*source)->size() != range.size) {
      report.add(Severity::DataLoss, source ? "a range of memory has another size" : source.error().message);
      continue;
    }
    end = range.start + range.size;
    memory.push_back({range, std::move(*source)});
  }
  return memory;
}

}  // namespace

bool RecordedProcess::hasStacks() const {
  return std::ranges::any_of(memory,
                             [](const auto& each) { return (each.range.flags & format::kMemoryStack) != 0; });
}

std::vector<format::Mapping> mappingsIn(const SnapReader& snap) {
  const auto* section = snap.find(SectionType::Mappings);
  const auto bytes = section != nullptr ? snap.read(*section) : std::vector<std::byte>{};
  if (!bytes) return {};
  return format::parseMappings({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

model::Result<RecordedProcess> openRecordedProcess(const std::filesystem::path& file) {
  auto snap = SnapReader::openFile(file);
  if (!snap) return std::unexpected(snap.error());
  LoadOptions options;
  options.useDebugInformation = false;
  return readRecordedProcess(std::move(*snap), options);
}

RecordedProcess readRecordedProcess(SnapReader snap, const LoadOptions& options) {
  RecordedProcess process{.snap = std::move(snap),
                          .contents = {},
                          .mappings = {},
                          .memory = {},
                          .auxiliaryVector = {},
                          .modules = {},
                          .shown = {},
                          .report = {}};
  process.contents = readContents(process.snap, process.report);
  process.mappings = mappingsIn(process.snap);
  process.memory = memoryIn(process.snap, process.report);
  process.auxiliaryVector = bytesIn(process.snap, SectionType::AuxiliaryVector, process.report);
  auto modules = findModules(process.snap, process.contents, options, process.report,
                             [](double, const std::string&) { return true; });
  process.modules = std::move(modules.table);
  process.shown = std::move(modules.shown);
  return process;
}

}  // namespace traceback::loader
