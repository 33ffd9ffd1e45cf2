// First, for Qt has macros of the names of some of its fields.
#include "loader/load_trace.h"

#include "tests/truth/traced_path.h"

#include <algorithm>

namespace traceback::truth {

namespace {

loader::LoadOptions snapAlone() {
  loader::LoadOptions options;
  options.useDebugInformation = false;
  options.useLocalMaps = false;  // a snap must be enough by itself
  return options;
}

// Handlers whose beginning was overwritten, which the trace says behind their signal: that is no damage.
int handlersThatBeginLate(const model::ThreadTrace& thread) {
  const auto entries = thread.entries(0, thread.entryCount());
  int count = 0;
  for (std::size_t i = 1; i < entries.size(); ++i)
    count += entries[i - 1].kind == model::EntryKind::Signal && entries[i].kind == model::EntryKind::Gap &&
             entries[i].detail == static_cast<std::uint32_t>(model::GapCause::Overwritten);
  return count;
}

}  // namespace

Attempt<TracedRun> readTrace(const QString& snap) {
  const auto loaded = loader::loadSnap(snap.toStdString(), snapAlone());
  if (!loaded) return std::unexpected(QString::fromStdString(loaded.error().text()));
  TracedRun run;
  for (const model::LoadNote& note : loaded->trace->report.notes())
    if (note.severity != model::Severity::Info)
      run.damage.append(QString("%1 (%2 times)").arg(QString::fromStdString(note.text)).arg(note.count));
  for (std::size_t i = 0; i < loaded->trace->threads.size(); ++i) {
    const auto& info = loaded->trace->threads[i]->info();
    TracedThread& thread = run.threads.emplace_back();
    thread.tid = info.tid;
    thread.atFault = info.atFault;
    const std::vector<loader::BlockStep> steps = loaded->executedBlocks(i);
    int late = handlersThatBeginLate(*loaded->trace->threads[i]);
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const loader::BlockStep& step = steps[k];
      if (k == 0)
        thread.startsOverwritten = step.afterGap;
      else if (step.afterGap && late > 0)
        --late;
      else if (step.afterGap)
        run.damage.append(QString("thread %1: a gap before 0x%2").arg(info.tid).arg(step.start.value, 0, 16));
      thread.pieces.push_back({step.start.value, step.start.value + step.size, step.faulted, step.afterGap});
    }
  }
  std::ranges::sort(run.threads, {}, &TracedThread::tid);
  return run;
}

Attempt<TracedRun> readLines(const QString& snap) {
  loader::LoadOptions options = snapAlone();
  options.useDebugInformation = true;
  const auto loaded = loader::loadSnap(snap.toStdString(), options);
  if (!loaded) return std::unexpected(QString::fromStdString(loaded.error().text()));
  TracedRun run;
  for (const auto& trace : loaded->trace->threads) {
    TracedThread& thread = run.threads.emplace_back();
    thread.tid = trace->info().tid;
    thread.atFault = trace->info().atFault;
    for (model::EntryIndex at = 0; at < trace->entryCount(); ++at)
      for (const model::CodeRange& code : trace->code(at))
        thread.pieces.push_back({.start = code.first.value, .end = code.last.value + 1});
  }
  std::ranges::sort(run.threads, {}, &TracedThread::tid);
  return run;
}

Attempt<std::uint64_t> latestReading(const QString& snap) {
  const auto loaded = loader::loadSnap(snap.toStdString(), snapAlone());
  if (!loaded) return std::unexpected(QString::fromStdString(loaded.error().text()));
  std::uint64_t latest = 0;
  for (const auto& thread : loaded->trace->threads)
    for (const auto& entry : thread->entries(0, thread->entryCount()))
      latest = std::max(latest, entry.time.value);
  return latest;
}

}  // namespace traceback::truth
