// truth_lockstep [--limit N] [--unwind] --runtime LIBRARY ORIGINAL INSTRUMENTED [ARGUMENT...]
//
// Runs both side by side and compares their state at every original instruction. Both get the runtime, so
// that the rest lies where it lies in the other. What the two print goes to /dev/null. Exit status: 0 if they
// do the same, 1 if not, 2 if the call or a file is at fault.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <format>
#include <print>
#include <string_view>

#include "tests/truth/lockstep/lockstep.h"

using namespace traceback::truth;
namespace fs = std::filesystem;

int main(int argc, char** argv) {
  LockstepOptions options;
  std::string runtime;
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; ++at) {
    const std::string_view option = argv[at];
    if (option == "--unwind") {
      options.unwind = true;
    } else if (option == "--limit" && at + 1 < argc) {
      options.limit = std::strtoull(argv[++at], nullptr, 10);
    } else if (option == "--runtime" && at + 1 < argc) {
      runtime = argv[++at];
    } else {
      std::println(stderr, "truth_lockstep: no such option: {}", option);
      return 2;
    }
  }
  if (argc - at < 2 || runtime.empty()) {
    std::println(stderr,
                 "usage: truth_lockstep [--limit N] [--unwind] --runtime LIBRARY ORIGINAL INSTRUMENTED "
                 "[ARGUMENT...]");
    return 2;
  }
  const std::string originalPath = argv[at], copyPath = argv[at + 1];
  const auto original = ElfFile::open(originalPath);
  const auto file = InstrumentedFile::open(copyPath);
  if (!original || !file) {
    std::println(stderr, "truth_lockstep: {}", original ? file.error() : original.error());
    return 2;
  }
  Findings findings;
  const FlagFlow flags(*original, file->functions);
  CopyChecker copies(*original, *file, flags, false, findings);
  std::vector<CopiedPlace> places;
  for (std::size_t i = 0; i < file->functions.size(); ++i) {
    copies.check(i);
    places.insert(places.end(), copies.places().begin(), copies.places().end());
  }
  copies.checkObligations();
  for (const std::string& wrong : findings.wrong) std::println("{}", wrong);
  if (!findings.wrong.empty()) return 1;
  std::ranges::sort(places, {}, &CopiedPlace::start);

  // Under names of the same length, for they lie on the stack.
  std::string folder = "/dev/shm/traceback-lockstep-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    std::println(stderr, "truth_lockstep: no folder to work in");
    return 2;
  }
  const std::string name = fs::path(originalPath).filename(), one = folder + "/1", two = folder + "/2";
  std::error_code failed;
  fs::create_directory(one, failed);
  fs::create_directory(two, failed);
  fs::copy_file(originalPath, one + "/" + name, failed);
  if (!failed) fs::copy_file(copyPath, two + "/" + name, failed);
  std::vector<std::string> arguments{name}, environment;
  for (int i = at + 2; i < argc; ++i) arguments.emplace_back(argv[i]);
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  environment.push_back("LD_PRELOAD=" + runtime);
  std::expected<LockstepResult, std::string> result = std::unexpected("the files cannot be copied");
  if (!failed) {
    // What they print is not this program's output.
    const int out = ::dup(1), null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 0);
    ::dup2(null, 1);
    ::dup2(null, 2);
    Lockstep lockstep(*original, *file, flags, places, copies.windows());
    result = lockstep.run(one + "/" + name, two + "/" + name, arguments, environment, options);
    ::dup2(out, 1);
  }
  fs::remove_all(folder, failed);
  if (!result) {
    std::println("{}", result.error());
    return 1;
  }
  if (result->inCopies == 0) {
    std::println("none of the copies ran: is the runtime there?");
    return 1;
  }
  std::println(
      "{} instructions, {} of them in copies, {} ways out, {} handlers, {} places unwound, status {:#x}{}: "
      "the same",
      result->instructions, result->inCopies, result->outside, result->handlers, result->unwound,
      result->status, result->cutShort ? " (cut short)" : "");
  return 0;
}
