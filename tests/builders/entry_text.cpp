#include "tests/builders/entry_text.h"

#include <format>
#include <sstream>

namespace traceback::tests {

using model::EntryKind;

namespace {

std::string gapText(std::uint32_t cause) {
  switch (static_cast<model::GapCause>(cause)) {
    case model::GapCause::Unknown:
      return "unknown";
    case model::GapCause::Overwritten:
      return "overwritten";
    case model::GapCause::Damaged:
      return "damaged";
    case model::GapCause::MissingMap:
      return "missing-map";
    case model::GapCause::HandlerTooDeep:
      return "too-deep";
    case model::GapCause::HandlerNotWrapped:
      return "not-wrapped";
    case model::GapCause::PathUnknown:
      return "path-unknown";
    case model::GapCause::NotRead:
      return "not-read";
    case model::GapCause::Forked:
      return "forked";
    case model::GapCause::NoRing:
      return "no-ring";
    case model::GapCause::Shared:
      return "shared";
  }
  return "?";
}

}  // namespace

std::string entryText(const model::Trace& trace, const model::Entry& entry) {
  std::string text(2 * static_cast<std::size_t>(std::max(entry.depth, 0)), ' ');
  if (entry.depth < 0) text += std::format("(depth {}) ", entry.depth);
  const auto* function = trace.function(entry.function);
  const std::string name = function != nullptr ? function->name : "?";
  switch (entry.kind) {
    case EntryKind::Line:
      text += entry.line != 0 ? std::format("{}:{}", name, entry.line)
                              : std::format("{} {:x}-{:x}", name, entry.address.value, entry.last.value);
      break;
    case EntryKind::Call:
      text += "call " + name;
      break;
    case EntryKind::Return:
      text += "return " + name;
      break;
    case EntryKind::Exception:
      text += "exception";
      if (const auto type = trace.exceptionType(entry.detail); !type.empty())
        text += std::format(" {}", type);
      break;
    case EntryKind::Signal:
      text += std::format("signal {}", entry.detail);
      break;
    case EntryKind::Sync:
      text += std::format("sync {}", entry.detail);
      break;
    case EntryKind::Gap:
      text += "gap " + gapText(entry.detail);
      break;
  }
  const std::pair<model::EntryFlag, const char*> flags[] = {{model::kEntryFault, " fault"},
                                                            {model::kEntryInlined, " inlined"},
                                                            {model::kEntryUntracedCall, " untraced"},
                                                            {model::kEntryInHandler, " handler"},
                                                            {model::kEntryTailCall, " tail"},
                                                            {model::kEntryPartial, " partial"},
                                                            {model::kEntryInterrupted, " interrupted"},
                                                            {model::kEntryCatch, " catch"},
                                                            {model::kEntryAtOtherFault, " other-fault"},
                                                            {model::kEntryResumed, " resumed"}};
  for (const auto& [flag, word] : flags) {
    if ((entry.flags & flag) != 0) text += word;
  }
  return text;
}

std::string threadText(const model::Trace& trace, const model::ThreadTrace& thread) {
  std::string text;
  for (const auto& entry : thread.entries(0, thread.entryCount())) text += entryText(trace, entry) + "\n";
  return text;
}

std::string notesOf(const model::Trace& trace) {
  std::string all;
  for (const auto& note : trace.report.notes()) all += note.text + "\n";
  return all;
}

std::string trimmed(const std::string& text, std::size_t indentation) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(' ') == std::string::npos) continue;
    result += line.substr(std::min(indentation, line.find_first_not_of(' '))) + "\n";
  }
  return result;
}

}  // namespace traceback::tests
