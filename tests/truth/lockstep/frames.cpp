#include "tests/truth/lockstep/frames.h"

#include <elfutils/libdwfl.h>

namespace traceback::truth {

struct FrameReader::State {
  pid_t process = -1;
  Dwfl* dwfl = nullptr;

  bool attach();
};

namespace {

constexpr std::size_t kMostFrames = 64;
constexpr int kRsp = 7;  // as DWARF numbers it

const Dwfl_Callbacks kCallbacks = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr, nullptr};

int addFrame(Dwfl_Frame* frame, void* to) {
  auto& frames = *static_cast<std::vector<Frame>*>(to);
  Dwarf_Addr ip = 0;
  Dwarf_Word sp = 0;
  if (!dwfl_frame_pc(frame, &ip, nullptr) || dwfl_frame_reg(frame, kRsp, &sp) != 0) return DWARF_CB_ABORT;
  frames.push_back({ip, sp});
  return frames.size() < kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

}  // namespace

// Once what the process loads at its start is there.
bool FrameReader::State::attach() {
  if (dwfl != nullptr) return true;
  dwfl = dwfl_begin(&kCallbacks);
  return dwfl != nullptr && dwfl_linux_proc_report(dwfl, process) == 0 &&
         dwfl_report_end(dwfl, nullptr, nullptr) == 0 && dwfl_linux_proc_attach(dwfl, process, true) == 0;
}

FrameReader::FrameReader(pid_t process) : m_state(std::make_unique<State>()) { m_state->process = process; }

FrameReader::~FrameReader() {
  if (m_state->dwfl != nullptr) dwfl_end(m_state->dwfl);
}

std::vector<Frame> FrameReader::frames() {
  std::vector<Frame> frames;
  if (m_state->attach()) dwfl_getthread_frames(m_state->dwfl, m_state->process, addFrame, &frames);
  return frames;
}

}  // namespace traceback::truth
