#include "app/traceback/file_plan.h"

#include <algorithm>
#include <format>

#include "app/traceback/function_fate.h"
#include "app/traceback/policy_check.h"
#include "app/traceback/program_search.h"
#include "app/traceback/thread_storage.h"
#include "instrument/analysis/eligibility.h"
#include "loader/mapped_file.h"
#include "runtime/format/skip_reason.h"
#include "runtime/inject/audit/pattern.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

using inject::audit::matchesAny;

bool fitsAny(const std::vector<std::string>& patterns, const std::string& path) {
  return std::ranges::any_of(patterns,
                             [&](const std::string& one) { return matchesAny(one.c_str(), path.c_str()); });
}

// From the map of an instrumented file.
model::Result<instrument::Report> reportOf(const fs::path& instrumented) {
  const auto file = loader::MappedFile::open(instrumented);
  if (!file) return std::unexpected(file.error());
  const auto image = loader::ElfImage::parse(file->bytes(), instrumented.string());
  if (!image) return std::unexpected(image.error());
  const auto fates = fatesIn(*image);
  if (!fates) return std::unexpected(fates.error());
  instrument::Report report;
  report.functions = fates->size();
  report.outputBytes = file->bytes().size();
  for (const instrument::FunctionFate& fate : *fates) {
    report.textBytes += fate.size;
    report.instrumented += fate.copied ? 1 : 0;
    if (fate.reason != format::SkipReason::None)
      ++(fate.copied ? report.entriesLeft : report.skipped)[std::string(format::skipReasonName(fate.reason))];
  }
  return report;
}

void take(FilePlan& plan, FilePlan::State state, model::Result<instrument::Report> report) {
  if (!report) {
    plan.reason = report.error().message;
    return;
  }
  plan.state = state;
  plan.report = std::move(*report);
}

// Whether an instrumented copy of the program is what runs.
bool isCopied(const LoadedFile& program, const Patterns& patterns) {
  if (!patterns.reasonAgainst(program.path).empty()) return false;
  const auto file = loader::MappedFile::open(program.contents);
  if (!file) return false;
  const auto image = loader::ElfImage::parse(file->bytes(), program.path);
  return image && instrument::checkFile(*image, instrument::threadSlotBeside(*image));
}

}  // namespace

std::string_view stateName(FilePlan::State state) {
  switch (state) {
    case FilePlan::State::New:
      return "new";
    case FilePlan::State::Cached:
      return "cached";
    case FilePlan::State::Instrumented:
      return "instrumented";
    case FilePlan::State::AsItIs:
      return "as-it-is";
    case FilePlan::State::Excluded:
      return "excluded";
  }
  return "";
}

std::string Patterns::reasonAgainst(const std::string& path) const {
  if (matchesAny(inject::audit::kCLibrary, path.c_str())) return "the C library is left as it is";
  for (const char* sanitizer :
       {inject::audit::kSanitizers, inject::audit::kAddressSanitizer, inject::audit::kUndefinedSanitizer})
    if (matchesAny(sanitizer, path.c_str())) return "libraries of sanitizers are left as they are";
  if (!only.empty() && !fitsAny(only, path)) return "fits no pattern of --only";
  return fitsAny(exclude, path) ? "fits a pattern of --exclude" : "";
}

std::string reasonAgainstAll(const LoadedFiles& loaded, const Patterns& patterns) {
  if (!loaded.untraced.empty()) return loaded.untraced;
  for (const LoadedFile& file : loaded.files) {
    if (matchesAny(inject::audit::kSanitizers, file.path.c_str()))
      return "it runs under a sanitizer that cannot be recorded beside, so it is left alone";
    if (matchesAny(inject::audit::kAddressSanitizer, file.path.c_str()) && !policySnapsReports())
      return "it runs under a sanitizer, and the policy does not snap its reports, so it is left alone";
  }
  if (!loaded.pid) {
    const bool copied = isCopied(loaded.files.front(), patterns);
    if (std::string refusal = refusalOf(loaded, copied ? threadAlignmentFor(loaded) : 0); !refusal.empty())
      return refusal;
  }
  const fs::path& program = loaded.files.front().contents;
  return program.empty() ? std::string() : reasonToRunAsIs(program).value_or("");
}

FilePlan planFor(const LoadedFile& file, InstrumentedCache::Use use,
                 const std::optional<InstrumentedCache>& cache, const Patterns& patterns,
                 const instrument::Options& options, const instrument::Progress& progress) {
  using State = FilePlan::State;
  FilePlan plan;
  plan.reason = file.reason;
  if (file.contents.empty()) return plan;
  std::error_code error;
  const auto size = fs::file_size(file.contents, error);
  if (!error) plan.fileBytes = size;
  if (auto reason = patterns.reasonAgainst(file.path); !reason.empty()) {
    plan.state = State::Excluded;
    plan.reason = std::move(reason);
  } else if (isInstrumented(file.contents)) {
    take(plan, State::Instrumented, reportOf(file.contents));
  } else if (const auto known = cache ? cache->lookUp(file.contents, use) : std::nullopt; !known) {
    take(plan, State::New, instrument::planFile(file.contents, options, progress));
  } else if (known->copy.empty()) {
    // "FILE: why"
    const auto end = known->reason.find(": ");
    plan.reason = known->reason.starts_with('/') && end != std::string::npos ? known->reason.substr(end + 2)
                                                                             : known->reason;
  } else {
    take(plan, State::Cached, reportOf(known->copy));
  }
  return plan;
}

}  // namespace traceback::app
