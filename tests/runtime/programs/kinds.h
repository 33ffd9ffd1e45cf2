// Programs that do one of several things, as their first argument says.
#pragma once

#include <stddef.h>
#include <string.h>

struct kind {
  const char* name;
  void (*run)(void);
};

// False if there is none of that name.
static inline int runKind(const struct kind* kinds, size_t count, const char* name) {
  for (size_t i = 0; name != NULL && i < count; ++i)
    if (!strcmp(name, kinds[i].name)) {
      kinds[i].run();
      return 1;
    }
  return 0;
}
#define RUN_KIND(kinds, name) runKind(kinds, sizeof(kinds) / sizeof *(kinds), name)
