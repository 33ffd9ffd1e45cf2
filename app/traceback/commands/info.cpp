// traceback info: what a file is and holds, a program's or a snap.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <map>
#include <optional>

#include "app/traceback/command.h"
#include "app/traceback/function_fate.h"
#include "app/traceback/output.h"
#include "app/traceback/say.h"
#include "app/traceback/trace_file.h"
#include "instrument/instrument.h"
#include "instrument/origin.h"
#include "loader/elf/elf_image.h"
#include "loader/map/map_view.h"
#include "loader/mapped_file.h"
#include "model/text_format.h"
#include "model/utf8.h"
#include "model/waits.h"
#include "runtime/format/map.h"
#include "runtime/format/skip_reason.h"
#include "runtime/format/snap.h"
#include "runtime/format/starter.h"

namespace traceback::app {

namespace {

void row(std::string_view name, std::string_view value) { sayLine("{:14}{}", name, model::printable(value)); }

void rowIfAny(std::string_view name, std::string_view value) {
  if (!value.empty()) row(name, value);
}

bool isSnap(loader::Bytes bytes) {
  const auto magic = loader::readAt<std::uint64_t>(bytes, 0);
  return magic && *magic == format::kSnapMagic;
}

// What a program that is started by itself does about the runtime.
std::string runtimeText(const loader::ElfImage& image) {
  const Elf64_Shdr* section = image.section(format::kStarterSection);
  if (section == nullptr) return "none of its own: it records in processes that are traced already";
  const auto header = loader::readAt<format::StarterHeader>(image.contents(*section), 0);
  if (!header || header->magic != format::kStarterMagic) return "unknown: the record is damaged";
  if (header->version != format::kStarterVersion) return "unknown: instrumented by another version";
  const auto* text = reinterpret_cast<const char*>(header->runtime);
  const std::string path(text, strnlen(text, sizeof header->runtime));
  return path + (access(path.c_str(), R_OK) == 0 ? "" : "  (is not there: runs untraced)");
}

void originRows(const loader::ElfImage& image) {
  row("runtime", runtimeText(image));
  if (!instrument::hasOrigin(image)) {
    row("original", "not recorded: cannot be had back from it");
    return;
  }
  const auto origin = instrument::readOrigin(image);
  if (!origin) {
    row("original", origin.error().message);
    return;
  }
  row("written by", std::format("TraceBack {}, instrumentor {}", origin->product, origin->instrumentor));
  rowIfAny("options", origin->options);
  const auto original = instrument::originalBytes(image);
  row("original", std::format("{}, hash {}{}", humanSize(origin->size), origin->hash,
                              original ? "" : "  (changed since: cannot be had back from it)"));
}

int infoOnElf(loader::Bytes bytes, const std::string& path) {
  const auto image = loader::ElfImage::parse(bytes, path);
  if (!image) return complain(image.error());
  row("kind", image->segment(PT_INTERP) != nullptr ? "program"
              : image->type() == ET_DYN            ? "shared library"
              : image->type() == ET_REL            ? "object file"
                                                   : "statically linked program");
  rowIfAny("build id", image->buildId());
  const Elf64_Shdr* section = image->section(format::kMapSection);
  if (section == nullptr) {
    row("instrumented", "no");
    return kDone;
  }
  const auto map = loader::MapView::parse(image->contents(*section), path, section->sh_offset);
  if (!map) return complain(map.error());
  const auto& header = map->header();
  row("instrumented",
      (header.flags & format::kMapIsNull) != 0 ? "yes, in null mode: it records nothing" : "yes");
  row("from", map->originalName());
  row("map id", loader::mapIdText(map->id()));
  originRows(*image);
  std::uint64_t copied = 0, originalBytes = 0, copyBytes = 0;
  std::map<std::string, std::uint64_t> skipped;
  for (std::uint32_t i = 0; i < map->functionCount(); ++i) {
    const auto& function = map->function(i);
    if (function.copy == 0) {
      ++skipped[std::string(format::skipReasonName(static_cast<format::SkipReason>(function.skipReason)))];
      continue;
    }
    ++copied;
    originalBytes += function.originalSize;
    copyBytes += function.copySize;
  }
  row("functions", std::format("{} of {} instrumented ({} of code became {})", copied, map->functionCount(),
                               humanSize(originalBytes), humanSize(copyBytes)));
  for (const auto& [reason, count] : skipped) row("", std::format("left alone: {:6}  {}", count, reason));
  row("blocks", std::format("{} in {} DAGs", map->blockCount(), header.dagCount));
  return kDone;
}

int infoOnSnap(const std::string& path) {
  const auto loaded = openTrace(path);
  if (!loaded) return complain(loaded.error());
  const model::Trace& trace = **loaded;
  row("kind", "snap");
  row("program", std::format("{} (pid {})", trace.summary.program, trace.summary.pid));
  rowIfAny("command line", trace.summary.commandLine);
  rowIfAny("host", trace.summary.host);
  row("reason", reasonText(trace.summary));
  if (const auto thrown = trace.firstThrowOfFault()) {
    const auto entry = trace.threads[thrown->thread.value]->entry(thrown->entry);
    row("thrown first",
        std::format("in thread {}, {} in {}", model::threadNumber(thrown->thread),
                    model::placeText(trace, entry), model::functionText(trace, entry.function)));
  }
  row("when", whenText(trace.summary.when));
  rowIfAny("kept out", trace.summary.redacted);
  for (const std::string& line : groupLines(trace.summary, path)) row("group", line);
  for (const auto& module : trace.modules) {
    row("module",
        std::format("{}{}{}{}", module.path, module.buildId.empty() ? "" : "  build id " + module.buildId,
                    module.hasMap ? "" : "  (no map: its records cannot be read)",
                    module.hasLines ? "" : "  (no line information)"));
  }
  for (std::uint32_t i = 0; i < trace.threads.size(); ++i) {
    const auto& thread = *trace.threads[i];
    row("thread",
        std::format("{}  {} (tid {}): {} entries from {} records{}{}", model::threadNumber({i}),
                    thread.info().name, thread.info().tid, thread.entryCount(), thread.info().recordCount,
                    thread.info().atFault ? ", at fault" : "", thread.info().ended ? ", ended" : ""));
  }
  for (const model::Standing& standing : model::standings(trace)) {
    if (!standing.waitsFor) continue;
    const std::string where =
        standing.at ? model::entryText(trace, trace.threads[standing.thread.value]->entry(*standing.at))
                    : "what it recorded";
    row("waits", std::format("thread {} for {} {}{}; behind {}", model::threadNumber(standing.thread),
                             standing.waitsForEnd
                                 ? "the end of thread"
                                 : std::format("the lock at {:#x}, held by thread", standing.lock.value),
                             model::threadNumber(*standing.waitsFor),
                             standing.deadlocked ? " (deadlock)" : "", where));
  }
  for (const auto& note : trace.report.notes()) {
    row(note.severity == model::Severity::Info ? "note" : "damage",
        note.count > 1 ? std::format("{} ({} times)", note.text, note.count) : note.text);
  }
  return kDone;
}

struct InfoCall {
  std::string path;
  std::optional<std::string> why;
  bool functions = false;
  std::string format;

