// Where the policy file is.
#pragma once

#include <filesystem>

namespace traceback::collect {

// The file that a program recorded from here would read its policy from; empty if there is none.
std::filesystem::path policyInUse();

}  // namespace traceback::collect
