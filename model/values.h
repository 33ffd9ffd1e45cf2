// What variables and registers held at the moment of the snap, frame by frame. Of no other moment: a trace
// has paths, no values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace traceback::model {

struct Value {
  std::string name;
  std::string type;  // as the debug information has it; empty if unknown
  std::string text;  // for people
  bool known = true;  // false: `text` says why it could not be had
  bool more = false;  // it has parts that are not in `parts`: there were too many, or they lie too deep
  std::vector<Value> parts;
};

struct FrameValues {
  std::uint32_t level = 0;  // 0: the innermost; frames of the recorder are not counted
  std::string function;     // demangled; empty if unknown
  std::string file;
  std::uint32_t line = 0;     // 0: unknown
  std::uint64_t address = 0;  // of the original, in the process
  bool isInlined = false;     // part of the next frame's code
  std::vector<Value> arguments, locals, registers;
};

struct ThreadValues {
  std::uint32_t tid = 0;
  std::vector<FrameValues> frames;
  bool more = false;       // there are further frames
  std::vector<std::string> notes;  // what could not be had, and why
};

struct Values {
  std::vector<ThreadValues> threads;
  std::vector<Value> globals;  // those that were asked for
  std::vector<std::string> notes;  // what is missing, and why
};

}  // namespace traceback::model
