// What traced code leaves in the rings, with a module instrumented by hand.
#include <signal.h>
#include <sys/resource.h>

#include <QFile>
#include <QTest>

#include "traced_run.h"

using namespace traceback;
using namespace traceback::testing;
using format::RecordType;

namespace {

constexpr std::uint32_t kCount = 0x0010'0000, kHandler = 0x0010'0400;

// The paths of the counting loop's records, in order.
std::vector<std::uint32_t> pathsOf(const std::vector<std::uint32_t>& codes, std::uint32_t base) {
  std::vector<std::uint32_t> paths;
  for (const std::uint32_t code : codes)
    if (code >= base && code < base + 1024) paths.push_back(code - base);
  return paths;
}

// Each path is one more than the one before, modulo 1024.
bool areConsecutive(const std::vector<std::uint32_t>& paths) {
  for (std::size_t i = 1; i < paths.size(); ++i)
    if (paths[i] != (paths[i - 1] + 1) % 1024) return false;
  return true;
}

}  // namespace

class RecordingTest : public QObject {
  Q_OBJECT
 private slots:
  void everyRecordOfAShortRunIsThere() {
    TracedRun traced;
    const Outcome outcome = traced.run({"count", "5000"});
    QVERIFY(outcome.killed && outcome.status == SIGKILL);
    QCOMPARE(traced.processFolders().size(), 1u);
    const auto rings = traced.rings(traced.processFolders().front());
    QCOMPARE(rings.size(), 1u);
    const Segment& main = rings[0].segments[0];
    QCOMPARE(main.damaged, 0u);
    QVERIFY(main.records.size() > 2);
    QCOMPARE(main.records[0].type, RecordType::Timestamp);
    QCOMPARE(main.records[1].type, RecordType::ThreadStart);
    QCOMPARE(main.records[1].values[1], std::uint64_t{rings[0].header.tid});
    const auto paths = pathsOf(main.dagCodes(), kCount);
    QCOMPARE(paths.size(), 5000u);
    QCOMPARE(paths.front(), 1u);
    QVERIFY(areConsecutive(paths));
    QCOMPARE(main.dagRecordsEver, 5000u);
  }

  void aFullRingKeepsTheLatest() {
    TracedRun traced;
    traced.run({"count", "2000000"});
    const auto rings = traced.rings(traced.processFolders().at(0));
    const Segment& main = rings.at(0).segments[0];
    const auto paths = pathsOf(main.dagCodes(), kCount);
    QCOMPARE(main.damaged, 0u);
    QCOMPARE(main.dagRecordsEver, 2000000u);
    QCOMPARE(paths.back(), 2000000u % 1024);
    QVERIFY(areConsecutive(paths));
    QVERIFY(paths.size() >= 15u * (main.subBufferWords - 5));
    std::uint64_t last = 0;
    for (const Record& record : main.records) {
      if (record.type != RecordType::Timestamp) continue;
      QVERIFY(record.values[0] >= last);
      last = record.values[0];
    }
  }

  void aRingTakesMemoryAsItFills_data() {
    QTest::addColumn<QString>("times");
    QTest::addColumn<std::uint64_t>("least");
    QTest::addColumn<std::uint64_t>("most");
    QTest::newRow("a short run") << "10" << std::uint64_t{20} << std::uint64_t{100};
    // The history's 120 are there once it took eight milliseconds.
    QTest::newRow("a run that fills it") << "20000000" << std::uint64_t{1024 + 100} << std::uint64_t{2048};
  }
  void aRingTakesMemoryAsItFills() {
    QFETCH(QString, times);
    QFETCH(std::uint64_t, least);
    QFETCH(std::uint64_t, most);
    TracedRun traced;
    traced.run({"count", times});
    const std::uint64_t kilobytes = TracedRun::ringMemory(traced.processFolders().at(0)).at(0);
    QVERIFY2(kilobytes >= least && kilobytes <= most, qPrintable(QString::number(kilobytes)));
  }

  void theBufferSizeIsTheUsers() {
    TracedRun traced;
    traced.setVariable("TRACEBACK_BUFFER_SIZE", "256K");
    traced.run({"count", "10"});
    const auto rings = traced.rings(traced.processFolders().at(0));
    const auto& segment = rings.at(0).header.segments[0];
    QCOMPARE(std::uint64_t{segment.subBufferWords} * segment.subBufferCount * 4, 256u << 10);
  }

