// Entries: lines folded, inlined calls shown, one entry held back as long as something may be added to it.
#include <algorithm>

#include "loader/reconstruct/walker.h"

namespace traceback::loader {

using model::Entry;
using model::EntryKind;

std::uint16_t Walker::contextFlags() const {
  return m_state.handlers.empty() ? std::uint16_t{0} : std::uint16_t{model::kEntryInHandler};
}

std::int32_t Walker::currentDepth() const {
  if (m_stack.empty()) return m_state.outerDepth + 1;
  const auto& frame = m_stack.top();
  return frame.depth + static_cast<std::int32_t>(m_names.inlineStack(frame.inlined).size());
}

// An entry of the current activation.
Entry Walker::make(EntryKind kind) const {
  Entry entry;
  entry.kind = kind;
  entry.flags = contextFlags();
  entry.depth = currentDepth();
  entry.time = m_state.time;
  if (!m_stack.empty()) {
    const auto& frame = m_stack.top();
    const auto inlined = m_names.inlineStack(frame.inlined);
    entry.module = {frame.module};
    entry.function = inlined.empty() ? frame.function : inlined.back().function;
  }
  return entry;
}

void Walker::flush() {
  if (m_pieces != nullptr)
    for (const model::CodeRange& each : m_state.pendingCode)
      m_pieces->push_back({.entry = static_cast<std::uint32_t>(m_out->size()), .code = each});
  if (m_state.pending) m_out->push_back(*m_state.pending);
  m_state.pending.reset();
  m_state.pendingCode.clear();
}

void Walker::emit(Entry entry) {
  flush();
  m_out->push_back(entry);
}

// Where the line that is held back ends; nothing if none is.
std::optional<OriginalPlace> Walker::endOfLine() const {
  if (!m_state.pending || m_state.pending->kind != EntryKind::Line) return {};
  return OriginalPlace{.module = m_state.pending->module.value, .address = m_state.pending->last};
}

void Walker::emitException(const std::optional<OriginalPlace>& place, std::uint32_t type,
                           std::uint16_t flags) {
  auto entry = make(EntryKind::Exception);
  entry.detail = type;
  entry.flags |= flags;
  entry.module = {};  // unless its place is known
  if (place) {
    entry.module = {place->module};
    entry.address = entry.last = place->address;
    // Where that is within the line that ran last, it is that line.
    const auto& line = m_state.pending;
    if (line && line->kind == EntryKind::Line && line->module == entry.module &&
        line->address <= entry.address && entry.address <= line->last) {
      entry.file = line->file;
      entry.line = line->line;
    }
  }
  emit(entry);
}

void Walker::markPending(std::uint16_t flags) {
  if (m_state.pending && m_state.pending->kind == EntryKind::Line) m_state.pending->flags |= flags;
}

void Walker::gap(model::GapCause cause) {
  m_afterGap = true;
  auto entry = make(EntryKind::Gap);
  entry.detail = static_cast<std::uint32_t>(cause);
  if (m_state.pending && m_state.pending->kind == EntryKind::Gap && m_state.pending->detail == entry.detail) {
    noteReading(*m_state.pending);
    return;
  }
  flush();
  m_state.pending = entry;
}

// Of what goes on: the clock may have been read since it began.
void Walker::noteReading(Entry& pending) const {
  if (pending.time != m_state.time) pending.flags |= model::kEntryAcrossReading;
}

// What the record added, or added to, may have been before that moment or behind it.
void Walker::noteSeen(const Shown& before) {
  if (m_input.timeline.seen->time < m_state.time) return;  // contradicts what the thread itself has read
  m_state.time = m_state.seen = m_input.timeline.seen->time;
  Entry* line = nullptr;
  const auto open = [&](Entry& entry, bool added) {
    if (added) entry.flags |= model::kEntryAcrossReading;
    if (entry.kind == EntryKind::Line) line = &entry;
  };
  const auto asItWas = [&](const Entry& entry) {
    return before.pending && entry.last == before.pending->last && entry.flags == before.pending->flags;
  };
  auto& out = *m_out;
  for (std::size_t i = 0; i < out.size(); ++i)
    open(out[i], i >= before.out && !(i == before.out && asItWas(out[i])));
  auto& pending = m_state.pending;
  if (pending) open(*pending, out.size() > before.out || !asItWas(*pending));
  if (line != nullptr) line->flags |= model::kEntryAtOtherFault;
}

// Leaves inlined functions until the top frame is in so many of them.
void Walker::leaveInlined(std::size_t kept, std::uint16_t flags) {
  const auto left = m_names.inlineStack(m_stack.top().inlined);
  if (left.size() == kept) return;
  auto entry = make(EntryKind::Return);
  entry.flags |= model::kEntryInlined | flags;
  for (auto i = left.size(); i-- > kept;) {
    entry.function = left[i].function;
    entry.depth = m_stack.top().depth + static_cast<std::int32_t>(i) + 1;
    emit(entry);
  }
  if (kept == 0) m_stack.changeTop().inlined = 0;
}

// Leaves and enters inlined functions until the top frame is in those of the line. Code of no line is the
// compiler's own: what is left for that is not left by the call.
void Walker::enterInlined(const BlockLine& line) {
  const auto shown = m_stack.top().inlined;
  if (line.inlined == 0 && shown == 0 && !m_stack.top().inlinedCalls.anyRan()) return;
  auto& frame = m_stack.changeTop();
  const auto now = m_names.inlineStack(line.inlined);
  const auto commonWith = [&](InlineStackId other) {
    if (other == line.inlined) return now.size();
    return static_cast<std::size_t>(std::ranges::mismatch(m_names.inlineStack(other), now).in2 - now.begin());
  };
  auto kept = commonWith(shown),
       stayed = shown == frame.inlinedAtLine ? kept : commonWith(frame.inlinedAtLine);
  if (line.line != 0) {
    frame.inlinedCalls.run(line.start, now.size());
    frame.inlinedAtLine = line.inlined;
    stayed = frame.inlinedCalls.underWayOf(now.first(stayed));
    kept = std::min(kept, stayed);
  }
  if (shown == line.inlined && kept == now.size()) return;
  leaveInlined(kept, 0);
  frame.inlined = line.inlined;
  auto entry = make(EntryKind::Call);
  for (auto i = kept; i < now.size(); ++i) {
    const bool begins = i >= stayed && frame.inlinedCalls.enter(now[i].instance, i + 1);
    entry.flags = contextFlags() | model::kEntryInlined;
    if (!begins) entry.flags |= model::kEntryResumed;
    entry.function = now[i].function;
    entry.file = now[i].file;
    entry.line = now[i].line;
    entry.address = entry.last = {line.start};
    entry.depth = frame.depth + static_cast<std::int32_t>(i) + 1;
    emit(entry);
  }
}

// Folds with the line before it if that is the same one, going on further down: two blocks of one line.
// Going back up is another execution of it.
void Walker::showLine(const BlockLine& line, std::uint32_t start, std::uint32_t last, std::uint16_t flags) {
  enterInlined(line);
  auto entry = make(EntryKind::Line);
  entry.flags |= flags | m_nextLineFlags;
  if (line.inlined != 0) entry.flags |= model::kEntryInlined;
  m_nextLineFlags = 0;
  entry.file = line.file;
  entry.line = line.line;
  entry.address = {start};
  entry.last = {last};
  auto& pending = m_state.pending;
  if (pending && pending->kind == EntryKind::Line && entry.line != 0 && pending->line == entry.line &&
      pending->file == entry.file && pending->module == entry.module && pending->function == entry.function &&
      pending->depth == entry.depth && pending->last < entry.address &&
      (entry.flags & model::kEntryCatch) == 0) {
    auto& code = m_state.pendingCode;
    if (pending->last.value + 1 != entry.address.value) {
      if (code.empty()) code.push_back({pending->address, pending->last});
      code.push_back({entry.address, entry.last});
      pending->flags |= model::kEntrySkips;
    } else if (!code.empty()) {
      code.back().last = entry.last;
    }
    pending->last = entry.last;
    pending->flags |= entry.flags;
    noteReading(*pending);
    return;
  }
  flush();
  pending = entry;
}

}  // namespace traceback::loader
