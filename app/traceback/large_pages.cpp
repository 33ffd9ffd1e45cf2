#include "app/traceback/large_pages.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "app/traceback/environment_list.h"

namespace traceback::app {

namespace {

constexpr const char* kVariable = "GLIBC_TUNABLES";
constexpr std::string_view kLargePages = "glibc.malloc.hugetlb";
// Memory that a thread takes bit by bit would be of small ones: so 64 MB at once, of which it touches what it
// uses.
constexpr const char* kTunables = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864";
// It executes no program of the user's, which would inherit the variable.
constexpr std::string_view kCommand = "instrument";

// By way of `ld.so PROGRAM` the file that was executed is another one; and with more rights than its user has
// a process is not given the variable, so would execute itself for ever.
bool wouldStartTheSame() { return getauxval(AT_BASE) != 0 && getauxval(AT_SECURE) == 0; }

}  // namespace

bool askForLargePages() {
  const char* const before = std::getenv(kVariable);
  if (before != nullptr && std::string_view(before).contains(kLargePages)) return false;
  return addToList(kVariable, kTunables, PlaceInList::First);  // of tunables the last counts, the user's
}

void startInLargePages(char** arguments) {
  if (arguments[0] == nullptr || arguments[1] == nullptr || arguments[1] != kCommand || !wouldStartTheSame())
    return;
  std::error_code error;
  // Not by the name in /proc: the process would be called "exe".
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error && askForLargePages()) execv(program.c_str(), arguments);
}

}  // namespace traceback::app
