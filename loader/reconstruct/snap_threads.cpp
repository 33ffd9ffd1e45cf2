#include "loader/reconstruct/snap_threads.h"

#include <sys/user.h>

#include <algorithm>
#include <format>

namespace traceback::loader {

using format::SectionType;
using model::Severity;

namespace {

// In format::SnapThread::registers.
constexpr std::size_t kRipIndex = offsetof(user_regs_struct, rip) / 8;
constexpr std::size_t kFutexIndex = offsetof(user_regs_struct, rdi) / 8;  // its first argument
constexpr std::size_t kSystemCallIndex = offsetof(user_regs_struct, orig_rax) / 8;

std::optional<RingView> readRing(const SnapReader& snap, const format::SectionEntry& section,
                                 model::LoadReport& report) {
  auto bytes = snap.openSection(section);
  if (!bytes) {
    report.add(Severity::DataLoss, bytes.error().message);
    return std::nullopt;
  }
  auto ring = RingView::parse(std::move(*bytes), sectionText(section), RingView::Beginnings::Unsettled);
  if (!ring) {
    report.add(Severity::DataLoss, ring.error().text());
    return std::nullopt;
  }
  for (const auto& problem : ring->damage())
    report.add(Severity::DataLoss, std::format("{}: {}", sectionText(section), problem));
  return std::move(*ring);
}

// Where the thread stood, if the snap can know.
ThreadEndState endOf(const SnapContents& contents, const format::SnapThread& thread) {
  ThreadEndState end;
  const auto& reason = contents.reason;
  if (reason && reason->tid == thread.tid && reason->signal != 0 && reason->faultPc != 0) {
    end.pc = model::RuntimeAddr{reason->faultPc};
    end.faulted = isFaultOfInstruction(reason->signal, static_cast<std::int32_t>(reason->signalCode));
  } else if ((thread.flags & format::kThreadHasRegisters) != 0 &&
             (thread.flags & format::kThreadEnded) == 0) {
    end.pc = model::RuntimeAddr{thread.registers[kRipIndex]};
  }
  end.atFault = (thread.flags & format::kThreadAtFault) != 0;
  if (contents.process && contents.process->faultSignal != 0)
    end.faultTime = model::Ticks{contents.process->faultTime};
  return end;
}

void fillWait(const format::SnapThread& entry, model::ThreadTrace::Info& info) {
  constexpr std::uint64_t kNone = UINT64_MAX;
  // Those of the thread at fault are from the fault.
  if ((entry.flags & format::kThreadHasRegisters) == 0 || info.atFault || info.ended) return;
  const auto call = entry.registers[kSystemCallIndex];
  if (call != kNone) info.systemCall = static_cast<std::uint32_t>(call);
  if ((entry.flags & (format::kThreadWaitsForLock | format::kThreadWaitsForEnd)) != 0)
    info.waitsFor = {.tid = entry.waitsFor,
                     .forEnd = (entry.flags & format::kThreadWaitsForEnd) != 0,
                     .lock = {entry.registers[kFutexIndex]}};
}

}  // namespace

std::vector<RecordedThread> findThreads(const SnapReader& snap, const SnapContents& contents,
                                        model::LoadReport& report) {
  std::vector<RecordedThread> threads;
  std::vector<std::uint32_t> used;
  for (const auto& entry : contents.threads) {
    RecordedThread thread;
    thread.info.tid = entry.tid;
    thread.info.name = paddedString(entry.name);
    thread.info.atFault = (entry.flags & format::kThreadAtFault) != 0;
    thread.info.ended = (entry.flags & format::kThreadEnded) != 0;
    thread.end = endOf(contents, entry);
    fillWait(entry, thread.info);
    if ((entry.flags & format::kThreadHasRing) != 0) {
      const auto* section = snap.find(SectionType::Ring, entry.ringIndex);
      if (section == nullptr) {
        report.add(Severity::DataLoss,
                   std::format("thread {}: its ring is missing from the snap", entry.tid));
      } else if (std::ranges::find(used, entry.ringIndex) == used.end()) {
        thread.ring = readRing(snap, *section, report);
        used.push_back(entry.ringIndex);
        // The recorder's own.
        if (thread.ring && thread.ring->header().held != 0) thread.info.systemCall.reset();
      }
    }
    threads.push_back(std::move(thread));
  }
  // Rings that no thread claims: of threads that ended, or all of them if the thread list is damaged.
  for (const auto* section : snap.all(SectionType::Ring)) {
    if (std::ranges::find(used, section->index) != used.end()) continue;
    used.push_back(section->index);
    RecordedThread thread;
    thread.ring = readRing(snap, *section, report);
    if (!thread.ring) continue;
    const auto& header = thread.ring->header();
    thread.info.tid = header.tid;
    thread.info.name = paddedString(header.name);
    thread.info.ended = header.state == static_cast<std::uint32_t>(format::RingState::ThreadEnded);
    thread.info.atFault =
        contents.reason && contents.reason->signal != 0 && contents.reason->tid == header.tid;
    format::SnapThread entry{};
    entry.tid = header.tid;
    thread.end = endOf(contents, entry);
    threads.push_back(std::move(thread));
  }
  std::ranges::stable_sort(threads, [](const RecordedThread& a, const RecordedThread& b) {
    if (a.info.atFault != b.info.atFault) return a.info.atFault;
    return a.info.tid < b.info.tid;
  });
  return threads;
}

}  // namespace traceback::loader
