// What will be copied: decisions as data, before a byte is emitted.
#pragma once

#include <optional>
#include <vector>

#include "instrument/analysis/program.h"
#include "instrument/emit/function_emitter.h"
#include "instrument/instrument.h"

namespace traceback::instrument {

struct Plan {
  Program program;
  std::vector<std::optional<EntryWindow>> windows;  // by function
  std::uint32_t codeBase = 0;                       // a multiple of codeUnit
  std::uint32_t codeSpan = 0;
  std::uint32_t codeUnit = 0;  // what the widest DAG owns, or format::kCodeUnit
  bool isKnown = false;  // by the profile, as a program
  bool isProgram = false;  // as its codes go: it names an interpreter
};

// Decides which functions are copied, and tiles them. The image must outlive the plan.
model::Result<Plan> makePlan(const loader::ElfImage& image, const Options& options, const Progress& progress);

}  // namespace traceback::instrument
