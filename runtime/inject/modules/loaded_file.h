// A loaded object, as the dynamic linker lists it: whether it is a module, and a sound one, and what the
// process file says of it.
#pragma once

#include <link.h>

#include <cstdint>

#include "runtime/format/module.h"
#include "runtime/format/process.h"

namespace traceback::inject {

// Run-time addresses.
struct Segment {
  std::uint64_t start, end;
};

// Null if it is no module; else `where` is the segment that the header begins.
const format::ModuleHeader* findHeader(const dl_phdr_info& info, Segment& where);

// Whether everything that is used of it lies where it should.
bool isSound(const dl_phdr_info& info, const format::ModuleHeader& header, const Segment& where);

bool isProgram(const dl_phdr_info& info);

// ProcessModule::path, of the object with that segment; empty if it cannot be had.
void setPath(const dl_phdr_info& info, const Segment& where, format::ProcessModule& module);
void fillBounds(const dl_phdr_info& info, format::ProcessModule& module);

}  // namespace traceback::inject
