#include "model/utf8.h"

#include <format>

namespace traceback::model {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::uint8_t byteAt(std::string_view text, std::size_t at) { return static_cast<std::uint8_t>(text[at]); }

bool isControl(char32_t value) { return value < 0x20 || (value >= 0x7F && value < 0xA0); }

// Marks that turn the direction of text could make a name read as another.
bool isDirectionMark(char32_t value) {
  return value == 0x200E || value == 0x200F || (value >= 0x202A && value <= 0x202E) ||
         (value >= 0x2066 && value <= 0x2069);
}

}  // namespace

CodePoint decodeUtf8(std::string_view text) {
  const std::uint8_t lead = byteAt(text, 0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xC2 && lead <= 0xDF   ? 2
                           : lead >= 0xE0 && lead <= 0xEF ? 3
                           : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                          : 0;
  if (size == 0 || size > text.size()) return {};
  char32_t value = lead & (0xFFu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    const std::uint8_t next = byteAt(text, i);
    if ((next & 0xC0) != 0x80) return {};
    value = value << 6 | (next & 0x3Fu);
  }
  const bool overlong = (size == 3 && value < 0x800) || (size == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {};
  return {value, size};
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decodeUtf8(text);
    if (point.value == 0xFFFD || isControl(point.value) || isDirectionMark(point.value)) {
      result += kReplacement;
    } else {
      result += text.substr(0, point.size);
    }
    text.remove_prefix(point.size);
  }
  return result;
}

std::string jsonString(std::string_view text) {
  std::string result = "\"";
  result.reserve(text.size() + 2);
  while (!text.empty()) {
    const CodePoint point = decodeUtf8(text);
    if (point.value == '"' || point.value == '\\') {
      result += '\\';
      result += static_cast<char>(point.value);
    } else if (isControl(point.value)) {
      result += std::format("\\u{:04x}", static_cast<std::uint32_t>(point.value));
    } else if (point.value == 0xFFFD) {
      result += kReplacement;
    } else {
      result += text.substr(0, point.size);
    }
    text.remove_prefix(point.size);
  }
  return result += '"';
}

}  // namespace traceback::model
