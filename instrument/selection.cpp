#include "instrument/selection.h"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <format>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

namespace traceback::instrument {
namespace {

std::optional<std::uint64_t> number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

model::Result<FunctionSelection> FunctionSelection::parse(std::span<const std::string> items) {
  FunctionSelection out;
  for (const std::string& item : items) {
    const auto done = item.starts_with('@') ? out.addFile(item.substr(1)) : out.add(item);
    if (!done) return std::unexpected(done.error());
  }
  return out;
}

model::Result<void> FunctionSelection::addFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return model::fail("cannot read this list of functions", path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::ranges::replace_if(text, [](char c) { return c == ',' || c == '\n' || c == '\t' || c == '\r'; }, ' ');
  for (std::size_t at = 0; (at = text.find_first_not_of(' ', at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (auto done = add(text.substr(at, end - at)); !done) return done;
    at = end;
  }
  return {};
}

model::Result<void> FunctionSelection::add(const std::string& item) {
  const auto bad = [&] {
    return model::fail(
        std::format("'{}' is not a function's name, address (0x...) or number (N, N-M)", item));
  };
  if (item.empty()) return bad();
  if (item.starts_with("0x")) {
    const auto address = number(std::string_view(item).substr(2), 16);
    if (!address) return bad();
    m_addresses.push_back({*address});
  } else if (item.front() >= '0' && item.front() <= '9') {
    const std::size_t dash = std::min(item.find('-'), item.size());
    const auto first = number(std::string_view(item).substr(0, dash), 10);
    const auto last = dash == item.size() ? first : number(std::string_view(item).substr(dash + 1), 10);
    if (!first || !last || *last < *first) return bad();
    m_numbers.push_back({*first, *last});
  } else {
    m_patterns.push_back(item);
  }
  return {};
}

bool FunctionSelection::contains(const Function& f, std::size_t index) const {
  return std::ranges::any_of(m_numbers,
                             [&](const Numbers& n) { return index >= n.first && index <= n.last; }) ||
         std::ranges::any_of(m_addresses, [&](VirtAddr a) { return f.contains(a); }) ||
         std::ranges::any_of(m_patterns, [&](const std::string& pattern) {
           return fnmatch(pattern.c_str(), f.name.c_str(), 0) == 0;
         });
}

std::string FunctionSelection::text() const {
  std::string out;
  for (const Numbers& n : m_numbers) out += std::format("{}-{},", n.first, n.last);
  for (const VirtAddr a : m_addresses) out += std::format("{:#x},", a.value);
  for (const std::string& pattern : m_patterns) out += pattern + ",";
  return out;
}

}  // namespace traceback::instrument
