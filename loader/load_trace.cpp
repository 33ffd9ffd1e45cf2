#include "loader/load_trace.h"

#include <sys/user.h>

#include <algorithm>
#include <format>

#include "loader/mapped_file.h"
#include "loader/snap/snap_contents.h"
#include "loader/symbols/dwarf_line_source.h"

namespace traceback::loader {

using format::SectionType;
using format::SnapReason;
using model::Severity;

namespace {

constexpr std::size_t kRipIndex = offsetof(user_regs_struct, rip) / 8;  // in SnapThread::registers

std::string lastPart(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class SnapLoader {
 public:
  SnapLoader(SnapReader snap, const LoadOptions& options, const Progress& progress, std::stop_token stop)
      : m_snap(std::move(snap)),
        m_options(options),
        m_progress(progress),
        m_stop(std::move(stop)),
        m_trace(std::make_shared<model::Trace>()) {}

  // Nothing if cancelled.
  std::optional<LoadedSnap> load() {
    say(0, "Reading the snap");
    m_contents = readContents(m_snap, m_trace->report);
    fillSummary();
    if (!loadModules() || !loadThreads()) return std::nullopt;
    m_context->names.freeze(m_trace->functions, m_trace->files);
    say(1, "Done");
    return LoadedSnap{.trace = m_trace, .sources = std::move(m_sources)};
  }

 private:
  struct Ring {
    std::uint32_t index = 0;
    RingView view;
  };
  struct Thread {
    model::ThreadTrace::Info info;
    std::optional<RingView> ring;
    ThreadEndState end;
    std::shared_ptr<const ThreadSource> source;
  };

  void say(double share, std::string_view stage) const {
    if (m_progress) m_progress(share, stage);
  }
  void note(Severity severity, std::string text, std::uint64_t count = 1) {
    if (count != 0) m_trace->report.add(severity, std::move(text), count);
  }

  void fillSummary() {
    auto& summary = m_trace->summary;
    if (const auto& process = m_contents.process) {
      summary.pid = process->pid;
      summary.program = paddedString(process->executable);
      if (process->startTsc != 0) m_trace->clockStart = {{process->startTsc}, {process->startRealtimeNs}};
      if (process->lastTsc != 0) m_trace->clockEnd = {{process->lastTsc}, {process->lastRealtimeNs}};
      if (process->ringsFailed != 0) {
        note(Severity::DataLoss, "threads that ran untraced because no ring could be made for them",
             process->ringsFailed);
      }
    }
    if (const auto& reason = m_contents.reason) {
      summary.reason = reason->reason <= static_cast<std::uint32_t>(SnapReason::Policy)
                           ? static_cast<model::TraceReason>(reason->reason)
                           : model::TraceReason::Unknown;
      summary.signal = reason->signal;
      summary.signalCode = reason->signalCode;
      summary.faultAddress = {reason->faultAddress};
      summary.when = {reason->realtimeNs};
      // Taken together: a better second pair of clocks than one from before.
      if (reason->tsc != 0 && reason->realtimeNs != 0)
        m_trace->clockEnd = {{reason->tsc}, {reason->realtimeNs}};
    }
    const auto host = [&](std::string_view key) {
      const auto found = m_contents.host.find(key);
      return found == m_contents.host.end() ? std::string{} : found->second;
    };
    summary.host = host("hostname");
    summary.commandLine = host("command line");
  }

  // The module's map: the snap's slice, else the file's own; its id must be the one that was recorded.
  std::shared_ptr<const LoadedMap> findMap(std::uint32_t index, const LoadedModule& module) {
    std::string problem = "not in the snap";
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
    if (const auto* section = m_snap.find(SectionType::MapSlice, index)) {
      auto bytes = m_snap.read(*section);
      if (!bytes) {
        problem = bytes.error().message;
      } else if (auto map = check(mapFromBytes(std::move(*bytes), sectionText(*section)))) {
        return map;
      }
    }
    if (m_options.useLocalMaps && !module.path.empty()) {
      const auto sliceProblem = problem;
      if (auto map = check(mapFromElf(module.path))) return map;
      problem = sliceProblem;
    }
    m_mapProblems.resize(std::max<std::size_t>(m_mapProblems.size(), index + std::size_t{1}));
    m_mapProblems[index] = problem;
    return nullptr;
  }

  bool loadModules() {
    std::vector<LoadedModule> modules;
    std::vector<std::unique_ptr<const LineSource>> lines;
    const auto count = m_contents.modules.size();
    for (std::uint32_t i = 0; i < count; ++i) {
      if (m_stop.stop_requested()) return false;
      auto module = moduleFrom(m_contents.modules[i]);
      say(0.05 + 0.25 * i / static_cast<double>(count), "Reading the map of " + lastPart(module.path));
      module.map = findMap(i, module);
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
      lines.push_back(map != nullptr ? findLines(shown, module) : nullptr);
      shown.hasLines = lines.back() && lines.back()->hasLines();
      m_trace->modules.push_back(std::move(shown));
      modules.push_back(std::move(module));
    }
    m_context = std::make_shared<TraceContext>(ModuleTable(std::move(modules)), std::move(lines));
    return true;
  }

  std::unique_ptr<const LineSource> findLines(const model::Module& module, const LoadedModule& loaded) {
    if (!m_options.useDebugInformation) return nullptr;
    const ModuleFiles files{.path = module.path,
                            .loadedPath = loaded.path,
                            .buildId = module.buildId,
                            .debugPaths = m_options.debugPaths};
    std::string text;
    auto source = m_options.lineSources ? m_options.lineSources(files, text) : openLineSource(files, text);
    if (!text.empty()) note(Severity::Info, module.name + ": " + text);
    return source;
  }

  std::optional<RingView> readRing(const format::SectionEntry& section) {
    auto bytes = m_snap.read(section);
    if (!bytes) {
      note(Severity::DataLoss, bytes.error().message);
      return std::nullopt;
    }
    auto ring = RingView::parse(*bytes, sectionText(section));
    if (!ring) {
      note(Severity::DataLoss, ring.error().text());
      return std::nullopt;
    }
    for (const auto& problem : ring->damage())
      note(Severity::DataLoss, std::format("{}: {}", sectionText(section), problem));
    return std::move(*ring);
  }

  // Where the thread stood, if the snap can know.
  ThreadEndState endOf(const format::SnapThread& thread) const {
    ThreadEndState end;
    const auto& reason = m_contents.reason;
    if (reason && reason->tid == thread.tid && reason->signal != 0 && reason->faultPc != 0) {
      end.pc = model::RuntimeAddr{reason->faultPc};
      end.faulted = isFaultOfInstruction(reason->signal, static_cast<std::int32_t>(reason->signalCode));
    } else if ((thread.flags & format::kThreadHasRegisters) != 0 &&
               (thread.flags & format::kThreadEnded) == 0) {
      end.pc = model::RuntimeAddr{thread.registers[kRipIndex]};
    }
    return end;
  }

  std::vector<Thread> findThreads() {
    std::vector<Thread> threads;
    std::vector<std::uint32_t> used;
    for (const auto& entry : m_contents.threads) {
      Thread thread;
      thread.info.tid = entry.tid;
      thread.info.name = paddedString(entry.name);
      thread.info.atFault = (entry.flags & format::kThreadAtFault) != 0;
      thread.info.ended = (entry.flags & format::kThreadEnded) != 0;
      thread.end = endOf(entry);
      if ((entry.flags & format::kThreadHasRing) != 0) {
        const auto* section = m_snap.find(SectionType::Ring, entry.ringIndex);
        if (section == nullptr) {
          note(Severity::DataLoss, std::format("thread {}: its ring is missing from the snap", entry.tid));
        } else if (std::ranges::find(used, entry.ringIndex) == used.end()) {
          thread.ring = readRing(*section);
          used.push_back(entry.ringIndex);
        }
      }
      threads.push_back(std::move(thread));
    }
    // Rings that no thread claims: of threads that ended, or all of them if the thread list is damaged.
    for (const auto* section : m_snap.all(SectionType::Ring)) {
      if (std::ranges::find(used, section->index) != used.end()) continue;
      used.push_back(section->index);
      Thread thread;
      thread.ring = readRing(*section);
      if (!thread.ring) continue;
      const auto& header = thread.ring->header();
      thread.info.tid = header.tid;
      thread.info.name = paddedString(header.name);
      thread.info.ended = header.state == static_cast<std::uint32_t>(format::RingState::ThreadEnded);
      thread.info.atFault =
          m_contents.reason && m_contents.reason->signal != 0 && m_contents.reason->tid == header.tid;
      format::SnapThread entry{};
      entry.tid = header.tid;
      thread.end = endOf(entry);
      threads.push_back(std::move(thread));
    }
    std::ranges::stable_sort(threads, [](const Thread& a, const Thread& b) {
      if (a.info.atFault != b.info.atFault) return a.info.atFault;
      return a.info.tid < b.info.tid;
    });
    return threads;
  }

  bool loadThreads() {
    auto threads = findThreads();
    std::vector<std::uint64_t> withoutMap(m_context->modules.size());
    for (std::size_t i = 0; i < threads.size(); ++i) {
      auto& thread = threads[i];
      const auto name = std::format("thread {}", thread.info.tid);
      std::vector<model::ChunkSummary> chunks;
      if (thread.ring) {
        auto timeline = buildTimeline(*thread.ring, thread.end, name, m_trace->report);
        WalkNotes notes;
        const auto share = 0.7 / static_cast<double>(threads.size());
        const auto goOn = [&](double done) {
          say(0.3 + share * (static_cast<double>(i) + done), "Reconstructing " + name);
          return !m_stop.stop_requested();
        };
        thread.source =
            ThreadSource::build(m_context, thread.ring->segments(), std::move(timeline), notes, goOn);
        if (!thread.source) return false;
        reportWalk(name, notes, withoutMap);
        chunks = thread.source->chunks();
        thread.info.fault = thread.source->fault();
        thread.info.recordCount = thread.source->recordCount();
        thread.ring.reset();
      }
      m_trace->threads.push_back(
          std::make_unique<const model::ThreadTrace>(thread.info, thread.source, std::move(chunks)));
      m_sources.push_back(thread.source);
    }
    for (std::uint32_t i = 0; i < withoutMap.size(); ++i) {
      if (withoutMap[i] == 0) continue;
      note(Severity::DataLoss,
           std::format("map of {}: {}; its records are shown as gaps", m_trace->modules[i].name,
                       i < m_mapProblems.size() ? m_mapProblems[i] : "missing"),
           withoutMap[i]);
    }
    return true;
  }

  void reportWalk(const std::string& name, const WalkNotes& notes, std::vector<std::uint64_t>& withoutMap) {
    note(Severity::DataLoss, name + ": words that belong to no record", notes.words.total());
    note(Severity::DataLoss, name + ": records whose path no block explains", notes.unexplainedPaths);
    note(Severity::DataLoss, name + ": records that cannot follow the one before them", notes.brokenFlow);
    note(Severity::DataLoss, name + ": records of no known module", notes.unknownCodes);
    note(Severity::DataLoss, name + ": records of modules that had no codes of their own",
         notes.untraceableModules);
    note(Severity::DataLoss, name + ": signals whose records were overwritten", notes.lostSignals);
    for (std::size_t i = 0; i < notes.withoutMap.size(); ++i) withoutMap[i] += notes.withoutMap[i];
  }

  SnapReader m_snap;
  const LoadOptions& m_options;
  const Progress& m_progress;
  std::stop_token m_stop;
  SnapContents m_contents;
  std::shared_ptr<model::Trace> m_trace;
  std::shared_ptr<TraceContext> m_context;
  std::vector<std::shared_ptr<const ThreadSource>> m_sources;
  std::vector<std::string> m_mapProblems;
};

}  // namespace

model::Result<LoadedSnap> loadSnapBytes(Bytes bytes, const std::string& origin, const LoadOptions& options,
                                        const Progress& progress, std::stop_token stop) {
  auto snap = SnapReader::open(bytes, origin);
  if (!snap) return std::unexpected(snap.error());
  auto loaded = SnapLoader(std::move(*snap), options, progress, std::move(stop)).load();
  if (!loaded) return model::fail("cancelled", origin);
  return std::move(*loaded);
}

model::Result<LoadedSnap> loadSnap(const std::filesystem::path& file, const LoadOptions& options,
                                   const Progress& progress, std::stop_token stop) {
  const auto mapped = MappedFile::open(file);
  if (!mapped) return std::unexpected(mapped.error());
  return loadSnapBytes(mapped->bytes(), file.string(), options, progress, std::move(stop));
}

model::Result<std::shared_ptr<const model::Trace>> loadTrace(const std::filesystem::path& file,
                                                             const LoadOptions& options,
                                                             const Progress& progress, std::stop_token stop) {
  auto loaded = loadSnap(file, options, progress, std::move(stop));
  if (!loaded) return std::unexpected(loaded.error());
  return std::move(loaded->trace);
}

}  // namespace traceback::loader
