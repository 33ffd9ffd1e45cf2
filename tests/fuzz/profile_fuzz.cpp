// Profiles: text that people may pass on and edit.
#include <string_view>

#include "model/branch_profile.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using traceback::model::BranchProfile;
  const auto profile = BranchProfile::parse({reinterpret_cast<const char*>(data), size}, "profile");
  if (!profile) {
    if (profile.error().message.empty()) __builtin_trap();
    return 0;
  }
  for (const auto& [buildId, module] : profile->modules())
    for (const auto& [address, counts] : module)
      if (counts.taken > counts.branched) __builtin_trap();
  const auto again = BranchProfile::parse(profile->text(), "again");
  if (!again || again->modules() != profile->modules()) __builtin_trap();
  return 0;
}
