#include "loader/map/map_file.h"

#include "loader/elf/elf_image.h"
#include "loader/mapped_file.h"

namespace traceback::loader {

model::Result<std::shared_ptr<const LoadedMap>> mapFromBytes(std::vector<std::byte> bytes,
                                                             const std::string& origin) {
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  auto view = MapView::parse(*owner, origin);
  if (!view) return std::unexpected(view.error());
  return std::make_shared<const LoadedMap>(LoadedMap{.bytes = owner, .view = std::move(*view)});
}

model::Result<std::shared_ptr<const LoadedMap>> mapFromElf(const std::filesystem::path& file) {
  auto mapped = MappedFile::open(file);
  if (!mapped) return std::unexpected(mapped.error());
  const auto owner = std::make_shared<const MappedFile>(std::move(*mapped));
  const auto image = ElfImage::parse(owner->bytes(), file.string());
  if (!image) return std::unexpected(image.error());
  const auto* section = image->section(format::kMapSection);
  if (section == nullptr) return model::fail("is not instrumented: it has no map", file.string());
  auto view = MapView::parse(image->contents(*section), file.string(), section->sh_offset);
  if (!view) return std::unexpected(view.error());
  return std::make_shared<const LoadedMap>(LoadedMap{.bytes = owner, .view = std::move(*view)});
}

}  // namespace traceback::loader
