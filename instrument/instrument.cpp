#include "instrument/instrument.h"

#include <algorithm>
#include <cstring>

#include "instrument/analysis/eligibility.h"
#include "instrument/code_bases.h"
#include "instrument/elf/elf_plan.h"
#include "instrument/elf/elf_writer.h"
#include "instrument/elf/preinit.h"
#include "instrument/new_segment.h"
#include "instrument/origin.h"
#include "instrument/output_file.h"
#include "instrument/plan.h"
#include "instrument/rounding.h"
#include "instrument/starter.h"
#include "loader/mapped_file.h"
#include "runtime/format/module.h"
#include "runtime/format/origin.h"
#include "runtime/format/skip_reason.h"

namespace traceback::instrument {
namespace {

using loader::ElfImage;
using model::fail;
using model::Result;

Report reportOf(const Plan& plan, const NewSegment& segment) {
  Report report;
  for (const Function& f : plan.program.functions) {
    ++report.functions;
    report.textBytes += f.size;
    if (f.skip != format::SkipReason::None) {
      ++report.skipped[std::string(format::skipReasonName(f.skip))];
      continue;
    }
    ++report.instrumented;
    if (f.entryLeft != format::SkipReason::None)
      ++report.entriesLeft[std::string(format::skipReasonName(f.entryLeft))];
  }
  report.newTextBytes = segment.copyEnd.value - segment.copyStart.value;
  report.tableBytes = segment.tablesEnd.value - segment.copyEnd.value;
  return report;
}

// The file, with the record of its original if it is to have one. That record is proved to be good: what it
// says is carried out before anything is written.
Result<std::vector<std::byte>> makeFile(const ElfImage& image, const ElfPlan& layout, ElfAdditions& additions,
                                        const Options& options) {
  auto bytes = writeElf(image, layout, additions);
  if (!bytes || !options.keepOrigin) return bytes;
  Options choices = options;  // what it looks for, and the record itself, the file says elsewhere
  choices.runtime.clear();
  choices.keepOrigin = false;
  const auto text = textOf(choices);
  if (!text) return std::unexpected(text.error());
  // The record is behind everything else, so it changes nothing of what it is about but the header of ELF.
  additions.unloaded.push_back(
      {format::kOriginSection, originRecord(image.bytes(), *bytes, options.product, *text)});
  bytes = std::vector<std::byte>{};  // before as much is needed again
  bytes = writeElf(image, layout, additions);
  if (!bytes) return bytes;
  const auto written = ElfImage::parse(*bytes, image.path());
  if (!written) return std::unexpected(written.error());
  const auto original = originalBytes(*written);
  if (!original || !std::ranges::equal(*original, image.bytes()))
    return fail("its original could not be had back from what would be written", image.path());
  return bytes;
}

struct Form {
  Report report;
  std::vector<std::byte> bytes;
};

Result<std::uint32_t> baseAmongOthers(const Plan& plan, const std::filesystem::path& input,
                                      const std::filesystem::path& output, const Options& options) {
  if (options.codeBases.empty() || (options.codesOfCopies && plan.isProgram)) return plan.codeBase;
  if (!options.codesOfCopies)
    return takeCodes(options.codeBases, output, plan.codeSpan, plan.codeUnit, plan.codeBase);
  // One behind the other: spread, they would leave no room for large ones.
  const std::uint32_t first = roundedUp(kLibraryCodes.first, plan.codeUnit);
  return takeCodes(options.codeBases, input, plan.codeSpan, plan.codeUnit, first, kLibraryCodes)
      .value_or(plan.codeBase);
}

// `name`: what will be written, and as which its codes are known (code_bases.h); empty: nothing.
Result<Form> instrumentedForm(const std::filesystem::path& input, const std::filesystem::path& name,
                              const Options& options, const Progress& progress) {
  const auto file = loader::MappedFile::open(input);
  if (!file) return std::unexpected(file.error());
  const auto image = ElfImage::parse(file->bytes(), input.string());
  if (!image) return std::unexpected(image.error());
  if (const auto ok = checkFile(*image, options.threadSlot); !ok) return std::unexpected(ok.error());
  if (!options.runtime.empty() && !canBeRuntime(options.runtime))
    return fail("cannot be the path of a runtime", options.runtime);
  const auto whyNotAlone = options.runtime.empty() ? std::nullopt : whyNoPreinit(*image);
  const bool startsAlone = !options.runtime.empty() && !whyNotAlone;
  const auto layout = planAdditions(
      *image, sizeof(format::ModuleSlots) + (startsAlone ? kStarterSlotSize : 0), options.threadAlignment);
  if (!layout) return std::unexpected(layout.error());
  auto plan = makePlan(*image, options, progress);
  if (!plan) return std::unexpected(plan.error());
  if (!name.empty()) {
    const auto base = baseAmongOthers(*plan, input, name, options);
    if (!base) return std::unexpected(base.error());
    plan->codeBase = *base;
  }
  auto segment = buildSegment(*plan, layout->segment, layout->moduleSlots, options, progress);
  if (!segment) return std::unexpected(segment.error());

  Report report = reportOf(*plan, *segment);
  *plan = {};  // large, and done with
  if (report.instrumented == 0) return fail("none of its functions can be instrumented", input.string());
  report.startsAlone = startsAlone;
  report.whyNotAlone = whyNotAlone.value_or("");
  ElfAdditions additions;
  if (startsAlone) additions.preinit = addStarter(*image, *layout, options.runtime, *segment);
  additions.segment = std::move(segment->bytes);
  additions.parts = std::move(segment->parts);
  additions.ehFrameHeader = segment->ehFrameHeader;
  additions.ehFrameHeaderSize = segment->ehFrameHeaderSize;
  additions.patches = std::move(segment->patches);
  additions.symbols = std::move(segment->symbols);
  additions.unloaded.push_back({format::kMapSection, std::move(segment->map)});
  auto bytes = makeFile(*image, *layout, additions, options);
  if (!bytes) return std::unexpected(bytes.error());
  report.file = input.string();
  report.outputBytes = bytes->size();
  return Form{std::move(report), std::move(*bytes)};
}

}  // namespace

Result<Report> instrumentFile(const std::filesystem::path& input, const std::filesystem::path& output,
                              const Options& options, const Progress& progress) {
  auto form = instrumentedForm(input, output, options, progress);
  if (!form) return std::unexpected(form.error());
  if (const auto written = writeFile(output, form->bytes, input); !written)
    return std::unexpected(written.error());
  if (progress) progress(1);
  form->report.output = output.string();
  return std::move(form->report);
}

Result<Report> planFile(const std::filesystem::path& input, const Options& options,
                        const Progress& progress) {
  auto form = instrumentedForm(input, {}, options, progress);
  if (!form) return std::unexpected(form.error());
  if (progress) progress(1);
  return std::move(form->report);
}

Result<void> restoreFile(const std::filesystem::path& input, const std::filesystem::path& output) {
  const auto file = loader::MappedFile::open(input);
  if (!file) return std::unexpected(file.error());
  const auto image = ElfImage::parse(file->bytes(), input.string());
  if (!image) return std::unexpected(image.error());
  if (!isInstrumented(*image)) return fail("is not instrumented", input.string());
  const auto original = originalBytes(*image);
  if (!original) return std::unexpected(original.error());
  return writeFile(output, *original, input);
}

}  // namespace traceback::instrument
