// Fatal signals: the snap that they leave, and that the process ends as it would have without us.
#include <signal.h>
#include <sys/resource.h>

#include <QDir>
#include <QFile>
#include <QTest>

#include <algorithm>
#include <chrono>

#include "runtime/collect/keeping/ended.h"
#include "runtime/collect/keeping/retention.h"
#include "runtime/collect/snap/memory_reader.h"
#include "runtime/collect/snap/recover.h"
#include "snap_dump.h"
#include "traced_run.h"

using namespace traceback;
using namespace traceback::testing;
using namespace std::chrono_literals;
using format::RecordType;
using format::SnapReason;

namespace {

constexpr std::uint32_t kStore = 0x0010'0800, kRecurse = 0x0010'1400;
constexpr unsigned kPc = 16, kSp = 19;

const Record* lastSignal(const RingDump& ring) {
  const Record* last = nullptr;
  for (const Segment& segment : ring.segments)
    for (const Record& record : segment.records)
      if (!record.isDag && record.type == RecordType::SignalBegin) last = &record;
  return last;
}

}  // namespace

class FaultTest : public QObject {
  Q_OBJECT
 private slots:
  void aFatalSignalLeavesASnap_data() {
    QTest::addColumn<QString>("how");
    QTest::addColumn<int>("signal");
    QTest::addColumn<int>("reason");
    const auto add = [](const char* how, int signal, SnapReason reason) {
      QTest::newRow(how) << how << signal << static_cast<int>(reason);
    };
    add("null", SIGSEGV, SnapReason::Fault);
    add("address", SIGSEGV, SnapReason::Fault);
    add("abort", SIGABRT, SnapReason::Abort);
    add("overflow", SIGSEGV, SnapReason::Fault);
    add("sent", SIGSEGV, SnapReason::Fault);
    add("quit", SIGQUIT, SnapReason::Fault);
    add("trap", SIGTRAP, SnapReason::Fault);
    add("illegal", SIGILL, SnapReason::Fault);
    add("divide", SIGFPE, SnapReason::Fault);
  }
  void aFatalSignalLeavesASnap() {
    QFETCH(QString, how);
    QFETCH(int, signal);
    for (const QString& where : {QString("fault"), QString("thread-fault")}) {
      if (where == "thread-fault" && how == "sent")
        continue;  // any thread may receive it, even one that ends
      TracedRun traced;
      const Outcome outcome = traced.run({where, how});
      QVERIFY(outcome.killed);
      QCOMPARE(outcome.status, signal);
      QVERIFY2(outcome.errors.contains("snap written to"), outcome.errors);
      QVERIFY(traced.processFolders().empty());
      QCOMPARE(traced.snaps().size(), 1u);
      const auto snap = dumpSnap(traced.snaps()[0]);
      QVERIFY(snap);
      QTEST(static_cast<int>(snap->reason.reason), "reason");
      QCOMPARE(snap->reason.signal, std::uint32_t(signal));
      QCOMPARE(snap->threads.size(), where == "fault" ? 1u : 2u);
      const auto* thread = snap->faulting();
      if (thread == nullptr) QFAIL("no thread is at fault");
      QCOMPARE(thread->tid, snap->reason.tid);
      QVERIFY((thread->flags & format::kThreadHasRegisters) != 0 &&
              (thread->flags & format::kThreadHasRing) != 0);
      QCOMPARE(thread->registers[kPc], snap->reason.faultPc);
      const RingDump& ring = snap->rings.at(thread->ringIndex);
      QCOMPARE(ring.header.tid, thread->tid);
      const Record* record = lastSignal(ring);
      QVERIFY(record != nullptr);
      QCOMPARE(record->detail & (format::kSignalNumberMask | format::kSignalFatal),
               signal | format::kSignalFatal);
      QCOMPARE(record->values[1], snap->reason.faultPc);
    }
  }

