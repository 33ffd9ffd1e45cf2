// traceback policy: tells what is wrong with a policy file.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <format>

#include "app/traceback/command.h"
#include "app/traceback/output.h"
#include "app/traceback/policy_check.h"
#include "app/traceback/say.h"
#include "model/utf8.h"
#include "runtime/collect/files/system_file.h"
#include "runtime/collect/rules/policy_place.h"
#include "runtime/collect/rules/site_rules.h"
#include "runtime/inject/snaps/policy.h"

namespace traceback::app {

model::Result<std::vector<std::string>> checkPolicy(const std::filesystem::path& file) {
  const auto bytes = collect::readWhole(file);
  if (!bytes) return std::unexpected(bytes.error());
  if (bytes->size() > inject::kMostPolicyText) {
    return model::fail(std::format("is too long for a policy: at most {} bytes", inject::kMostPolicyText),
                       file.string());
  }
  const std::string text = collect::textOf(*bytes);
  inject::Policy policy;
  std::vector<inject::PolicyProblem> problems(64);
  const unsigned wrong = inject::parsePolicy(text.data(), text.size(), policy, problems.data(),
                                             static_cast<unsigned>(problems.size()));
  std::vector<std::string> lines;
  for (unsigned i = 0; i < wrong && i < problems.size(); ++i) {
    lines.push_back(
        std::format("{}:{}: {}", model::printable(file.string()), problems[i].line, problems[i].reason));
  }
  return lines;
}

bool policySnapsReports() {
  const std::filesystem::path file = collect::policyInUse();
  if (file.empty()) return false;
  const auto bytes = collect::readWhole(file);
  if (!bytes || bytes->size() > inject::kMostPolicyText) return false;
  const std::string text = collect::textOf(*bytes);
  inject::Policy policy;
  inject::parsePolicy(text.data(), text.size(), policy, nullptr, 0);
  return policy.snapReports;
}

namespace {

// A line for each rule of a site file that is wrong.
model::Result<std::vector<std::string>> checkSite(const std::filesystem::path& file) {
  const auto bytes = collect::readWhole(file);
  if (!bytes) return std::unexpected(bytes.error());
  collect::SiteRules rules;
  std::vector<std::string> lines;
  for (const auto& problem : collect::addSiteRules(collect::textOf(*bytes), rules))
    lines.push_back(std::format("{}:{}: {}", model::printable(file.string()), problem.line, problem.reason));
  return lines;
}

// Says what is wrong with it, or that nothing is.
int tell(const std::filesystem::path& file, bool site) {
  const auto wrong = site ? checkSite(file) : checkPolicy(file);
  if (!wrong) return complain(wrong.error());
  for (const std::string& line : *wrong) tellLine("traceback: {}", line);
  if (wrong->empty()) sayLine("{}: nothing is wrong", model::printable(file.string()));
  return wrong->empty() ? kDone : kBadInput;
}

}  // namespace

void addPolicy(CLI::App& app, Action& chosen) {
  struct Call {
    std::string file;
    bool site = false;
  };
  auto call = std::make_shared<Call>();
  auto* command = app.add_subcommand("policy", "Names each line of a policy file that is wrong");
  command
      ->add_option("FILE", call->file,
                   "Policy file, see traceback-policy(5) (default: the one that is read here)")
      ->type_name("");
  command->footer("A line that is wrong is left out when a program is recorded; the others hold.");
  command->add_flag("--site", call->site,
                    "Site file instead, see traceback-site(5) (default: those that are read here)");
  command->callback([call, &chosen] {
    chosen = [call] {
      if (!call->file.empty()) return tell(call->file, call->site);
      const auto policy = collect::policyInUse();
      const auto files = call->site       ? collect::siteFiles()
                         : policy.empty() ? std::vector<std::filesystem::path>()
                                          : std::vector{policy};
      if (files.empty())
        sayLine("no {} file: there is none where traceback-{}(5) says", call->site ? "site" : "policy",
                call->site ? "site" : "policy");
      int status = kDone;
      for (const auto& file : files) status = std::max(status, tell(file, call->site));
      return status;
    };
  });
}

}  // namespace traceback::app
