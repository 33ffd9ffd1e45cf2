#include "app/traceback/origin_links.h"

#include <string_view>

#include "loader/elf/elf_image.h"
#include "loader/mapped_file.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

// Nothing is ever made behind a link, for that would be in the original's folders.
void link(const fs::path& mirror, const fs::path& folder) {
  fs::path at = mirror;
  std::error_code error;
  const fs::path relative = folder.relative_path();
  for (auto part = relative.begin(); part != relative.end();) {
    at /= *part++;
    const auto status = fs::symlink_status(at, error);
    if (fs::is_symlink(status)) return;
    if (fs::is_directory(status)) continue;
    if (part == relative.end())
      fs::create_directory_symlink(folder, at, error);
    else
      fs::create_directory(at, error);
    if (error) return;
  }
  // The folder is one of the copy's own: what is special about the original's has to be there, too.
  constexpr char kHardware[] = "glibc-hwcaps";
  if (fs::is_directory(folder / kHardware, error))
    fs::create_directory_symlink(folder / kHardware, at / kHardware, error);
}

void linkAll(const fs::path& origin, std::string_view list, const fs::path& mirror) {
  while (!list.empty()) {
    const auto end = list.find(':');
    std::string_view part = list.substr(0, end);
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    for (const std::string_view token : {"$ORIGIN", "${ORIGIN}"}) {
      if (!part.starts_with(token)) continue;
      part.remove_prefix(token.size());
      fs::path folder = (origin / fs::path(part).relative_path()).lexically_normal();
      if (!folder.has_filename()) folder = folder.parent_path();
      link(mirror, folder);
      break;
    }
  }
}

}  // namespace

void linkOriginFolders(const fs::path& file, const fs::path& mirror) {
  const auto mapped = loader::MappedFile::open(file);
  if (!mapped) return;
  const auto image = loader::ElfImage::parse(mapped->bytes(), file.string());
  if (!image) return;
  for (const Elf64_Dyn& entry : image->dynamic()) {
    if (entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) continue;
    if (const auto text = image->dynamicString(entry.d_un.d_val)) linkAll(file.parent_path(), *text, mirror);
  }
}

}  // namespace traceback::app
