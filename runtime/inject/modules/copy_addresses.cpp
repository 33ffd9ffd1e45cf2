#include "runtime/inject/modules/copy_addresses.h"

#include "runtime/inject/modules/bound_modules.h"
#include "runtime/inject/modules/module_tables.h"

namespace traceback::inject {

using format::ModuleHeader;

namespace {

// The entry for an address in a copy; null if there is none.
const format::AddressEntry* entryFor(const BoundModule& module, std::uint64_t address) {
  const ModuleHeader& header = *headerOf(module);
  const std::span<const format::AddressEntry> entries = addressesOf(header);
  const std::uint64_t linked = address - module.bias;
  std::uint32_t low = 0, high = header.addressCount;  // the last entry whose `copy` is not above
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (entries[middle].copy <= linked)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? nullptr : &entries[low - 1];
}

std::uint64_t behindCall(std::uint64_t original) {
  const auto* code = reinterpret_cast<const std::uint8_t*>(original);
  constexpr unsigned kMostPrefixes = 4;
  for (unsigned i = 0; i < kMostPrefixes; ++i) {
    const std::uint8_t byte = code[i];
    if (byte == 0xE8) return original + i + 5;
    if ((byte & 0xF0) != 0x40 && byte != 0x66 && byte != 0xF2 && byte != 0xF3 && byte != 0x3E) break;
  }
  return 0;
}

}  // namespace

std::uint64_t originalAddress(std::uint64_t address) {
  const BoundModule* module = moduleOf(address);
  if (module == nullptr || headerOf(*module) == nullptr) return address;
  const format::AddressEntry* const found = entryFor(*module, address);
  if (found == nullptr) return address;
  const format::AddressEntry entry = *found;
  const std::uint64_t linked = address - module->bias;
  const std::uint64_t original = entry.original & ~format::kAddressFixed;
  const std::uint64_t distance = (entry.original & format::kAddressFixed) != 0 ? 0 : linked - entry.copy;
  return module->bias + original + distance;
}

std::uint64_t originalReturnAddress(std::uint64_t address) {
  const BoundModule* module = moduleOf(address - 1);
  if (module == nullptr || headerOf(*module) == nullptr) return address;
  const format::AddressEntry* const call = entryFor(*module, address - 1);
  if (call == nullptr) return address;
  // Direct calls are of another length in the copy.
  const std::uint64_t last = originalAddress(address - 1);
  if ((call->original & format::kAddressFixed) == 0) return last + 1;
  if (const std::uint64_t behind = behindCall(last); behind != 0) return behind;
  // The original's code was made unreadable (poison mode, a debugger): mostly the next instruction follows.
  constexpr unsigned kLongest = 15, kUsual = 5;
  const auto& header = *headerOf(*module);
  const bool isLast = call == &addressesOf(header).back();
  const std::uint64_t next =
      isLast ? 0 : module->bias + (call[1].original & ~std::uint64_t{format::kAddressFixed});
  return next > last && next - last <= kLongest ? next : last + kUsual;
}

RoutineAt routineAt(std::uint64_t address) {
  for (const BoundModule& module : boundModules()) {
    const ModuleHeader* header = headerOf(module);
    // They are between the header and the copies.
    if (header == nullptr || address < reinterpret_cast<std::uint64_t>(header) ||
        address >= copyStartOf(module))
      continue;
    const auto link = static_cast<std::uint32_t>(address - module.bias);
    for (const format::BitRoutine& routine : bitRoutinesOf(*header))
      if (link - routine.start < routine.size) return {.bit = &routine, .start = module.bias + routine.start};
    for (const format::LoadRoutine& routine : loadRoutinesOf(*header))
      if (link - routine.start < routine.size)
        return {.load = &routine, .start = module.bias + routine.start};
    for (const format::RecordRoutine& routine : recordRoutinesOf(*header))
      if (link - routine.start < routine.wrap + format::kRoutineWrapSize)
        return {.record = &routine, .start = module.bias + routine.start};
    return {};
  }
  return {};
}

}  // namespace traceback::inject
