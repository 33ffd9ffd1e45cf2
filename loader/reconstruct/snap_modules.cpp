#include "loader/reconstruct/snap_modules.h"

#include <format>

#include "loader/symbols/debuginfod.h"
#include "loader/symbols/dwarf_line_source.h"

namespace traceback::loader {

using format::SectionType;

namespace {

std::string fetchedText(std::uint64_t bytes, std::uint64_t total) {
  constexpr double kMegabyte = 1'000'000;
  return total == 0 ? std::string()
                    : std::format(": {:.1f} of {:.1f} MB", static_cast<double>(bytes) / kMegabyte,
                                  static_cast<double>(total) / kMegabyte);
}

std::string lastPart(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The module's map: the snap's slice, else the file's own; its id must be the one that was recorded.
std::shared_ptr<const LoadedMap> findMap(const SnapReader& snap, std::uint32_t index,
                                         const LoadedModule& module, bool useLocalMaps,
                                         std::string& problem) {
  problem = "not in the snap";
  const auto check =
      [&](model::Result<std::shared_ptr<const LoadedMap>> map) -> std::shared_ptr<const LoadedMap> {
    if (!map) {
      problem = map.error().message;
    } else if ((*map)->view.id() != module.mapId) {
      problem = "it is another map than the one recorded";
    } else {
      return *map;
    }
    return nullptr;
  };
  if (const auto* section = snap.find(SectionType::MapSlice, index)) {
    auto bytes = snap.read(*section);
    if (!bytes) {
      problem = bytes.error().message;
    } else if (auto map = check(mapFromBytes(std::move(*bytes), sectionText(*section)))) {
      return map;
    }
  }
  if (useLocalMaps && !module.path.empty()) {
    const auto sliceProblem = problem;
    if (auto map = check(mapFromElf(module.path))) return map;
    problem = sliceProblem;
  }
  return nullptr;
}

std::unique_ptr<const LineSource> findLines(const model::Module& module, const LoadedModule& loaded,
                                            const LoadOptions& options, Debuginfod& debuginfod,
                                            model::LoadReport& report) {
  if (!options.useDebugInformation) return nullptr;
  const ModuleFiles files{.path = module.path,
                          .loadedPath = loaded.path,
                          .buildId = module.buildId,
                          .debugPaths = options.debugPaths,
                          .debuginfod = &debuginfod};
  std::string text;
  auto source = options.lineSources ? options.lineSources(files, text) : openLineSource(files, text);
  if (!text.empty()) report.add(model::Severity::Info, module.name + ": " + text);
  return source;
}

// Empty of one that was traced.
std::string whyUntraced(const format::ProcessModule& module) {
  switch (static_cast<format::BindState>(module.bindState)) {
    case format::BindState::Bound:
      return {};
    case format::BindState::NoThreadSlot:
      return "too much thread-local storage was loaded before the runtime";
    case format::BindState::CodesTaken:
      return "the process had no codes left for its records";
    case format::BindState::VersionMismatch:
      return "it was instrumented for another version of the runtime";
    case format::BindState::TableFull:
      return "the process had more modules than can be told apart";
  }
  return "the runtime did not take it";
}

}  // namespace

SnapModules findModules(const SnapReader& snap, const SnapContents& contents, const LoadOptions& options,
                        model::LoadReport& report,
                        const std::function<bool(double, const std::string&)>& goOn) {
  SnapModules result;
  std::vector<LoadedModule> modules;
  const auto count = contents.modules.size();
  double done = 0;
  std::string name;
  Debuginfod debuginfod([&](std::uint64_t bytes, std::uint64_t total) {
    return goOn(done, std::format("Fetching debug information of {} from debuginfod{}", name,
                                  fetchedText(bytes, total)));
  });
  for (std::uint32_t i = 0; i < count; ++i) {
    auto module = moduleFrom(contents.modules[i]);
    done = i / static_cast<double>(count);
    name = lastPart(module.path);
    if (!goOn(done, "Reading the map of " + name)) break;
    if (const std::string why = whyUntraced(contents.modules[i]); !why.empty())
      report.add(model::Severity::DataLoss, std::format("{}: ran untraced: {}", name, why));
    module.map = findMap(snap, i, module, options.useLocalMaps, result.mapProblems.emplace_back());
    model::Module shown;
    const auto* map = module.view();
    shown.path =
        map != nullptr && !map->originalName().empty() ? std::string(map->originalName()) : module.path;
    shown.name = lastPart(shown.path);
    shown.buildId = map != nullptr ? map->buildId() : std::string{};
    shown.bias = module.bias;
    shown.start = model::toLinkTime(module.start, module.bias);
    shown.end = model::toLinkTime(module.end, module.bias);
    shown.hasMap = map != nullptr;
    result.lines.push_back(map != nullptr ? findLines(shown, module, options, debuginfod, report) : nullptr);
    shown.hasLines = result.lines.back() && result.lines.back()->hasLines();
    result.shown.push_back(std::move(shown));
    modules.push_back(std::move(module));
  }
  result.table = std::make_shared<const ModuleTable>(std::move(modules));
  return result;
}

}  // namespace traceback::loader
