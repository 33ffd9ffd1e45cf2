// What the runtime starts at a fault, for the tests: `collect --pid PID --tid TID --folder DIR`.
#include <cstdlib>
#include <cstring>
#include <print>

#include "runtime/collect/recover.h"

int main(int count, char** arguments) {
  if (count != 8 || std::strcmp(arguments[1], "collect") != 0) return 2;
  const auto snap = traceback::collect::collectFault(std::atoi(arguments[3]), std::atoi(arguments[5]),
                                                     {.processFolder = arguments[7], .snapFolder = {}});
  if (!snap) {
    std::println(stderr, "traceback: {}", snap.error().text());
    return 1;
  }
  std::println(stderr, "traceback: snap written to {}", snap->string());
  return 0;
}
