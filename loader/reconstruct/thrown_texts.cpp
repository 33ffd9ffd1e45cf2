#include "loader/reconstruct/thrown_texts.h"

#include "loader/snap/snap_summary.h"

namespace traceback::loader {

std::unordered_map<std::uint64_t, std::string> findThrownTexts(std::span<const format::ThrownText> texts,
                                                               std::span<const ThreadSource* const> sources) {
  struct Said {
    std::string text;
    unsigned texts = 0, exceptions = 0;
  };
  std::unordered_map<std::uint64_t, Said> said;
  for (const format::ThrownText& each : texts) {
    Said& of = said[each.time];
    of.text = sentence(each.text);
    ++of.texts;
  }
  for (const ThreadSource* source : sources) {
    if (source == nullptr || said.empty()) continue;
    for (const auto* exceptions : {&source->throws(), &source->throwsAgain()})
      for (const auto& each : *exceptions)
        if (const auto found = said.find(each.time.value); found != said.end()) ++found->second.exceptions;
  }
  std::unordered_map<std::uint64_t, std::string> known;
  for (auto& [time, of] : said)
    if (of.texts == 1 && of.exceptions == 1 && !of.text.empty()) known.emplace(time, std::move(of.text));
  return known;
}

}  // namespace traceback::loader
