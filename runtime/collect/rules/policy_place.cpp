#include "runtime/collect/rules/policy_place.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace traceback::collect {

std::filesystem::path policyInUse() {
  namespace fs = std::filesystem;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  if (const fs::path named = variable("TRACEBACK_POLICY"); !named.empty()) return named;
  const fs::path config = variable("XDG_CONFIG_HOME");
  std::vector<fs::path> places;
  if (config.is_absolute()) places.push_back(config / "traceback/policy");
  if (config.empty()) places.push_back(variable("HOME") / ".config/traceback/policy");
  places.emplace_back("/etc/traceback/policy");
  std::error_code error;
  const auto found = std::ranges::find_if(
      places, [&error](const fs::path& each) { return fs::is_regular_file(each, error); });
  return found == places.end() ? fs::path() : *found;
}

}  // namespace traceback::collect
