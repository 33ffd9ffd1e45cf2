#include <charconv>
#include <format>
#include <optional>

#include "instrument/instrument.h"
#include "instrument/selection.h"

namespace traceback::instrument {
namespace {

constexpr std::string_view kNull = "null", kPoison = "poison", kOnly = "only=", kExclude = "exclude=",
                           kWithout = "without=", kRuntime = "runtime=", kOrigin = "origin",
                           kProfile = "profile=", kProfiles = "profiles=",
                           kThreadAlignment = "thread-alignment=", kThreadSlot = "thread-slot=";

void addWord(std::string& text, const std::string& word) {
  if (!text.empty()) text += ' ';
  text += word;
}

void addItems(std::vector<std::string>& items, std::string_view list) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (end != 0) items.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

// Without blanks.
std::string escaped(std::string_view path) {
  std::string out;
  for (const char c : path) c == '%' ? out += "%25" : c == ' ' ? out += "%20" : out += c;
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view code = text.substr(i, 3);
    const bool isEscape = code == "%20" || code == "%25";
    out += code == "%20" ? ' ' : text[i];
    if (isEscape) i += 2;
  }
  return out;
}

template <typename Number>
std::optional<Number> numberBehind(std::string_view name, std::string_view word) {
  if (!word.starts_with(name)) return {};
  Number number = 0;
  const char* const end = word.data() + word.size();
  const auto [stopped, error] = std::from_chars(word.data() + name.size(), end, number);
  return error == std::errc() && stopped == end ? std::optional(number) : std::nullopt;
}

}  // namespace

model::Result<std::string> textOf(const Options& options) {
  std::string out;
  if (options.nullMode) addWord(out, std::string(kNull));
  if (options.poison) addWord(out, std::string(kPoison));
  for (const auto& [word, items] : {std::pair{kOnly, &options.only}, std::pair{kExclude, &options.exclude}}) {
    const auto selection = FunctionSelection::parse(*items);
    if (!selection) return std::unexpected(selection.error());
    if (!selection->empty()) addWord(out, std::string(word) + selection->text());
  }
  std::string without;
  for (const std::string& name : options.without) without += (without.empty() ? "" : ",") + name;
  if (!without.empty()) addWord(out, std::string(kWithout) + without);
  if (!options.runtime.empty()) addWord(out, std::string(kRuntime) + options.runtime);
  if (options.keepOrigin) addWord(out, std::string(kOrigin));
  if (!options.profile.empty())
    addWord(out, std::string(kProfile) + options.profileHash + ':' + escaped(options.profile.string()));
  if (!options.profiles.empty()) addWord(out, std::string(kProfiles) + escaped(options.profiles.string()));
  if (options.threadAlignment != 0)
    addWord(out, std::string(kThreadAlignment) + std::to_string(options.threadAlignment));
  if (options.threadSlot != format::kThreadSlot)
    addWord(out, std::string(kThreadSlot) + std::to_string(options.threadSlot));
  return out;
}

model::Result<Options> parseOptions(std::string_view text) {
  Options out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (word == kNull) {
      out.nullMode = true;
    } else if (word == kPoison) {
      out.poison = true;
    } else if (word.starts_with(kOnly)) {
      addItems(out.only, word.substr(kOnly.size()));
    } else if (word.starts_with(kExclude)) {
      addItems(out.exclude, word.substr(kExclude.size()));
    } else if (word.starts_with(kWithout)) {
      std::vector<std::string> names;
      addItems(names, word.substr(kWithout.size()));
      out.without.insert(names.begin(), names.end());
    } else if (word.starts_with(kRuntime)) {
      out.runtime = word.substr(kRuntime.size());
    } else if (word.starts_with(kProfile) && word.contains(':')) {
      const std::size_t colon = word.find(':');
      out.profileHash = word.substr(kProfile.size(), colon - kProfile.size());
      out.profile = unescaped(word.substr(colon + 1));
    } else if (word.starts_with(kProfiles)) {
      out.profiles = unescaped(word.substr(kProfiles.size()));
    } else if (const auto alignment = numberBehind<std::uint64_t>(kThreadAlignment, word)) {
      out.threadAlignment = *alignment;
    } else if (const auto slot = numberBehind<std::int32_t>(kThreadSlot, word)) {
      out.threadSlot = *slot;
    } else if (word == kOrigin) {
      out.keepOrigin = true;
    } else {
      return model::fail(std::format("'{}' is no option of the instrumentor", word));
    }
  }
  return out;
}

}  // namespace traceback::instrument
