// tracebackd: the service. No Qt here.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <format>

#include "app/tracebackd/listener.h"
#include "app/tracebackd/service.h"
#include "model/utf8.h"
#include "runtime/collect/files/default_folders.h"
#include "runtime/collect/files/system_file.h"
#include "runtime/collect/keeping/housekeeping.h"
#include "runtime/collect/keeping/retention.h"
#include "runtime/collect/rules/policy_place.h"
#include "runtime/collect/rules/site_rules.h"
#include "runtime/collect/service/service_client.h"
#include "runtime/inject/snaps/policy.h"

namespace {

using namespace traceback;
using namespace traceback::app;

constexpr int kDone = 0, kBadInput = 1, kBadCall = 2;

// Whether anybody hears it changes nothing: std::print would throw.
void say(const std::string& text) {
  std::fputs(std::format("tracebackd: {}\n", model::printable(text)).c_str(), stderr);
}

int complain(const std::string& text, int status) {
  say(text);
  return status;
}

// By what the policy says which holds for programs that this user records by default.
void tidyUp(const collect::SiteRules& rules) {
  const std::filesystem::path file = collect::policyInUse();
  const auto bytes = file.empty() ? collect::Bytes() : collect::readWhole(file).value_or(collect::Bytes());
  const std::string text = collect::textOf(bytes);
  inject::Policy policy;
  inject::parsePolicy(text.data(), std::min(text.size(), inject::kMostPolicyText), policy, nullptr, 0);
  collect::keepWithin(collect::defaultSnapFolder(),
                      {.diskLimit = policy.diskLimit, .keepSeconds = policy.keepSeconds}, {});
  collect::tidyRings(collect::defaultRingFolder(), rules.keepRings);
}

int run(bool once, bool quiet) {
  if (once) {
    tidyUp(collect::siteRules());
    return kDone;
  }
  // What ends it is waited for; that nobody reads what it says any more ends nothing.
  sigset_t blocked;
  ::sigemptyset(&blocked);
  for (const int signal : {SIGTERM, SIGINT, SIGPIPE}) ::sigaddset(&blocked, signal);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  auto listener = listenAt(collect::serviceSocket(collect::defaultRingFolder()));
  if (!listener) return complain(listener.error().text(), kBadInput);
  ServiceOptions options;
  options.ringFolder = collect::defaultRingFolder();
  options.tidy = tidyUp;
  std::error_code error;
  options.command = std::filesystem::read_symlink("/proc/self/exe", error).replace_filename("traceback");
  if (!quiet) options.log = say;
  Service service(std::move(*listener), std::move(options));
  const auto ran = service.run();
  return ran ? kDone : complain(ran.error().text(), kBadInput);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Snaps recorded processes of a group together when one of them breaks down, knows which are watched, "
      "and "
      "removes snaps and rings when their time is over.",
      "tracebackd");
  app.set_version_flag("--version", "tracebackd " TRACEBACK_VERSION);
  app.set_help_flag("-h,--help", "Print this and exit");
  app.failure_message(CLI::FailureMessage::simple);
  app.get_formatter()->column_width(34);
  bool once = false, quiet = false;
  app.add_flag("--tidy", once, "Removes the snaps and rings whose time is over, and ends");
  app.add_flag("--quiet", quiet, "Says nothing on standard error of what happens");
  app.footer(
      "Runs until it is ended; systemd can start it when somebody first asks for it (tracebackd.socket). "
      "Programs are recorded without it: it is there for groups, stalls, profiles and tidying, as the "
      "site file has them (man traceback-site), for `traceback services` and for `keep` in the policy.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return complain(error.what(), kBadCall);
  }
  return run(once, quiet);
}
