// The stack of activation records as the reconstructor knows it, and how chunks remember it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "loader/map/map_view.h"
#include "loader/reconstruct/inlined_calls.h"
#include "loader/reconstruct/trace_names.h"
#include "model/ids.h"

namespace traceback::loader {

struct Frame {
  std::uint32_t module = 0;
  MapFunction current = 0;  // where it runs: the function, or a part of it that was moved away
  model::FunctionId function;
  std::int32_t depth = 0;  // of its own lines
  std::uint32_t returnBlock = format::kNoBlock;  // where the call that it has made returns, within `current`
  std::uint32_t pad =
      format::kNoBlock;  // the landing pad it went through last, as long as it is not in a loop
  InlineStackId inlined = 0;  // the inlined functions that it is in
  InlineStackId inlinedAtLine = 0;  // that it was in when it last ran code of a line
  InlinedCalls inlinedCalls;  // of these, and of those that it was in
  std::uint64_t returnedTo = 0;  // return points it was seen at, as a bloom filter
  bool seenWhole = false;  // from its entry on
  bool direct = false;  // the frame below called it, with nothing between them
  std::uint32_t callBlock = format::kNoBlock;  // else: of the frame below, what it called

  bool mayHaveReturnedTo(std::uint32_t block) const { return (returnedTo & bloomBit(block)) != 0; }
  void notePassed(std::uint32_t block) { returnedTo |= bloomBit(block); }

 private:
  static std::uint64_t bloomBit(std::uint32_t block) {
    return std::uint64_t{1} << ((block * 0x9E37'79B9U) >> 26);
  }
};

// A stack as the difference to the one of the chunk before: what is below `keep` is as it was there.
struct StackDifference {
  std::size_t keep = 0;
  std::vector<Frame> above;
};

class CallStack {
 public:
  std::size_t size() const { return m_frames.size(); }
  bool empty() const { return m_frames.empty(); }
  const Frame& operator[](std::size_t index) const { return m_frames[index]; }
  const Frame& top() const { return m_frames.back(); }

  Frame& change(std::size_t index) {
    m_touched = std::min(m_touched, index);
    return m_frames[index];
  }
  Frame& changeTop() { return change(m_frames.size() - 1); }
  void push(const Frame& frame) {
    m_touched = std::min(m_touched, m_frames.size());
    m_frames.push_back(frame);
  }
  void pop() {
    m_frames.pop_back();
    m_touched = std::min(m_touched, m_frames.size());
  }
  void assign(std::vector<Frame> frames) {
    m_frames = std::move(frames);
    m_touched = 0;
  }

  // What has changed since the last call.
  StackDifference difference() {
    const auto keep = std::min(m_touched, m_frames.size());
    StackDifference result{.keep = keep,
                           .above = {m_frames.begin() + static_cast<std::ptrdiff_t>(keep), m_frames.end()}};
    m_touched = m_frames.size();
    return result;
  }

 private:
  std::vector<Frame> m_frames;
  std::size_t m_touched = 0;  // frames below were not changed
};

// The stack after the last of the differences.
std::vector<Frame> stackAfter(std::span<const StackDifference> differences);

}  // namespace traceback::loader
