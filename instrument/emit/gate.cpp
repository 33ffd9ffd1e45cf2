#include "instrument/emit/gate.h"

#include "instrument/emit/probe_parts.h"

namespace traceback::instrument {

void emitGateTest(CodeBuilder& code, VirtAddr bound, bool flagsAreDead, Label displaced) {
  if (flagsAreDead) {
    constexpr std::uint8_t kCompare[] = {0x48, 0x83, 0x3D, 0, 0, 0, 0, 0};
    code.ripAbsolute(kCompare, 3, bound);
    code.branch(kEqual, displaced);
    return;
  }
  // rcx is kept below the stack pointer, where a function that was just called, or jumped to in place of its
  // caller, has nothing yet.
  constexpr std::uint8_t kSave[] = {0x48, 0x89, 0x4C, 0x24, 0xF8};
  constexpr std::uint8_t kLoad[] = {0x48, 0x8B, 0x0D, 0, 0, 0, 0};
  constexpr std::uint8_t kRestore[] = {0x48, 0x8B, 0x4C, 0x24, 0xF8};
  code.bytes(kSave);
  code.ripAbsolute(kLoad, 3, bound);
  code.bytes({0xE3, sizeof kRestore + 2});  // jrcxz unbound
  code.bytes(kRestore);
  const Label inside = code.newLabel();
  code.jump(inside);
  code.bytes(kRestore);  // unbound:
  code.jumpLong(displaced);
  code.bind(inside);
}

}  // namespace traceback::instrument
