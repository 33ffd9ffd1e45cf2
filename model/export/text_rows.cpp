#include "model/export/text_rows.h"

#include <algorithm>
#include <format>

#include "model/function_name.h"
#include "model/stepping.h"
#include "model/text_format.h"
#include "model/utf8.h"

namespace traceback::model {

namespace {

constexpr int kPlaceWidth = 24;
constexpr int kFunctionWidth = 24;
constexpr std::int32_t kDeepestIndent = 60;

std::string flagsText(std::uint16_t flags) {
  std::string out;
  const auto add = [&](std::uint16_t flag, const char* text) {
    if ((flags & flag) != 0) out += std::format("  <-- {}", text);
  };
  add(kEntryFault, "fault");
  // A fault cuts its line short.
  if ((flags & kEntryFault) == 0) add(kEntryPartial, "cut short");
  add(kEntryCatch, "caught here");
  add(kEntryAtOtherFault, "about here when another thread faulted");
  return out;
}

std::string indentOf(std::int32_t depth) {
  return std::string(static_cast<std::size_t>(2 * std::clamp(depth, 0, kDeepestIndent)), ' ');
}

}  // namespace

bool TextRows::shows(EntryKind kind) const {
  return isSteppable(kind) || (m_shape == Shape::Tree && kind == EntryKind::Call);
}

std::string TextRows::row(const Entry& entry, std::int32_t outermost) const {
  const bool tree = m_shape == Shape::Tree;
  const std::string indent = tree ? indentOf(entry.depth - outermost) : std::string();
  if (entry.kind == EntryKind::Call) {
    // The callee is one deeper than the line that calls it.
    const std::string place = entry.line != 0 ? placeText(m_trace, entry) : std::string();
    return std::format("{:{}}  {}{}()", place, kPlaceWidth, tree ? indentOf(entry.depth - outermost - 1) : "",
                       shortFunctionName(functionText(m_trace, entry.function)));
  }
  if (entry.kind != EntryKind::Line) {
    return std::format("{:{}}{}-- {}{}", "", kPlaceWidth + 2, indent, entryText(m_trace, entry),
                       (entry.flags & kEntryFault) != 0 ? flagsText(entry.flags) : "");
  }
  const auto* file = m_trace.file(entry.file);
  const std::string source = file != nullptr ? m_sources(*file, entry.line) : std::string();
  const std::string function = shortFunctionName(functionText(m_trace, entry.function));
  if (tree) {
    return std::format("{:{}}  {}{}{}", placeText(m_trace, entry), kPlaceWidth, indent,
                       source.empty() ? function : source, flagsText(entry.flags));
  }
  return std::format("{:{}}  {:{}}  {}{}", placeText(m_trace, entry), kPlaceWidth, function, kFunctionWidth,
                     source, flagsText(entry.flags));
}

std::string threadHeading(const Trace& trace, ThreadIndex thread) {
  const auto& info = trace.threads[thread.value]->info();
  return std::format("thread {} ({}, tid {}){}{}", threadNumber(thread), printable(info.name), info.tid,
                     info.atFault ? ", at fault" : "", info.ended ? ", ended" : "");
}

std::int32_t outermostDepth(const ThreadTrace& thread, EntryIndex first) {
  std::int32_t least = INT32_MAX;
  const auto chunks = thread.chunks();
  for (std::size_t i = first < thread.entryCount() ? thread.chunkOf(first) : chunks.size(); i < chunks.size();
       ++i) {
    least = std::min(least, chunks[i].leastLineDepth);
  }
  return least == INT32_MAX ? 0 : least;
}

}  // namespace traceback::model
