#include "model/function_name.h"

#include <algorithm>
#include <cctype>

namespace traceback::model {

namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)::";
constexpr std::string_view kOperator = "operator";
// A bare name that is no longer keeps its template arguments.
constexpr std::size_t kShort = 40;

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool isOperatorAt(std::string_view name, std::size_t i) {
  return name.substr(i).starts_with(kOperator) && (i == 0 || !isWord(name[i - 1])) &&
         (i + kOperator.size() == name.size() || !isWord(name[i + kOperator.size()]));
}

}  // namespace

std::string_view bareFunctionName(std::string_view name) {
  // The name ends where its parameter list opens, outside of template arguments; "operator()" and
  // "(anonymous namespace)" hold brackets of their own.
  int angles = 0;
  std::size_t begin = 0, end = name.size();
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
      continue;
    }
    if (angles == 0 && isOperatorAt(name, i)) {
      const auto open = name.find('(', i);
      const bool call = name.substr(i).starts_with("operator()");
      end = open == std::string_view::npos ? name.size() : call ? open + 2 : open;
      break;
    }
    if (name[i] == '<') ++angles;
    if (name[i] == '>' && angles > 0) --angles;
    if (angles > 0) continue;
    if (name[i] == '(') {
      end = i;
      break;
    }
    if (name[i] == ' ') begin = i + 1;  // what came before was a return type
  }
  const auto bare = name.substr(begin, end - begin);
  return bare.empty() ? name : bare;
}

std::string_view unscopedFunctionName(std::string_view name) {
  const auto bare = bareFunctionName(name);
  int angles = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < bare.size(); ++i) {
    if (bare.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
      begin = i + 1;
      continue;
    }
    if (angles == 0 && isOperatorAt(bare, i)) break;
    if (bare[i] == '<') ++angles;
    if (bare[i] == '>' && angles > 0) --angles;
    if (angles == 0 && bare.substr(i).starts_with("::")) begin = i + 2;
  }
  return bare.substr(begin);
}

std::string shortFunctionName(std::string_view name) {
  const auto bare = bareFunctionName(name);
  if (bare.size() <= kShort) return std::string(bare);
  std::string text;
  int angles = 0;
  for (std::size_t i = 0; i < bare.size(); ++i) {
    if (angles == 0 && isOperatorAt(bare, i)) {
      text += bare.substr(i);
      break;
    }
    if (bare[i] == '<' && angles++ == 0) text += "<\u2026>";
    if (angles == 0) text += bare[i];
    if (bare[i] == '>' && angles > 0) --angles;
  }
  return text;
}

}  // namespace traceback::model
