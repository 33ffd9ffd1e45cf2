#include "loader/values/mi_parser.h"

#include <algorithm>
#include <charconv>

namespace traceback::loader {

namespace {

constexpr unsigned kMostDepth = 64;

class Parser {
 public:
  explicit Parser(std::string_view text) : m_text(text) {}

  bool atEnd() const { return m_at == m_text.size(); }
  char peek() const { return atEnd() ? '\0' : m_text[m_at]; }
  bool take(char wanted) {
    if (atEnd() || m_text[m_at] != wanted) return false;
    ++m_at;
    return true;
  }

  std::optional<std::uint64_t> token() {
    std::uint64_t value = 0;
    const auto rest = m_text.substr(m_at);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc()) return std::nullopt;
    m_at += static_cast<std::size_t>(end - rest.data());
    return value;
  }

  std::string_view name() {
    const auto start = m_at;
    while (!atEnd() && std::string_view("=,{}[]\"").find(m_text[m_at]) == std::string_view::npos) ++m_at;
    return m_text.substr(start, m_at - start);
  }

  bool string(std::string& to) {
    if (!take('"')) return false;
    while (!atEnd()) {
      const char c = m_text[m_at++];
      if (c == '"') return true;
      if (c != '\\') {
        to += c;
      } else if (!escape(to)) {
        return false;
      }
    }
    return false;
  }

  bool value(MiValue& to, unsigned depth) {
    if (depth > kMostDepth) return false;
    if (peek() == '"') return string(to.text);
    const bool isTuple = peek() == '{';
    if (!take(isTuple ? '{' : '[')) return false;
    const char close = isTuple ? '}' : ']';
    to.kind = isTuple ? MiValue::Kind::Tuple : MiValue::Kind::List;
    if (take(close)) return true;
    do {
      if (!item(to, depth)) return false;
    } while (take(','));
    return take(close);
  }

  bool item(MiValue& to, unsigned depth) {
    MiValue::Item item;
    if (std::string_view("\"{[").find(peek()) == std::string_view::npos) {
      item.name = name();
      if (!take('=')) return false;
    }
    if (!value(item.value, depth + 1)) return false;
    to.items.push_back(std::move(item));
    return true;
  }

 private:
  // C's, as gdb writes them: bytes that are not printable are octal.
  bool escape(std::string& to) {
    if (atEnd()) return false;
    const char c = m_text[m_at++];
    if (c >= '0' && c <= '7') {
      unsigned code = static_cast<unsigned>(c - '0');
      for (int i = 0; i < 2 && peek() >= '0' && peek() <= '7'; ++i)
        code = code * 8 + static_cast<unsigned>(m_text[m_at++] - '0');
      to += static_cast<char>(code);
      return true;
    }
    constexpr std::string_view kNames = "abfnrtve", kCodes = "\a\b\f\n\r\t\v\x1b";
    const auto known = kNames.find(c);
    to += known == std::string_view::npos ? c : kCodes[known];
    return true;
  }

  std::string_view m_text;
  std::size_t m_at = 0;
};

}  // namespace

const MiValue* MiValue::find(std::string_view name) const {
  const auto found = std::ranges::find(items, name, &Item::name);
  return found == items.end() ? nullptr : &found->value;
}

std::string_view MiValue::textOf(std::string_view name) const {
  const auto* value = find(name);
  return value == nullptr ? std::string_view{} : std::string_view(value->text);
}

std::optional<MiRecord> parseMiLine(std::string_view line) {
  while (line.ends_with(' ') || line.ends_with('\r')) line.remove_suffix(1);
  MiRecord record;
  if (line == "(gdb)") {
    record.kind = '(';
    return record;
  }
  Parser parser(line);
  record.token = parser.token();
  record.kind = parser.peek();
  if (record.kind == '\0' || !parser.take(record.kind)) return std::nullopt;
  if (std::string_view("~@&").find(record.kind) != std::string_view::npos) {
    if (!parser.string(record.name) || !parser.atEnd()) return std::nullopt;
    return record;
  }
  if (std::string_view("^*+=").find(record.kind) == std::string_view::npos) return std::nullopt;
  record.name = parser.name();
  record.results.kind = MiValue::Kind::Tuple;
  while (parser.take(','))
    if (!parser.item(record.results, 0)) return std::nullopt;
  if (!parser.atEnd()) return std::nullopt;
  return record;
}

}  // namespace traceback::loader
