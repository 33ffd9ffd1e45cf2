#include "loader/snap/snap_summary.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "loader/reconstruct/snap_modules.h"

namespace traceback::loader {

using format::SnapReason;

namespace {

constexpr std::size_t kMostMembers = 1024;

// What is no number is 0, which is nobody's pid.
std::uint32_t numberOf(const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

std::optional<model::Trace::Summary::Group> groupOf(
    const std::vector<std::pair<std::string, std::string>>& lines) {
  model::Trace::Summary::Group group;
  for (const auto& [key, value] : lines) {
    if (key == "group") group.name = value;
    if (key == "cause") group.cause = numberOf(value);
    if (key == "left-out") group.leftOut = numberOf(value);
    if (key == "member" && group.members.size() < kMostMembers)
      group.members.push_back({.pid = numberOf(value), .program = {}, .snap = {}});
    if (group.members.empty()) continue;
    if (key == "program") group.members.back().program = value;
    if (key == "snap") group.members.back().snap = value;
  }
  return group.name.empty() ? std::nullopt : std::optional(group);
}

}  // namespace

std::string sentence(const std::uint8_t (&field)[256]) {
  std::string text(paddedString(field));
  const bool isWhole = text.size() + 1 < sizeof field;
  const auto isInside = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; };
  if (!isWhole) {  // its last character may have been divided
    while (!text.empty() && isInside(text.back())) text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0) text.pop_back();
  }
  while (text.ends_with('\n')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return isWhole ? text : text + "...";
}

model::Trace::Summary summaryOf(const SnapContents& contents) {
  model::Trace::Summary summary;
  if (const auto& process = contents.process) {
    summary.pid = process->pid;
    summary.program = paddedString(process->executable);
    summary.abortMessage = sentence(process->abortMessage);
  }
  if (const auto& reason = contents.reason) {
    summary.reason = reason->reason <= static_cast<std::uint32_t>(SnapReason::Policy)
                         ? static_cast<model::TraceReason>(reason->reason)
                         : model::TraceReason::Unknown;
    summary.signal = reason->signal;
    summary.signalCode = reason->signalCode;
    summary.faultAddress = {reason->faultAddress};
    summary.when = {reason->realtimeNs};
  }
  const auto host = [&](std::string_view key) {
    const auto found = contents.host.find(key);
    return found == contents.host.end() ? std::string{} : found->second;
  };
  summary.occasion = host("occasion");
  summary.host = host("hostname");
  summary.commandLine = host("command-line");
  summary.redacted = host("redacted");
  summary.group = groupOf(contents.group);
  return summary;
}

model::Result<model::Trace::Summary> readSummary(const std::filesystem::path& file) {
  const auto snap = SnapReader::openFile(file);
  if (!snap) return std::unexpected(snap.error());
  model::LoadReport ignored;
  const SnapContents contents = readContents(*snap, ignored);
  if (!contents.process && !contents.reason) return model::fail("says nothing of its process", file.string());
  return summaryOf(contents);
}

}  // namespace traceback::loader
