#include "app/traceback/large_pages.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace traceback::app {

namespace {

constexpr const char* kVariable = "GLIBC_TUNABLES";
constexpr std::string_view kLargePages = "glibc.malloc.hugetlb";
// Memory that a thread takes bit by bit would be of small ones: so 64 MB at once, of which it touches what it
// uses.
constexpr std::string_view kTunables = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864";
// Those that execute no program of the user's, which would inherit the variable.
constexpr std::array<std::string_view, 2> kCommands{"instrument", "prepare"};

// By way of `ld.so PROGRAM` the file that was executed is another one; and with more rights than its user has
// a process is not given the variable, so would execute itself for ever.
bool wouldStartTheSame() { return getauxval(AT_BASE) != 0 && getauxval(AT_SECURE) == 0; }

}  // namespace

void startInLargePages(char** arguments) {
  if (arguments[0] == nullptr || arguments[1] == nullptr || !wouldStartTheSame()) return;
  if (!std::ranges::contains(kCommands, std::string_view(arguments[1]))) return;
  const char* const before = std::getenv(kVariable);
  std::string tunables = before != nullptr ? before : "";
  if (tunables.contains(kLargePages)) return;
  std::error_code error;
  // Not by the name in /proc: the process would be called "exe".
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return;
  tunables += (tunables.empty() ? "" : ":") + std::string(kTunables);
  if (setenv(kVariable, tunables.c_str(), 1) != 0) return;
  execv(program.c_str(), arguments);
}

}  // namespace traceback::app
