#include "instrument/profile.h"

#include <xxhash.h>

#include <algorithm>
#include <format>
#include <vector>

#include "loader/elf/elf_image.h"
#include "loader/mapped_file.h"
#include "model/branch_profile.h"

namespace traceback::instrument {

namespace {

// Those blocks that run least take few bytes rather than little time: together one in so many of all that are
// gone through.
constexpr std::uint64_t kColdOneIn = 500;

std::string hashOf(loader::Bytes bytes) {
  return std::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

model::Result<model::BranchProfile> chosenProfile(const Options& options) {
  const auto file = loader::MappedFile::open(options.profile, loader::MappedFile::Mode::Copy);
  if (!file) return std::unexpected(file.error());
  if (hashOf(file->bytes()) != options.profileHash)
    return model::fail("was changed meanwhile: begin again", options.profile.string());
  return model::BranchProfile::parse(file->text(), options.profile.string());
}

// Who only runs a program did not name it, so nothing stops for it.
model::BranchProfile keptProfile(const Options& options, std::string_view buildId) {
  const auto path = profileIn(options.profiles, buildId);
  const auto file = loader::MappedFile::open(path, loader::MappedFile::Mode::Copy);
  if (!file) return {};
  return model::BranchProfile::parse(file->text(), path.string()).value_or(model::BranchProfile());
}

// Blocks are cold that ran no oftener.
std::uint64_t coldBound(const model::ModuleProfile& counts) {
  std::uint64_t all = 0;
  std::vector<std::uint64_t> ran;
  ran.reserve(counts.size());
  for (const auto& [address, block] : counts) {
    all += block.ran;
    ran.push_back(block.ran);
  }
  std::ranges::sort(ran);
  std::uint64_t bound = 0, sum = 0;
  for (std::size_t i = 0; i < ran.size(); ++i) {
    sum += ran[i];
    if (sum > all / kColdOneIn) break;
    // Not some of those that ran equally often.
    if (i + 1 == ran.size() || ran[i + 1] != ran[i]) bound = ran[i];
  }
  return bound;
}

void note(Function& f, const model::ModuleProfile& counts, std::uint64_t bound) {
  for (Block& block : f.blocks) {
    const auto found = counts.find(std::uint32_t(f.instructions[block.first].address.value));
    block.cold = found == counts.end() || found->second.ran <= bound;
    if (found == counts.end()) continue;
    const model::BlockCounts& counted = found->second;
    if (counted.branched != 0)
      block.taken = std::uint8_t(100 * (double(counted.taken) / double(counted.branched)));
    block.ran = counted.ran;
  }
}

}  // namespace

model::Result<void> useProfile(Options& options, const std::filesystem::path& profile) {
  std::error_code error;
  const auto path = std::filesystem::absolute(profile, error);
  const auto file = loader::MappedFile::open(path, loader::MappedFile::Mode::Copy);
  if (!file) return std::unexpected(file.error());
  if (const auto parsed = model::BranchProfile::parse(file->text(), profile.string()); !parsed)
    return std::unexpected(parsed.error());
  options.profile = path;
  options.profileHash = hashOf(file->bytes());
  return {};
}

std::filesystem::path profileIn(const std::filesystem::path& folder, std::string_view buildId) {
  return folder / (std::string(buildId) + ".tbprofile");
}

std::uint64_t hashOfProfileFor(const std::filesystem::path& file, const Options& options) {
  if (options.profiles.empty()) return 0;
  const auto mapped = loader::MappedFile::open(file);
  const auto image = mapped ? loader::ElfImage::parse(mapped->bytes(), file.string())
                            : model::Result<loader::ElfImage>(std::unexpected(mapped.error()));
  if (!image || image->buildId().empty()) return 0;
  const auto profile =
      loader::MappedFile::open(profileIn(options.profiles, image->buildId()), loader::MappedFile::Mode::Copy);
  return profile ? XXH3_64bits(profile->bytes().data(), profile->bytes().size()) | 1 : 0;
}

model::Result<bool> applyProfile(Program& program, const Options& options) {
  const std::string buildId = program.image->buildId();
  const bool isChosen = !options.profile.empty();
  if (!isChosen && (options.profiles.empty() || buildId.empty())) return false;
  const auto profile = isChosen ? chosenProfile(options) : keptProfile(options, buildId);
  if (!profile) return std::unexpected(profile.error());
  const model::ModuleProfile* counts = profile->find(buildId);
  const bool isKnown = profile->programRecordsOf(buildId) >= model::kKnownRecords;
  if (counts == nullptr || counts->empty()) return isKnown;
  const std::uint64_t bound = coldBound(*counts);
  for (Function& f : program.functions) note(f, *counts, bound);
  return isKnown;
}

}  // namespace traceback::instrument
