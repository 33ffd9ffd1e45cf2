#include "runtime/collect/snap/preparation.h"

#include <sys/stat.h>

#include <format>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace traceback::collect {

namespace {

// Not by its path, which in a container is another one.
bool isThisProgram(pid_t pid) {
  struct stat own{}, other{};
  return ::stat("/proc/self/exe", &own) == 0 &&
         ::stat(std::format("/proc/{}/exe", pid).c_str(), &other) == 0 && own.st_dev == other.st_dev &&
         own.st_ino == other.st_ino;
}

bool hasArgument(pid_t pid, std::string_view wanted) {
  std::ifstream in(std::format("/proc/{}/cmdline", pid), std::ios::binary);
  for (std::string word; std::getline(in, word, '\0');) {
    if (word == wanted) return true;
  }
  return false;
}

std::vector<pid_t> childrenOf(pid_t pid) {
  std::ifstream in(std::format("/proc/{0}/task/{0}/children", pid));
  return {std::istream_iterator<pid_t>(in), {}};
}

}  // namespace

bool isBeingPrepared(pid_t pid) {
  if (isThisProgram(pid)) return hasArgument(pid, "run");
  for (const pid_t between : childrenOf(pid)) {
    for (const pid_t child : childrenOf(between))
      if (isThisProgram(child) && hasArgument(child, "prepare")) return true;
  }
  return false;
}

}  // namespace traceback::collect
