#include "app/traceback/program_search.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <format>
#include <string_view>

#include "loader/elf/elf_image.h"
#include "loader/mapped_file.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

bool isExecutableFile(const fs::path& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

// Such a program ignores LD_PRELOAD, and a copy of it would lose its rights.
bool gainsRights(const fs::path& program) {
  struct stat status{};
  if (stat(program.c_str(), &status) != 0) return false;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) return true;
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()) return true;
  return geteuid() != 0 && getxattr(program.c_str(), "security.capability", nullptr, 0) > 0;
}

bool findsLibrariesByItsPlace(const loader::ElfImage& image) {
  for (const Elf64_Dyn& entry : image.dynamic()) {
    if (entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH && entry.d_tag != DT_NEEDED) continue;
    const auto text = image.dynamicString(entry.d_un.d_val);
    if (text && (text->contains("$ORIGIN") || text->contains("${ORIGIN}"))) return true;
  }
  return false;
}

}  // namespace

model::Result<fs::path> findProgram(const std::string& name) {
  std::error_code error;
  if (name.contains('/')) {
    if (!fs::exists(name, error)) return model::fail("no such file", name);
    if (!isExecutableFile(name)) return model::fail("not an executable file", name);
    return fs::absolute(name, error);
  }
  const char* value = std::getenv("PATH");
  std::string_view rest = value != nullptr ? value : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const auto end = rest.find(':');
    const std::string_view folder = rest.substr(0, end);
    // An empty part means the current folder.
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    if (!name.empty() && isExecutableFile(candidate)) return fs::absolute(candidate, error);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return model::fail("no such program in PATH", name);
}

std::optional<std::string> reasonToRunAsIs(const fs::path& program) {
  const auto file = loader::MappedFile::open(program);
  if (!file) return file.error().message;
  const loader::Bytes bytes = file->bytes();
  if (bytes.size() >= 2 && bytes[0] == std::byte{'#'} && bytes[1] == std::byte{'!'}) {
    return "a script: to trace its interpreter, run that with the script as its argument";
  }
  if (gainsRights(program)) return "it changes its user or its rights, and then no library can be added";
  const auto image = loader::ElfImage::parse(bytes, program.string());
  if (!image) return image.error().message;
  if (image->segment(PT_INTERP) == nullptr) return "statically linked, so the runtime cannot be added";
  if (findsLibrariesByItsPlace(*image)) {
    return "it looks for its libraries beside itself ($ORIGIN): instrument it with -o, into the same folder";
  }
  return std::nullopt;
}

}  // namespace traceback::app
