#include "model/instruction_steps.h"

#include <algorithm>

#include "model/call_tree.h"
#include "model/trace.h"

namespace traceback::model {

namespace {

bool isInlined(const Entry& entry) { return (entry.flags & kEntryInlined) != 0; }

// Of the frame of the machine that an entry is in.
std::int32_t frameDepth(const ThreadTrace& thread, EntryIndex at) {
  const std::vector<CallSpan> calls = activeCalls(thread, at);
  std::size_t frame = 0;
  while (frame + 1 < calls.size() && calls[frame].call && isInlined(thread.entry(*calls[frame].call)))
    ++frame;
  return frame < calls.size() ? calls[frame].depth : thread.entry(at).depth;
}

// The next steppable entry that is not in a callee, `deepest` being how deep inlining has led.
std::optional<EntryIndex> nextInFrame(const ThreadTrace& thread, EntryIndex from) {
  std::int32_t deepest = thread.entry(from).depth;
  for (EntryIndex at = from + 1; at < thread.entryCount();) {
    const Entry entry = thread.entry(at);
    if (isSteppable(entry.kind))
      return entry.depth <= deepest ? std::optional(at) : thread.nextAtMost(at, deepest);
    if (entry.kind == EntryKind::Call && !isInlined(entry)) {
      const auto after = thread.nextEdge(at, edgeDepth(entry));
      if (!after) return {};
      const Entry end = thread.entry(*after);
      at = end.kind == EntryKind::Return && end.depth == entry.depth ? *after + 1 : *after;
      continue;
    }
    if (entry.kind == EntryKind::Call) deepest = entry.depth;
    if (entry.kind == EntryKind::Return) deepest = edgeDepth(entry);
    ++at;
  }
  return {};
}

std::optional<EntryIndex> previousInFrame(const ThreadTrace& thread, EntryIndex from) {
  std::int32_t deepest = thread.entry(from).depth;
  for (EntryIndex end = from; end > 0;) {
    const EntryIndex at = end - 1;
    const Entry entry = thread.entry(at);
    if (isSteppable(entry.kind))
      return entry.depth <= deepest ? std::optional(at) : thread.previousAtMost(at, deepest);
    if (entry.kind == EntryKind::Return && !isInlined(entry)) {
      const auto before = thread.previousEdge(at, edgeDepth(entry));
      if (!before) return {};
      const Entry begin = thread.entry(*before);
      end = begin.kind == EntryKind::Call && begin.depth == entry.depth ? *before : *before + 1;
      continue;
    }
    if (entry.kind == EntryKind::Return) deepest = entry.depth;
    if (entry.kind == EntryKind::Call) deepest = edgeDepth(entry);
    end = at;
  }
  return {};
}

}  // namespace

std::optional<VirtAddr> standingInstruction(const Entry& entry) {
  if (entry.kind != EntryKind::Line || entry.address.value == 0) return {};
  return (entry.flags & kEntryFault) != 0 ? std::max(entry.address, entry.last) : entry.address;
}

std::optional<InstructionPlace> stepInstruction(const ThreadTrace& thread, const InstructionPlace& from,
                                                Step how, const InstructionsOf& instructionsOf) {
  if (from.entry >= thread.entryCount()) return {};
  const bool forward = how == Step::Into || how == Step::Over || how == Step::Out;
  const auto instructions = [&](EntryIndex index) {
    std::vector<VirtAddr> all;
    const ModuleId module = thread.entry(index).module;
    for (const CodeRange& range : thread.code(index)) {
      const std::vector<VirtAddr> part = instructionsOf(module, range);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  };
  const bool leaves = how == Step::Out || how == Step::BackOut;
  if (!leaves && from.address) {
    const std::vector<VirtAddr> here = instructions(from.entry);
    const auto after = std::ranges::upper_bound(here, *from.address);
    if (forward && after != here.end()) return InstructionPlace{from.entry, *after};
    const auto at = std::ranges::lower_bound(here, *from.address);
    if (!forward && at != here.begin()) return InstructionPlace{from.entry, *std::prev(at)};
  }
  std::optional<EntryIndex> to;
  if (leaves) {
    const std::int32_t frame = frameDepth(thread, from.entry);
    if (frame == INT32_MIN) return {};
    to = forward ? thread.nextAtMost(from.entry, frame - 1) : thread.previousAtMost(from.entry, frame - 1);
  } else if (how == Step::Over || how == Step::BackOver) {
    to = forward ? nextInFrame(thread, from.entry) : previousInFrame(thread, from.entry);
  } else {
    to = step(thread, from.entry, how);
  }
  if (!to) return {};
  const std::vector<VirtAddr> there = instructions(*to);
  if (there.empty()) return InstructionPlace{*to, standingInstruction(thread.entry(*to))};
  return InstructionPlace{*to, forward ? there.front() : there.back()};
}

}  // namespace traceback::model
