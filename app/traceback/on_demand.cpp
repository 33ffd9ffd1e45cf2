#include "app/traceback/on_demand.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <format>

#include "app/traceback/installation.h"
#include "app/traceback/large_pages.h"
#include "app/traceback/loaded_files.h"
#include "app/traceback/output.h"
#include "app/traceback/thread_storage.h"
#include "loader/elf/elf_image.h"
#include "loader/mapped_file.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

std::string readAll(int pipe) {
  std::string text;
  char buffer[1024];
  for (ssize_t got = 0; (got = read(pipe, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR);)
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

// A process of its own can have large pages. Comes back if it cannot be executed.
void executeCopy(int pipe, const fs::path& input, const fs::path& output,
                 const instrument::Options& options) {
  const auto installation = findInstallation();
  const auto text = instrument::textOf(options);
  if (!installation || !text || setenv("TRACEBACK_INSTRUMENT", text->c_str(), 1) != 0) return;
  askForLargePages();
  const std::string tell = std::to_string(pipe);
  execl(installation->program.c_str(), "traceback", "copy", "--tell", tell.c_str(), "--codes",
        options.codeBases.c_str(), "--", input.c_str(), output.c_str(), static_cast<char*>(nullptr));
}

model::Result<void> instrumentInChild(const fs::path& input, const fs::path& output,
                                      const instrument::Options& options) {
  int ends[2];
  if (pipe(ends) != 0) return model::fail(std::format("no pipe: {}", std::strerror(errno)));
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    executeCopy(ends[1], input, output, options);
    instrumentAndTell(ends[1], input, output, options);
    _exit(0);
  }
  close(ends[1]);
  const std::string message = readAll(ends[0]);
  close(ends[0]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0) return model::fail("no process could be started for the instrumentor");
  if (!WIFEXITED(status))
    return model::fail(std::format("{}: the instrumentor met signal {}", input.string(), WTERMSIG(status)));
  if (message.empty() && WEXITSTATUS(status) != 0)
    return model::fail(
        std::format("{}: the instrumentor ended with {}", input.string(), WEXITSTATUS(status)));
  if (message.empty()) return {};
  const auto end = message.find('\0');
  return model::fail(message.substr(end + 1), message.substr(0, end));
}

// Tells builds of a program apart: by the build id if it has one, for that is quick, else by all of it.
model::Result<std::uint64_t> identityOf(const fs::path& program) {
  const auto file = loader::MappedFile::open(program);
  if (!file) return std::unexpected(file.error());
  const loader::Bytes bytes = file->bytes();
  const auto image = loader::ElfImage::parse(bytes, program.string());
  const std::string buildId = image ? image->buildId() : std::string();
  return buildId.empty() ? XXH3_64bits(bytes.data(), bytes.size())
                         : XXH3_64bits(buildId.data(), buildId.size());
}

// get() or renew(), of what is made by those options.
model::Result<InstrumentedCache::Known> askCache(decltype(&InstrumentedCache::get) ask,
                                                 const InstrumentedCache& cache, const fs::path& file,
                                                 InstrumentedCache::Use use,
                                                 const instrument::Options& options) {
  // A program may have set one with which we could not enter our own folders.
  const mode_t before = umask(077);
  const bool program = use == InstrumentedCache::Use::Execute;
  instrument::Options forFile = optionsOfCopies(options, cache.folder() / "codes");
  if (program) forFile.threadSlot = threadSlotIn(file);
  std::string refused;
  const auto make = [&](const fs::path& input, const fs::path& output) -> model::Result<void> {
    if (!refused.empty()) return model::fail(refused);  // of its libraries, which may be others some day
    return instrumentInChild(input, output, forFile);
  };
  const auto variant = [&] {
    if (program) {
      if (const auto loaded = filesOfProgram(file)) {
        forFile.threadAlignment = threadAlignmentFor(*loaded);
        refused = refusalOf(*loaded, forFile.threadAlignment);
      }
    }
    const auto slot = static_cast<std::uint32_t>(forFile.threadSlot - format::kThreadSlot);
    return instrument::hashOfProfileFor(file, options) ^ forFile.threadAlignment ^ std::uint64_t{slot} << 32;
  };
  auto known = (cache.forThreadSlot(forFile.threadSlot).*ask)(file, use, make, variant);
  umask(before);
  return known;
}

}  // namespace

instrument::Options optionsOfCopies(instrument::Options options, const fs::path& codes) {
  options.codeBases = codes;
  options.codesOfCopies = true;
  return options;
}

// The whole message: an empty one is success, else the file, a zero, and what is wrong.
void instrumentAndTell(int pipe, const fs::path& input, const fs::path& output,
                       const instrument::Options& options) {
  std::string message;
  {
    ProgressLine progress("traceback: instrumenting " + input.string());
    const auto report =
        instrument::instrumentFile(input, output, options, [&](double part) { progress.show(part); });
    if (!report) message = report.error().file + '\0' + report.error().message;
  }
  for (std::size_t at = 0; at < message.size();) {
    const ssize_t wrote = write(pipe, message.data() + at, message.size() - at);
    if (wrote <= 0 && errno != EINTR) break;
    at += static_cast<std::size_t>(std::max<ssize_t>(wrote, 0));
  }
}

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

std::uint64_t cacheLimit() {
  const char* text = std::getenv("TRACEBACK_CACHE_SIZE");
  return text == nullptr ? InstrumentedCache::kDefaultLimit
                         : parseSize(text).value_or(InstrumentedCache::kDefaultLimit);
}

model::Result<instrument::Options> optionsFromEnvironment() {
  const char* text = std::getenv("TRACEBACK_INSTRUMENT");
  return instrument::parseOptions(text == nullptr ? "" : text);
}

model::Result<instrument::Options> usualOptions() {
  auto options = optionsFromEnvironment();
  if (options && options->profile.empty() && options->profiles.empty() && !options->nullMode)
    options->profiles = profileFolder().value_or(fs::path());
  return options;
}

std::optional<fs::path> copiesFolder() {
  auto folder = cacheFolder();
  if (folder) *folder /= "instrumented";
  return folder;
}

model::Result<InstrumentedCache> cacheFor(const fs::path& instrumentor, const instrument::Options& options) {
  const auto folder = copiesFolder();
  if (!folder) return model::fail("no folder for the instrumented copies: set HOME or XDG_CACHE_HOME");
  const auto identity = identityOf(instrumentor);
  if (!identity) return std::unexpected(identity.error());
  const auto text = instrument::textOf(options);
  if (!text) return std::unexpected(text.error());
  return InstrumentedCache(*folder, XXH3_64bits_withSeed(text->data(), text->size(), *identity),
                           cacheLimit());
}

model::Result<InstrumentedCache::Known> prepare(const InstrumentedCache& cache, const fs::path& file,
                                                InstrumentedCache::Use use,
                                                const instrument::Options& options) {
  return askCache(&InstrumentedCache::get, cache, file, use, options);
}

void renewOutdated(const InstrumentedCache& cache, const instrument::Options& options) {
  for (const auto& one : cache.outdated()) {
    instrument::Options forProcess = options;
    forProcess.threadSlot = one.threadSlot;
    [[maybe_unused]] const auto known =
        askCache(&InstrumentedCache::renew, cache, one.file, one.use, forProcess);
  }
}

}  // namespace traceback::app
