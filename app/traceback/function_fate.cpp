#include "app/traceback/function_fate.h"

#include <charconv>
#include <format>
#include <optional>

#include "app/traceback/say.h"
#include "instrument/analysis/eligibility.h"
#include "loader/map/map_view.h"
#include "model/demangle.h"
#include "model/utf8.h"
#include "runtime/format/map.h"
#include "runtime/format/skip_reason.h"

namespace traceback::app {
namespace {

using format::SkipReason;
using instrument::FunctionFate;

std::optional<std::uint64_t> addressIn(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "ns::f<(A)1>(int) const" without its parameters: up to the last bracket that closes at the end.
std::string_view withoutParameters(std::string_view name) {
  const std::size_t close = name.rfind(')');
  if (close == std::string_view::npos) return name;
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return name.substr(0, i);
  }
  return name;
}

model::Result<std::vector<FunctionFate>> fatesInMap(const loader::ElfImage& image,
                                                    const Elf64_Shdr* section) {
  const auto map = loader::MapView::parse(image.contents(*section), image.path(), section->sh_offset);
  if (!map) return std::unexpected(map.error());
  std::vector<FunctionFate> out;
  for (std::uint32_t i = 0; i < map->functionCount(); ++i) {
    const format::FunctionEntry& f = map->function(i);
    out.push_back({{f.original},
                   f.originalSize,
                   std::string(map->functionName(i)),
                   f.copy != 0,
                   format::SkipReason(f.skipReason)});
  }
  return out;
}

bool isNamed(const FunctionFate& fate, std::string_view name) {
  if (fate.name.empty()) return false;
  if (fate.name == name) return true;
  const std::string full = model::demangle(fate.name);
  return full == name || withoutParameters(full) == name;
}

}  // namespace

model::Result<std::vector<FunctionFate>> fatesIn(const loader::ElfImage& image) {
  const Elf64_Shdr* section = image.section(format::kMapSection);
  if (section != nullptr) return fatesInMap(image, section);
  instrument::Options options;
  if (const auto slot = instrument::threadSlotBeside(image); slot != 0) options.threadSlot = slot;
  return instrument::functionFates(image, options);  // as `traceback run` would have it
}

std::vector<const FunctionFate*> fatesOf(const std::vector<FunctionFate>& fates,
                                         std::string_view nameOrAddress) {
  const auto address = addressIn(nameOrAddress);
  std::vector<const FunctionFate*> out;
  for (const FunctionFate& fate : fates) {
    const bool meant = address ? *address >= fate.start.value && *address - fate.start.value < fate.size
                               : isNamed(fate, nameOrAddress);
    if (meant) out.push_back(&fate);
  }
  return out;
}

void printFate(const FunctionFate& fate, bool json) {
  const bool limited = fate.reason != SkipReason::None;
  if (json) {
    const std::string reason = limited ? model::jsonString(format::skipReasonName(fate.reason)) : "null";
    const std::string why = limited ? model::jsonString(format::skipReasonSentence(fate.reason)) : "null";
    sayLine(
        R"({{"function":{},"address":"{:#x}","size":{},"traced":{},"entered_directly_only":{},"reason":{},"why":{}}})",
        model::jsonString(fate.name), fate.start.value, fate.size, fate.copied, fate.copied && limited,
        reason, why);
    return;
  }
  const std::string name = fate.name.empty() ? "(no name)" : model::printable(model::demangle(fate.name));
  const std::string what = std::format("{:#x}  {}, {} bytes: ", fate.start.value, name, fate.size);
  if (!limited)
    sayLine("{}traced", what);
  else if (fate.copied)
    sayLine(
        "{}traced where it is called directly, not where it is called through a pointer or from another "
        "file, for {}",
        what, format::skipReasonSentence(fate.reason));
  else
    sayLine("{}not traced, for {}", what, format::skipReasonSentence(fate.reason));
}

std::string whyNoFunction(const loader::ElfImage& image, std::string_view nameOrAddress) {
  const auto address = addressIn(nameOrAddress);
  if (!address)
    return std::format("has no function named {}; stripped files have addresses alone", nameOrAddress);
  const Elf64_Phdr* segment = image.segmentAt({*address});
  if (segment == nullptr || (segment->p_flags & PF_X) == 0)
    return std::format("has no code at {} (addresses are as in the file, not as it was loaded)",
                       nameOrAddress);
  return std::format(
      "what is at {} belongs to no function that its unwind tables know, so it is not traced: "
      "only code with unwind information is copied",
      nameOrAddress);
}

}  // namespace traceback::app
