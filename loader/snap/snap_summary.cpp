#include "loader/snap/snap_summary.h"

#include <string_view>

#include "loader/reconstruct/snap_modules.h"

namespace traceback::loader {

using format::SnapReason;

model::Trace::Summary summaryOf(const SnapContents& contents) {
  model::Trace::Summary summary;
  if (const auto& process = contents.process) {
    summary.pid = process->pid;
    summary.program = paddedString(process->executable);
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
