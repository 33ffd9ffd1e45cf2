#include "app/traceback/values_output.h"

#include <format>

#include "app/traceback/say.h"
#include "model/utf8.h"

namespace traceback::app {

namespace {

using model::FrameValues;
using model::jsonString;
using model::printable;
using model::Value;

void printVariables(const std::vector<Value>& values) {
  for (const Value& value : values) sayLine("       {} = {}", printable(value.name), printable(value.text));
}

void printRegisters(const std::vector<Value>& registers) {
  constexpr std::size_t kColumns = 4;
  for (std::size_t i = 0; i < registers.size(); ++i) {
    const bool last = i + 1 == registers.size() || i % kColumns == kColumns - 1;
    say("{}{:6} {:18}{}", i % kColumns == 0 ? "       " : " ", registers[i].name, registers[i].text,
        last ? "\n" : "");
  }
}

std::string placeOf(const FrameValues& frame) {
  if (frame.file.empty()) return std::format("{:#x}", frame.address);
  const std::string name = frame.file.substr(frame.file.rfind('/') + 1);
  return frame.line != 0 ? std::format("{}:{}", name, frame.line) : name;
}

std::string jsonOrNull(const std::string& text) { return text.empty() ? "null" : jsonString(text); }

std::string json(const Value& value);

std::string json(const std::vector<Value>& values) {
  std::string text = "[";
  for (const Value& value : values) text += (text.size() > 1 ? "," : "") + json(value);
  return text + "]";
}

std::string json(const Value& value) {
  std::string text = std::format(R"({{"name":{},"type":{},"value":{})", jsonString(value.name),
                                 jsonOrNull(value.type), jsonString(value.text));
  if (!value.known) text += R"(,"known":false)";
  if (!value.parts.empty()) text += R"(,"parts":)" + json(value.parts);
  if (value.more) text += R"(,"more":true)";
  return text + "}";
}

}  // namespace

void printValuesText(const model::ThreadValues& thread, const std::string& heading, bool allRegisters) {
  sayLine("{}", heading);
  for (const auto& note : thread.notes) sayLine("  note: {}", printable(note));
  for (const FrameValues& frame : thread.frames) {
    sayLine("  #{:<3} {}  {}{}", frame.level, frame.function.empty() ? "?" : printable(frame.function),
            printable(placeOf(frame)), frame.isInlined ? "  [inlined]" : "");
    printVariables(frame.arguments);
    printVariables(frame.locals);
    if (allRegisters || frame.level == 0) printRegisters(frame.registers);
  }
  if (thread.more) sayLine("  further frames are not shown");
}

void printGlobalsText(const std::vector<Value>& globals) {
  for (const Value& value : globals) sayLine("{} = {}", printable(value.name), printable(value.text));
}

void printValuesJson(const model::ThreadValues& thread, std::uint32_t number) {
  for (const auto& note : thread.notes)
    sayLine(R"({{"thread":{},"tid":{},"note":{}}})", number, thread.tid, jsonString(note));
  for (const FrameValues& frame : thread.frames) {
    std::string registers;
    for (const Value& value : frame.registers)
      registers += std::format("{}{}:{}", registers.empty() ? "" : ",", jsonString(value.name),
                               value.known ? jsonString(value.text) : "null");
    sayLine(R"({{"thread":{},"tid":{},"frame":{},"function":{},"file":{},"line":{},"address":"{:#x}",)"
            R"("inlined":{},"arguments":{},"locals":{},"registers":{{{}}}}})",
            number, thread.tid, frame.level, jsonOrNull(frame.function), jsonOrNull(frame.file),
            frame.line == 0 ? "null" : std::to_string(frame.line), frame.address, frame.isInlined,
            json(frame.arguments), json(frame.locals), registers);
  }
}

void printGlobalsJson(const std::vector<Value>& globals) {
  for (const Value& value : globals) sayLine(R"({{"global":{}}})", json(value));
}

void printNoteJson(const std::string& note) { sayLine(R"({{"note":{}}})", jsonString(note)); }

}  // namespace traceback::app
