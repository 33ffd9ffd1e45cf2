#include "runtime/collect/files/liveness.h"

#include <sys/stat.h>

#include <charconv>

namespace traceback::collect {

namespace fs = std::filesystem;

namespace {

constexpr ino_t kFirstNamespace = 0xEFFF'FFFC;  // PROC_PID_INIT_INO, proc_ns.h of the kernel

ino_t namespaceOf(const fs::path& process) {
  struct stat status{};
  return ::stat((process / "ns/pid").c_str(), &status) == 0 ? status.st_ino : 0;
}

bool startedThen(pid_t pid, std::uint64_t time) {
  const auto start = startOfProcess(pid);
  return start && *start == time;
}

bool anyStartedThen(ino_t space, std::uint64_t time) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/proc", none)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad != std::errc() || end != name.data() + name.size()) continue;
    if (namespaceOf(entry.path()) == space && startedThen(pid, time)) return true;
  }
  return false;
}

}  // namespace

bool mayRun(const fs::path& folder, const ProcessName& name) {
  const auto header = readProcessHeader(folder);
  const ino_t own = namespaceOf("/proc/self");
  if (!header || header->pidNamespace == 0 || own == 0 || header->pidNamespace == own)
    return startedThen(name.pid, name.start);
  return own != kFirstNamespace || anyStartedThen(header->pidNamespace, name.start);
}

}  // namespace traceback::collect