  void theFaultsPlaceIsExact() {
    TracedRun traced;
    traced.run({"fault", "address"});
    const auto snap = dumpSnap(traced.snaps().at(0));
    QVERIFY(snap);
    QCOMPARE(snap->reason.faultAddress, 0x1230u);
    QCOMPARE(snap->modules.size(), 1u);
    // In the copy, behind the head probe of the function that stores.
    QVERIFY(snap->reason.faultPc - snap->modules[0].loadBias - 0x1000'0000 < 0x10000);
    QCOMPARE(snap->rings[0].segments[0].dagCodes().back(), kStore);
    QVERIFY(snap->mappings.contains("/traced\n"));
    QVERIFY(snap->files.contains("/traced\nbuild-id="));
    QVERIFY(snap->host.contains("kernel=Linux"));
    QCOMPARE(QByteArray(reinterpret_cast<const char*>(snap->process.executable)), QByteArray("traced"));
    const std::string name = traced.snaps()[0].filename().string();
    QVERIFY(name.starts_with("traced-" + std::to_string(snap->process.pid) + "-2"));
  }

  void aProgramWithALongNameIsSnapped() {
    TracedRun traced;
    traced.setVariable("TRACEBACK_PROGRAM", QString("x") + QString(120, QChar(0xE9)));
    QCOMPARE(traced.run({"fault", "address"}).status, SIGSEGV);
    QCOMPARE(traced.snaps().size(), 1u);
    const QString name = QString::fromStdString(traced.snaps()[0].filename().string());
    QVERIFY2(name.startsWith("x" + QString(79, QChar(0xE9)) + "-"), qPrintable(name));
  }

  void anOverflownStackIsRecorded() {
    TracedRun traced;
    traced.run({"thread-fault", "overflow"});
    const auto snap = dumpSnap(traced.snaps().at(0));
    QVERIFY(snap);
    const auto* thread = snap->faulting();
    if (thread == nullptr) QFAIL("no thread is at fault");
    QCOMPARE(snap->rings.at(thread->ringIndex).segments[0].dagCodes().back(), kRecurse);
    // It was about to write below the stack.
    QVERIFY(snap->reason.faultAddress - thread->registers[kSp] + 4096 < 8192);
    // What is above is kept, a good part of it and no more.
    const auto stack = std::ranges::find_if(snap->memoryRanges, [&](const format::MemoryRange& range) {
      return (range.flags & format::kMemoryStack) != 0 && range.start - thread->registers[kSp] + 4096 < 8192;
    });
    QVERIFY(stack != snap->memoryRanges.end());
    QVERIFY(stack->size <= collect::kMostOfStack && stack->size > collect::kMostOfStack / 2);
  }

  void memoryIsKeptRangeByRange() {
    TracedRun traced;
    traced.run({"thread-fault", "address"});
    const auto snap = dumpSnap(traced.snaps().at(0));
    QVERIFY(snap);
    QVERIFY(!snap->auxiliaryVector.empty());
    QCOMPARE(snap->memory.size(), snap->memoryRanges.size());
    std::uint64_t end = 0;
    for (std::uint32_t i = 0; i < snap->memoryRanges.size(); ++i) {
      QVERIFY(snap->memoryRanges[i].start >= end);
      end = snap->memoryRanges[i].start + snap->memoryRanges[i].size;
      QCOMPARE(snap->memory.at(i).size(), snap->memoryRanges[i].size);
    }
    for (std::uint32_t i = 0; i < snap->threads.size(); ++i) {
      const format::SnapThread& thread = snap->threads[i];
      if ((thread.flags & format::kThreadHasRegisters) == 0) continue;
      QVERIFY(std::ranges::any_of(snap->memoryRanges, [&](const format::MemoryRange& range) {
        return thread.registers[kSp] - range.start < range.size;
      }));
      // The size that the area has is in its enabled features' word; the least is the header's end.
      QVERIFY(snap->extendedRegisters.at(i).size() >= 576);
    }
  }

  void noMemoryIsKeptWhereNoneIsWanted() {
    TracedRun traced;
    traced.setVariable("TRACEBACK_MEMORY", "none");
    traced.run({"fault", "address"});
    const auto snap = dumpSnap(traced.snaps().at(0));
    QVERIFY(snap && snap->memoryRanges.empty() && snap->memory.empty());
  }

  void aSignalThatEndsAProcessInPeaceLeavesNoSnap() {
    TracedRun traced;
    const Outcome outcome = traced.run({"fault", "term"});
    QVERIFY(outcome.killed && outcome.status == SIGTERM);
    QVERIFY(traced.snaps().empty());
    QCOMPARE(traced.processFolders().size(), 1u);
  }

  void theSameFaultOfLaterRunsIsSnappedAsOftenAsTheSiteSays() {
    QTemporaryDir folder;
    TracedRun traced;
    QVERIFY(QDir(folder.path()).mkpath(".config/traceback"));
    QFile site(folder.filePath(".config/traceback/site"));
    QVERIFY(site.open(QIODevice::WriteOnly) && site.write("faults 2/1h\n") > 0);
    site.close();
    traced.setVariable("HOME", folder.path());
    const auto snaps = [&traced] {
      return std::ranges::count_if(traced.snaps(),
                                   [](const auto& path) { return path.extension() == format::kSnapSuffix; });
    };
    for (const int expected : {1, 2, 2, 2}) {
      const Outcome outcome = traced.run({"fault", "null"});
      QVERIFY(outcome.killed && outcome.status == SIGSEGV);
      QVERIFY(!outcome.errors.contains("recover"));
      QCOMPARE(snaps(), expected);
      QVERIFY(traced.processFolders().empty());
    }
    traced.run({"fault", "abort"});  // another one
    QCOMPARE(snaps(), 3);
    // A link in its place is not followed, and no reason to lose a snap.
    const auto ledger = traced.snapFolder() / ".faults";
    const auto elsewhere = std::filesystem::path(folder.path().toStdString()) / "elsewhere";
    std::filesystem::copy_file(ledger, elsewhere);  // it may be on another file system
    std::filesystem::remove(ledger);
    const auto size = std::filesystem::file_size(elsewhere);
    std::filesystem::create_symlink(elsewhere, ledger);
    traced.run({"fault", "null"});
    QCOMPARE(snaps(), 4);
    QCOMPARE(std::filesystem::file_size(elsewhere), size);
    // Nor is a damaged one.
    std::filesystem::remove(ledger);
    QFile damaged(QString::fromStdString(ledger.string()));
    QVERIFY(damaged.open(QIODevice::WriteOnly) && damaged.write("TBFALT") > 0);
    damaged.close();
    traced.run({"fault", "null"});
    QCOMPARE(snaps(), 5);
  }

  void withoutACollectorTheProcessStillSaysWhatHappened() {
    TracedRun traced;
    traced.setVariable("TRACEBACK_COLLECTOR", "/nowhere/traceback");
    const Outcome outcome = traced.run({"fault", "null"});
    QVERIFY(outcome.killed && outcome.status == SIGSEGV);
    QVERIFY2(outcome.errors.contains("traceback recover "), outcome.errors);
    QCOMPARE(outcome.errors.count('\n'), 1);
    const auto folder = traced.processFolders().at(0);
    QCOMPARE(traced.process(folder).state, std::uint32_t(format::ProcessState::Faulted));

    const auto snaps = collect::recover({.folder = folder, .snapFolder = {}, .onProblem = {}});
    QVERIFY(snaps && snaps->size() == 1);
    QVERIFY(traced.processFolders().empty());
    QCOMPARE(snaps->front().parent_path(), traced.snapFolder());
    const auto snap = dumpSnap(snaps->front());
    QVERIFY(snap && snap->reason.signal == SIGSEGV && snap->faulting() != nullptr);
    QVERIFY((snap->faulting()->flags & format::kThreadHasRegisters) != 0);
  }

  void aProcessThatMayNotBeStoppedLeavesASnapOfItsRings() {
    TracedRun traced;
    const Outcome outcome = traced.run({"fault", "undumpable"});
    QVERIFY(outcome.killed && outcome.status == SIGABRT);
    QVERIFY2(traced.snaps().size() == 1, outcome.errors);
    const auto snap = dumpSnap(traced.snaps()[0]);
    QVERIFY(snap);
    QCOMPARE(snap->reason.reason, std::uint32_t(SnapReason::Abort));
    QVERIFY2(snap->host.contains("note=process "), snap->host.c_str());
    const auto* thread = snap->faulting();
    if (thread == nullptr) QFAIL("no thread is at fault");
    QVERIFY((thread->flags & format::kThreadHasRing) != 0 && (thread->flags & format::kThreadEnded) == 0);
    QVERIFY((thread->flags & format::kThreadHasRegisters) != 0);
  }

  void aProgramThatFiltersItsSystemCallsIsNotHarmed() {
    for (const QString& how : {QString("prctl"), QString("syscall")}) {
      TracedRun traced;
      const Outcome outcome = traced.run({"sandbox", how});
      QVERIFY2(!outcome.killed, qPrintable(QString::number(outcome.status)));
      QCOMPARE(outcome.status, 4);
      QCOMPARE(outcome.output, QByteArray("sandboxed\n"));
      QCOMPARE(traced.process(traced.processFolders().at(0)).state,
               std::uint32_t(format::ProcessState::Exited));
    }
    TracedRun traced;
    const Outcome outcome = traced.run({"sandbox", "fault"});
    QVERIFY(outcome.killed);
    QCOMPARE(outcome.status, SIGSEGV);
    const auto snaps =
        collect::recover({.folder = traced.ringFolder(), .snapFolder = traced.snapFolder(), .onProblem = {}});
    QVERIFY(snaps && snaps->size() == 1);
    const auto snap = dumpSnap(snaps->front());
    QVERIFY(snap && snap->faulting() != nullptr);
    QCOMPARE(snap->reason.signal, std::uint32_t(SIGSEGV));
    QCOMPARE(snap->rings[0].segments[0].dagCodes().back(), kStore);
  }

  void aKilledProcessIsRecovered() {
    TracedRun traced;
    traced.run({"threads", "4"});
    const auto snaps =
        collect::recover({.folder = traced.ringFolder(), .snapFolder = traced.snapFolder(), .onProblem = {}});
    QVERIFY(snaps && snaps->size() == 1);
    QVERIFY(traced.processFolders().empty());
    const auto snap = dumpSnap(snaps->front());
    QVERIFY(snap);
    QCOMPARE(snap->reason.reason, std::uint32_t(SnapReason::Recovered));
    QCOMPARE(snap->rings.size(), 5u);
    QCOMPARE(snap->threads.size(), 5u);
    unsigned ended = 0;
    for (const auto& thread : snap->threads) ended += (thread.flags & format::kThreadEnded) != 0;
    QCOMPARE(ended, 4u);
  }

  void theFolderOfALivingProcessIsLeftAlone() {
    TracedRun traced;
    auto process = traced.start({"pause"});
    QVERIFY(process->waitForReadyRead(20'000));
    const auto snaps =
        collect::recover({.folder = traced.ringFolder(), .snapFolder = traced.snapFolder(), .onProblem = {}});
    QVERIFY(snaps && snaps->empty());
    QCOMPARE(traced.processFolders().size(), 1u);
    process->write("\n");
    QCOMPARE(traced.finish(*process).status, 4);
    QVERIFY(traced.processFolders().empty());
  }

  void aSnapOfALivingProcessLetsItGoOn() {
    TracedRun traced;
    auto process = traced.start({"pause"});
    QVERIFY(process->waitForReadyRead(20'000));
    for (int i = 0; i < 3; ++i) {
      const auto path = collect::snapProcess(static_cast<pid_t>(process->processId()), {});
      QVERIFY2(path, path ? "" : path.error().text().c_str());
      const auto snap = dumpSnap(*path);
      QVERIFY(snap);
      QCOMPARE(snap->reason.reason, std::uint32_t(SnapReason::UserRequest));
      QCOMPARE(snap->threads.size(), 2u);
      for (const auto& thread : snap->threads)
        QVERIFY(thread.registers[kPc] != 0 && thread.registers[kSp] != 0);
      QVERIFY(snap->faulting() == nullptr);
    }
    QCOMPARE(traced.snaps().size(), 3u);
    process->write("\n");
    const Outcome outcome = traced.finish(*process);
    QCOMPARE(outcome.output, QByteArray("ready\nwent on 1\n"));
    QVERIFY(!outcome.killed);
    QCOMPARE(outcome.status, 4);
  }

  void aProcessThatIsNotTracedIsRefused() {
    const auto path = collect::snapProcess(static_cast<pid_t>(QCoreApplication::applicationPid()), {});
    QVERIFY(!path);
    QVERIFY(path.error().text().find("not being recorded") != std::string::npos);
    QVERIFY(!collect::snapProcess(0x3FFF'FFFF, {}));
  }

  void aFullDiskLeavesNothingBehind() {
    TracedRun traced;
    traced.run({"count", "100000"});
    struct rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const struct rlimit little{4096, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &little);
    std::vector<std::string> problems;
    const auto snaps =
        collect::recover({.folder = traced.ringFolder(),
                          .snapFolder = traced.snapFolder(),
                          .onProblem = [&](const model::Error& error) { problems.push_back(error.text()); }});
    setrlimit(RLIMIT_FSIZE, &before);
    QVERIFY(!snaps);
    QCOMPARE(problems.size(), 1u);
    QVERIFY(problems[0].find(traced.snapFolder().string()) != std::string::npos);
    QVERIFY(traced.snaps().empty());
    QCOMPARE(traced.processFolders().size(), 1u);  // for another try
    QVERIFY(collect::recover(
        {.folder = traced.ringFolder(), .snapFolder = traced.snapFolder(), .onProblem = {}}));
    QCOMPARE(traced.snaps().size(), 1u);
  }

  void whatAKilledCollectorLeftGoesAfterAnHour() {
    namespace fs = std::filesystem;
    TracedRun traced;
    fs::create_directories(traced.snapFolder());
    const auto make = [&traced](const char* name, std::chrono::minutes age) {
      const fs::path path = traced.snapFolder() / name;
      QFile file(QString::fromStdString(path.string()));
      if (!file.open(QIODevice::WriteOnly)) qFatal("cannot be made");
      file.close();
      fs::last_write_time(path, fs::file_time_type::clock::now() - age);
      return path;
    };
    const auto old = make(".traced-1-20260101T000000.partial-1", 61min),
               young = make(".traced-2.partial-2", 59min), snap = make("traced-3.tbsnap", 61min),
               other = make("notes.partial-4", 61min);
    collect::keepWithin(traced.snapFolder(), {}, {});
    QVERIFY(!fs::exists(old) && fs::exists(young) && fs::exists(snap) && fs::exists(other));
    // Without the service, too, snaps go in their time, and the least recent where there is no room.
    collect::keepWithin(traced.snapFolder(), {.diskLimit = 0, .keepSeconds = 3700}, {});
    QVERIFY(fs::exists(snap));
    collect::keepWithin(traced.snapFolder(), {.diskLimit = 0, .keepSeconds = 3600}, snap);
    QVERIFY(fs::exists(snap));  // the one that was written last
    collect::keepWithin(traced.snapFolder(), {.diskLimit = 0, .keepSeconds = 3600}, {});
    QVERIFY(!fs::exists(snap));
  }

  void onlyWhatAnEndedProcessLeftIsRemovedWithoutASnap() {
    TracedRun traced;
    traced.run({"count", "100"});
    const auto ended = traced.processFolders().at(0);
    traced.run({"count", "100"});
    QFile file(QString::fromStdString((ended / "process").string()));
    QVERIFY(file.open(QIODevice::ReadWrite) && file.seek(offsetof(format::ProcessHeader, state)));
    const auto state = static_cast<std::uint32_t>(format::ProcessState::Exited);
    QCOMPARE(file.write(reinterpret_cast<const char*>(&state), sizeof state), qint64{sizeof state});
    file.close();
    collect::removeEnded(traced.ringFolder(), {});
    QCOMPARE(traced.processFolders().size(), 1u);
    QVERIFY(traced.processFolders().at(0) != ended);
    QVERIFY(traced.snaps().empty());
  }

  void aDamagedProcessFileIsAProblemOfItsOwn() {
    TracedRun traced;
    traced.run({"count", "100"});
    traced.run({"count", "100"});
    QCOMPARE(traced.processFolders().size(), 2u);
    std::filesystem::resize_file(traced.processFolders()[0] / "process", 100);
    std::vector<std::string> problems;
    const auto snaps =
        collect::recover({.folder = traced.ringFolder(),
                          .snapFolder = traced.snapFolder(),
                          .onProblem = [&](const model::Error& error) { problems.push_back(error.text()); }});
    QVERIFY(snaps && snaps->size() == 1);
    QCOMPARE(problems.size(), 1u);
    QVERIFY(problems[0].find("cut short (at offset 0x64)") != std::string::npos);
    QCOMPARE(traced.processFolders().size(), 1u);
  }
};

QTEST_GUILESS_MAIN(FaultTest)
#include "fault_test.moc"
