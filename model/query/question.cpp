#include "model/query/question.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <format>
#include <tuple>

#include "model/query/tokens.h"

namespace traceback::model {

namespace {

using Problem = std::unexpected<QuestionProblem>;
template <typename T>
using Parsed = std::expected<T, QuestionProblem>;

struct EventName {
  std::string_view name;
  EventKind kind;
};
constexpr std::array kEvents{
    EventName{"func_enter", EventKind::Enter}, EventName{"func_exit", EventKind::Exit},
    EventName{"block_entry", EventKind::Block}, EventName{"exception", EventKind::Exception},
    EventName{"signal", EventKind::Signal}};

constexpr std::array<std::string_view, 8> kVerbs{"goto",  "next",       "previous", "calls",
                                                 "lines", "exceptions", "between",  "never"};

// Deeper than anybody types; a bound on the recursion.
constexpr int kDeepestCondition = 64;

template <typename Number>
std::optional<Number> numberIn(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : m_tokens(text) {}

  Parsed<Question> question() {
    const auto verb = m_tokens.take();
    Parsed<Question> asked = verb.quoted ? unknownVerb(verb) : byVerb(verb);
    if (m_tokens.unfinishedQuote()) return wrong(verb.offset, "a quote is not closed");
    if (asked && !m_tokens.atEnd())
      return wrong(m_tokens.peek().offset, std::format("'{}' is too much", m_tokens.peek().text));
    return asked;
  }

 private:
  static Problem wrong(std::size_t offset, std::string message) {
    return Problem(QuestionProblem{offset, std::move(message)});
  }
  Problem expected(std::string_view what) const {
    const auto& next = m_tokens.peek();
    if (m_tokens.atEnd()) return wrong(next.offset, std::format("{} is missing", what));
    const bool isBracket = next.text == "<" || next.text == "(";
    return wrong(next.offset, std::format("{} must stand here, not '{}'{}", what, next.text,
                                          isBracket ? "; a name that holds it stands in \"quotes\"" : ""));
  }
  static Problem unknownVerb(const Tokens::Token& verb) {
    return wrong(verb.offset,
                 "a question begins with goto, next, previous, calls, lines, exceptions, between or never");
  }

  Parsed<Question> byVerb(const Tokens::Token& verb) {
    if (verb.text == "goto") return wholeGoto();
    if (verb.text == "next" || verb.text == "previous") {
      return event(Goto{.from = Goto::From::Current, .forward = verb.text == "next", .where = {}});
    }
    if (verb.text == "calls" || verb.text == "lines") return occurrences(verb.text == "lines");
    if (verb.text == "exceptions") return throws();
    if (verb.text == "between") return between();
    if (verb.text == "never") return never();
    return unknownVerb(verb);
  }

  Parsed<Question> wholeGoto() {
    Goto asked;
    if (m_tokens.takeIf("first")) {
      asked.from = Goto::From::First;
    } else if (m_tokens.takeIf("last")) {
      asked.from = Goto::From::Last;
    } else if (!m_tokens.takeIf("current")) {
      return expected("current, first or last");
    }
    asked.forward = m_tokens.takeIf("forward");
    if (!asked.forward && !m_tokens.takeIf("backward")) return expected("forward or backward");
    return event(std::move(asked));
  }

  Parsed<Question> event(Goto asked) {
    const auto known = std::ranges::find(kEvents, std::string_view(m_tokens.peek().text), &EventName::name);
    if (m_tokens.peek().quoted || known == kEvents.end())
      return expected("func_enter, func_exit, block_entry, exception or signal");
    asked.event = known->kind;
    m_tokens.take();
    if (!m_tokens.atEnd() && m_tokens.peek().text != "where") {
      const auto count = numberIn<std::uint64_t>(m_tokens.peek().text);
      if (!count || *count == 0) return expected("a count from 1, or where");
      asked.count = *count;
      m_tokens.take();
    }
    if (auto parsed = where(asked.where); !parsed) return Problem(parsed.error());
    return asked;
  }

  Parsed<Question> occurrences(bool ofLines) {
    auto parsed = inBrackets();
    if (!parsed) return Problem(parsed.error());
    const bool isLine = std::holds_alternative<SourcePattern>(*parsed);
    if (isLine && !ofLines) {
      // In quotes it may be the name of a function.
      std::string function = std::get<SourcePattern>(*parsed).function;
      if (function.empty()) return wrong(0, "calls() takes the name of a function");
      *parsed = std::move(function);
    } else if (isLine) {
      std::get<SourcePattern>(*parsed).function.clear();
    } else if (ofLines) {
      return wrong(0, "lines() takes FILE:N");
    }
    Occurrences asked{std::move(*parsed), {}};
    if (auto condition = where(asked.where); !condition) return Problem(condition.error());
    return asked;
  }

  Parsed<Question> throws() {
    if (!m_tokens.takeIf("(")) return expected("'('");
    if (!m_tokens.takeIf(")")) return expected("')'");
    Throws asked;
    if (auto condition = where(asked.where); !condition) return Problem(condition.error());
    return asked;
  }

  Parsed<Question> between() {
    if (!m_tokens.takeIf("(")) return expected("'('");
    auto from = place();
    if (!from) return Problem(from.error());
    if (!m_tokens.takeIf(",")) return expected("','");
    auto to = place();
    if (!to) return Problem(to.error());
    if (!m_tokens.takeIf(")")) return expected("')'");
    return Between{std::move(*from), std::move(*to)};
  }

  Parsed<Question> never() {
    auto parsed = inBrackets();
    if (!parsed) return Problem(parsed.error());
    return Never{std::move(*parsed)};
  }

  Parsed<Place> inBrackets() {
    if (!m_tokens.takeIf("(")) return expected("'('");
    auto parsed = place();
    if (parsed && !m_tokens.takeIf(")")) return expected("')'");
    return parsed;
  }

  // FILE:N, FILE:N-M, "FILE":N, "FILE:N" or a function. Colons of a scope are part of a function's name.
  Parsed<Place> place() {
    if (m_tokens.atEnd() || isSign(m_tokens.peek())) return expected("FILE:LINE or a function");
    const auto token = m_tokens.take();
    if (token.quoted && !m_tokens.peek().quoted && m_tokens.peek().text.starts_with(':')) {
      const auto line = m_tokens.take();
      const auto range = lineRange(std::string_view(line.text).substr(1));
      if (!range) return noLine(line.offset + 1);
      return SourcePattern{token.text, range->first, range->second};
    }
    const auto colon = token.text.rfind(':');
    if (colon != std::string::npos && colon > 0 && token.text[colon - 1] != ':') {
      const auto range = lineRange(std::string_view(token.text).substr(colon + 1));
      if (range)
        return SourcePattern{token.text.substr(0, colon), range->first, range->second,
                             token.quoted ? token.text : std::string()};
      if (!token.quoted) return noLine(token.offset + colon + 1);
    }
    return token.text;
  }
  static Problem noLine(std::size_t offset) {
    return wrong(offset, "a line is a number, or two joined by '-'");
  }

  static std::optional<std::pair<std::uint32_t, std::uint32_t>> lineRange(std::string_view text) {
    const auto dash = text.find('-');
    const auto first = numberIn<std::uint32_t>(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : numberIn<std::uint32_t>(text.substr(dash + 1));
    if (!first || !last || *first == 0 || *last < *first) return std::nullopt;
    return std::pair(*first, *last);
  }

  static bool isSign(const Tokens::Token& token) {
    return !token.quoted && token.text.size() == 1 && std::string_view("()<>,=").contains(token.text[0]);
  }

  Parsed<bool> where(std::optional<Condition>& into) {
    if (!m_tokens.takeIf("where")) return false;
    auto condition = either(0);
    if (!condition) return Problem(condition.error());
    into = std::move(*condition);
    return true;
  }

  Parsed<Condition> either(int depth) { return joined(depth, "or", Condition::Kind::Or); }

  // `and` binds closer than `or`.
  Parsed<Condition> joined(int depth, std::string_view word, Condition::Kind kind) {
    const auto part = [&] {
      return kind == Condition::Kind::Or ? joined(depth, "and", Condition::Kind::And) : single(depth);
    };
    auto first = part();
    if (!first || m_tokens.peek().quoted || m_tokens.peek().text != word) return first;
    Condition all{.kind = kind, .parts = {}, .frames = {}, .source = {}};
    all.parts.push_back(std::move(*first));
    while (m_tokens.takeIf(word)) {
      auto next = part();
      if (!next) return next;
      all.parts.push_back(std::move(*next));
    }
    return all;
  }

  Parsed<Condition> single(int depth) {
    if (depth > kDeepestCondition) return wrong(m_tokens.peek().offset, "too many brackets");
    if (m_tokens.takeIf("not")) {
      auto part = single(depth + 1);
      if (!part) return part;
      Condition negated{.kind = Condition::Kind::Not, .parts = {}, .frames = {}, .source = {}};
      negated.parts.push_back(std::move(*part));
      return negated;
    }
    if (m_tokens.takeIf("(")) {
      auto part = either(depth + 1);
      if (part && !m_tokens.takeIf(")")) return expected("')'");
      return part;
    }
    if (m_tokens.takeIf("stack")) return stack();
    if (m_tokens.takeIf("src")) return source();
    if (m_tokens.takeIf("func")) return named(Condition::Kind::Function, "a function");
    if (m_tokens.takeIf("thrown")) return named(Condition::Kind::Thrown, "the type of an exception");
    if (m_tokens.takeIf("said")) return named(Condition::Kind::Said, "what an exception said");
    return expected("stack=<...>, src=<...>, func=NAME, thrown=TYPE, said=TEXT, not or '('");
  }

  Parsed<Condition> stack() {
    Condition condition{.kind = Condition::Kind::Stack, .parts = {}, .frames = {}, .source = {}};
    if (!m_tokens.takeIf("=") || !m_tokens.takeIf("<")) return expected("'=<'");
    do {
      if (m_tokens.atEnd() || isSign(m_tokens.peek())) return expected("a function or '*'");
      condition.frames.push_back(m_tokens.take().text);
    } while (m_tokens.takeIf(","));
    if (!m_tokens.takeIf(">")) return expected("',' or '>'");
    return condition;
  }

  Parsed<Condition> source() {
    Condition condition{.kind = Condition::Kind::Source, .parts = {}, .frames = {}, .source = {}};
    if (!m_tokens.takeIf("=") || !m_tokens.takeIf("<")) return expected("'=<'");
    if (m_tokens.atEnd() || isSign(m_tokens.peek())) return expected("a file");
    condition.source.file = m_tokens.take().text;
    if (m_tokens.takeIf(",")) {
      const auto range = lineRange(m_tokens.peek().text);
      if (!range) return expected("a line, or two joined by '-',");
      std::tie(condition.source.first, condition.source.last) = *range;
      m_tokens.take();
    }
    if (!m_tokens.takeIf(">")) return expected("'>'");
    return condition;
  }

  Parsed<Condition> named(Condition::Kind kind, std::string_view what) {
    if (!m_tokens.takeIf("=")) return expected("'='");
    if (m_tokens.atEnd() || isSign(m_tokens.peek())) return expected(what);
    Condition condition{.kind = kind, .parts = {}, .frames = {}, .source = {}};
    condition.frames.push_back(m_tokens.take().text);
    return condition;
  }

  Tokens m_tokens;
};

}  // namespace

std::expected<Question, QuestionProblem> parseQuestion(std::string_view text) {
  return Parser(text).question();
}

bool looksLikeQuestion(std::string_view text) {
  Tokens tokens(text);
  const auto verb = tokens.take();
  if (verb.quoted || std::ranges::find(kVerbs, verb.text) == kVerbs.end()) return false;
  const bool bracket = tokens.peek().text == "(" && !tokens.peek().quoted;
  const bool takesBracket = verb.text != "goto" && verb.text != "next" && verb.text != "previous";
  return takesBracket ? bracket : !bracket && !tokens.atEnd();
}

}  // namespace traceback::model
