// What the names in a question stand for in one trace: worked out once, before its entries are read.
#pragma once

#include <string_view>
#include <vector>

#include "model/ids.h"
#include "model/query/question.h"

namespace traceback::model {

struct Trace;

// A function's name as a question may give it: `*` for any text; arguments and scope may be left out.
bool nameMatches(std::string_view pattern, std::string_view name);
// Whether the pattern stands somewhere in the text, in small letters or capitals; `*` for any text.
bool textMatches(std::string_view pattern, std::string_view text);
// The end of a path, at a `/`.
bool pathMatches(std::string_view pattern, std::string_view path);

class FunctionSet {
 public:
  FunctionSet(const Trace& trace, std::string_view pattern);
  bool contains(FunctionId id) const { return id.valid() && id.value < m_in.size() && m_in[id.value]; }
  bool empty() const { return m_empty; }

 private:
  std::vector<bool> m_in;
  bool m_empty = true;
};

class LineSet {
 public:
  LineSet(const Trace& trace, const SourcePattern& pattern);
  bool contains(FileId file, std::uint32_t line) const {
    return file.valid() && file.value < m_in.size() && m_in[file.value] && line >= m_first && line <= m_last;
  }
  bool empty() const { return m_empty; }

 private:
  std::vector<bool> m_in;
  std::uint32_t m_first, m_last;
  bool m_empty = true;
};

}  // namespace traceback::model
