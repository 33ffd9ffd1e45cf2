#include "runtime/inject/snaps/policy_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "runtime/inject/process/process.h"

namespace traceback::inject {

namespace {

struct Version {
  std::uint64_t device = 0, inode = 0, size = 0, seconds = 0, nanoseconds = 0;
  bool operator==(const Version&) const = default;
};

// Other threads look at the one that holds while the other one is made.
constinit Policy policies[2];
constinit const Policy* current = &policies[0];
constinit Path file;
constinit Version version;
constinit char text[kMostPolicyText];

Version versionOf(const struct stat& status) {
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          static_cast<std::uint64_t>(status.st_mtim.tv_sec),
          static_cast<std::uint64_t>(status.st_mtim.tv_nsec)};
}

// False if it is not there, or no file to read rules from.
bool read(const char* path, bool again) {
  const long opened = systemCall(__NR_open, asLong(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (failed(opened)) return false;
  struct stat status{};
  std::size_t used = 0;
  const bool good =
      !failed(systemCall(__NR_fstat, opened, asLong(&status))) && (status.st_mode & S_IFMT) == S_IFREG;
  while (good && used < sizeof text) {
    const long got =
        systemCall(__NR_read, opened, asLong(text + used), static_cast<long>(sizeof text - used));
    if (failed(got) || got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  systemCall(__NR_close, opened);
  if (!good) return false;
  version = versionOf(status);
  Policy& next = policies[current == &policies[0] ? 1 : 0];
  static_cast<PolicyValues&>(next) = {};
  parsePolicy(text, used, next, nullptr, 0);  // `traceback policy` tells what is wrong
  if (again) {
    next.snapSignals = current->snapSignals;
    next.ignoreSignals = current->ignoreSignals;
  }
  __atomic_store_n(&current, &next, __ATOMIC_RELEASE);
  return true;
}

bool readAt(const char* folder, const char* rest) {
  if (*folder != '/') return false;
  file.clear();
  file.add(folder).add(rest);
  return file.good() && read(file.c_str(), false);
}

}  // namespace

void loadPolicy() {
  const Environment& environment = process.environment;
  if (!environment.policyFile.empty()) {
    readAt(environment.policyFile.c_str(), "");
    return;
  }
  constexpr char kHome[] = "HOME=";
  if (readAt(environment.configHome.c_str(), "/traceback/policy")) return;
  if (environment.configHome.empty() && !environment.home.empty() &&
      readAt(environment.home.c_str() + sizeof kHome - 1, "/.config/traceback/policy"))
    return;
  if (!readAt("/etc/traceback/policy", "")) file.clear();
}

void reloadPolicy() {
  struct stat status{};
  if (file.empty() || failed(systemCall(__NR_stat, asLong(file.c_str()), asLong(&status)))) return;
  if (versionOf(status) != version) read(file.c_str(), true);
}

const Policy& policy() { return *__atomic_load_n(&current, __ATOMIC_ACQUIRE); }

}  // namespace traceback::inject
