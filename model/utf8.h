// Bytes that others wrote, made fit to be shown: names and paths need not be UTF-8, and may hold control
// characters that a terminal would obey.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace traceback::model {

struct CodePoint {
  char32_t value = 0xFFFD;  // U+FFFD for a byte that begins no well-formed sequence (Unicode 15, table 3-7)
  std::size_t size = 1;  // bytes it took
};
CodePoint decodeUtf8(std::string_view text);  // the first of a text that is not empty

// One line of well-formed UTF-8: control characters and ill-formed bytes become U+FFFD.
std::string printable(std::string_view text);

// A JSON string with its quotes (RFC 8259, 7); ill-formed bytes become U+FFFD.
std::string jsonString(std::string_view text);

}  // namespace traceback::model
