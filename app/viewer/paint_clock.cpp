#include "app/viewer/paint_clock.h"

#include <unistd.h>

#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

namespace traceback::app {

std::int64_t millisecondsSinceStart() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  // proc(5): the second field, a name in parentheses, may hold anything; starttime is the 22nd.
  const std::size_t name = text.rfind(')');
  if (name == std::string::npos) return 0;
  std::istringstream fields(text.substr(name + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  const long ticksPerSecond = ::sysconf(_SC_CLK_TCK);
  timespec now{};
  if (!fields || ticksPerSecond <= 0 || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  const std::int64_t started = std::strtoll(field.c_str(), nullptr, 10) * 1000 / ticksPerSecond;
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000 - started;
}

}  // namespace traceback::app
