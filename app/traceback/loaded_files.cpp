#include "app/traceback/loaded_files.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <format>
#include <sstream>

#include "app/traceback/program_search.h"
#include "loader/elf/elf_image.h"
#include "loader/mapped_file.h"
#include "runtime/collect/files/system_file.h"
#include "runtime/collect/snap/host.h"
#include "runtime/format/cache.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostInterpreters = 5;  // as Linux follows them
constexpr std::size_t kShebangSize = 256;

// Behind "#!": the interpreter and at most one argument.
std::optional<std::pair<std::string, std::string>> interpreterOf(loader::Bytes bytes) {
  const std::string_view all{reinterpret_cast<const char*>(bytes.data()),
                             std::min(bytes.size(), kShebangSize)};
  if (!all.starts_with("#!")) return std::nullopt;
  const std::string_view line = all.substr(2, std::min(all.find('\n'), all.size()) - 2);
  const auto trimmed = [](std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return std::string_view();
    return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
  };
  const std::string_view words = trimmed(line);
  const auto end = std::min(words.find_first_of(" \t"), words.size());
  if (end == 0) return std::nullopt;
  return std::pair(std::string(words.substr(0, end)), std::string(trimmed(words.substr(end))));
}

// The ELF file that is executed in the end.
model::Result<fs::path> executedFor(const fs::path& program) {
  fs::path at = program;
  for (std::size_t i = 0; i < kMostInterpreters; ++i) {
    const auto file = loader::MappedFile::open(at);
    if (!file) return std::unexpected(file.error());
    const auto interpreter = interpreterOf(file->bytes());
    if (!interpreter) return at;
    const auto& [name, argument] = *interpreter;
    const bool byEnv = fs::path(name).filename() == "env" && !argument.empty() &&
                       argument.find_first_of("-= \t") == std::string::npos;
    const auto found = byEnv ? findProgram(argument) : model::Result<fs::path>(name);
    if (!found) return std::unexpected(found.error());
    at = *found;
  }
  return model::fail("a script of a script: too many interpreters follow each other", program.string());
}

// It is executed, so it must not be somebody else's.
bool mayBeStarted(const fs::path& linker) {
  struct stat status{};
  return stat(linker.c_str(), &status) == 0 && (status.st_uid == 0 || status.st_uid == geteuid()) &&
         (status.st_mode & S_IWOTH) == 0;
}

// What the linker prints as ldd has it print it: unlike --list, it goes on where a library is missing.
model::Result<std::string> listing(const fs::path& linker, const fs::path& program) {
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    // Audit libraries would run, and the others change what is printed.
    if (std::ranges::none_of(std::initializer_list<std::string_view>{"LD_AUDIT=", "LD_DEBUG=", "LD_VERBOSE=",
                                                                     "LD_WARN=", "LD_TRACE_"},
                             [text](std::string_view name) { return text.starts_with(name); }))
      environment.push_back(*entry);
  }
  std::string mode = "LD_TRACE_LOADED_OBJECTS=1";
  environment.push_back(mode.data());
  environment.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return collect::failWithErrno("no pipe");
  const collect::SystemFile from(ends[0]);
  collect::SystemFile to(ends[1]);
  const std::string words[] = {linker.string(), program.string()};
  char* arguments[] = {const_cast<char*>(words[0].c_str()), const_cast<char*>(words[1].c_str()), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, to.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int error = posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments, environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return model::fail(std::format("cannot be started: {}", std::strerror(error)), linker.string());
  to = collect::SystemFile();
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0;
       (got = read(from.descriptor(), buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR);)
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return text;
}

// A line of it: "NAME => PATH (0xADDRESS)", "PATH (0xADDRESS)" or "NAME => not found".
std::optional<LoadedFile> libraryIn(std::string_view line) {
  const auto first = line.find_first_not_of('\t');
  if (first == 0 || first == std::string_view::npos) return std::nullopt;
  line.remove_prefix(first);
  constexpr std::string_view kArrow = " => ";
  const auto arrow = line.find(kArrow);
  if (arrow != std::string_view::npos) {
    const std::string name(line.substr(0, arrow));
    line.remove_prefix(arrow + kArrow.size());
    if (line == "not found")
      return LoadedFile{.path = name, .contents = {}, .reason = "the dynamic linker does not find it"};
  }
  if (!line.starts_with('/')) return std::nullopt;  // the kernel's own
  const std::string path(line.substr(0, line.rfind(" (0x")));
  return LoadedFile{.path = path, .contents = path, .reason = {}};
}

