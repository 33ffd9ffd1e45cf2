// The stack of a stopped process, by elfutils: from outside, by the unwind tables that its files have.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace traceback::truth {

struct Frame {
  std::uint64_t ip = 0, sp = 0;
};

class FrameReader {
 public:
  explicit FrameReader(pid_t process);
  ~FrameReader();
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;

  std::vector<Frame> frames();

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace traceback::truth
