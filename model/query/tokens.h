// The words of a question.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace traceback::model {

// Splits at blanks; `( ) < > , =` and quoted words stand alone. A name may hold brackets that belong to it:
// "operator()" or "vector<int>" are written in quotes.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : m_text(text) { advance(); }

  struct Token {
    std::size_t offset = 0;
    std::string text;  // empty at the end
    bool quoted = false;
  };
  const Token& peek() const { return m_next; }
  Token take();
  bool atEnd() const { return m_next.text.empty() && !m_next.quoted; }
  // Takes the next word if it is this one.
  bool takeIf(std::string_view word);
  bool unfinishedQuote() const { return m_unfinished; }

 private:
  void advance();

  std::string_view m_text;
  std::size_t m_at = 0;
  Token m_next;
  bool m_unfinished = false;
};

}  // namespace traceback::model
