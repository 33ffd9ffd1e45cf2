// What `traceback print --values` prints.
#pragma once

#include <cstdint>
#include <string>

#include "model/values.h"

namespace traceback::app {

// For people: a thread's frames, innermost first, with their variables. Registers of the innermost frame
// alone, unless told otherwise.
void printValuesText(const model::ThreadValues& thread, const std::string& heading, bool allRegisters);
void printGlobalsText(const std::vector<model::Value>& globals);

// One object a line:
// {"thread":1,"tid":…,"frame":0,"function":…,"file":…,"line":…,"address":"0x…","inlined":false,
// "arguments":[V…],"locals":[V…],"registers":{"rax":"0x…"}}, V being {"name":…,"type":…,"value":…} with
// "known":false if "value" says why it is not known, "parts":[V…], and "more":true if there are further ones.
// {"global":V} of what was asked for, {"note":…} of what is missing. What is not known is null.
void printValuesJson(const model::ThreadValues& thread, std::uint32_t number);
void printGlobalsJson(const std::vector<model::Value>& globals);
void printNoteJson(const std::string& note);

}  // namespace traceback::app
