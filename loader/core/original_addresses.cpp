#include "loader/core/original_addresses.h"

namespace traceback::loader {

std::optional<OriginalPlace> OriginalAddresses::inCopy(std::uint64_t address) const {
  const auto place = m_modules.original(model::RuntimeAddr{address});
  return place && place->inCopy ? place : std::nullopt;
}

OriginalAddresses::Place OriginalAddresses::programCounter(std::uint64_t address) const {
  const auto place = inCopy(address);
  if (!place) return {.address = address, .isKnown = !isAdded(address).value_or(true)};
  return {.address = inProcess(*place), .isKnown = true, .inProbe = place->fixed};
}

std::optional<bool> OriginalAddresses::isAdded(std::uint64_t address) const {
  const auto index = m_modules.moduleAt(model::RuntimeAddr{address});
  if (!index) return false;
  const auto& module = m_modules[*index];
  const auto* map = module.view();
  if (map == nullptr) return module.codeSpan == 0 ? std::optional(false) : std::nullopt;
  const auto atLink = model::toLinkTime(model::RuntimeAddr{address}, module.bias);
  return atLink.value < map->header().imageStart || atLink.value >= map->header().imageEnd;
}

std::optional<std::uint64_t> OriginalAddresses::returnAddress(std::uint64_t address) const {
  const auto call = inCopy(address - 1);
  const auto place = inCopy(address);
  if (call && !call->fixed && (!place || place->module != call->module || place->function != call->function))
    return inProcess(*call) + 1;
  return place ? std::optional(inProcess(*place)) : std::nullopt;
}

}  // namespace traceback::loader
