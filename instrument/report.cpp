#include "instrument/analysis/eligibility.h"
#include "instrument/instrument.h"
#include "instrument/plan.h"

namespace traceback::instrument {

model::Result<std::vector<FunctionFate>> functionFates(const loader::ElfImage& image,
                                                       const Options& options) {
  if (auto eligible = checkFile(image, options.threadSlot); !eligible)
    return std::unexpected(eligible.error());
  const auto plan = makePlan(image, options, {});
  if (!plan) return std::unexpected(plan.error());
  std::vector<FunctionFate> out;
  for (const Function& f : plan->program.functions) {
    const bool copied = f.skip == format::SkipReason::None;
    out.push_back({f.start, f.size, f.name, copied, copied ? f.entryLeft : f.skip});
  }
  return out;
}

}  // namespace traceback::instrument