  bool json() const { return format == "json"; }
};

int infoOnFunctions(loader::Bytes bytes, const InfoCall& call) {
  const auto image = loader::ElfImage::parse(bytes, call.path);
  if (!image) return complain(image.error());
  const auto fates = fatesIn(*image);
  if (!fates) return complain(fates.error());
  if (!call.why) {
    for (const auto& fate : *fates) printFate(fate, call.json());
    return kDone;
  }
  const auto chosen = fatesOf(*fates, *call.why);
  for (const auto* fate : chosen) printFate(*fate, call.json());
  if (!chosen.empty()) return kDone;
  return complain({.message = whyNoFunction(*image, *call.why), .file = call.path, .offset = {}});
}

int runInfo(const InfoCall& call) {
  if (call.why && call.why->empty())
    return complainAboutCall("info: --why takes the name of a function, or its 0xADDRESS");
  const std::string& path = call.path;
  const auto file = loader::MappedFile::open(path);
  if (!file) return complain(file.error());
  if (call.functions || call.why) {
    if (isSnap(file->bytes()))
      return complainAboutCall("info: --why and --functions take a program or library");
    return infoOnFunctions(file->bytes(), call);
  }
  if (call.json()) return complainAboutCall("info: --format json goes with --functions or --why");
  return isSnap(file->bytes()) ? infoOnSnap(path) : infoOnElf(file->bytes(), path);
}

}  // namespace

void addInfo(CLI::App& app, Action& chosen) {
  auto call = std::make_shared<InfoCall>();
  auto* command = app.add_subcommand("info", "Says what a snap, a program or a shared library holds");
  command->add_option("FILE", call->path, "A snap, or an ELF file, instrumented or not")
      ->required()
      ->type_name("");
  command
      ->add_option("--why", call->why,
                   "Say of this function whether it is traced, and if not why: by name or 0xADDRESS")
      ->type_name("FUNCTION");
  command->add_flag("--functions", call->functions, "List all functions, and what becomes of each");
  command->add_option("--format", call->format, "json: one object a function")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT");
  command->footer(
      "--why and --functions tell of a file that is not instrumented what would be done with it; nothing is\n"
      "written.");
  command->callback([call, &chosen] { chosen = [call] { return runInfo(*call); }; });
}

}  // namespace traceback::app
