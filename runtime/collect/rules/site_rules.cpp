#include "runtime/collect/rules/site_rules.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <sstream>

#include "runtime/collect/files/system_file.h"
#include "runtime/format/service.h"

namespace traceback::collect {

namespace {

using Words = std::vector<std::string>;

// "30s", "5m", "2h", "1d"; not zero.
std::optional<std::chrono::seconds> timeOf(std::string_view word) {
  constexpr std::int64_t kMost = 1'000'000'000;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || number < 1 || number > kMost) return std::nullopt;
  const std::string_view unit = word.substr(static_cast<std::size_t>(end - word.data()));
  for (const auto& [name, factor] :
       {std::pair("s", 1), std::pair("m", 60), std::pair("h", 3600), std::pair("d", 86400)})
    if (unit == name) return std::chrono::seconds(number * factor);
  return std::nullopt;
}

bool isName(const std::string& word) {
  return !word.empty() && word.size() < format::kGroupNameSize &&
         std::ranges::all_of(
             word,
             [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
             });
}

bool isProgram(const std::string& word) {
  return !word.contains('/') && word.size() < format::kProgramNameSize;
}

// Each gives what is wrong; empty if nothing is.
std::string addRedaction(const Words& words, SiteRules& rules) {
  std::uint32_t redaction = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto* const found = std::ranges::find(kRedactionNames, words[i]);
    if (found == std::end(kRedactionNames)) return "takes environment, arguments, paths and stacks";
    redaction |= 1U << (found - std::begin(kRedactionNames));
  }
  if (redaction == 0) return "takes environment, arguments, paths and stacks";
  rules.redaction |= redaction;
  return {};
}

std::string addFaults(const Words& words, SiteRules& rules) {
  constexpr const char* kWrong = "takes a count and a time: write 3/1d";
  const std::size_t slash = words.size() == 2 ? words[1].find('/') : std::string::npos;
  if (slash == std::string::npos) return kWrong;
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(words[1].data(), words[1].data() + slash, count);
  const auto time = timeOf(std::string_view(words[1]).substr(slash + 1));
  if (error != std::errc() || end != words[1].data() + slash || !time) return kWrong;
  rules.faultCount = count;
  rules.faultTime = *time;
  return {};
}

std::string addKeep(const Words& words, SiteRules& rules) {
  const auto time = words.size() == 3 && words[1] == "rings" ? timeOf(words[2]) : std::nullopt;
  if (!time) return "takes rings and a time: write keep rings 2h";
  rules.keepRings = *time;
  return {};
}

std::string addGroup(const Words& words, SiteRules& rules) {
  if (words.size() < 3 || !isName(words[1]))
    return "takes a name of letters, digits, '.', '_' and '-', at most 31 of them, and programs";
  GroupRule group{words[1], {words.begin() + 2, words.end()}};
  if (!std::ranges::all_of(group.programs, isProgram))
    return "takes programs by the last part of their paths";
  rules.groups.push_back(std::move(group));
  return {};
}

std::string addStall(const Words& words, SiteRules& rules) {
  constexpr std::size_t kMostOfThread = 15;
  const auto time = words.size() > 2 && words[1] == "stall" ? timeOf(words[2]) : std::nullopt;
  if (!time || words.size() < 4 || words.size() > 5 || !isProgram(words[3]) ||
      (words.size() == 5 && words[4].size() > kMostOfThread))
    return "takes stall, a time, a program and perhaps a thread's name: write " + words[0] +
           " stall 30s server";
  rules.stalls.push_back({.program = words[3],
                          .thread = words.size() == 5 ? words[4] : std::string(),
                          .patience = *time,
                          .end = words[0] == "end"});
  return {};
}

std::string addProfile(const Words& words, SiteRules& rules) {
  const auto time = words.size() > 2 ? timeOf(words[1]) : std::nullopt;
  if (!time || !std::all_of(words.begin() + 2, words.end(), isProgram))
    return "takes a time and programs by the last part of their paths: write profile 1m server";
  rules.profiles.push_back({.programs = {words.begin() + 2, words.end()}, .after = *time});
  return {};
}

std::string addRule(const Words& words, SiteRules& rules) {
  if (words[0] == "redact") return addRedaction(words, rules);
  if (words[0] == "faults") return addFaults(words, rules);
  if (words[0] == "keep") return addKeep(words, rules);
  if (words[0] == "group") return addGroup(words, rules);
  if (words[0] == "snap" || words[0] == "end") return addStall(words, rules);
  if (words[0] == "profile") return addProfile(words, rules);
  return "is no rule: there are redact, faults, keep, group, snap, end and profile";
}

}  // namespace

std::string SiteRules::groupOf(const std::string& program) const {
  const auto found = std::ranges::find_if(
      groups, [&program](const GroupRule& group) { return std::ranges::contains(group.programs, program); });
  return found == groups.end() ? std::string() : found->name;
}

std::optional<std::chrono::seconds> SiteRules::profiledAfter(const std::string& program) const {
  const auto found = std::ranges::find_if(profiles, [&program](const ProfileRule& rule) {
    return std::ranges::contains(rule.programs, program);
  });
  return found == profiles.end() ? std::nullopt : std::optional(found->after);
}

std::vector<SiteProblem> addSiteRules(std::string_view text, SiteRules& rules) {
  std::vector<SiteProblem> problems;
  std::istringstream lines{std::string(text)};
  unsigned number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream rest(line.substr(0, line.find('#')));
    const Words words{std::istream_iterator<std::string>(rest), {}};
    if (words.empty()) continue;
    if (std::string wrong = addRule(words, rules); !wrong.empty())
      problems.push_back({number, std::move(wrong)});
  }
  return problems;
}

std::vector<std::filesystem::path> siteFiles() {
  namespace fs = std::filesystem;
  std::vector<fs::path> files{"/etc/traceback/site"};
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') files.push_back(fs::path(home) / ".config/traceback/site");
  std::error_code error;
  std::erase_if(files, [&error](const fs::path& file) { return !fs::is_regular_file(file, error); });
  return files;
}

SiteRules siteRules() {
  SiteRules rules;
  for (const auto& file : siteFiles())
    if (const auto bytes = readWhole(file)) addSiteRules(textOf(*bytes), rules);
  return rules;
}

}  // namespace traceback::collect
