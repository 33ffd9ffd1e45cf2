// Lists in the environment whose entries are separated by colons: LD_PRELOAD, LD_AUDIT, GLIBC_TUNABLES.
#pragma once

#include <cstdlib>
#include <string>

namespace traceback::app {

enum class PlaceInList { First, Last };

// Puts what is ours before or behind what the user has in such a list. False if there is no memory for it.
inline bool addToList(const char* variable, const std::string& ours, PlaceInList place) {
  const char* const others = std::getenv(variable);
  if (others == nullptr || *others == '\0') return setenv(variable, ours.c_str(), 1) == 0;
  const std::string list = place == PlaceInList::First ? ours + ':' + others : others + (':' + ours);
  return setenv(variable, list.c_str(), 1) == 0;
}

}  // namespace traceback::app
