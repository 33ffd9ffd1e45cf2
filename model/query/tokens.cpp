#include "model/query/tokens.h"

#include <algorithm>
#include <utility>

namespace traceback::model {

namespace {
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kSigns = "()<>,=";
}  // namespace

Tokens::Token Tokens::take() {
  Token token = std::move(m_next);
  advance();
  return token;
}

bool Tokens::takeIf(std::string_view word) {
  if (m_next.quoted || m_next.text != word) return false;
  advance();
  return true;
}

void Tokens::advance() {
  const auto start = m_text.find_first_not_of(kBlanks, m_at);
  m_next = {.offset = std::min(start, m_text.size()), .text = {}, .quoted = false};
  m_at = m_next.offset;
  if (m_at == m_text.size()) return;
  if (m_text[m_at] == '"') {
    const auto end = m_text.find('"', m_at + 1);
    m_unfinished = m_unfinished || end == std::string_view::npos;
    m_next.text = m_text.substr(m_at + 1, end == std::string_view::npos ? end : end - m_at - 1);
    m_next.quoted = true;
    m_at = end == std::string_view::npos ? m_text.size() : end + 1;
    return;
  }
  const bool sign = kSigns.contains(m_text[m_at]);
  auto end = sign ? m_at + 1 : m_at;
  while (!sign && end < m_text.size() && m_text[end] != '"' && !kBlanks.contains(m_text[end]) &&
         !kSigns.contains(m_text[end])) {
    ++end;
  }
  m_next.text = m_text.substr(m_at, end - m_at);
  m_at = end;
}

}  // namespace traceback::model
