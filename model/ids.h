// Strong types for the numbers of the domain. None converts to another, or to an integer, by itself.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace traceback::model {

// An index into one of a Trace's tables. The default value is "none".
template <typename Tag>
struct Id {
  std::uint32_t value = 0xFFFF'FFFF;

  constexpr bool valid() const { return value != 0xFFFF'FFFF; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using ModuleId = Id<struct ModuleTag>;
using FunctionId = Id<struct FunctionTag>;
using FileId = Id<struct FileTag>;
using ThreadIndex = Id<struct ThreadTag>;  // position in Trace::threads(), not the system's tid

// A link-time address in a module, as the original file has it.
struct VirtAddr {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(VirtAddr, VirtAddr) = default;
};

// An address in the process that was traced.
struct RuntimeAddr {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(RuntimeAddr, RuntimeAddr) = default;
};

// What a module's link-time addresses are moved by at run time.
struct LoadBias {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(LoadBias, LoadBias) = default;
};

constexpr VirtAddr toLinkTime(RuntimeAddr address, LoadBias bias) { return {address.value - bias.value}; }
constexpr RuntimeAddr toRuntime(VirtAddr address, LoadBias bias) { return {address.value + bias.value}; }

// Time stamp counter of the traced machine.
struct Ticks {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(Ticks, Ticks) = default;
};

// Since the Unix epoch.
struct Nanoseconds {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(Nanoseconds, Nanoseconds) = default;
};

// A place in one thread's trace: counts its entries from 0, the oldest.
using EntryIndex = std::uint64_t;

// And in any thread's.
struct TracePlace {
  ThreadIndex thread;
  EntryIndex entry = 0;
  friend constexpr auto operator<=>(const TracePlace&, const TracePlace&) = default;
};

}  // namespace traceback::model

template <typename Tag>
struct std::hash<traceback::model::Id<Tag>> {
  std::size_t operator()(traceback::model::Id<Tag> id) const noexcept { return id.value; }
};
