#include "runtime/collect/process_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <format>
#include <iterator>
#include <sstream>

namespace traceback::collect {

namespace {

// A process lives on when its first thread has ended, and looks like a zombie then.
bool hasOtherThreads(pid_t pid) {
  std::error_code error;
  unsigned count = 0;
  for (std::filesystem::directory_iterator it(std::format("/proc/{}/task", pid), error), end;
       !error && it != end; it.increment(error))
    ++count;
  return count > 1;
}

bool hasMagic(const std::filesystem::path& ring) {
  const SystemFile file(::open(ring.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::uint64_t magic = 0;
  return file.isOpen() && ::read(file.descriptor(), &magic, sizeof magic) == sizeof magic && magic != 0;
}

}  // namespace

std::optional<format::RingHeader> RingFile::header() const {
  format::RingHeader result;
  if (bytes.size() < sizeof result) return {};
  std::memcpy(&result, bytes.data(), sizeof result);
  if (result.magic != format::kRingMagic) return {};
  return result;
}

std::optional<ProcessName> parseProcessName(const std::string& name) {
  ProcessName result;
  const char* end = name.data() + name.size();
  const auto pid = std::from_chars(name.data(), end, result.pid);
  if (pid.ec != std::errc() || pid.ptr == end || *pid.ptr != '-' || result.pid <= 0) return {};
  const auto start = std::from_chars(pid.ptr + 1, end, result.start);
  if (start.ec != std::errc() || start.ptr != end) return {};
  return result;
}

std::string textField(const std::uint8_t* bytes, std::size_t size) {
  const auto* end = std::find(bytes, bytes + size, std::uint8_t{0});
  return {bytes, end};
}

model::Result<ProcessFolder> readProcessFolder(const std::filesystem::path& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return failWithErrno("cannot be read", path);
  if (!S_ISDIR(status.st_mode)) return model::fail("not a folder", path.string());
  if (status.st_uid != ::geteuid() && ::geteuid() != 0)
    return model::fail("belongs to another user", path.string());

  ProcessFolder folder;
  folder.path = path;
  const auto file = path / "process";
  const auto bytes = readWhole(file, false);
  if (!bytes) return std::unexpected(bytes.error());
  if (bytes->size() < sizeof folder.header)
    return model::fail("process file is cut short", file.string(), bytes->size());
  std::memcpy(&folder.header, bytes->data(), sizeof folder.header);
  if (folder.header.magic != format::kProcessMagic)
    return model::fail("not a process file", file.string(), 0);
  if (folder.header.version != format::kProcessVersion)
    return model::fail(std::format("process file of unknown version {}", folder.header.version),
                       file.string(), offsetof(format::ProcessHeader, version));
  const std::uint32_t headerSize = folder.header.headerSize;
  const std::uint64_t count = std::min<std::uint64_t>(folder.header.moduleCount, format::kMaxModules);
  if (headerSize > bytes->size() || count > (bytes->size() - headerSize) / sizeof(format::ProcessModule))
    return model::fail("the module table runs past the end", file.string(), headerSize);
  folder.header.moduleCount = static_cast<std::uint32_t>(count);
  folder.modules.resize(count);
  if (count != 0)
    std::memcpy(folder.modules.data(), bytes->data() + headerSize, count * sizeof(format::ProcessModule));

  std::error_code error;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".ring") continue;
    // One that goes away under the reading belonged to a thread that ended long ago; one without its magic
    // was still being made, or is a spare one, and holds nothing.
    if (!hasMagic(it->path())) continue;
    if (auto ring = readWhole(it->path(), false))
      folder.rings.push_back({it->path().filename().string(), std::move(*ring)});
  }
  if (error) return model::fail("cannot be listed: " + error.message(), path.string());
  std::ranges::sort(folder.rings, {}, &RingFile::name);
  return folder;
}

std::optional<format::ProcessHeader> readProcessHeader(const std::filesystem::path& folder) {
  const SystemFile file(::open((folder / "process").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  format::ProcessHeader header{};
  if (!file.isOpen() || ::read(file.descriptor(), &header, sizeof header) != sizeof header ||
      header.magic != format::kProcessMagic || header.version != format::kProcessVersion)
    return std::nullopt;
  return header;
}

std::string programName(const ProcessFolder& folder) {
  std::string name = textField(folder.header.executable, sizeof folder.header.executable);
  if (name.empty() && !folder.modules.empty())
    name = textField(folder.modules.front().path, sizeof folder.modules.front().path);
  name = std::filesystem::path(name).filename().string();
  return name.empty() ? "program" : name;
}

std::string programNameIn(const std::filesystem::path& folder) {
  ProcessFolder first;
  const SystemFile file(::open((folder / "process").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  format::ProcessModule module{};
  if (const auto header = readProcessHeader(folder)) {
    first.header = *header;
    if (file.isOpen() && header->moduleCount != 0 &&
        ::pread(file.descriptor(), &module, sizeof module, header->headerSize) == sizeof module)
      first.modules.push_back(module);
  }
  return programName(first);
}

void markSnapped(const std::filesystem::path& folder) {
  const SystemFile file(::open((folder / "process").c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  constexpr auto kValue = static_cast<std::uint32_t>(format::ProcessState::Snapped);
  if (file.isOpen()) [[maybe_unused]]
    const ssize_t done =
        ::pwrite(file.descriptor(), &kValue, sizeof kValue, offsetof(format::ProcessHeader, state));
}

std::vector<std::string> statFields(pid_t pid) {
  const auto bytes = readWhole(std::format("/proc/{}/stat", pid));
  if (!bytes) return {};
  const std::string text = textOf(*bytes);
  // The second field may hold anything: count from its closing parenthesis.
  const std::size_t name = text.rfind(')');
  if (name == std::string::npos) return {};
  std::istringstream behind(text.substr(name + 1));
  return {std::istream_iterator<std::string>(behind), {}};
}

std::optional<std::uint64_t> startOfProcess(pid_t pid) {
  constexpr std::size_t kState = 3, kStart = 22;
  const auto fields = statFields(pid);
  if (fields.size() <= kStart - kFirstStatField) return {};
  const std::string& state = fields[kState - kFirstStatField];
  if ((state == "Z" || state == "X") && !hasOtherThreads(pid)) return {};
  const std::string& text = fields[kStart - kFirstStatField];
  std::uint64_t start = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), start);
  if (parsed.ec != std::errc()) return {};
  return start;
}

void removeFolder(const std::filesystem::path& path) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    files.push_back(it->path());
  for (const auto& file : files) ::unlink(file.c_str());
  ::rmdir(path.c_str());
}

}  // namespace traceback::collect
