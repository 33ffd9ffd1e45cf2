#include "runtime/collect/files/process_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <format>
#include <iterator>
#include <sstream>

#include "runtime/collect/files/file_rights.h"

namespace traceback::collect {

namespace {

std::optional<std::uint64_t> numberIn(const std::string& text) {
  std::uint64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) return {};
  return number;
}

// A process lives on when its first thread has ended, and looks like a zombie then.
bool hasOtherThreads(pid_t pid) {
  std::error_code error;
  unsigned count = 0;
  for (std::filesystem::directory_iterator it(std::format("/proc/{}/task", pid), error), end;
       !error && it != end; it.increment(error))
    ++count;
  return count > 1;
}

constexpr std::uint64_t kMostOfProcess =
    2 * (format::thrownTextsAt(sizeof(format::ProcessHeader)) + sizeof(format::ThrownTexts));
constexpr std::uint64_t kMostOfRing = std::uint64_t{5}
                                      << 28;  // the largest that runtimes make, and a quarter

// Without its magic a ring is still being made, or is a spare one, and holds nothing.
bool hasMagic(const OpenFolder& folder, const std::string& ring) {
  const SystemFile file(
      ::openat(folder.file.descriptor(), ring.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  std::uint64_t magic = 0;
  return file.isOpen() && ::read(file.descriptor(), &magic, sizeof magic) == sizeof magic && magic != 0;
}

std::vector<format::ThrownText> thrownTextsIn(const Bytes& process, std::uint32_t headerSize) {
  const std::uint64_t at = format::thrownTextsAt(headerSize) + offsetof(format::ThrownTexts, texts);
  std::vector<format::ThrownText> texts(format::kThrownTexts);
  const std::uint64_t size = texts.size() * sizeof texts[0];
  if (size > process.size() || at > process.size() - size) return {};
  std::memcpy(texts.data(), process.data() + at, size);
  std::erase_if(texts, [](const format::ThrownText& text) { return text.time == 0; });
  std::ranges::sort(texts, {}, &format::ThrownText::time);
  return texts;
}

std::vector<std::string> filesIn(const OpenFolder& folder) {
  std::vector<std::string> names;
  const int again = ::openat(folder.file.descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = again >= 0 ? ::fdopendir(again) : nullptr;
  if (entries == nullptr) return names;
  while (const struct dirent* entry = ::readdir(entries))
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  ::closedir(entries);
  std::ranges::sort(names);
  return names;
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

model::Result<OpenFolder> openProcessFolder(const std::filesystem::path& path) {
  OpenFolder folder{
      .path = path,
      .file = SystemFile(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW))};
  struct stat status{};
  if (!folder.file.isOpen() || ::fstat(folder.file.descriptor(), &status) != 0)
    return failWithErrno("cannot be opened", path);
  folder.owner = status.st_uid;
  if (folder.owner != ::geteuid() && ::geteuid() != 0)
    return model::fail("belongs to another user", path.string());
  return folder;
}

std::filesystem::path rootsSnapsOf(const std::filesystem::path& processFolder) {
  const auto link = processFolder / format::kSnapsLink;
  struct stat status{};
  std::error_code error;
  if (::lstat(link.c_str(), &status) != 0 || !S_ISLNK(status.st_mode) || status.st_uid != 0) return {};
  return std::filesystem::read_symlink(link, error);
}

model::Result<ProcessFolder> readProcessFolder(const OpenFolder& opened) {
  const auto rights = FileRights::of(opened.owner);
  if (!rights) return std::unexpected(rights.error());
  const std::filesystem::path& path = opened.path;
  ProcessFolder folder;
  folder.path = path;
  folder.owner = opened.owner;
  folder.rootsSnaps = rootsSnapsOf(path);
  const auto file = path / "process";
  const auto bytes = readRegular(opened.file.descriptor(), file, kMostOfProcess);
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

  folder.thrown = thrownTextsIn(*bytes, headerSize);

  for (const std::string& name : filesIn(opened)) {
    if (!name.ends_with(".ring") || !hasMagic(opened, name)) continue;
    // One that goes away under the reading belonged to a thread that ended long ago.
    if (auto ring = readRegular(opened.file.descriptor(), path / name, kMostOfRing))
      folder.rings.push_back({name, std::move(*ring)});
  }
  return folder;
}

bool wasNeverWritten(const OpenFolder& folder) {
  struct stat status{};
  return ::fstatat(folder.file.descriptor(), "process", &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(status.st_mode) && status.st_size == 0;
}

namespace {
// Of what lies in its place nothing is waited for: a pipe, say.
SystemFile openProcessFile(const std::filesystem::path& folder) {
  return SystemFile(::open((folder / "process").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}
}  // namespace

std::optional<format::ProcessHeader> readProcessHeader(const std::filesystem::path& folder) {
  const SystemFile file = openProcessFile(folder);
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
  const SystemFile file = openProcessFile(folder);
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

std::vector<uid_t> usersOf(pid_t pid) {
  constexpr std::string_view kField = "\nUid:";
  const auto bytes = readWhole(std::format("/proc/{}/status", pid));
  const std::string text = bytes ? textOf(*bytes) : std::string();
  const std::size_t at = text.find(kField);  // the name, before it, has its line ends escaped
  if (at == std::string::npos) return {};
  const std::size_t from = at + kField.size();
  std::istringstream line(text.substr(from, text.find('\n', from) - from));
  return {std::istream_iterator<uid_t>(line), {}};
}

std::optional<std::uint64_t> startOfProcess(pid_t pid) {
  constexpr std::size_t kState = 3, kStart = 22;
  const auto fields = statFields(pid);
  if (fields.size() <= kStart - kFirstStatField) return {};
  const std::string& state = fields[kState - kFirstStatField];
  if ((state == "Z" || state == "X") && !hasOtherThreads(pid)) return {};
  return numberIn(fields[kStart - kFirstStatField]);
}

std::optional<std::chrono::milliseconds> processorTimeOf(pid_t pid) {
  constexpr std::size_t kUser = 14, kSystem = 15;
  const auto fields = statFields(pid);
  if (fields.size() <= kSystem - kFirstStatField) return {};
  const auto user = numberIn(fields[kUser - kFirstStatField]);
  const auto system = numberIn(fields[kSystem - kFirstStatField]);
  if (!user || !system) return {};
  return std::chrono::milliseconds((*user + *system) * 1000 /
                                   static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK)));
}

void removeFolder(const OpenFolder& folder) {
  const auto rights = FileRights::of(folder.owner);
  if (!rights) return;
  for (const std::string& file : filesIn(folder)) ::unlinkat(folder.file.descriptor(), file.c_str(), 0);
  ::rmdir(folder.path.c_str());
}

void removeFolder(const std::filesystem::path& path) {
  if (const auto folder = openProcessFolder(path)) removeFolder(*folder);
}

}  // namespace traceback::collect
