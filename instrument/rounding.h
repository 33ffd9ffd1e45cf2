// Places and sizes at multiples of a unit.
#pragma once

#include <concepts>
#include <type_traits>

namespace traceback::instrument {

// The least multiple of `unit` that is not less.
template <std::unsigned_integral T>
constexpr T roundedUp(T value, std::type_identity_t<T> unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace traceback::instrument
