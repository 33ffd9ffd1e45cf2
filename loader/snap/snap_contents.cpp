#include "loader/snap/snap_contents.h"

#include <algorithm>
#include <format>

namespace traceback::loader {

using format::SectionType;

namespace {

// The section's bytes; empty, and noted, if it is missing or damaged.
std::vector<std::byte> readSection(const SnapReader& snap, SectionType type, model::LoadReport& report) {
  const auto* section = snap.find(type);
  if (section == nullptr) {
    report.add(model::Severity::DataLoss, sectionText({.type = static_cast<std::uint32_t>(type),
                                                       .flags = 0,
                                                       .index = 0,
                                                       .crc = 0,
                                                       .offset = 0,
                                                       .storedSize = 0,
                                                       .size = 0}) +
                                              ": missing from the snap");
    return {};
  }
  auto bytes = snap.read(*section);
  if (bytes) return std::move(*bytes);
  report.add(model::Severity::DataLoss, bytes.error().message);
  return {};
}

template <typename T>
std::vector<T> readArray(const SnapReader& snap, SectionType type, model::LoadReport& report) {
  const auto bytes = readSection(snap, type, report);
  const PackedArray<T> all(bytes);
  if (all.size() * sizeof(T) != bytes.size()) {
    report.add(model::Severity::DataLoss, std::format("a section of type {} ends in the middle of an entry",
                                                      static_cast<unsigned>(type)));
  }
  return {all.begin(), all.end()};
}

template <typename T>
std::optional<T> readOne(const SnapReader& snap, SectionType type, model::LoadReport& report) {
  const auto bytes = readSection(snap, type, report);
  if (bytes.empty()) return std::nullopt;
  auto value = readAt<T>(bytes, 0);
  if (!value)
    report.add(model::Severity::DataLoss,
               std::format("a section of type {} is too short", static_cast<unsigned>(type)));
  return value;
}

std::vector<std::pair<std::string, std::string>> readLines(const std::vector<std::byte>& bytes) {
  std::vector<std::pair<std::string, std::string>> result;
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto equals = line.find('=');
    if (equals != std::string_view::npos)
      result.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  return result;
}

// What a later writer may have added, as snap.h has it, and is left out.
void noteAdditions(const SnapReader& snap, model::LoadReport& report) {
  if (snap.revision() > format::kSnapRevision) {
    report.add(
        model::Severity::Info,
        std::format("the snap is of a later revision ({}.{}) than this TraceBack knows ({}.{}): what "
                    "was added since is left out; a later TraceBack shows it",
                    format::kSnapVersion, snap.revision(), format::kSnapVersion, format::kSnapRevision));
  }
  for (const auto& section : snap.sections()) {
    if (!isKnown(static_cast<SectionType>(section.type)))
      report.add(model::Severity::Info, sectionText(section) + ": left out");
  }
}

}  // namespace

SnapContents readContents(const SnapReader& snap, model::LoadReport& report) {
  SnapContents contents;
  noteAdditions(snap, report);
  contents.process = readOne<format::ProcessHeader>(snap, SectionType::Process, report);
  if (contents.process && contents.process->magic != format::kProcessMagic) {
    report.add(model::Severity::DataLoss, "process: not a process file");
    contents.process.reset();
  }
  contents.reason = readOne<format::SnapReasonData>(snap, SectionType::Reason, report);
  if (contents.reason && contents.reason->reason > static_cast<std::uint32_t>(format::SnapReason::Policy)) {
    report.add(model::Severity::Info, std::format("reason: of unknown kind {}", contents.reason->reason));
  }
  contents.modules = readArray<format::ProcessModule>(snap, SectionType::Modules, report);
  contents.threads = readArray<format::SnapThread>(snap, SectionType::Threads, report);
  if (snap.find(SectionType::ThrownTexts) != nullptr)
    contents.thrown = readArray<format::ThrownText>(snap, SectionType::ThrownTexts, report);
  if (snap.find(SectionType::Host) != nullptr)
    for (auto& [key, value] : readLines(readSection(snap, SectionType::Host, report)))
      contents.host.emplace(std::move(key), std::move(value));
  if (snap.find(SectionType::Group) != nullptr)
    contents.group = readLines(readSection(snap, SectionType::Group, report));
  return contents;
}

}  // namespace traceback::loader
