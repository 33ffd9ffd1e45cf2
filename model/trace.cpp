#include "model/trace.h"

#include <algorithm>

namespace traceback::model {

namespace {

template <typename T, typename Tag>
const T* at(const std::vector<T>& table, Id<Tag> id) {
  return id.value < table.size() ? &table[id.value] : nullptr;
}

}  // namespace

const Module* Trace::module(ModuleId id) const { return at(modules, id); }
const Function* Trace::function(FunctionId id) const { return at(functions, id); }
const SourceFile* Trace::file(FileId id) const { return at(files, id); }

std::string_view Trace::exceptionType(std::uint32_t detail) const {
  return detail == 0 || detail > exceptionTypes.size() ? std::string_view() : exceptionTypes[detail - 1];
}

std::string_view Trace::thrownText(const Entry& exception) const {
  if (exception.kind != EntryKind::Exception) return {};
  return thrownText(exception.time, exception.detail);
}

std::string_view Trace::thrownText(Ticks thrown, std::uint32_t type) const {
  const auto found = thrownTexts.find(thrown.value);
  if (found == thrownTexts.end() || found->second == exceptionType(type)) return {};
  return found->second;
}

std::optional<TracePlace> Trace::firstThrow(TracePlace again) const {
  const auto found = std::ranges::lower_bound(thrownAgain, again, {}, &ThrownAgain::at);
  return found != thrownAgain.end() && found->at == again ? std::optional(found->first) : std::nullopt;
}

std::optional<TracePlace> Trace::firstThrowOfFault() const {
  if (!summary.uncaught || threads.empty() || !threads.front()->info().fault) return {};
  return firstThrow({.thread = {0}, .entry = *threads.front()->info().fault});
}

std::optional<Nanoseconds> Trace::wallClock(Ticks time) const {
  if (!clockStart || !clockEnd || clockEnd->ticks <= clockStart->ticks || time.value == 0) return {};
  if (clockEnd->realtime < clockStart->realtime) return {};  // the clock was set back: no rate to be had
  // 64 bits of mantissa: exact to the nanosecond for any span of ticks.
  const long double ticks = static_cast<long double>(clockEnd->ticks.value - clockStart->ticks.value);
  const long double span = static_cast<long double>(clockEnd->realtime.value - clockStart->realtime.value);
  const long double since =
      static_cast<long double>(time.value) - static_cast<long double>(clockStart->ticks.value);
  const long double moment = static_cast<long double>(clockStart->realtime.value) + since * (span / ticks);
  if (moment < 0 || moment >= 18446744073709551615.0L) return {};
  return Nanoseconds{static_cast<std::uint64_t>(moment)};
}

}  // namespace traceback::model