  void everyRegisterSurvivesTheWrap() {
    TracedRun traced;
    traced.setVariable("TRACEBACK_BUFFER_SIZE", "64K");
    const Outcome outcome = traced.run({"registers", "200000"});
    QVERIFY2(!outcome.killed, qPrintable(QString::number(outcome.status) + outcome.errors));
    QCOMPARE(outcome.output, QByteArray("0\n"));
    QCOMPARE(outcome.status, 0);
  }

  void killedAtARandomMomentLosesAtMostTheLastRecord() {
    constexpr int kThreads = 3;
    for (int round = 0; round < 50; ++round) {
      TracedRun traced;
      traced.setVariable("TRACEBACK_BUFFER_SIZE", "64K");
      QTemporaryDir folder;
      QFile file(folder.filePath("counters"));
      QVERIFY(file.open(QIODevice::ReadWrite) && file.resize(4096));
      auto process = traced.start({"forever", file.fileName(), QString::number(kThreads)});
      const auto* words = reinterpret_cast<const volatile std::uint64_t*>(file.map(0, 4096));
      const auto running = [&] {
        for (int i = 0; i < kThreads; ++i)
          if (words[1 + i * 8] < 2) return false;  // a thread's first record is when it gets its ring
        return true;
      };
      QVERIFY(QTest::qWaitFor(running, 20'000));
      QTest::qSleep(1 + (round * 7) % 13);
      process->kill();
      process->waitForFinished();
      const auto rings = traced.rings(traced.processFolders().at(0));
      QCOMPARE(rings.size(), std::size_t{kThreads});
      std::vector<std::uint64_t> counted, recorded;
      for (int i = 0; i < kThreads; ++i) counted.push_back(std::uint64_t{words[1 + i * 8]});
      for (const RingDump& ring : rings) {
        const Segment& main = ring.segments[0];
        QCOMPARE(main.damaged, 0u);
        auto paths = pathsOf(main.dagCodes(), kCount);
        if (!paths.empty() && paths.back() == 0) paths.pop_back();  // head done, light probe not
        QVERIFY(areConsecutive(paths));
        recorded.push_back(main.dagRecordsEver);
      }
      // Threads may have got their rings in any order.
      std::ranges::sort(counted);
      std::ranges::sort(recorded);
      for (int i = 0; i < kThreads; ++i)
        QVERIFY2(
            recorded[i] == counted[i] || recorded[i] + 1 == counted[i],
            qPrintable(
                QString("round %1: counted %2, recorded %3").arg(round).arg(counted[i]).arg(recorded[i])));
    }
  }

  void eachThreadHasARingAndItsEndIsRecorded() {
    TracedRun traced;
    traced.run({"threads", "4"});
    const auto rings = traced.rings(traced.processFolders().at(0));
    QCOMPARE(rings.size(), 5u);
    for (std::size_t i = 0; i < 4; ++i) {
      const Segment& main = rings[i].segments[0];
      QCOMPARE(pathsOf(main.dagCodes(), kCount).size(), 100 + i);
      QCOMPARE(main.records.back().type, RecordType::ThreadEnd);
      QCOMPARE(rings[i].header.state, std::uint32_t(format::RingState::ThreadEnded));
    }
    QCOMPARE(pathsOf(rings[4].segments[0].dagCodes(), kCount).size(), 7u);
    QCOMPARE(rings[4].header.state, std::uint32_t(format::RingState::InUse));
    QCOMPARE(QByteArray(reinterpret_cast<const char*>(rings[4].header.name)), QByteArray("traced"));
  }

  void theRingsOfEndedThreadsDoNotPileUp() {
    TracedRun traced;
    traced.setVariable("TRACEBACK_BUFFER_SIZE", "64K");
    traced.run({"many", "600"});
    const auto rings = traced.rings(traced.processFolders().at(0));
    QCOMPARE(rings.size(), 64u);  // the main thread's and the last that ended
    QCOMPARE(pathsOf(rings.back().segments[0].dagCodes(), kCount).size(), 7u);
    QCOMPARE(traced.process(traced.processFolders().at(0)).ringCount, 601u);
  }

  void moreThreadsThanRingsRunUntraced() {
    TracedRun traced;
    traced.setVariable("TRACEBACK_BUFFER_SIZE", "64K");
    auto process = traced.start({"crowd", "300"});
    QVERIFY(process->waitForReadyRead(30'000) || process->bytesAvailable() > 0 ||
            process->state() == QProcess::NotRunning);
    const Outcome outcome = traced.finish(*process);
    QCOMPARE(outcome.output, QByteArray("all run\nall ended\n"));
    QCOMPARE(outcome.status, 0);
    QVERIFY(traced.processFolders().empty());
  }

  void anEndByTheProgramLeavesNothing_data() {
    QTest::addColumn<QString>("how");
    QTest::addColumn<int>("status");
    for (const char* how : {"exit", "_exit", "_Exit", "quick_exit", "return"}) QTest::newRow(how) << how << 3;
    QTest::newRow("pthread_exit") << "pthread_exit" << 0;
    QTest::newRow("daemon") << "daemon" << 0;
  }
  void anEndByTheProgramLeavesNothing() {
    QFETCH(QString, how);
    TracedRun traced;
    const Outcome outcome = traced.run({"exit", how});
    QVERIFY(!outcome.killed);
    QTEST(outcome.status, "status");
    QVERIFY(std::filesystem::exists(traced.ringFolder()));
    // A daemon may still run.
    QVERIFY(QTest::qWaitFor([&] { return traced.processFolders().empty(); }, 10'000));
  }

  void aForkedChildHasRingsOfItsOwn_data() {
    QTest::addColumn<QString>("how");
    for (const char* how : {"fork", "_Fork", "raw"}) QTest::newRow(how) << how;
  }
  void aForkedChildHasRingsOfItsOwn() {
    QFETCH(QString, how);
    TracedRun traced;
    const Outcome outcome = traced.run({"fork", how});
    QVERIFY2(outcome.output.endsWith("status 9\n"), outcome.output);
    QCOMPARE(traced.processFolders().size(), 2u);
    std::vector<std::size_t> sizes;
    for (const auto& folder : traced.processFolders()) {
      const auto rings = traced.rings(folder);
      QCOMPARE(rings.size(), 1u);
      QCOMPARE(rings[0].segments[0].damaged, 0u);
      QCOMPARE(rings[0].header.pid, traced.process(folder).pid);
      sizes.push_back(pathsOf(rings[0].segments[0].dagCodes(), kCount).size());
    }
    std::ranges::sort(sizes);
    QCOMPARE(sizes, (std::vector<std::size_t>{50, 120}));
  }

  void aChildForkedInAHandlerGoesOn() {
    TracedRun traced;
    QCOMPARE(traced.run({"fork-in-handler"}).output, QByteArray("5 60\n"));
    QVERIFY(traced.processFolders().empty());
  }

  void aTracedHandlerOnATimerDamagesNothing() {
    TracedRun traced;
    traced.setVariable("TRACEBACK_BUFFER_SIZE", "64M");
    const Outcome outcome = traced.run({"timer", "400"});
    const auto printed = outcome.output.trimmed().split(' ');
    QCOMPARE(printed.size(), 2);
    const auto rings = traced.rings(traced.processFolders().at(0));
    const Segment& main = rings.at(0).segments[0];
    QCOMPARE(main.damaged, 0u);
    const auto paths = pathsOf(main.dagCodes(), kCount);
    QCOMPARE(paths.size(), std::min<std::size_t>(printed[0].toULongLong(), paths.size()));
    QCOMPARE(paths.back(), printed[0].toULongLong() % 1024);
    QVERIFY(areConsecutive(paths));

    const Segment& handler = rings[0].segments[1];
    QCOMPARE(handler.damaged, 0u);
    // Each interrupted record was completed, or written at all, only afterwards.
    unsigned placed = 0;
    for (const Record& record : handler.records) {
      if (record.isDag || record.type != RecordType::SignalBegin) continue;
      const auto at = std::ranges::lower_bound(main.records, record.values[4], {}, &Record::position);
      if (at == main.records.end() || at->position != record.values[4]) continue;
      ++placed;
      if (record.values[5] == 0 || !at->isDag) continue;
      const std::uint32_t then = format::codeOf(static_cast<format::Word>(record.values[5]));
      QVERIFY(then == at->code || then == (at->code & ~1023u));
    }
    QVERIFY2(placed > 5, qPrintable(QString::number(placed)));
    unsigned whole = 0;
    std::vector<std::uint32_t> since;
    bool begun = false;
    std::uint64_t sequence = 0;
    for (const Record& record : handler.records) {
      if (record.isDag) since.push_back(record.code);
      if (!record.isDag && record.type == RecordType::SignalBegin &&
          (record.detail & format::kSignalContinued) != 0) {
        QVERIFY(!begun || record.values[6] == sequence);
        continue;
      }
      if (!record.isDag && record.type == RecordType::SignalBegin) {
        QVERIFY(!begun || since.empty());
        QCOMPARE(record.detail & format::kSignalNumberMask, SIGALRM);
        QVERIFY(!begun || record.values[6] == sequence + 1);
        sequence = record.values[6];
        begun = true;
        since.clear();
      }
      if (record.isDag || record.type != RecordType::SignalEnd) continue;
      if (begun) {
        QCOMPARE(since.size(), 20u);
        QVERIFY(areConsecutive(pathsOf(since, kHandler)));
        QCOMPARE(pathsOf(since, kHandler).size(), 20u);
        ++whole;
      }
      since.clear();
    }
    QVERIFY2(whole > 20,
             qPrintable(QString("%1 whole handlers of %2").arg(whole).arg(handler.records.size())));
    QCOMPARE(sequence + 1, printed[1].toULongLong() / 20);
  }

  void aHandlerLeftByAJumpGivesTheThreadBackToItsLowerSegment() {
    TracedRun traced;
    traced.run({"jump", "10"});
    const auto rings = traced.rings(traced.processFolders().at(0));
    const Segment& main = rings.at(0).segments[0];
    QCOMPARE(main.damaged, 0u);
    QCOMPARE(pathsOf(main.dagCodes(), kCount).size(), 100u);
    unsigned resumed = 0;
    for (const Record& record : main.records)
      if (!record.isDag && record.type == RecordType::Resumption) {
        ++resumed;
        QCOMPARE(record.detail, std::uint16_t{1});
      }
    QCOMPARE(resumed, 10u);
    QCOMPARE(pathsOf(rings[0].segments[1].dagCodes(), kHandler).size(), 200u);
    QCOMPARE(rings[0].header.level, 0u);
  }

  void handlersThatNestTooDeepLeaveAGap() {
    TracedRun traced;
    traced.run({"nested"});
    const auto rings = traced.rings(traced.processFolders().at(0));
    QCOMPARE(pathsOf(rings.at(0).segments[0].dagCodes(), kCount).size(), 15u);
    QCOMPARE(rings[0].header.signalSequence, 7u);
    QCOMPARE(pathsOf(rings[0].segments[1].dagCodes(), kHandler).size(), 80u);
    QCOMPARE(pathsOf(rings[0].segments[2].dagCodes(), kHandler).size(), 40u);
    const Segment& deepest = rings[0].segments[3];
    QCOMPARE(pathsOf(deepest.dagCodes(), kHandler).size(), 40u);
    unsigned gaps = 0;
    for (const Record& record : deepest.records) gaps += !record.isDag && record.type == RecordType::Gap;
    QCOMPARE(gaps, 1u);
  }

  void aHandlerSeesAndMayChangeTheOriginalAddress() {
    TracedRun traced;
    const Outcome outcome = traced.run({"handler"});
    QCOMPARE(outcome.output, QByteArray("original 0x40 1\noriginal 0x40 1\noriginal 0x40 1\n"));
    QCOMPARE(outcome.status, 0);
  }

  void theProgramSeesNoTraceOfUsInItsEnvironment() {
    TracedRun traced;
    const Outcome outcome = traced.run({"environment"});
    for (const char* name : {"TRACEBACK_SNAP_DIR", "TRACEBACK_COLLECTOR", "TRACEBACK_PROGRAM"})
      QVERIFY2(!outcome.output.contains(name), outcome.output);
    QVERIFY(!outcome.output.contains("LD_PRELOAD="));
    QVERIFY(outcome.output.contains("PATH="));
    QVERIFY2(outcome.output.contains("from a shell\n0\n"), outcome.output);
    QVERIFY(outcome.output.endsWith("1 gone\n"));
    TracedRun two;
    two.setVariable("LD_PRELOAD", qEnvironmentVariable("LD_PRELOAD") + "libm.so.6");
    two.setTraced(false);
    QVERIFY(two.run({"environment"}).output.contains("LD_PRELOAD=libm.so.6"));
  }

  void aProgramThatExecutesAnotherLeavesNothing_data() {
    QTest::addColumn<QString>("how");
    for (const char* how :
         {"execve", "execv", "execvp", "execvpe", "fexecve", "execveat", "execl", "execlp", "execle"})
      QTest::newRow(how) << how;
  }
  void aProgramThatExecutesAnotherLeavesNothing() {
    QFETCH(QString, how);
    TracedRun traced;
    const Outcome outcome = traced.run({"exec", how});
    QCOMPARE(outcome.output, QByteArray("failed 2\nexecuted\n"));
    QVERIFY(!outcome.killed && outcome.status == 0);
    QVERIFY(traced.processFolders().empty());
  }

  void aProgramThatCouldNotBeExecutedGoesOnRecording_data() {
    QTest::addColumn<QString>("how");
    for (const char* how : {"none", "vfork"}) QTest::newRow(how) << how;
  }
  void aProgramThatCouldNotBeExecutedGoesOnRecording() {
    QFETCH(QString, how);
    TracedRun traced;
    const Outcome outcome = traced.run({"exec", how});
    QVERIFY(outcome.killed && outcome.status == SIGKILL);
    const auto folder = traced.processFolders().at(0);
    QCOMPARE(traced.process(folder).state, std::uint32_t(format::ProcessState::Running));
    QCOMPARE(pathsOf(traced.rings(folder).at(0).segments[0].dagCodes(), kCount).size(), 110u);
  }

  void aBacktraceReachesMainFromAnyPlaceInAProbe() {
    TracedRun traced;
    traced.setVariable("TRACEBACK_BUFFER_SIZE", "64K");
    const Outcome outcome = traced.run({"backtrace", "2000"});
    QVERIFY2(!outcome.killed, qPrintable(QString::number(outcome.status) + outcome.errors));
    QCOMPARE(outcome.output, QByteArray("0\n"));
    QCOMPARE(outcome.status, 0);
  }

  void theLibraryMayBeNeededInsteadOfPreloaded() {
    TracedRun traced("needed");
    traced.setVariable("LD_PRELOAD", {});
    QVERIFY(traced.run({"count", "5000"}).killed);
    const auto rings = traced.rings(traced.processFolders().at(0));
    QCOMPARE(pathsOf(rings.at(0).segments[0].dagCodes(), kCount).size(), 5000u);
    TracedRun handler("needed");
    handler.setVariable("LD_PRELOAD", {});
    QVERIFY(handler.run({"handler"}).output.startsWith("original 0x40 1\n"));
  }

  void switchedOffItRecordsNothing() {
    TracedRun traced;
    traced.setVariable("TRACEBACK", "off");
    const Outcome outcome = traced.run({"registers", "1000"});
    QCOMPARE(outcome.output, QByteArray("0\n"));
    QVERIFY(!std::filesystem::exists(traced.ringFolder()));
  }

  void aProgramThatMayWriteNoLargeFilesRunsUntraced() {
    rlimit before{};
    QCOMPARE(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{.rlim_cur = 65536, .rlim_max = before.rlim_max};
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &small), 0);
    TracedRun traced;
    const Outcome outcome = traced.run({"registers", "1000"});
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &before), 0);
    QVERIFY(!outcome.killed);
    QCOMPARE(outcome.output, QByteArray("0\n"));
  }

  void aRingFolderThatOthersCanWriteIsNotUsed() {
    TracedRun traced;
    std::filesystem::create_directory(traced.ringFolder());
    std::filesystem::permissions(traced.ringFolder(), std::filesystem::perms::all);
    const Outcome outcome = traced.run({"registers", "1000"});
    QCOMPARE(outcome.output, QByteArray("0\n"));
    QVERIFY(traced.processFolders().empty());
  }
};

QTEST_GUILESS_MAIN(RecordingTest)
#include "recording_test.moc"
