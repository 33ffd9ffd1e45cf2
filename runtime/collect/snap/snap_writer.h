// Writing a snap (runtime/format/snap.h): beside its name first, so that a failure leaves nothing behind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "model/error.h"
#include "runtime/collect/files/system_file.h"
#include "runtime/format/snap.h"

namespace traceback::collect {

// In the name of a file that is still being written, which begins with a dot.
inline constexpr const char* kPartialMark = ".partial-";

class SnapWriter {
 public:
  // Makes `folder` and what is above it if they are missing.
  static model::Result<SnapWriter> create(const std::filesystem::path& folder, std::string baseName);
  SnapWriter(SnapWriter&& other) noexcept;
  SnapWriter& operator=(SnapWriter&&) = delete;
  ~SnapWriter();  // removes what was written unless finish() succeeded

  // Deflates where that makes it smaller; what is large goes in blocks.
  model::Result<void> add(format::SectionType type, std::uint32_t index, std::span<const std::uint8_t> bytes);

  // Writes the table, and gives the file its name: BASE.tbsnap, or BASE-2.tbsnap and on if that is taken.
  model::Result<std::filesystem::path> finish();

 private:
  SnapWriter(std::filesystem::path folder, std::string baseName);
  model::Result<void> addWhole(format::SectionEntry& entry, std::span<const std::uint8_t> bytes);
  model::Result<void> addBlocks(format::SectionEntry& entry, std::span<const std::uint8_t> bytes);
  model::Result<void> append(std::span<const std::uint8_t> bytes);
  model::Result<void> write(std::span<const std::uint8_t> bytes, std::uint64_t offset);

  std::filesystem::path m_folder;
  std::string m_baseName;
  std::filesystem::path m_partial;
  SystemFile m_file;
  std::vector<format::SectionEntry> m_sections;
  std::uint64_t m_size = sizeof(format::SnapHeader);
};

}  // namespace traceback::collect
