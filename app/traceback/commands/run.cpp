// traceback run: instruments a program on demand and becomes it.
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <format>

#include "app/traceback/ahead.h"
#include "app/traceback/command.h"
#include "app/traceback/environment_list.h"
#include "app/traceback/installation.h"
#include "app/traceback/memory_option.h"
#include "app/traceback/on_demand.h"
#include "app/traceback/output.h"
#include "app/traceback/policy_check.h"
#include "app/traceback/program_search.h"
#include "app/traceback/renewal.h"
#include "app/traceback/say.h"
#include "model/utf8.h"
#include "runtime/collect/files/default_folders.h"
#include "runtime/collect/keeping/ended.h"
#include "runtime/collect/keeping/housekeeping.h"
#include "runtime/collect/keeping/learned.h"
#include "runtime/collect/rules/site_rules.h"
#include "runtime/format/cache.h"
#include "runtime/inject/audit/pattern.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

constexpr char kSnapDir[] = "--snap-dir";
constexpr char kBufferSize[] = "--buffer-size";
constexpr char kPolicy[] = "--policy";
constexpr char kOnly[] = "--only";
constexpr char kExclude[] = "--exclude";
constexpr char kMemory[] = "--memory";
constexpr char kProfile[] = "--profile";
constexpr char kDashes[] = "--";

struct RunCall {
  std::string snapFolder;
  std::string bufferSize;
  std::string policy;
  std::vector<std::string> only, exclude;
  std::string memory;
  std::string profile;
  bool withoutProfiles = false;
  bool nullMode = false;
  bool quiet = false;
};

// As shells and env(1) have them.
constexpr int kCannotBeRun = 126, kNotFound = 127;

// Becomes the program, of whose name a slash is part; comes back only if that failed, with the status.
int becomeProgram(const fs::path& file, const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  execvp(file.c_str(), arguments.data());  // a script that names no interpreter is the shell's
  const int why = errno;
  complain(
      {.message = std::format("cannot be run: {}", std::strerror(why)), .file = file.string(), .offset = {}});
  return why == ENOENT ? kNotFound : kCannotBeRun;
}

constexpr std::uint64_t kLeastBuffer = std::uint64_t{16} << 10;
constexpr std::uint64_t kGreatestBuffer = std::uint64_t{1} << 30;

model::Result<void> addLibrary(const char* variable, const fs::path& library, PlaceInList place) {
  const std::string& list = library.native();
  if (list.find_first_of(" :") != std::string::npos) {
    return model::fail(
        "the dynamic linker splits such a path: install TraceBack where no space or colon is in it", list);
  }
  addToList(variable, list, place);
  return {};
}

std::string joined(const std::vector<std::string>& patterns) {
  std::string text;
  for (const std::string& pattern : patterns) text += (text.empty() ? "" : "\n") + pattern;
  return text;
}

void setOrUnset(const char* variable, const std::string& value) {
  if (value.empty())
    unsetenv(variable);
  else
    setenv(variable, value.c_str(), 1);
}

// Processes of the run that write their errors elsewhere than we do say nothing of ours there: what is caught
// is compared.
void setTelling(bool quiet) {
  struct stat error{};
  if (quiet)
    setenv("TRACEBACK_TELL", format::kTellNever, 1);
  else if (fstat(STDERR_FILENO, &error) == 0)
    setenv("TRACEBACK_TELL", std::format("{:x}:{:x}", error.st_dev, error.st_ino).c_str(), 1);
  else
    unsetenv("TRACEBACK_TELL");
}

// But what is to be learned from, which goes as that is done.
void removeFormerRings(bool learns) {
  const fs::path rings = collect::defaultRingFolder();
  collect::removeEnded(rings, learns ? collect::learnedFolders(rings) : std::vector<fs::path>());
  collect::tidyRings(rings, collect::siteRules().keepRings);
}

