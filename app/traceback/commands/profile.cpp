// traceback profile: counts in snaps which ways branches went, for the instrumentor.
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <format>

#include "app/traceback/command.h"
#include "app/traceback/installation.h"
#include "app/traceback/output.h"
#include "app/traceback/output_file.h"
#include "app/traceback/profile_files.h"
#include "app/traceback/program_search.h"
#include "app/traceback/renewal.h"
#include "app/traceback/say.h"
#include "app/traceback/training.h"
#include "loader/profile/count_branches.h"
#include "model/utf8.h"

namespace traceback::app {

namespace {

struct ProfileCall {
  std::vector<std::string> snaps;
  pid_t pid = 0;
  std::uint64_t seconds = 0;
  double every = 1;
  std::string output;  // empty: kept for runs to come
  bool add = false, forget = false, unlessKept = false;
};

model::Result<model::BranchProfile> formerProfile(const ProfileCall& call) {
  if (!call.add || !std::filesystem::exists(call.output)) return model::BranchProfile();
  return readProfile(call.output);
}

class Counts {
 public:
  explicit Counts(model::BranchProfile former) : m_profile(std::move(former)) {}

  model::Result<void> add(const std::filesystem::path& snap) {
    const auto counted = loader::countBranches(snap, m_profile);
    if (!counted) return std::unexpected(counted.error());
    m_all.records += counted->records;
    m_all.withoutMap += counted->withoutMap;
    m_all.uncounted += counted->uncounted;
    return {};
  }
  TakeSnap taking() {
    return [this](const std::filesystem::path& snap) { return add(snap); };
  }
  const model::BranchProfile& profile() const { return m_profile; }
  std::string text() const {
    return std::format("{} records of {} modules{}{}", m_profile.records(), m_profile.modules().size(),
                       m_all.withoutMap == 0 ? "" : std::format(", {} of others left out", m_all.withoutMap),
                       m_all.uncounted == 0 ? "" : std::format(", no room for {} more", m_all.uncounted));
  }
  const loader::BranchCounting& all() const { return m_all; }

