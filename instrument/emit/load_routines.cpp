#include "instrument/emit/load_routines.h"

#include "instrument/emit/probe_parts.h"

namespace traceback::instrument {

std::uint32_t emitLoadRoutine(unsigned reg, Routines& out) {
  CodeBuilder code(out.threadSlot);
  code.setOrigin({});
  takeCursor(code, reg, Cursor::Loaded);
  code.bytes({0xC3});
  const std::uint32_t start = out.append(code, 1);
  out.loads.push_back({start, std::uint8_t(reg), std::uint8_t(code.size()), {}});
  return start;
}

}  // namespace traceback::instrument
