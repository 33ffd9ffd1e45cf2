#include "instrument/profile.h"

#include <xxhash.h>

#include <format>

#include "loader/mapped_file.h"
#include "model/branch_profile.h"

namespace traceback::instrument {

namespace {

// A block is hot with which at least one in so many of the module's records begins.
constexpr std::uint64_t kHotOneIn = 10'000;

std::string hashOf(loader::Bytes bytes) {
  return std::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

void note(Function& f, const model::ModuleProfile& counts, std::uint64_t records) {
  for (Block& block : f.blocks) {
    const auto found = counts.find(std::uint32_t(f.instructions[block.first].address.value));
    block.cold = found == counts.end() || found->second.ran == 0;
    if (found == counts.end()) continue;
    const auto& [ran, branched, taken, begun] = found->second;
    if (branched != 0) block.taken = std::uint8_t(100 * (double(taken) / double(branched)));
    block.ran = ran;
    block.hot = begun > records / kHotOneIn;
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

model::Result<void> applyProfile(Program& program, const Options& options) {
  if (options.profile.empty()) return {};
  const auto file = loader::MappedFile::open(options.profile, loader::MappedFile::Mode::Copy);
  if (!file) return std::unexpected(file.error());
  if (hashOf(file->bytes()) != options.profileHash)
    return model::fail("was changed meanwhile: begin again", options.profile.string());
  const auto profile = model::BranchProfile::parse(file->text(), options.profile.string());
  if (!profile) return std::unexpected(profile.error());
  const model::ModuleProfile* counts = profile->find(program.image->buildId());
  if (counts == nullptr) return {};
  std::uint64_t records = 0;
  for (const auto& [address, block] : *counts) records += block.begun;
  for (Function& f : program.functions) note(f, *counts, records);
  return {};
}

}  // namespace traceback::instrument
