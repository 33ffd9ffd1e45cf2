// truth_stepper [--ranges FILE] [--output FILE] [--limit N] [--name NAME] [--] PROGRAM [ARGUMENT...]
//
// FILE has a line "START END" a range, in hexadecimal; without it, all of .text is a range. Without an
// output file, the sequences are printed: a line "thread N", then an address a line.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <print>
#include <string_view>

#include "tests/truth/stepper/stepper.h"

using namespace traceback::truth;

int main(int argc, char** argv) {
  StepOptions options;
  std::string rangesFile, output;
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; ++at) {
    const std::string_view option = argv[at];
    if (option == "--") {
      ++at;
      break;
    }
    if (at + 1 == argc) break;
    const char* value = argv[++at];
    if (option == "--ranges") {
      rangesFile = value;
    } else if (option == "--output") {
      output = value;
    } else if (option == "--name") {
      options.name = value;
    } else if (option == "--limit") {
      options.limit = std::strtoull(value, nullptr, 10);
    } else {
      std::println(stderr, "truth_stepper: no such option: {}", option);
      return 2;
    }
  }
  if (at >= argc) {
    std::println(stderr,
                 "usage: truth_stepper [--ranges FILE] [--output FILE] [--limit N] [--name NAME] [--] "
                 "PROGRAM [ARGUMENT...]");
    return 2;
  }
  const std::vector<std::string> command(argv + at, argv + argc);
  if (rangesFile.empty()) {
    auto text = sectionRange(command[0], ".text");
    if (!text) {
      std::println(stderr, "truth_stepper: {}", text.error());
      return 1;
    }
    options.ranges = *text;
  } else {
    std::ifstream file(rangesFile);
    for (Range range; file >> std::hex >> range.start >> range.end;) options.ranges.push_back(range);
    if (options.ranges.empty()) {
      std::println(stderr, "truth_stepper: {}: no ranges", rangesFile);
      return 1;
    }
  }
  auto sequence = stepProgram(command, options);
  if (!sequence) {
    std::println(stderr, "truth_stepper: {}", sequence.error());
    return 1;
  }
  if (!output.empty()) {
    if (auto written = writeSequence(*sequence, output); !written) {
      std::println(stderr, "truth_stepper: {}", written.error());
      return 1;
    }
    return 0;
  }
  for (std::size_t i = 0; i < sequence->threads.size(); ++i) {
    const ThreadSequence& thread = sequence->threads[i];
    std::println("thread {}", i);
    for (std::uint32_t address : thread.addresses) std::println("{:x}", address);
    for (const SignalSeen& seen : thread.received)
      std::println("signal {} after {} at {:x}{}", seen.signal, seen.position, seen.address,
                   seen.synchronous != 0 ? " synchronous" : "");
  }
  std::println("status {:#x}", unsigned(sequence->waitStatus));
}
