// Numbers, places and events of a trace in words.
#pragma once

#include <QString>
#include <cstdint>

#include "model/entry.h"
#include "model/order.h"
#include "model/trace.h"

namespace traceback::views {

// "SIGSEGV"; "signal 77" for one without a name.
QString signalName(std::uint32_t number);
// "invalid memory reference"; empty if there is nothing to add to the name.
QString signalMeaning(std::uint32_t number);
// "address not mapped", of the si_code that came with the signal; empty if it says nothing.
QString signalCodeMeaning(std::uint32_t number, std::uint32_t code);

// "a C++ exception was thrown", or by its type, and with what it said.
QString exceptionText(const model::Trace& trace, const model::Entry& exception);
QString gapText(std::uint32_t cause);
// "thread start", of a Sync entry's detail.
QString syncText(std::uint32_t cause);

// "0x55d0", without leading zeros.
QString hex(std::uint64_t value);
// With the locale's group separators.
QString count(std::uint64_t value);
QString dateTime(model::Nanoseconds when);
// "1.5 s", "320 µs"
QString duration(std::uint64_t nanoseconds);
// The time of day of a clock reading, to the microsecond; empty if the trace cannot tell.
QString timeOfDay(const model::Trace& trace, model::Ticks time);

// Last part of a path.
QString fileName(const std::string& path);

// "parser.c:119"; without line information "libfoo.so+0x1234"; empty if nothing is known.
QString place(const model::Trace& trace, const model::Entry& entry);
// "visit(Node*)"; "unknown function" if nothing names it.
QString functionName(const model::Trace& trace, model::FunctionId function);
// For titles, as model/function_name.h has it: "parse".
QString shortFunctionName(const QString& name);
QString shortFunctionName(const model::Trace& trace, model::FunctionId function);

// What made the snap, as a headline: "SIGSEGV, invalid memory reference at 0x8".
QString reasonText(const model::Trace::Summary& summary);

// How another entry stands to the current one: "before", "after", "order not known"; empty for itself.
QString orderText(model::Order order);

// "1 main" or "thread 4242".
QString threadName(const model::ThreadTrace::Info& info, std::size_t number);

}  // namespace traceback::views