void addLibraries(LoadedFiles& loaded, const fs::path& program) {
  const auto file = loader::MappedFile::open(program);
  if (!file) return;
  const auto image = loader::ElfImage::parse(file->bytes(), program.string());
  const Elf64_Phdr* segment = image ? image->segment(PT_INTERP) : nullptr;
  if (segment == nullptr) return;
  const auto bytes = image->bytesAt({segment->p_vaddr}, segment->p_filesz);
  if (!bytes) return;
  const auto* text = reinterpret_cast<const char*>(bytes->data());
  const fs::path linker = std::string(text, strnlen(text, bytes->size()));
  if (!linker.filename().string().starts_with("ld-linux-x86-64.so")) {
    loaded.untraced = std::format("its dynamic linker, {}, is not the GNU C library's", linker.string());
    return;
  }
  if (!mayBeStarted(linker)) {
    loaded.notListed = std::format("its dynamic linker, {}, belongs to somebody else", linker.string());
    return;
  }
  const auto listed = listing(linker, program);
  if (!listed) {
    loaded.notListed = listed.error().text();
    return;
  }
  std::istringstream lines(*listed);
  for (std::string line; std::getline(lines, line);)
    if (auto library = libraryIn(line)) loaded.files.push_back(std::move(*library));
}

// The kernel has resolved the links by which the dynamic linker found a library; patterns are compared with
// the name that it looked for.
std::string nameLookedFor(const std::string& path, const fs::path& contents) {
  const auto file = loader::MappedFile::open(contents);
  if (!file) return path;
  const auto image = loader::ElfImage::parse(file->bytes(), path);
  const auto offset = image ? image->dynamicValue(DT_SONAME) : std::nullopt;
  const auto name = offset ? image->dynamicString(*offset) : std::nullopt;
  if (!name || name->empty() || name->contains('/')) return path;
  std::error_code error;
  if (!fs::equivalent(contents.parent_path() / *name, contents, error) || error) return path;
  return (fs::path(path).parent_path() / *name).string();
}

bool hasOtherFolders(pid_t pid) {
  std::error_code error;
  const auto ours = fs::read_symlink("/proc/self/ns/mnt", error);
  if (error) return false;
  const auto theirs = fs::read_symlink(std::format("/proc/{}/ns/mnt", pid), error);
  const auto root = fs::read_symlink(std::format("/proc/{}/root", pid), error);
  return !error && (ours != theirs || root != "/");
}

}  // namespace

model::Result<LoadedFiles> filesOfProgram(const fs::path& program) {
  const auto executed = executedFor(program);
  if (!executed) return std::unexpected(executed.error());
  std::error_code error;
  const fs::path file = fs::canonical(*executed, error);
  if (error) return model::fail(error.message(), executed->string());
  LoadedFiles loaded;
  loaded.files.push_back({.path = file.string(), .contents = file, .reason = {}});
  addLibraries(loaded, file);
  return loaded;
}

model::Result<LoadedFiles> filesOfProcess(pid_t pid, const std::optional<InstrumentedCache>& cache) {
  const std::string folder = std::format("/proc/{}", pid);
  std::error_code error;
  if (!fs::exists(folder, error)) return model::fail(std::format("there is no process {}", pid));
  const auto maps = collect::readWhole(folder + "/maps");
  if (!maps) return std::unexpected(maps.error());
  const std::string program = fs::read_symlink(folder + "/exe", error).string();
  if (error || program.empty())
    return model::fail("has no program: a kernel thread, or a process that has ended", folder + "/exe");
  const std::string root = hasOtherFolders(pid) ? folder + "/root" : std::string();

  LoadedFiles loaded;
  loaded.pid = pid;
  for (const collect::MappedPath& file : collect::mappedPaths(collect::textOf(*maps))) {
    if (!file.executable) continue;
    const char* original = cache ? format::originalOf(file.path.c_str(), cache->folder().c_str()) : nullptr;
    loaded.recorded |= original != nullptr;
    LoadedFile one{.path = original != nullptr ? original : file.path, .contents = {}, .reason = {}};
    if (file.deleted && original == nullptr)
      one.reason = "was replaced or removed since it was loaded: start the program again";
    else
      one.contents = root + one.path;
    const bool isProgram = (file.deleted ? file.path + " (deleted)" : file.path) == program;
    if (!isProgram && !one.contents.empty()) one.path = nameLookedFor(one.path, one.contents);
    if (std::ranges::find(loaded.files, one.path, &LoadedFile::path) == loaded.files.end())
      loaded.files.insert(isProgram ? loaded.files.begin() : loaded.files.end(), std::move(one));
  }
  if (loaded.files.empty()) return model::fail("no file with code is mapped", folder + "/maps");
  return loaded;
}

}  // namespace traceback::app
