#include "model/query/patterns.h"

#include <string>

#include "model/function_name.h"
#include "model/trace.h"

namespace traceback::model {

namespace {

// `*` is any text.
bool globMatches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

bool nameMatches(std::string_view pattern, std::string_view name) {
  if (globMatches(pattern, name)) return true;
  return globMatches(pattern, bareFunctionName(name)) || globMatches(pattern, unscopedFunctionName(name));
}

bool textMatches(std::string_view pattern, std::string_view text) {
  const auto small = [](std::string_view from) {
    std::string to(from);
    for (char& each : to)
      if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
    return to;
  };
  return globMatches('*' + small(pattern) + '*', small(text));
}

bool pathMatches(std::string_view pattern, std::string_view path) {
  if (pattern.empty() || !path.ends_with(pattern)) return false;
  return path.size() == pattern.size() || pattern.front() == '/' ||
         path[path.size() - pattern.size() - 1] == '/';
}

FunctionSet::FunctionSet(const Trace& trace, std::string_view pattern) : m_in(trace.functions.size()) {
  for (std::size_t i = 0; i < m_in.size(); ++i) {
    m_in[i] = nameMatches(pattern, trace.functions[i].name) || pattern == trace.functions[i].mangledName;
    m_empty = m_empty && !m_in[i];
  }
}

LineSet::LineSet(const Trace& trace, const SourcePattern& pattern)
    : m_in(trace.files.size()), m_first(pattern.first), m_last(pattern.last) {
  for (std::size_t i = 0; i < m_in.size(); ++i) {
    m_in[i] = pathMatches(pattern.file, trace.files[i].path);
    m_empty = m_empty && !m_in[i];
  }
}

}  // namespace traceback::model
