#include "app/traceback/program_search.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <format>
#include <string_view>

#include "app/traceback/policy_check.h"
#include "instrument/analysis/eligibility.h"
#include "loader/elf/elf_image.h"
#include "loader/mapped_file.h"
#include "runtime/format/map.h"
#include "runtime/inject/audit/pattern.h"

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

bool isDynamicLinker(const loader::ElfImage& image) {
  const auto soname = image.dynamicValue(DT_SONAME);
  const auto name = soname ? image.dynamicString(*soname) : std::nullopt;
  return name && name->starts_with("ld-linux");
}

// Linked in. Beside that of addresses one records for its reports.
bool hasSanitizer(const loader::ElfImage& image) {
  const auto symbols = image.dynamicSymbols();
  return symbols && std::ranges::any_of(*symbols, [](const loader::ElfSymbol& symbol) {
           if (!symbol.defined()) return false;
           return std::ranges::contains(inject::audit::kLinkedSanitizers, symbol.name) ||
                  (symbol.name == inject::audit::kLinkedAddressSanitizer && !policySnapsReports());
         });
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

bool isElf(const fs::path& file) {
  const auto mapped = loader::MappedFile::open(file);
  return mapped && mapped->bytes().size() >= SELFMAG &&
         std::memcmp(mapped->bytes().data(), ELFMAG, SELFMAG) == 0;
}

bool isInstrumented(const fs::path& file) {
  const auto mapped = loader::MappedFile::open(file);
  if (!mapped) return false;
  const auto image = loader::ElfImage::parse(mapped->bytes(), file.string());
  return image && image->section(format::kMapSection) != nullptr;
}

std::optional<std::string> reasonToRunAsIs(const fs::path& program) {
  if (gainsRights(program)) return "it changes its user or its rights, and then no library can be added";
  if (!isElf(program)) return std::nullopt;
  const auto file = loader::MappedFile::open(program);
  if (!file) return file.error().message;
  const auto image = loader::ElfImage::parse(file->bytes(), program.string());
  if (!image) return image.error().message;
  if (isDynamicLinker(*image)) {
    return "the dynamic linker, which cannot be recorded together with the program that it is to start: name "
           "that (traceback run -- PROG)";
  }
  if (image->segment(PT_INTERP) == nullptr) return "statically linked, so the runtime cannot be added";
  if (hasSanitizer(*image)) return "a sanitizer is linked in that cannot be recorded beside";
  if (instrument::threadSlotBeside(*image) == 0)
    return "it has so much thread-local storage that there is no place for its ring";
  return std::nullopt;
}

}  // namespace traceback::app
