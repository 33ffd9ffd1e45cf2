// The tables that a sound module has (module.h).
#pragma once

#include <cstdint>
#include <span>

#include "runtime/format/module.h"

namespace traceback::inject {

template <typename Entry>
std::span<const Entry> tableOf(const format::ModuleHeader& header, std::uint32_t offset,
                               std::uint32_t count) {
  return {reinterpret_cast<const Entry*>(reinterpret_cast<std::uint64_t>(&header) + offset), count};
}

inline std::span<const format::AddressEntry> addressesOf(const format::ModuleHeader& header) {
  return tableOf<format::AddressEntry>(header, header.addressOffset, header.addressCount);
}
inline std::span<const format::RecordRoutine> recordRoutinesOf(const format::ModuleHeader& header) {
  return tableOf<format::RecordRoutine>(header, header.routineOffset, header.routineCount);
}
inline std::span<const format::BitRoutine> bitRoutinesOf(const format::ModuleHeader& header) {
  return tableOf<format::BitRoutine>(header, header.bitRoutineOffset, header.bitRoutineCount);
}
inline std::span<const format::LoadRoutine> loadRoutinesOf(const format::ModuleHeader& header) {
  return tableOf<format::LoadRoutine>(header, header.loadRoutineOffset, header.loadRoutineCount);
}
inline std::span<const format::BroughtHead> broughtHeadsOf(const format::ModuleHeader& header) {
  return tableOf<format::BroughtHead>(header, header.broughtHeadOffset, header.broughtHeadCount);
}

}  // namespace traceback::inject
