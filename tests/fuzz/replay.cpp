// Runs a fuzz target without libFuzzer: on every file of a corpus, on prefixes of it, and on it with bytes
// changed, the same ones every time.
//
//   replay CORPUS [MUTATIONS-A-FILE]
//
// Ends by the signal of the first crash; standard error says which input it was, to be made again.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace {

using Input = std::vector<std::uint8_t>;

std::string current;

void sayWhich(int signal) {
  constexpr std::string_view text = "replay: ended in ";
  [[maybe_unused]] auto written = ::write(2, text.data(), text.size());
  written = ::write(2, current.data(), current.size());
  written = ::write(2, "\n", 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void run(const Input& input, std::string what) {
  current = std::move(what);
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

Input mutated(Input input, std::mt19937& random) {
  if (input.empty()) return input;
  const auto place = [&] { return random() % input.size(); };
  const auto count = 1 + random() % 4;
  for (unsigned i = 0; i < count; ++i) {
    switch (random() % 5) {
      case 0:
        input[place()] ^= static_cast<std::uint8_t>(1U << (random() % 8));
        break;
      case 1:
        input[place()] = static_cast<std::uint8_t>(random());
        break;
      case 2: {  // a number that is likely to be at a limit
        static constexpr std::uint32_t kNumbers[] = {0,           1,      0x7FFF'FFFF, 0x8000'0000,
                                                     0xFFFF'FFFF, 0xFFFF, 0x10000};
        const auto number = kNumbers[random() % std::size(kNumbers)];
        const auto at = place() & ~std::size_t{3};
        for (std::size_t k = 0; k < 4 && at + k < input.size(); ++k)
          input[at + k] = static_cast<std::uint8_t>(number >> (8 * k));
        break;
      }
      case 3: {  // a stretch moved
        const auto from = place(), to = place();
        const auto length = std::min<std::size_t>({16, input.size() - from, input.size() - to});
        std::copy_n(Input(input).begin() + static_cast<std::ptrdiff_t>(from), length,
                    input.begin() + static_cast<std::ptrdiff_t>(to));
        break;
      }
      default:
        input.resize(1 + random() % input.size());
        break;
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("replay: CORPUS is missing\n", stderr);
    return 2;
  }
#ifndef __SANITIZE_ADDRESS__  // has better things to say
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, sayWhich);
#else
  std::signal(SIGABRT, sayWhich);
#endif
  const auto mutations = argc > 2 ? std::stoul(argv[2]) : 2000UL;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[1])) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  if (files.empty()) {
    std::fputs("replay: the corpus is empty\n", stderr);
    return 1;
  }
  std::size_t runs = 0;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    const Input input{std::istreambuf_iterator<char>(in), {}};
    const auto name = file.filename().string();
    run(input, name);
    const auto step = std::max<std::size_t>(1, input.size() / 512);
    for (std::size_t size = 0; size < input.size(); size += step, ++runs) {
      run(Input(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(size)),
          name + " cut to " + std::to_string(size));
    }
    for (unsigned long i = 0; i < mutations; ++i, ++runs) {
      std::mt19937 random(static_cast<unsigned>(i));
      run(mutated(input, random), name + " mutation " + std::to_string(i));
    }
  }
  std::printf("%zu files, %zu variations\n", files.size(), runs);
  return 0;
}
