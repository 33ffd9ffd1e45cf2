// Files of profiles, and those that `traceback profile` keeps for runs to come: BUILD-ID.tbprofile for each
// module, in profileFolder().
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "model/branch_profile.h"

namespace traceback::app {

model::Result<model::BranchProfile> readProfile(const std::filesystem::path& file);
model::Result<void> writeProfile(const std::filesystem::path& file, const model::BranchProfile& profile);

// Adds to what is kept of each module, and has copies of these files wait for renewOutdated(): always, or if
// that has grown so much that it may say something else. Who does so meanwhile waits. The folder is made if
// it is missing. Fails where something cannot be written; what is kept stays whole, and of what cannot be
// read nothing is kept on.
enum class Renewal { Always, WhenGrown };
model::Result<void> keepProfiles(const std::filesystem::path& folder, const model::BranchProfile& profile,
                                 Renewal renewal);
// Whether there is something of that build of the program, which may be a copy of it.
bool isProfileKept(const std::filesystem::path& folder, const std::filesystem::path& program);
// Of all modules, whose copies are made anew by who next needs them. Says of how many there was something.
model::Result<std::size_t> forgetProfiles(const std::filesystem::path& folder);

struct KeptProfiles {
  std::size_t modules = 0;
  std::uint64_t bytes = 0;
  std::vector<std::filesystem::path> unreadable;
};
KeptProfiles lookAtProfiles(const std::filesystem::path& folder);

}  // namespace traceback::app
