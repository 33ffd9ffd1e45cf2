#include "loader/load_trace.h"

#include <algorithm>
#include <format>

#include "loader/byte_source.h"
#include "loader/reconstruct/first_throws.h"
#include "loader/reconstruct/snap_modules.h"
#include "loader/reconstruct/snap_threads.h"
#include "loader/reconstruct/thread_history.h"
#include "loader/reconstruct/thrown_texts.h"
#include "loader/snap/snap_contents.h"
#include "loader/snap/snap_summary.h"

namespace traceback::loader {

using model::Severity;

namespace {

constexpr std::uint64_t kAllWords = UINT64_MAX;
// Of every thread in the first preview: expanded in no time, and more than anybody steps through meanwhile.
constexpr std::uint64_t kFirstWords = 1 << 14;
// Of the first thread in the second preview: half a second's work.
constexpr std::uint64_t kSecondWords = 1 << 20;

class SnapLoader {
 public:
  SnapLoader(SnapReader snap, const LoadOptions& options, const Progress& progress, std::stop_token stop)
      : m_snap(std::move(snap)), m_options(options), m_progress(progress), m_stop(std::move(stop)) {}

  // Nothing if cancelled.
  std::optional<LoadedSnap> load() {
    say(0, "Reading the snap");
    m_contents = readContents(m_snap, m_known.report);
    fillSummary();
    if (!loadModules()) return std::nullopt;
    m_threads = findThreads(m_snap, m_contents, m_known.report);
    m_built.resize(m_threads.size());
    if (m_options.preview && wordCount() >= m_options.largeFrom && !showPreviews()) return std::nullopt;
    for (std::size_t i = 0; i < m_threads.size(); ++i) {
      if (!build(i, kAllWords)) return std::nullopt;
    }
    LoadedSnap loaded{.trace = assemble(), .sources = {}};
    for (const auto& built : m_built) loaded.sources.push_back(built.source);
    say(1, "Done");
    return loaded;
  }

 private:
  // A thread as far as it has been read.
  struct Built {
    std::shared_ptr<const ThreadSource> source;
    std::shared_ptr<const model::ThreadTrace> trace;
    std::uint64_t words = 0;  // at most so many of its newest: kAllWords once it is whole
    WalkNotes notes;
    model::LoadReport report;
  };

  void say(double share, std::string_view stage) const {
    if (m_progress) m_progress(share, stage);
  }
  static void note(model::LoadReport& report, Severity severity, std::string text, std::uint64_t count = 1) {
    if (count != 0) report.add(severity, std::move(text), count);
  }

  // What is not a part of the trace, and good to know with it.
  void noteWhatTheSnapSays() {
    const model::Trace::Summary& summary = m_known.summary;
    if (!summary.redacted.empty())
      note(m_known.report, Severity::Info, "kept out of the snap by the site's rules: " + summary.redacted);
    if (!summary.group) return;
    for (const auto& member : summary.group->members)
      if (member.pid != summary.pid)
        note(m_known.report, Severity::Info,
             std::format("snapped together with it, in the group {}: process {} ({}{}), in {}",
                         summary.group->name, member.pid, member.program,
                         member.pid == summary.group->cause ? ", which broke down" : "", member.snap));
    if (summary.group->leftOut != 0)
      note(m_known.report, Severity::Info,
           std::format("{} further processes of the group {} were not snapped", summary.group->leftOut,
                       summary.group->name));
  }

  void fillSummary() {
    m_known.summary = summaryOf(m_contents);
    noteWhatTheSnapSays();
    if (const auto& process = m_contents.process) {
      if (process->startTsc != 0) m_known.clockStart = {{process->startTsc}, {process->startRealtimeNs}};
      if (process->lastTsc != 0) m_known.clockEnd = {{process->lastTsc}, {process->lastRealtimeNs}};
      if (process->ringsFailed != 0) {
        note(m_known.report, Severity::DataLoss,
             "threads that ran untraced because no ring could be made for them", process->ringsFailed);
      }
    }
    // Taken together: a better second pair of clocks than one from before.
    if (const auto& reason = m_contents.reason; reason && reason->tsc != 0 && reason->realtimeNs != 0)
      m_known.clockEnd = {{reason->tsc}, {reason->realtimeNs}};
  }

