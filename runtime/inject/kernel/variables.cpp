#include "runtime/inject/kernel/variables.h"

#include "runtime/inject/kernel/system.h"

namespace traceback::inject {

namespace {

bool isSeparator(char c) { return c == ':' || c == ' '; }

}  // namespace

char* valueOf(char* entry, const char* name) {
  const std::size_t size = strlen(name);
  return strncmp(entry, name, size) == 0 && entry[size] == '=' ? entry + size + 1 : nullptr;
}

bool removeFromList(char* value, const char* own) {
  char* to = value;
  for (char* from = value; *from != 0;) {
    char* end = from;
    while (*end != 0 && !isSeparator(*end)) ++end;
    const char kept = *end;
    *end = 0;
    const bool ours = *from != 0 && strcmp(from, own) == 0;
    *end = kept;
    if (!ours) {
      if (to != value) *to++ = ':';
      memmove(to, from, static_cast<std::size_t>(end - from));
      to += end - from;
    }
    from = end + (kept != 0);
  }
  *to = 0;
  return to != value;
}

}  // namespace traceback::inject
