#include "model/history_text.h"

#include <algorithm>
#include <format>

#include "model/text_format.h"
#include "model/utf8.h"

namespace traceback::model {

namespace {

constexpr std::size_t kMostFunctions = 8, kMostPlaces = 3;

std::string_view jsonKind(HistoryPlace::Kind kind) {
  return kind == HistoryPlace::Kind::Code ? "code" : kindName(kind);
}

std::string numbered(std::uint64_t count, std::string_view one) {
  return std::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string whenText(const Trace& trace, const HistoryStretch& stretch, std::optional<Ticks> end) {
  const auto began = end ? timeBetween(trace, stretch.begin, *end) : std::nullopt;
  const auto ended = end ? timeBetween(trace, stretch.end, *end) : std::nullopt;
  if (!began || !ended) return "at a time that is not known";
  return std::format("{} to {} before the end", spanText(*began), spanText(*ended));
}

std::string nameOf(const Trace& trace, const HistoryFunction& function) {
  if (function.function.valid()) return functionText(trace, function.function);
  const Module* module = trace.module(function.module);
  return module ? std::format("code of {}, whose map is missing", printable(module->name)) : "?";
}

std::string functionLine(const Trace& trace, const HistoryFunction& function, double counted) {
  const double share = 100.0 * static_cast<double>(function.times) / counted;
  std::string line = std::format("    {:3.0f} %  {}", share, nameOf(trace, function));
  for (std::size_t i = 0; i < std::min(kMostPlaces, function.places.size()); ++i) {
    const HistoryPlace& place = function.places[i];
    line += i == 0 ? "  " : ", ";
    line += placeText(trace, function, place);
    if (place.kind != HistoryPlace::Kind::Code) line += std::format(" {}", kindName(place.kind));
    line += std::format(" {}", place.times);
  }
  return line;
}

std::string placeJson(const Trace& trace, const HistoryPlace& place) {
  const SourceFile* file = trace.file(place.file);
  return std::format(R"({{"kind":"{}","file":{},"line":{},"address":"{:#x}","times":{}}})",
                     jsonKind(place.kind), file ? jsonString(file->path) : "null",
                     file && place.line != 0 ? std::to_string(place.line) : "null", place.address.value,
                     place.times);
}

std::string functionJson(const Trace& trace, const HistoryFunction& function) {
  const Module* module = trace.module(function.module);
  const Function* known = trace.function(function.function);
  std::string json = std::format(
      R"({{"module":{},"function":{},"mangled":{},"times":{},"places":[)",
      module ? jsonString(module->name) : "null",
      known ? jsonString(functionText(trace, function.function)) : "null",
      known && !known->mangledName.empty() ? jsonString(known->mangledName) : "null", function.times);
  for (const HistoryPlace& place : function.places) {
    if (&place != &function.places.front()) json += ',';
    json += placeJson(trace, place);
  }
  return json + "]}";
}

}  // namespace

std::optional<Ticks> endOfTrace(const Trace& trace) {
  std::optional<Ticks> end;
  for (const auto& thread : trace.threads) {
    const auto& readings = thread->times().readings();
    if (!readings.empty()) end = std::max(end.value_or(Ticks{}), readings.back().time);
  }
  return end;
}

std::optional<Nanoseconds> timeBetween(const Trace& trace, Ticks from, Ticks to) {
  const auto first = trace.wallClock(from), last = trace.wallClock(to);
  if (!first || !last || *last < *first) return {};
  return Nanoseconds{last->value - first->value};
}

std::string spanText(Nanoseconds span) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (span.value >= 60 * kSecond)
    return std::format("{} min {} s", span.value / (60 * kSecond), span.value / kSecond % 60);
  const auto value = static_cast<double>(span.value);
  if (span.value >= kSecond) return std::format("{:.2f} s", value / 1e9);
  if (span.value >= 1'000'000) return std::format("{:.1f} ms", value / 1e6);
  return std::format("{:.0f} \u00b5s", value / 1e3);
}

std::string_view kindName(HistoryPlace::Kind kind) {
  switch (kind) {
    case HistoryPlace::Kind::Code:
      return "";
    case HistoryPlace::Kind::Entry:
      return "entry";
    case HistoryPlace::Kind::Loop:
      return "loop";
  }
  return "";
}

std::string placeText(const Trace& trace, const HistoryFunction& function, const HistoryPlace& place) {
  Entry entry;
  entry.module = function.module;
  entry.file = place.file;
  entry.line = place.line;
  entry.address = place.address;
  return placeText(trace, entry);
}

std::vector<std::string> historyLines(const Trace& trace, const HistoryStretch& stretch,
                                      std::optional<Ticks> end) {
  std::vector<std::string> lines;
  lines.push_back(std::format("  {}: {} read, in {} of {}", whenText(trace, stretch, end),
                              numbered(stretch.sampled, "record"), stretch.looked,
                              numbered(stretch.parts, "part")));
  const std::size_t shown = std::min(kMostFunctions, stretch.functions.size());
  const auto counted = static_cast<double>(std::max<std::uint64_t>(stretch.counted(), 1));
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(functionLine(trace, stretch.functions[i], counted));
  std::uint64_t rest = stretch.unnamed;
  for (std::size_t i = shown; i < stretch.functions.size(); ++i) rest += stretch.functions[i].times;
  if (rest != 0) {
    const double share = 100.0 * static_cast<double>(rest) / counted;
    lines.push_back(std::format("    {:3.0f} %  other code", share));
  }
  return lines;
}

std::string historyJson(const Trace& trace, ThreadIndex thread, std::size_t index,
                        const HistoryStretch& stretch) {
  const auto time = [&](Ticks ticks) {
    const auto wall = trace.wallClock(ticks);
    return wall ? std::to_string(wall->value) : "null";
  };
  std::string json = std::format(
      R"({{"thread":{},"index":{},"kind":"history","begin":{},"end":{},"parts":{},"looked":{},"words":{},)"
      R"("sampled":{},"unnamed":{},"functions":[)",
      threadNumber(thread), index, time(stretch.begin), time(stretch.end), stretch.parts, stretch.looked,
      stretch.words, stretch.sampled, stretch.unnamed);
  for (const HistoryFunction& function : stretch.functions) {
    if (&function != &stretch.functions.front()) json += ',';
    json += functionJson(trace, function);
  }
  return json + "]}";
}

}  // namespace traceback::model
