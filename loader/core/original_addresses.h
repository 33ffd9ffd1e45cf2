// Code addresses of the traced process as they would have been without us: those in copies become those of
// the instructions that were copied.
#pragma once

#include <cstdint>
#include <optional>

#include "loader/reconstruct/module_table.h"

namespace traceback::loader {

class OriginalAddresses {
 public:
  explicit OriginalAddresses(const ModuleTable& modules) : m_modules(modules) {}

  struct Place {
    std::uint64_t address = 0;
    bool isKnown = true;   // false: it is in a copy, or may be, and nothing tells what that stands for
    bool inProbe = false;  // in the copy something of the recorder's stands there
  };
  Place programCounter(std::uint64_t address) const;

  // Nothing if it is no address in a copy. What lies right behind a call is that call's return address,
  // though another function's copy may begin there, or something of the recorder's.
  std::optional<std::uint64_t> returnAddress(std::uint64_t address) const;
  // Nothing if it is no address in a copy.
  std::optional<std::uint64_t> inOriginal(std::uint64_t address) const {
    const auto place = inCopy(address);
    return place ? std::optional(inProcess(*place)) : std::nullopt;
  }

  // Whether it lies in what was added to a file, so that the original has nothing there. Nothing if no map
  // tells.
  std::optional<bool> isAdded(std::uint64_t address) const;

 private:
  // Whether it is in the last instruction of its function, which ends there, and that may be a call.
  bool endsItsFunction(const OriginalPlace& call, std::uint64_t end) const;
  std::optional<OriginalPlace> inCopy(std::uint64_t address) const;
  std::uint64_t inProcess(const OriginalPlace& place) const {
    return model::toRuntime(place.address, m_modules[place.module].bias).value;
  }

  const ModuleTable& m_modules;
};

}  // namespace traceback::loader
