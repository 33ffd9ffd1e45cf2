// traceback profile: counts in snaps which ways branches went, for the instrumentor.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <format>
#include <print>

#include "app/traceback/command.h"
#include "app/traceback/output.h"
#include "app/traceback/output_file.h"
#include "loader/mapped_file.h"
#include "loader/profile/count_branches.h"
#include "model/utf8.h"

namespace traceback::app {

namespace {

struct ProfileCall {
  std::vector<std::string> snaps;
  std::string output;
  bool add = false;
};

model::Result<model::BranchProfile> formerProfile(const ProfileCall& call) {
  if (!call.add || !std::filesystem::exists(call.output)) return model::BranchProfile();
  const auto file = loader::MappedFile::open(call.output, loader::MappedFile::Mode::Copy);
  if (!file) return std::unexpected(file.error());
  return model::BranchProfile::parse(file->text(), call.output);
}

int writeProfile(const ProfileCall& call) {
  auto profile = formerProfile(call);
  if (!profile) return complain(profile.error());
  loader::BranchCounting all;
  {
    ProgressLine progress("counting branches");
    for (std::size_t i = 0; i < call.snaps.size(); ++i) {
      const auto counted = loader::countBranches(call.snaps[i], *profile);
      if (!counted) return complain(counted.error());
      all.records += counted->records;
      all.withoutMap += counted->withoutMap;
      progress.show(static_cast<double>(i + 1) / static_cast<double>(call.snaps.size()));
    }
  }
  if (all.records == 0)
    return complain({.message = "no record of a known module, so there is nothing to go by",
                     .file = call.snaps.front(),
                     .offset = {}});
  OutputFile file(call.output);
  if (file.error() != 0 || !file.write(profile->text()) || !file.keep())
    return cannotWrite(call.output, file.error());
  std::println("{}: {} records of {} modules{}", model::printable(call.output), profile->records(),
               profile->modules().size(),
               all.withoutMap == 0 ? "" : std::format(", {} of others left out", all.withoutMap));
  return kDone;
}

}  // namespace

void addProfile(CLI::App& app, Action& chosen) {
  auto call = std::make_shared<ProfileCall>();
  auto* command =
      app.add_subcommand("profile", "Counts in snaps which ways branches went, so that recording costs less");
  command->add_option("SNAP", call->snaps, "NAME.tbsnap, any number")->required()->type_name("");
  command->add_option("-o,--output", call->output, "Where to write the counts: NAME.tbprofile")
      ->required()
      ->type_name("OUT");
  command->add_flag("--add", call->add, "Add to what the file has already");
  command->footer(
      "Give the file to `traceback run --profile` or `traceback instrument --profile`: probes are then\n"
      "put where they are seldom met, and what never ran takes few bytes. What is recorded stays the\n"
      "same. Snaps of work like that to come serve best, made while it goes on (traceback snap): each\n"
      "has the last records of each thread, and samples of those before. It holds for the same builds\n"
      "of the files, known by their build ids; of others nothing is known, and nothing lost.");
  command->callback([call, &chosen] { chosen = [call] { return writeProfile(*call); }; });
}

}  // namespace traceback::app
