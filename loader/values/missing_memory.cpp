#include "loader/values/missing_memory.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace traceback::loader {

namespace {

std::optional<std::uint64_t> addressWithoutAccess(std::string_view text) {
  constexpr std::string_view kWords = "Cannot access memory at address 0x";
  const auto at = text.find(kWords);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + kWords.size());
  std::uint64_t address = 0;
  const auto done = std::from_chars(text.data(), text.data() + text.size(), address, 16);
  return done.ec == std::errc() ? std::optional(address) : std::nullopt;
}

bool anyMisses(const std::vector<model::Value>& values, std::span<const format::Mapping> mappings) {
  return std::ranges::any_of(values, [&](const model::Value& value) {
    const auto address = addressWithoutAccess(value.text);
    const auto isThere = [&](const format::Mapping& mapping) {
      return mapping.writable && *address >= mapping.start && *address < mapping.end;
    };
    return (address && std::ranges::any_of(mappings, isThere)) || anyMisses(value.parts, mappings);
  });
}

}  // namespace

bool missesMemory(const model::Values& values, std::span<const format::Mapping> mappings) {
  const auto ofFrame = [&](const model::FrameValues& frame) {
    return anyMisses(frame.arguments, mappings) || anyMisses(frame.locals, mappings);
  };
  return anyMisses(values.globals, mappings) ||
         std::ranges::any_of(values.threads, [&](const model::ThreadValues& thread) {
           return std::ranges::any_of(thread.frames, ofFrame);
         });
}

}  // namespace traceback::loader