  bool loadModules() {
    auto modules = findModules(m_snap, m_contents, m_options, m_known.report,
                               [&](double done, const std::string& stage) {
                                 say(0.05 + 0.25 * done, stage);
                                 return !m_stop.stop_requested();
                               });
    if (m_stop.stop_requested()) return false;
    m_known.modules = std::move(modules.shown);
    m_mapProblems = std::move(modules.mapProblems);
    m_context = std::make_shared<TraceContext>(std::move(modules.table), std::move(modules.lines));
    return true;
  }

  static std::uint64_t wordsOf(const RingView& ring) {
    std::uint64_t words = 0;
    for (const auto& segment : ring.segments()) words += segment.size();
    return words;
  }

  std::uint64_t wordCount() const {
    std::uint64_t words = 0;
    for (const auto& thread : m_threads) words += thread.ring ? wordsOf(*thread.ring) : 0;
    return words;
  }

  bool showPreviews() {
    for (std::size_t i = 0; i < m_threads.size(); ++i) {
      if (!build(i, kFirstWords)) return false;
    }
    m_options.preview(assembleAndGoOn());
    for (const auto words : {kSecondWords, kAllWords}) {
      if (m_built[0].words >= words) continue;
      if (!build(0, words)) return false;
      const bool last = m_built[0].words == kAllWords && m_threads.size() == 1;
      if (!last) m_options.preview(assembleAndGoOn());
    }
    return true;
  }

  // The thread's newest words, or all of them; nothing new if they are built already. False if cancelled.
  bool build(std::size_t index, std::uint64_t words) {
    auto& thread = m_threads[index];
    auto& built = m_built[index];
    if (!thread.ring || wordsOf(*thread.ring) <= words) words = kAllWords;
    if (built.trace && built.words >= words) return true;
    built = {};
    built.words = words;
    auto info = thread.info;
    std::vector<model::ChunkSummary> chunks;
    model::ThreadTimes times;
    if (thread.ring) {
      const auto name = std::format("thread {}", info.tid);
      if (words == kAllWords) thread.ring->settleBeginnings();
      auto timeline = buildTimeline(*thread.ring, thread.end, name, built.report);
      if (words != kAllWords) keepNewest(timeline, thread.ring->segments(), words);
      const auto share = 0.7 / static_cast<double>(m_threads.size());
      const auto goOn = [&](double done) {
        if (words == kAllWords)
          say(0.3 + share * (static_cast<double>(index) + done), "Reconstructing " + name);
        return !m_stop.stop_requested();
      };
      built.source =
          ThreadSource::build(m_context, thread.ring->segments(), std::move(timeline), built.notes, goOn);
      if (!built.source) return false;
      reportWalk(built, name);
      note(built.report, Severity::DataLoss, name + ": damaged parts of its ring",
           thread.ring->damagedParts());
      chunks = built.source->chunks();
      times = timesOf(thread, *built.source);
      note(built.report, Severity::DataLoss,
           name + ": its clock ran backwards, so its order to other threads is not known",
           times.trusted() ? 0 : 1);
      info.fault = built.source->fault();
      info.otherFault = built.source->otherFault();
      info.recordCount = built.source->recordCount();
      if (words == kAllWords) {
        const auto history = thread.ring->history();
        note(built.report, Severity::DataLoss, name + ": what was before its ring: " + history.damage,
             history.damage.empty() ? 0 : 1);
        info.history = resolveHistory(history, thread.ring->header().segments[0].subBufferWords,
                                      *m_context->modules, m_context->names);
      }
    }
    built.trace = std::make_shared<const model::ThreadTrace>(std::move(info), built.source, std::move(chunks),
                                                             m_cache, std::move(times));
    return true;
  }

