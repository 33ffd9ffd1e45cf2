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

// A call that ends its function is followed by a way on into the original, which stands for the call as it
// itself does: only the original tells where it returns. (Blocks are not kept of all functions.)
bool OriginalAddresses::endsItsFunction(const OriginalPlace& call, std::uint64_t end) const {
  if (!call.fixed) return call.address.value + 1 == end;
  constexpr std::uint64_t kShortest = 5, kLongest = 8;  // of a direct call, with prefixes
  const auto left = end - call.address.value;
  if (call.address.value >= end || left < kShortest || left > kLongest) return false;
  const auto& map = *m_modules[call.module].view();
  for (std::uint32_t i = 0; i < map.function(call.function).blockCount; ++i) {
    const auto& block = map.block(call.function, i);
    if (block.start <= call.address.value && call.address.value - block.start < block.size)
      return block.end == format::BlockEnd::Call;
  }
  return true;
}

std::optional<std::uint64_t> OriginalAddresses::returnAddress(std::uint64_t address) const {
  const auto call = inCopy(address - 1);
  const auto place = inCopy(address);
  if (!call) return place ? std::optional(inProcess(*place)) : std::nullopt;
  const bool leaves = !place || place->module != call->module || place->function != call->function;
  const auto& function = m_modules[call->module].view()->function(call->function);
  const model::VirtAddr end{function.original + function.originalSize};
  if (endsItsFunction(*call, end.value)) {
    // But the probe in front of it may call the recorder: that ends where the instruction itself begins, or
    // what comes of the probe when the record is claimed.
    const bool standsForCall = !leaves && place->fixed && place->address == call->address;
    const bool fromProbe = standsForCall && call->first && !place->first;
    if (!call->fixed || leaves || (standsForCall && !fromProbe))
      return model::toRuntime(end, m_modules[call->module].bias).value;
  }
  if (leaves && !call->fixed) return inProcess(*call) + 1;
  return place ? std::optional(inProcess(*place)) : std::nullopt;
}

}  // namespace traceback::loader
