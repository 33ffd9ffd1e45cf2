#include "app/traceback/thread_storage.h"

#include <algorithm>
#include <format>
#include <functional>
#include <span>

#include "instrument/analysis/eligibility.h"
#include "instrument/elf/thread_storage.h"
#include "loader/elf/elf_image.h"
#include "loader/mapped_file.h"
#include "runtime/inject/audit/fixed_storage.h"

namespace traceback::app {

namespace {

// Until `look` returns false. Files that cannot be read are passed by.
void forEach(std::span<const LoadedFile> files,
             const std::function<bool(const LoadedFile&, const loader::ElfImage&)>& look) {
  for (const LoadedFile& loadedFile : files) {
    const auto file = loader::MappedFile::open(loadedFile.contents);
    if (!file) continue;
    const auto image = loader::ElfImage::parse(file->bytes(), loadedFile.path);
    if (image && !look(loadedFile, *image)) return;
  }
}

}  // namespace

std::int32_t threadSlotIn(const std::filesystem::path& program) {
  const auto file = loader::MappedFile::open(program);
  if (!file) return format::kThreadSlot;
  const auto image = loader::ElfImage::parse(file->bytes(), program.string());
  const std::int32_t slot = image ? instrument::threadSlotBeside(*image) : 0;
  return slot != 0 ? slot : format::kThreadSlot;
}

std::uint64_t threadAlignmentFor(const LoadedFiles& loaded) {
  constexpr std::uint64_t kUsual = inject::audit::FixedStorage::kThreadAlignment;
  std::uint64_t alignment = kUsual;
  forEach(std::span(loaded.files).subspan(1), [&](const LoadedFile&, const loader::ElfImage& library) {
    const Elf64_Phdr* storage = library.segment(PT_TLS);
    if (storage != nullptr && storage->p_memsz != 0) alignment = std::max(alignment, storage->p_align);
    return true;
  });
  return alignment > kUsual ? alignment : 0;
}

std::string refusalOf(const LoadedFiles& loaded, std::uint64_t alignment) {
  inject::audit::FixedStorage storage;
  std::string refused;
  forEach(loaded.files, [&](const LoadedFile& file, const loader::ElfImage& image) {
    const auto segments = image.segments();
    if (&file == &loaded.files.front()) {
      const auto aligned = alignment != 0 ? instrument::alignedThreadStorage(image, alignment) : std::nullopt;
      aligned ? storage.startWith(&*aligned, 1) : storage.startWith(segments.data(), segments.size());
      return true;
    }
    const bool isFixed = (image.dynamicValue(DT_FLAGS).value_or(0) & DF_STATIC_TLS) != 0;
    if (storage.add(segments.data(), segments.size(), isFixed)) return true;
    refused = std::format(
        "thread-local storage of {} has no place beside the runtime's under `traceback run`, so it is left "
        "alone there; `traceback instrument` can",
        file.path);
    return false;
  });
  return refused;
}

}  // namespace traceback::app
