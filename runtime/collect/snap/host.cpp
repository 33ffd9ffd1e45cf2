#include "runtime/collect/snap/host.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <libelf.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <format>
#include <sstream>

#include "runtime/collect/files/system_file.h"

namespace traceback::collect {

namespace {

std::string commandLine(pid_t pid, bool withArguments) {
  const auto bytes = readWhole(std::format("/proc/{}/cmdline", pid));
  if (!bytes) return {};
  std::string text = textOf(*bytes);
  if (!withArguments) text.resize(std::min(text.find('\0'), text.size()));
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return oneLine(text);
}

std::string timeZone() {
  const time_t now = ::time(nullptr);
  struct tm local{};
  char text[32] = {};
  if (::localtime_r(&now, &local) == nullptr || ::strftime(text, sizeof text, "%Z %z", &local) == 0)
    return {};
  return text;
}

std::string buildIdOf(const std::string& path) {
  const SystemFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (!file.isOpen() || ::fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  if (elf_version(EV_CURRENT) == EV_NONE) return {};
  std::string text;
  if (Elf* elf = elf_begin(file.descriptor(), ELF_C_READ_MMAP, nullptr)) {
    const void* id = nullptr;
    const ssize_t size = elf_kind(elf) == ELF_K_ELF ? dwelf_elf_gnu_build_id(elf, &id) : 0;
    for (ssize_t i = 0; i < size; ++i) text += std::format("{:02x}", static_cast<const std::uint8_t*>(id)[i]);
    elf_end(elf);
  }
  return text;
}

}  // namespace

std::string oneLine(std::string text) {
  for (char& byte : text)
    if (byte == '\n' || byte == '\r') byte = ' ';
  return text;
}

std::string describeHost(std::optional<pid_t> livingProcess, bool withArguments) {
  std::string text;
  struct utsname name{};
  if (::uname(&name) == 0)
    text += std::format("hostname={}\nkernel={} {}\nmachine={}\n", oneLine(name.nodename), name.sysname,
                        name.release, name.machine);
  text += std::format("time-zone={}\n", timeZone());
  if (livingProcess) text += std::format("command-line={}\n", commandLine(*livingProcess, withArguments));
  return text;
}

std::vector<MappedPath> mappedPaths(const std::string& maps) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::vector<MappedPath> files;
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    MappedPath file{.path = line.substr(slash)};
    if (file.path.starts_with("/dev/") || file.path.starts_with("/memfd:") || file.path.starts_with("/SYSV"))
      continue;
    // START-END FLAGS OFFSET DEVICE INODE PATH
    const std::size_t flags = line.find(' ') + 1;
    file.executable = flags + 2 < slash && line[flags + 2] == 'x';
    if (file.path.ends_with(kDeleted)) {
      file.deleted = true;
      file.path.resize(file.path.size() - kDeleted.size());
    }
    const auto known = std::ranges::find_if(files, [&file](const MappedPath& other) {
      return other.path == file.path && other.deleted == file.deleted;
    });
    if (known == files.end())
      files.push_back(std::move(file));
    else
      known->executable |= file.executable;
  }
  return files;
}

std::vector<std::string> mappedFiles(const std::string& maps) {
  std::vector<std::string> files;
  for (MappedPath& file : mappedPaths(maps))
    if (!file.deleted) files.push_back(std::move(file.path));
  return files;
}

std::string describeFiles(std::span<const std::string> paths, const std::string& root) {
  std::string text;
  for (const std::string& path : paths)
    text += std::format("path={}\nbuild-id={}\n", oneLine(path), buildIdOf(root + path));
  return text;
}

}  // namespace traceback::collect