  // Bounds for what ran before the thread's first reading of the clock and after its last.
  model::ThreadTimes timesOf(const RecordedThread& thread, const ThreadSource& source) const {
    const auto known = [](std::uint64_t ticks) {
      return ticks != 0 ? std::optional(model::Ticks{ticks}) : std::nullopt;
    };
    model::ThreadTimes times = source.times();
    // The snap's own reading is from when all threads had stopped and the rings were read.
    std::optional<model::Ticks> ended;
    if (m_contents.reason) ended = known(m_contents.reason->tsc);
    const auto events = times.events();
    if (thread.info.ended && !events.empty() && events.back().kind == model::EntryKind::Sync &&
        events.back().detail == static_cast<std::uint32_t>(model::SyncCause::ThreadEnd) &&
        !times.readings().empty()) {
      ended = times.readings().back().time;
    }
    times.setLimits(known(thread.ring->header().threadStart), ended);
    return times;
  }

  void reportWalk(Built& built, const std::string& name) const {
    const auto& notes = built.notes;
    auto& report = built.report;
    note(report, Severity::DataLoss, name + ": words that belong to no record", notes.words.total());
    note(report, Severity::DataLoss, name + ": records whose path no block explains", notes.unexplainedPaths);
    note(report, Severity::DataLoss, name + ": records that cannot follow the one before them",
         notes.brokenFlow);
    note(report, Severity::DataLoss, name + ": records of no known module", notes.unknownCodes);
    note(report, Severity::DataLoss, name + ": records of modules that had no codes of their own",
         notes.untraceableModules);
    note(report, Severity::DataLoss, name + ": signals whose records were overwritten", notes.lostSignals);
    for (const auto& [type, count] : notes.unknownRecords)
      note(report, additions(), std::format("{}: records of unknown type {}, left out", name, type), count);
    for (const auto& [kind, count] : notes.unknownSyncs)
      note(report, additions(), std::format("{}: syncs of unknown kind {}, left out", name, kind), count);
  }

  // How bad is what this reader does not know: in a snap that claims nothing new it is damage.
  Severity additions() const {
    return m_snap.revision() > format::kSnapRevision ? Severity::Info : Severity::DataLoss;
  }

  // That of the thread at fault; of a process that met none, whichever a handler is at.
  static void noteHandledFault(model::Trace& trace, const Built& built) {
    if (!built.source || !built.source->handledFault()) return;
    auto& summary = trace.summary;
    if (!built.trace->info().atFault && (summary.signal != 0 || summary.handledFault)) return;
    summary.handledFault = built.source->handledFault();
    summary.handledFault->thread = {static_cast<std::uint32_t>(trace.threads.size() - 1)};
  }

  // Once all names are there.
  void noteUncaught(model::Trace& trace, const Built& built) const {
    if (!built.source || !built.source->uncaught() || !built.trace->info().atFault) return;
    const auto& uncaught = *built.source->uncaught();
    trace.summary.uncaught = trace.exceptionType(uncaught.type);
    trace.summary.uncaughtMessage = uncaughtMessage(trace, uncaught);
    if (trace.summary.uncaughtMessage == trace.summary.uncaught) trace.summary.uncaughtMessage.clear();
  }

  // As the process aborted, or else as it was thrown.
  std::string uncaughtMessage(const model::Trace& trace, const ThreadSource::Uncaught& uncaught) const {
    const auto& process = m_contents.process;
    if (process && process->thrownTime != 0 && process->thrownTime == uncaught.time.value)
      return sentence(process->thrownMessage);
    return std::string(trace.thrownText(uncaught.time, uncaught.type));
  }

  // Where a thread was snapped for what it threw, which is the last that it has thrown: what that said, too.
  void noteThrown(model::Trace& trace, const Built& built) const {
    if (!m_contents.reason || !built.source || built.trace->info().tid != m_contents.reason->tid ||
        built.source->throws().empty())
      return;
    const auto& last = built.source->throws().back();
    if (trace.summary.occasion != std::format("threw {}", trace.exceptionType(last.type))) return;
    if (const auto said = trace.thrownText(last.time, last.type); !said.empty())
      trace.summary.occasion += std::format(": {}", said);
  }

