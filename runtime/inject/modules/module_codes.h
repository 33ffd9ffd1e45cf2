// The codes of modules: where in the code space each one's records lie. Each has a part of its own in the
// life of a process, for rings still hold those of modules that were unloaded.
#pragma once

#include "runtime/format/module.h"
#include "runtime/format/process.h"
#include "runtime/inject/kernel/system.h"
#include "runtime/inject/modules/loaded_file.h"

namespace traceback::inject {

// Of entries of the process file's table.
inline bool isBound(const format::ProcessModule& module) {
  return module.bindState == static_cast<std::uint32_t>(format::BindState::Bound);
}

inline bool hasSameMap(const format::ProcessModule& module, const std::uint8_t (&mapId)[16]) {
  return memcmp(module.mapId, mapId, sizeof mapId) == 0;
}

// For a module that is not bound yet, and that the table does not have: ProcessModule::codeBase, the codes
// that the same file had before if it may have them again, and the file's own if they are free. Else it is
// given others, and the records of its head probes are changed for it. BindState::Bound, or why not.
format::BindState chooseCodes(const format::ModuleHeader& header, const Segment& where,
                              format::ProcessModule& module);

}  // namespace traceback::inject