 private:
  model::BranchProfile m_profile;
  loader::BranchCounting m_all;
};

model::Result<void> countSnaps(const std::vector<std::string>& snaps, Counts& counts) {
  ProgressLine progress("counting branches");
  for (std::size_t i = 0; i < snaps.size(); ++i) {
    if (auto counted = counts.add(snaps[i]); !counted) return counted;
    progress.show(static_cast<double>(i + 1) / static_cast<double>(snaps.size()));
  }
  return {};
}

model::Result<void> countRun(const std::vector<std::string>& words, Counts& counts) {
  const auto program = findProgram(words.front());
  if (!program) return std::unexpected(program.error());
  const auto status = trainByRun(words, counts.taking());
  if (!status) return std::unexpected(status.error());
  if (WIFSIGNALED(*status))
    tellLine("traceback: {} was ended by signal {}", model::printable(words.front()), WTERMSIG(*status));
  else if (WEXITSTATUS(*status) != 0)
    tellLine("traceback: {} ended with status {}", model::printable(words.front()), WEXITSTATUS(*status));
  return {};
}

model::Result<std::filesystem::path> folderToKeepIn() {
  auto folder = profileFolder();
  if (!folder) return model::fail("no folder to keep profiles in: set HOME or XDG_DATA_HOME, or use -o FILE");
  return *folder;
}

int forgetAll() {
  const auto folder = folderToKeepIn();
  if (!folder) return complain(folder.error());
  const auto forgotten = forgetProfiles(*folder);
  if (!forgotten) return complain(forgotten.error());
  sayLine("{}: {} modules forgotten", model::printable(folder->string()), *forgotten);
  return kDone;
}

// Else programs would wait for that, a server that is restarted among them.
void renewCopies() {
  const auto installation = findInstallation();
  const auto options = usualOptions();
  if (!installation || !options) return;
  if (const auto cache = cacheFor(installation->program, *options)) renewNow(*cache, *options);
}

int takeProfile(const ProfileCall& call, const std::vector<std::string>& words) {
  if (call.forget) {
    if (!call.snaps.empty() || !words.empty())
      return complainAboutCall("profile: --forget stands alone: it forgets all that is kept");
    return forgetAll();
  }
  if ((call.snaps.empty() ? 0 : 1) + (call.pid == 0 ? 0 : 1) + (words.empty() ? 0 : 1) != 1)
    return complainAboutCall("profile: name snaps, or --pid PID, or a program: -- PROG [ARGUMENT...]");
  const auto folder = folderToKeepIn();
  if (call.output.empty() && !folder) return complain(folder.error());
  if (call.unlessKept && isProfileKept(*folder, std::format("/proc/{}/exe", call.pid))) {
    sayLine("{}: something is kept of the program of process {}", model::printable(folder->string()),
            call.pid);
    return kDone;
  }
  if (!call.output.empty())
    for (const std::string& snap : call.snaps)
      if (const int status = refuseToReplace(snap, call.output); status != kDone) return status;
  auto former = formerProfile(call);
  if (!former) return complain(former.error());
  Counts counts(std::move(*former));
  const auto counted =
      !words.empty() ? countRun(words, counts)
      : call.pid != 0
          ? trainByProcess(call.pid, std::chrono::seconds(call.seconds),
                           std::chrono::milliseconds(std::int64_t(call.every * 1000)), counts.taking())
          : countSnaps(call.snaps, counts);
  if (!counted) return complain(counted.error());
  const model::BranchProfile& profile = counts.profile();
  if (counts.all().records == 0)
    return complain({.message = "no record of a known module, so there is nothing to go by",
                     .file = !words.empty()  ? words.front()
                             : call.pid != 0 ? std::format("process {}", call.pid)
                                             : call.snaps.front(),
                     .offset = {}});
  const std::string output = call.output.empty() ? folder->string() : call.output;
  if (const auto put = call.output.empty() ? keepProfiles(*folder, profile, Renewal::Always)
                                           : writeProfile(output, profile);
      !put)
    return complain(put.error());
  // Standard output is the program's, if one ran.
  const std::string result = std::format("{}: {}", model::printable(output), counts.text());
  if (words.empty())
    sayLine("{}", result);
  else
    tellLine("traceback: {}", result);
  if (call.output.empty()) renewCopies();
  return kDone;
}

}  // namespace

void addProfile(CLI::App& app, Action& chosen, const std::vector<std::string>& words) {
  auto call = std::make_shared<ProfileCall>();
  auto* command =
      app.add_subcommand("profile", "Counts which ways branches went, so that recording costs less");
  command->add_option("SNAP", call->snaps, "NAME.tbsnap, any number")->type_name("");
  auto* output = command
                     ->add_option("-o,--output", call->output,
                                  "Write the counts there, NAME.tbprofile, and do not keep them")
                     ->type_name("OUT");
  command->add_flag("--add", call->add, "Add to what that file has already")->needs(output);
  auto* pid = command
                  ->add_option("--pid", call->pid,
                               "Count in this process of `traceback run`, until it ends or you interrupt")
                  ->check(CLI::PositiveNumber)
                  ->type_name("PID");
  command->add_option("--for", call->seconds, "With --pid: for so long")
      ->check(CLI::PositiveNumber)
      ->needs(pid)
      ->type_name("SECONDS");
  command->add_option("--every", call->every, "With --pid: how long it runs between two looks (default: 1)")
      ->check(CLI::Range(0.1, 86400.0))
      ->needs(pid)
      ->type_name("SECONDS");
  command
      ->add_flag("--unless-kept", call->unlessKept,
                 "With --pid: not if something is kept of that build of the program")
      ->needs(pid)
      ->excludes(output);
  command->add_flag("--forget", call->forget, "Forget all that is kept")->excludes(output, pid);
  command->usage(
      "Usage: traceback profile [OPTIONS] -- PROG [ARGUMENT...]\n"
      "       traceback profile [OPTIONS] --pid PID\n"
      "       traceback profile [OPTIONS] SNAP...\n"
      "       traceback profile --forget");
  command->footer(
      "Whatever `traceback run` runs from now on is recorded by the counts: probes are put where they are\n"
      "seldom met, and what never ran takes few bytes. What is recorded stays the same. They are kept for\n"
      "each file in $XDG_DATA_HOME/traceback/profiles, where those of several runs add up; a file that is\n"
      "written instead (-o) is for `traceback run --profile` and `traceback instrument --profile`. A "
      "program\n"
      "is run, recorded, with all that it starts, and every record is counted, which takes about as long\n"
      "again, and 4 MB a thread; work like that to come serves best. In a process that runs already, each\n"
      "look counts the last records of each thread, and samples of those before; it stops the process for\n"
      "some milliseconds. So do snaps that there are (traceback snap). No snap of all this is kept, nor is\n"
      "that of a crash. Counts hold for the same builds of the files, known by their build ids; of others\n"
      "nothing is known, and nothing lost.");
  command->callback(
      [call, &words, &chosen] { chosen = [call, &words] { return takeProfile(*call, words); }; });
}

}  // namespace traceback::app
