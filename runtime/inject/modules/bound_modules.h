// The modules that are bound, as whoever has an address needs to know of them. Read without a lock, in
// handlers too; changed by one thread at a time.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/format/module.h"

namespace traceback::inject {

struct BoundModule {
  const format::ModuleHeader* header;  // null once it is unloaded
  std::uint64_t bias;
  std::uint64_t copyStart, copyEnd;  // run-time addresses
  unsigned index;                    // in the process file's table
};

// An entry is used again once its module is unloaded, so what others may change is read by these.
const format::ModuleHeader* headerOf(const BoundModule& module);
std::uint64_t copyStartOf(const BoundModule& module);

// All entries.
std::span<const BoundModule> boundModules();
// The one in whose copies the address is, or null.
const BoundModule* moduleOf(std::uint64_t address);

void addBoundModule(const format::ModuleHeader& header, std::uint64_t bias, unsigned index);
void removeBoundModule(const format::ModuleHeader* header, unsigned index);

}  // namespace traceback::inject