// What the processes of the run need to know. The runtime takes these out of the program's sight again.
model::Result<void> setEnvironment(const RunCall& call, const Installation& installation,
                                   const InstrumentedCache& cache, const instrument::Options& options) {
  const auto instrumentation = instrument::textOf(options);
  if (!instrumentation) return std::unexpected(instrumentation.error());
  // Behind the user's, which then find it as they would find libc.
  if (auto added = addLibrary("LD_PRELOAD", installation.runtime, PlaceInList::Last); !added) return added;
  if (auto added = addLibrary("LD_AUDIT", installation.audit, PlaceInList::First); !added) return added;
  addToList("GLIBC_TUNABLES", format::kTunable, PlaceInList::First);
  setenv("TRACEBACK_COLLECTOR", installation.program.c_str(), 1);
  setenv("TRACEBACK_CACHE", cache.folder().c_str(), 1);
  setenv("TRACEBACK_AUDIT", "0000000000000000", 1);
  setTelling(call.quiet);
  setOrUnset("TRACEBACK_LEARN", options.profiles.empty() ? "" : "1");
  setOrUnset("TRACEBACK_INSTRUMENT", *instrumentation);
  setOrUnset("TRACEBACK_ONLY", joined(call.only));
  setOrUnset("TRACEBACK_EXCLUDE", joined(call.exclude));
  if (!call.snapFolder.empty()) {
    std::error_code error;
    const fs::path folder = fs::absolute(call.snapFolder, error);
    fs::create_directories(folder, error);
    if (error) return model::fail("cannot make this folder: " + error.message(), folder.string());
    if (access(folder.c_str(), W_OK | X_OK) != 0) {
      return model::fail(std::format("cannot write into this folder: {}", std::strerror(errno)),
                         folder.string());
    }
    setenv("TRACEBACK_SNAP_DIR", folder.c_str(), 1);
  }
  if (!call.memory.empty()) setenv("TRACEBACK_MEMORY", call.memory.c_str(), 1);
  if (!call.policy.empty()) {
    std::error_code error;
    const fs::path policy = fs::absolute(call.policy, error);
    const auto wrong = checkPolicy(policy);
    if (!wrong) return std::unexpected(wrong.error());
    for (const std::string& line : *wrong) tellLine("traceback: {}", line);
    setenv("TRACEBACK_POLICY", policy.c_str(), 1);
  }
  setOrUnset("TRACEBACK_SANITIZED", policySnapsReports() ? "record" : "");
  if (!call.bufferSize.empty())
    setenv("TRACEBACK_BUFFER_SIZE", std::to_string(*parseSize(call.bufferSize)).c_str(), 1);
  return {};
}

bool isChosen(const RunCall& call, const fs::path& program) {
  using inject::audit::matchesAny;
  return (call.only.empty() || matchesAny(joined(call.only).c_str(), program.c_str())) &&
         !matchesAny(joined(call.exclude).c_str(), program.c_str());
}

model::Result<instrument::Options> instrumentOptions(const RunCall& call) {
  auto options = usualOptions();
  if (!options) return options;
  options->nullMode = options->nullMode || call.nullMode;
  if (options->nullMode || call.withoutProfiles || !call.profile.empty()) options->profiles.clear();
  if (!call.profile.empty()) {
    if (auto used = instrument::useProfile(*options, call.profile); !used)
      return std::unexpected(used.error());
  }
  return options;
}

int runProgram(const RunCall& call, const std::vector<std::string>& words) {
  if (!call.bufferSize.empty()) {
    const auto size = parseSize(call.bufferSize);
    if (!size || *size < kLeastBuffer || *size > kGreatestBuffer) {
      return complainAboutCall("run: --buffer-size takes a number from 16K to 1G, not " + call.bufferSize);
    }
  }
  if (words.empty())
    return complainAboutCall("run: name a program: traceback run [OPTIONS] -- PROG [ARGUMENT...]");
  const auto program = findProgram(words.front());
  if (!program) {
    std::error_code error;
    complain(program.error());
    return words.front().contains('/') && fs::exists(words.front(), error) ? kCannotBeRun : kNotFound;
  }

  const char* setting = std::getenv("TRACEBACK");
  if (setting != nullptr && std::string_view(setting) == "off") return becomeProgram(*program, words);

  const auto sayUntraced = [](const std::string& reason) {
    tellLine("traceback: runs untraced: {}", model::printable(reason));
  };
  const auto runAsItIs = [&](const model::Error& reason) {
    sayUntraced(reason.text());
    return becomeProgram(*program, words);
  };
  const auto installation = findInstallation();
  if (!installation) return runAsItIs(installation.error());
  if (installation->runtime.empty() || installation->audit.empty()) {
    return runAsItIs(
        {.message = std::format("{} is not beside it: install it again",
                                installation->runtime.empty() ? "libtraceback.so" : "libtraceback-audit.so"),
         .file = installation->program.string(),
         .offset = {}});
  }
  if (const auto reason = reasonToRunAsIs(*program))
    return runAsItIs({.message = *reason, .file = program->string(), .offset = {}});

  const auto options = instrumentOptions(call);
  if (!options) return complain(options.error());
  const auto cache = cacheFor(installation->program, *options);
  if (!cache) return runAsItIs(cache.error());
  const bool goesByWhatIsKept = !options->profiles.empty();
  if (auto prepared = goesByWhatIsKept ? cache->prepareForRenewal() : cache->prepareFolders(); !prepared)
    return runAsItIs(prepared.error());
  if (goesByWhatIsKept) learnAndRenew(installation->program, *cache, *options);
  removeFormerRings(goesByWhatIsKept);
  // Each process has its files instrumented when it loads them, if they are not yet; only here is there
  // somebody to tell.
  std::error_code error;
  const fs::path file = fs::canonical(*program, error);
  if (!error && isChosen(call, file) && access(file.c_str(), R_OK) != 0) {
    sayUntraced(std::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
  } else if (!error && isElf(file) && !isInstrumented(file) && isChosen(call, file)) {
    const auto known = prepare(*cache, file, InstrumentedCache::Use::Execute, *options);
    if (!known) {
      sayUntraced(known.error().text());
    } else if (known->copy.empty()) {
      sayUntraced(known->reason);
    } else if (known->isNew) {
      prepareLibraries(*cache, file, *options, [&](const fs::path& path) { return isChosen(call, path); });
    }
  }
  if (auto set = setEnvironment(call, *installation, *cache, *options); !set) return complain(set.error());
  // By the name that the user gave it, for programs look at that.
  return becomeProgram(words.front().contains('/') ? fs::path(words.front()) : *program, words);
}

// Cuts them off, without dashes in front.
std::vector<std::string> takeFrom(std::vector<std::string>& arguments,
                                  std::vector<std::string>::iterator first) {
  const bool dashes = first != arguments.end() && *first == kDashes;
  std::vector<std::string> words(first + (dashes ? 1 : 0), arguments.end());
  arguments.erase(first, arguments.end());
  return words;
}

}  // namespace

