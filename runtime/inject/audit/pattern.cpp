#include "runtime/inject/audit/pattern.h"

namespace traceback::inject::audit {

namespace {

// Behind the set that starts at `pattern`, a '['; null if it does not end.
const char* endOfSet(const char* pattern, const char* end) {
  const char* at = pattern + 1;
  if (at < end && (*at == '!' || *at == '^')) ++at;
  if (at < end && *at == ']') ++at;
  while (at < end && *at != ']') ++at;
  return at < end ? at + 1 : nullptr;
}

bool isInSet(const char* set, const char* behind, char c) {
  const char* at = set + 1;
  const bool inverted = *at == '!' || *at == '^';
  if (inverted) ++at;
  bool found = false;
  for (const char* const last = behind - 1; at < last; ++at) {
    if (at + 2 < last && at[1] == '-') {
      found |= at[0] <= c && c <= at[2];
      at += 2;
    } else {
      found |= *at == c;
    }
  }
  return found != inverted;
}

// Behind the one-character pattern at `pattern` if it fits `c`, else null.
const char* fitOne(const char* pattern, const char* end, char c) {
  if (c == 0) return nullptr;
  if (*pattern == '?') return pattern + 1;
  if (*pattern == '[')
    if (const char* behind = endOfSet(pattern, end)) return isInSet(pattern, behind, c) ? behind : nullptr;
  if (*pattern == '\\' && pattern + 1 < end) ++pattern;
  return *pattern == c ? pattern + 1 : nullptr;
}

}  // namespace

bool matches(const char* pattern, const char* end, const char* text) {
  const char* star = nullptr;  // behind the last `*`, and where its rest is tried next
  const char* retry = nullptr;
  for (;;) {
    if (pattern < end && *pattern == '*') {
      star = ++pattern;
      retry = text;
      continue;
    }
    if (pattern == end && *text == 0) return true;
    const char* next = pattern < end ? fitOne(pattern, end, *text) : nullptr;
    if (next != nullptr) {
      pattern = next;
      ++text;
    } else if (star != nullptr && *retry != 0) {
      pattern = star;
      text = ++retry;
    } else {
      return false;
    }
  }
}

bool matchesAny(const char* patterns, const char* path) {
  const char* name = path;
  for (const char* at = path; *at != 0; ++at)
    if (*at == '/') name = at + 1;
  for (const char* at = patterns; *at != 0;) {
    const char* end = at;
    while (*end != 0 && *end != '\n') ++end;
    if (matches(at, end, path) || matches(at, end, name)) return true;
    at = *end == 0 ? end : end + 1;
  }
  return false;
}

}  // namespace traceback::inject::audit