  // What is built by now, as a trace. Ends the filling of m_context.
  std::shared_ptr<const model::Trace> assemble() {
    auto trace = std::make_shared<model::Trace>(m_known);
    std::vector<std::uint64_t> withoutMap(m_known.modules.size());
    for (const auto& built : m_built) {
      trace->threads.push_back(built.trace);
      noteHandledFault(*trace, built);
      for (const auto& each : built.report.notes()) trace->report.add(each.severity, each.text, each.count);
      for (std::size_t i = 0; i < built.notes.withoutMap.size(); ++i)
        withoutMap[i] += built.notes.withoutMap[i];
    }
    for (std::uint32_t i = 0; i < withoutMap.size(); ++i) {
      note(trace->report, Severity::DataLoss,
           std::format("map of {}: {}; its records are shown as gaps", m_known.modules[i].name,
                       i < m_mapProblems.size() ? m_mapProblems[i] : "missing"),
           withoutMap[i]);
    }
    m_context->names.freeze(*trace);
    std::vector<const ThreadSource*> sources;
    for (const auto& built : m_built) sources.push_back(built.source.get());
    trace->thrownAgain = findFirstThrows(sources);
    trace->thrownTexts = findThrownTexts(m_contents.thrown, sources);
    for (const auto& built : m_built) {
      noteUncaught(*trace, built);
      noteThrown(*trace, built);
    }
    return trace;
  }

  // The same; what is built later goes on with what is known of names by now.
  std::shared_ptr<const model::Trace> assembleAndGoOn() {
    auto next = std::make_shared<TraceContext>(*m_context);
    auto trace = assemble();
    m_context = std::move(next);
    return trace;
  }

  SnapReader m_snap;
  const LoadOptions& m_options;
  const Progress& m_progress;
  std::stop_token m_stop;
  SnapContents m_contents;
  model::Trace m_known;  // all but threads and names
  std::shared_ptr<TraceContext> m_context;
  std::vector<std::string> m_mapProblems;
  // However many threads there are, somebody looks at a few of them at a time.
  std::shared_ptr<model::ChunkCache> m_cache =
      std::make_shared<model::ChunkCache>(3 * model::ThreadTrace::kCachedChunks);
  std::vector<RecordedThread> m_threads;
  std::vector<Built> m_built;  // by thread
};

model::Result<LoadedSnap> loadFrom(model::Result<SnapReader> snap, const std::string& origin,
                                   const LoadOptions& options, const Progress& progress,
                                   std::stop_token stop) {
  if (!snap) return std::unexpected(snap.error());
  auto loaded = SnapLoader(std::move(*snap), options, progress, std::move(stop)).load();
  if (!loaded) return model::fail("cancelled", origin);
  return std::move(*loaded);
}

}  // namespace

model::Result<LoadedSnap> loadSnapBytes(std::vector<std::byte> bytes, const std::string& origin,
                                        const LoadOptions& options, const Progress& progress,
                                        std::stop_token stop) {
  return loadFrom(SnapReader::open(std::make_shared<const MemoryBytes>(std::move(bytes)), origin), origin,
                  options, progress, std::move(stop));
}

model::Result<LoadedSnap> loadSnap(const std::filesystem::path& file, const LoadOptions& options,
                                   const Progress& progress, std::stop_token stop) {
  return loadFrom(SnapReader::openFile(file), file.string(), options, progress, std::move(stop));
}

model::Result<std::shared_ptr<const model::Trace>> loadTrace(const std::filesystem::path& file,
                                                             const LoadOptions& options,
                                                             const Progress& progress, std::stop_token stop) {
  auto loaded = loadSnap(file, options, progress, std::move(stop));
  if (!loaded) return std::unexpected(loaded.error());
  return std::move(loaded->trace);
}

}  // namespace traceback::loader