std::vector<std::string> takeProgramWords(std::vector<std::string>& arguments) {
  auto first = arguments.begin() + std::min<std::ptrdiff_t>(1, std::ssize(arguments));
  for (; first != arguments.end() && first->starts_with('-') && *first != kDashes; ++first) {
    // and its value
    if (std::ranges::contains(std::initializer_list<std::string_view>{kSnapDir, kBufferSize, kPolicy, kOnly,
                                                                      kExclude, kMemory, kProfile},
                              *first) &&
        first + 1 != arguments.end())
      ++first;
  }
  return takeFrom(arguments, first);
}

std::vector<std::string> takeWordsBehindDashes(std::vector<std::string>& arguments) {
  return takeFrom(arguments, std::ranges::find(arguments, kDashes));
}

void addRun(CLI::App& app, Action& chosen, const std::vector<std::string>& words) {
  auto call = std::make_shared<RunCall>();
  auto* command = app.add_subcommand(
      "run", "Runs a program so that it records, and becomes it: same process, same ending");
  command->add_option(kSnapDir, call->snapFolder, "Where snaps go (default: $XDG_STATE_HOME/traceback)")
      ->type_name("DIR");
  command->add_option(kBufferSize, call->bufferSize, "Bytes of trace kept for each thread: 65536, 64K, 1M")
      ->type_name("N");
  command->add_option(kPolicy, call->policy, "What is snapped, and how often: see traceback-policy(5)")
      ->type_name("FILE");
  command
      ->add_option(kOnly, call->only,
                   "Instrument only files whose path or name fits this pattern; may be repeated")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  command->add_option(kExclude, call->exclude, "Leave such files alone; may be repeated")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  addMemoryOption(*command, call->memory);
  auto* profile =
      command
          ->add_option(
              kProfile, call->profile,
              "Put probes and code where they cost least by what this file of `traceback profile` says of\n"
              "which ways branches go (default: what is kept of the files)")
          ->type_name("FILE");
  command
      ->add_flag("--no-profile", call->withoutProfiles,
                 "Not by what is kept of the files; nor is anything kept of this run")
      ->excludes(profile);
  command->add_flag("--null", call->nullMode, "Run a copy of the code without probes: records nothing");
  command->add_flag("--quiet", call->quiet, "Do not name snaps on standard error");
  command->usage("Usage: traceback run [OPTIONS] -- PROG [ARGUMENT...]");
  command->footer(
      "The program, the libraries that it loads and the programs that it starts are instrumented when they "
      "are\n"
      "first met; the copies are kept in $XDG_CACHE_HOME/traceback/instrumented, up to TRACEBACK_CACHE_SIZE\n"
      "(default 4G). The C library stays as it is. A file that cannot be instrumented is used as it is; for "
      "the\n"
      "program itself, standard error says so; `traceback doctor` lists the others. A process that\n"
      "meets a fatal signal names its snap on standard error if that is where this command's goes, too.\n"
      "TRACEBACK in the environment: off: no recording; quiet: snaps are not named; tell: they always "
      "are.\n\n"
      "Exit status: the program's; 127 if there is no such program, 126 if it cannot be executed, 1 and 2 "
      "if\n"
      "something else is wrong.");
  command->callback(
      [call, &words, &chosen] { chosen = [call, &words] { return runProgram(*call, words); }; });
}

}  // namespace traceback::app
