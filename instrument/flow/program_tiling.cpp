#include "instrument/flow/program_tiling.h"

#include <algorithm>

#include "instrument/flow/tiling.h"
#include "instrument/parallel.h"
#include "instrument/rounding.h"
#include "runtime/format/record.h"

namespace traceback::instrument {
namespace {

using format::SkipReason;

// Of a module: so many that dozens of such find room in a process.
constexpr std::uint64_t kMostCodes = 1u << 26;

// Those of which a profile knows that they count, the hottest first.
std::vector<std::uint32_t> hotFunctions(const std::vector<Function>& functions) {
  std::vector<std::uint32_t> hot;
  std::vector<std::uint64_t> heat(functions.size());
  for (std::uint32_t i = 0; i < functions.size(); ++i) {
    const Function& f = functions[i];
    if (f.skip != SkipReason::None || !f.ran() || f.isCold()) continue;
    heat[i] = std::ranges::max(f.blocks, {}, &Block::ran).ran;
    hot.push_back(i);
  }
  std::ranges::stable_sort(hot, std::ranges::greater{}, [&](std::uint32_t i) { return heat[i]; });
  return hot;
}

class ProgramTiling {
 public:
  ProgramTiling(std::vector<Function>& functions, const Waves& waves, unsigned threads)
      : m_functions(functions), m_waves(waves), m_threads(threads), m_bits(functions.size()) {}

  // As long paths as the codes last for.
  void run() {
    const std::vector<std::uint32_t> hot = hotFunctions(m_functions);
    std::size_t longOnes = hot.size();
    for (unsigned bits = kShortPathBits;;) {
      std::ranges::fill(m_bits, std::uint8_t(bits));
      for (std::size_t i = 0; i < longOnes; ++i) m_bits[hot[i]] = kLongPathBits;
      if (tileAll() <= kMostCodes) return;
      if (longOnes != 0)
        longOnes /= 2;
      else if (bits > 4)
        bits -= 2;
      else
        return;
    }
  }

 private:
  // Returns how many codes that takes.
  std::uint64_t tileAll() {
    for (const auto& wave : m_waves)
      forEachIndex(wave.size(), m_threads,
                   [&](std::size_t i) { tile(m_functions[wave[i]], m_bits[wave[i]], m_functions); });
    std::uint64_t codes = 0;
    for (const Function& f : m_functions)
      for (const Dag& dag : f.dags) codes += std::uint64_t{1} << dag.bits;
    return codes;
  }

  std::vector<Function>& m_functions;
  const Waves& m_waves;
  const unsigned m_threads;
  std::vector<std::uint8_t> m_bits;  // the most, by function
};

}  // namespace

Codes tileProgram(Program& program, const Waves& waves, unsigned threads) {
  std::vector<Function>& functions = program.functions;
  ProgramTiling(functions, waves, threads).run();
  Codes codes{.span = 0, .unit = format::kCodeUnit};
  for (Function& f : functions) {
    if (f.skip != SkipReason::None) continue;
    const std::uint32_t after = assignCodes(f, codes.span);
    if (after > format::kEndCode / 4) {
      f.skip = SkipReason::CodesExhausted;
      continue;
    }
    codes.span = after;
    for (const Dag& dag : f.dags) codes.unit = std::max(codes.unit, 1u << dag.bits);
  }
  codes.span = roundedUp(codes.span, format::kCodeUnit);
  // What became of them only now.
  for (Function& f : functions)
    for (Block& block : f.blocks)
      if (block.passesEntry && functions[block.callee].skip != SkipReason::None) block.stopAtEntry();
  return codes;
}

}  // namespace traceback::instrument
