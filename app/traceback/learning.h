// Profiles that make themselves: what runs before have counted (TRACEBACK_LEARN) is kept for this one, so
// that recording costs less once a program has run.
#pragma once

#include <filesystem>

namespace traceback::app {

// Takes what processes that ended by themselves left, and adds it to the profiles in that folder. Whatever
// cannot be used is dropped, for nobody asked for it. Copies that this makes out of date wait for
// renewOutdated(). Takes seconds, where copies are large, to read their maps.
void learnFromEarlierRuns(const std::filesystem::path& profiles);
bool isSomethingToLearnFrom();

}  // namespace traceback::app
