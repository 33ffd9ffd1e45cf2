// Snaps of a process that goes on: asked for by the program or by the policy.
#pragma once

#include <cstdint>

namespace traceback::inject {

enum class Trigger : std::uint8_t {
  Call,       // of traceback_snap()
  Exception,  // a C++ exception was thrown
  Exit,       // the process ends, with a status that the policy names
  Report,     // a sanitizer found something
};

enum class TriggerResult : std::int8_t {
  Written = 0,
  Suppressed = 1,  // by the policy: what is not asked for, is the same again, or comes too often
  Failed = -1,     // nothing is recorded here, or the snap could not be written
};

// `place` tells apart what is the same: a return address, or what else there is. The process waits until the
// snap is written. Not from within another one.
TriggerResult trigger(Trigger kind, std::uint64_t place, const char* text);

// The process is about to end by itself.
void meetExit(int status);

}  // namespace traceback::inject
