// What whoever runs recorded programs on this machine wants, whatever their policies say: traceback-site(5).
// It is read by those who make snaps and by the service, outside of the recorded processes. A line holds one
// rule, a '#' begins a comment, and words are divided by blanks:
//
//   redact WHAT...                    keeps environment, arguments, paths, stacks out of all snaps
//   faults COUNT/TIME                 snaps of the same fault at most in that time, of all runs of a program
//   keep rings TIME                   of processes that were killed; the service removes them then
//   group NAME PROGRAM...             whose processes are snapped together when one of them breaks down
//   snap stall TIME PROGRAM [THREAD]  if the first thread, or one of that name, showed no life for so long
//   end stall TIME PROGRAM [THREAD]   and is ended then
//   profile TIME PROGRAM...           one is counted in (traceback profile) once it had that processor time
//
// A PROGRAM is the last part of its path.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceback::collect {

enum Redaction : std::uint32_t {
  kRedactEnvironment = 1,  // as the process was given it, and copies of it in the memory that is kept
  kRedactArguments = 2,    // of its command line, but for its name; and copies
  kRedactPaths = 4,        // the folders of the files that are named
  kRedactStacks = 8,       // of its threads
};
inline constexpr const char* kRedactionNames[] = {"environment", "arguments", "paths", "stacks"};

struct GroupRule {
  std::string name;
  std::vector<std::string> programs;
  bool operator==(const GroupRule&) const = default;
};

struct StallRule {
  std::string program;
  std::string thread;  // empty: the first
  std::chrono::seconds patience{};
  bool end = false;
  bool operator==(const StallRule&) const = default;
};

struct ProfileRule {
  std::vector<std::string> programs;
  std::chrono::seconds after{};  // of processor time
  bool operator==(const ProfileRule&) const = default;
};

struct SiteRules {
  std::uint32_t redaction = 0;     // Redaction
  std::uint32_t faultCount = 0;    // ...
  std::chrono::seconds faultTime{};  // 0: each fault is snapped
  std::chrono::seconds keepRings{};  // 0: for ever
  std::vector<GroupRule> groups;
  std::vector<StallRule> stalls;
  std::vector<ProfileRule> profiles;

  // Empty if it is of none.
  std::string groupOf(const std::string& program) const;
  // How much processor time one of its processes has before it is profiled, if it is to be.
  std::optional<std::chrono::seconds> profiledAfter(const std::string& program) const;
  bool operator==(const SiteRules&) const = default;
};

struct SiteProblem {
  unsigned line = 0;  // from 1
  std::string reason;
};

// Adds what the text says; a line that is wrong is told and changes nothing.
std::vector<SiteProblem> addSiteRules(std::string_view text, SiteRules& rules);

// /etc/traceback/site and, of $HOME, .config/traceback/site: as far as they are there.
std::vector<std::filesystem::path> siteFiles();

// What all of them say: of numbers the last counts, what is redacted by one is redacted.
SiteRules siteRules();

}  // namespace traceback::collect
