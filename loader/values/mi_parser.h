// The lines that gdb writes under --interpreter=mi (GDB manual, "GDB/MI Output Syntax").
//
//   [TOKEN] ("^" | "*" | "+" | "=") CLASS ("," NAME "=" VALUE)*        a record
//   ("~" | "@" | "&") STRING                                            text of gdb, the program, its log
//   (gdb)                                                               it is ready for a command
//
//   VALUE is "STRING", {NAME=VALUE,...}, [VALUE,...] or [NAME=VALUE,...]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceback::loader {

struct MiValue {
  enum class Kind : std::uint8_t { Text, Tuple, List };
  struct Item;

  Kind kind = Kind::Text;
  std::string text;
  std::vector<Item> items;  // of a tuple or list; in a list names may be empty

  // The first item of that name, or null.
  const MiValue* find(std::string_view name) const;
  // The text of that item; empty if there is none.
  std::string_view textOf(std::string_view name) const;
};

struct MiValue::Item {
  std::string name;
  MiValue value;
};

struct MiRecord {
  char kind = 0;                       // '^', '*', '+', '=', '~', '@', '&', or '(' for the prompt
  std::optional<std::uint64_t> token;  // of the command that it answers
  std::string name;                    // "done", "error", "stopped" and so on; or the text of a stream
  MiValue results;                     // a tuple
};

// Without the line's end. Nothing for what is no such line, is nested deeper than any answer, or ends early.
std::optional<MiRecord> parseMiLine(std::string_view line);

}  // namespace traceback::loader
