#include "app/traceback/profile_files.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <format>

#include "app/traceback/on_demand.h"
#include "app/traceback/output_file.h"
#include "instrument/instrument.h"
#include "loader/elf/elf_image.h"
#include "loader/mapped_file.h"
#include "runtime/collect/files/system_file.h"

namespace traceback::app {

namespace fs = std::filesystem;
using model::BranchProfile;

namespace {

std::vector<fs::path> filesIn(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& item : fs::directory_iterator(folder, none))
    if (item.path().extension() == ".tbprofile") found.push_back(item.path());
  return found;
}

std::string buildIdOf(const fs::path& path) {
  const auto file = loader::MappedFile::open(path);
  if (!file) return {};
  const auto image = loader::ElfImage::parse(file->bytes(), path.string());
  return image ? image->buildId() : std::string();
}

// Grows by one with each eighth power of two that the records, or those as a program, come to.
unsigned sizeOf(const BranchProfile& profile, const std::string& buildId) {
  static_assert(std::bit_width(model::kKnownRecords) % 3 == 0, "what is known is instrumented anew");
  return unsigned(std::bit_width(profile.recordsOf(buildId)) / 3) +
         unsigned(std::bit_width(profile.programRecordsOf(buildId)) / 3);
}

using MarkCopies = void(const fs::path& root, const InstrumentedCache::IsMeant& isMeant);

void markCopies(const std::vector<std::string>& buildIds, MarkCopies& mark) {
  const auto copies = copiesFolder();
  if (!copies || buildIds.empty()) return;
  mark(*copies, [&](const fs::path& file) { return std::ranges::contains(buildIds, buildIdOf(file)); });
}

}  // namespace

model::Result<BranchProfile> readProfile(const fs::path& path) {
  const auto file = loader::MappedFile::open(path, loader::MappedFile::Mode::Copy);
  if (!file) return std::unexpected(file.error());
  return BranchProfile::parse(file->text(), path.string());
}

model::Result<void> writeProfile(const fs::path& path, const BranchProfile& profile) {
  OutputFile file(path.string());
  if (file.error() == 0 && file.write(profile.text()) && file.keep()) return {};
  return model::fail(std::format("cannot write: {}", std::strerror(file.error())), path.string());
}

model::Result<void> keepProfiles(const fs::path& folder, const BranchProfile& profile, Renewal renewal) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return model::fail("cannot make this folder: " + error.message(), folder.string());
  const collect::SystemFile lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.isOpen() || flock(lock.descriptor(), LOCK_EX) != 0)
    return model::fail(std::strerror(errno), folder.string());
  std::vector<std::string> renewed;
  for (const auto& [buildId, counts] : profile.modules()) {
    const fs::path path = instrument::profileIn(folder, buildId);
    BranchProfile kept = readProfile(path).value_or(BranchProfile());
    const unsigned before = sizeOf(kept, buildId);
    kept.add(profile, buildId);
    if (auto written = writeProfile(path, kept); !written) return written;
    if (renewal == Renewal::Always || sizeOf(kept, buildId) != before) renewed.push_back(buildId);
  }
  markCopies(renewed, InstrumentedCache::outdate);
  return {};
}

bool isProfileKept(const fs::path& folder, const fs::path& program) {
  const std::string buildId = buildIdOf(program);
  std::error_code none;
  return !buildId.empty() && fs::exists(instrument::profileIn(folder, buildId), none);
}

model::Result<std::size_t> forgetProfiles(const fs::path& folder) {
  std::vector<std::string> forgotten;
  for (const fs::path& path : filesIn(folder)) {
    std::error_code error;
    fs::remove(path, error);
    if (error) return model::fail("cannot be removed: " + error.message(), path.string());
    forgotten.push_back(path.stem().string());
  }
  markCopies(forgotten, InstrumentedCache::forget);
  return forgotten.size();
}

KeptProfiles lookAtProfiles(const fs::path& folder) {
  KeptProfiles all;
  for (const fs::path& path : filesIn(folder)) {
    std::error_code ignored;
    ++all.modules;
    all.bytes += fs::file_size(path, ignored);
    if (!readProfile(path)) all.unreadable.push_back(path);
  }
  return all;
}

}  // namespace traceback::app
