// Checking a policy file (traceback-policy(5)).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/traceback/command.h"
#include "model/error.h"

namespace traceback::app {

// A line for each rule that is wrong, "FILE:LINE: reason"; such a rule is left out, and the others hold.
// Fails if the file cannot be read.
model::Result<std::vector<std::string>> checkPolicy(const std::filesystem::path& file);

// Whether reports of sanitizers are to be snapped by the policy that a recorded program will find.
bool policySnapsReports();

void addPolicy(CLI::App& app, Action& chosen);

}  // namespace traceback::app
