// traceback run: instruments a program on demand and becomes it.
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <print>

#include "app/traceback/command.h"
#include "app/traceback/installation.h"
#include "app/traceback/instrumented_cache.h"
#include "app/traceback/output.h"
#include "app/traceback/program_search.h"
#include "instrument/instrument.h"
#include "model/utf8.h"
#include "runtime/collect/recover.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

constexpr char kSnapDir[] = "--snap-dir";
constexpr char kBufferSize[] = "--buffer-size";

struct RunCall {
  std::string snapFolder;
  std::string bufferSize;
  bool nullMode = false;
};

// Becomes the program; comes back only if that failed.
model::Error becomeProgram(const fs::path& file, const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  execv(file.c_str(), arguments.data());
  return {
      .message = std::format("cannot be run: {}", std::strerror(errno)), .file = file.string(), .offset = {}};
}

constexpr std::uint64_t kLeastBuffer = std::uint64_t{16} << 10;
constexpr std::uint64_t kGreatestBuffer = std::uint64_t{1} << 30;

// "65536", "64K", "1M"
std::optional<std::uint64_t> parseSize(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  const std::string_view suffix(end, text.data() + text.size());
  if (suffix.empty()) return value;
  const auto unit = std::string_view("KMG").find(suffix.front() & ~0x20);
  if (suffix.size() != 1 || unit == std::string_view::npos) return std::nullopt;
  const unsigned shift = 10 * (static_cast<unsigned>(unit) + 1);
  if (value > (UINT64_MAX >> shift)) return std::nullopt;
  return value << shift;
}

// What the runtime needs to know. It takes these out of the program's sight again.
model::Result<void> setEnvironment(const RunCall& call, const Installation& installation,
                                   const fs::path& program) {
  const std::string& runtime = installation.runtime.native();
  if (runtime.find_first_of(" :") != std::string::npos) {
    return model::fail(
        "the dynamic linker splits such a path: install TraceBack where no space or colon is in it", runtime);
  }
  std::string preload = runtime;
  if (const char* others = std::getenv("LD_PRELOAD"); others != nullptr && *others != '\0') {
    preload += std::string(":") + others;
  }
  collect::removeEnded(collect::defaultRingFolder());
  setenv("LD_PRELOAD", preload.c_str(), 1);
  setenv("TRACEBACK_COLLECTOR", installation.program.c_str(), 1);
  setenv("TRACEBACK_PROGRAM", program.c_str(), 1);
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
  if (!call.bufferSize.empty())
    setenv("TRACEBACK_BUFFER_SIZE", std::to_string(*parseSize(call.bufferSize)).c_str(), 1);
  return {};
}

model::Result<fs::path> instrumentedCopy(const fs::path& program, const Installation& installation,
                                         bool nullMode) {
  const auto folder = cacheFolder();
  if (!folder) return model::fail("no folder for the instrumented copy: set HOME or XDG_CACHE_HOME");
  const auto identity = hashOfFile(installation.program);
  if (!identity) return std::unexpected(identity.error());
  InstrumentedCache cache(*folder / "instrumented", nullMode ? ~*identity : *identity);
  return cache.get(program, [nullMode](const fs::path& input, const fs::path& output) -> model::Result<void> {
    ProgressLine progress("traceback: instrumenting " + input.string());
    instrument::Options options;
    options.nullMode = nullMode;
    auto report =
        instrument::instrumentFile(input, output, options, [&](double part) { progress.show(part); });
    if (!report) return std::unexpected(report.error());
    return {};
  });
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
  if (!program) return complain(program.error());

  const char* setting = std::getenv("TRACEBACK");
  if (setting != nullptr && std::string_view(setting) == "off")
    return complain(becomeProgram(*program, words));

  const auto runAsItIs = [&](const model::Error& reason) {
    std::println(stderr, "traceback: runs untraced: {}", model::printable(reason.text()));
    return complain(becomeProgram(*program, words));
  };
  const auto installation = findInstallation();
  if (!installation) return runAsItIs(installation.error());
  if (installation->runtime.empty()) {
    return runAsItIs({.message = "libtraceback.so is not beside it: install it again",
                      .file = installation->program.string(),
                      .offset = {}});
  }
  if (const auto reason = reasonToRunAsIs(*program))
    return runAsItIs({.message = *reason, .file = program->string(), .offset = {}});

  // Another run may remove the copy as too old just now: once more, then.
  for (int attempt = 0;; ++attempt) {
    const auto copy = instrumentedCopy(*program, *installation, call.nullMode);
    if (!copy) return runAsItIs(copy.error());
    if (attempt == 0) {
      if (auto set = setEnvironment(call, *installation, *program); !set) return complain(set.error());
    }
    const model::Error failure = becomeProgram(*copy, words);
    if (errno != ENOENT || attempt > 0) return complain(failure);
  }
}

}  // namespace

std::vector<std::string> takeProgramWords(std::vector<std::string>& arguments) {
  std::size_t i = 1;
  for (; i < arguments.size() && arguments[i].starts_with('-') && arguments[i] != "--"; ++i) {
    if (arguments[i] == kSnapDir || arguments[i] == kBufferSize) ++i;  // and its value
  }
  std::vector<std::string> words;
  if (i >= arguments.size()) return words;
  words.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + (arguments[i] == "--" ? 1 : 0),
               arguments.end());
  arguments.resize(i);
  return words;
}

void addRun(CLI::App& app, Action& chosen, const std::vector<std::string>& words) {
  auto call = std::make_shared<RunCall>();
  auto* command = app.add_subcommand(
      "run", "Runs a program so that it records, and becomes it: same process, same ending");
  command->add_option(kSnapDir, call->snapFolder, "Where snaps go (default: $XDG_STATE_HOME/traceback)")
      ->type_name("DIR");
  command->add_option(kBufferSize, call->bufferSize, "Bytes of trace kept for each thread: 65536, 64K, 1M")
      ->type_name("N");
  command->add_flag("--null", call->nullMode, "Run a copy of the code without probes: records nothing");
  command->usage("Usage: traceback run [OPTIONS] -- PROG [ARGUMENT...]");
  command->footer(
      "The instrumented copy is kept in $XDG_CACHE_HOME/traceback/instrumented. A program that cannot be\n"
      "instrumented runs as it is, and standard error says so. TRACEBACK=off in the environment: no "
      "recording.");
  command->callback(
      [call, &words, &chosen] { chosen = [call, &words] { return runProgram(*call, words); }; });
}

}  // namespace traceback::app
