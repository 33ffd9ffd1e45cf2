// Programs that give up rights, folders and what libc knows of their threads: they do and end as without the
// runtime, and what they recorded until then is there.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QTest>
#include <algorithm>
#include <set>

#include "runtime/collect/snap/recover.h"
#include "snap_dump.h"
#include "traced_run.h"

using namespace traceback;
using namespace traceback::testing;
using format::RecordType;

namespace {

constexpr int kNotPermitted = 77;
constexpr std::uint32_t kStore = 0x0010'0800;

std::vector<std::filesystem::path> recovered(const TracedRun& traced) {
  const auto snaps =
      collect::recover({.folder = traced.ringFolder(), .snapFolder = traced.snapFolder(), .onProblem = {}});
  return snaps ? *snaps : std::vector<std::filesystem::path>{};
}

}  // namespace

class ConfinementTest : public QObject {
  Q_OBJECT
 private slots:
  void itDoesAndEndsAsWithoutTheRuntime_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<bool>("records");
    QTest::newRow("in another root folder") << "chroot" << true;
    QTest::newRow("as another user") << "user" << true;
    QTest::newRow("with no folder to write rings to") << "no-rings" << false;
    QTest::newRow("with a ring folder that became read-only") << "read-only" << true;
    QTest::newRow("with no room for rings") << "full-rings" << false;
    QTest::newRow("with a ring folder that became full") << "filling-rings" << true;
    QTest::newRow("with no room for snaps") << "full-snaps" << true;
    QTest::newRow("with a thread that libc does not know") << "clone" << true;
    QTest::newRow("with one that libc did not make") << "clone-alone" << true;
    QTest::newRow("with stacks of its own") << "context" << true;
    QTest::newRow("with a child that has no storage of libc's") << "storage" << true;
    QTest::newRow("where handlers may be set and no signal blocked") << "filter-signals" << true;
  }
  void itDoesAndEndsAsWithoutTheRuntime() {
    QFETCH(QString, what);
    QFETCH(bool, records);
    for (const char* end : {"return", "fault"}) {
      TracedRun plain("confined"), traced("confined");
      plain.setTraced(false);
      traced.setVariable("PRELOADED", TracedRun::runtimePath());
      if (what == "no-rings") traced.setVariable("XDG_RUNTIME_DIR", "/nowhere");
      const auto arguments = [&](const TracedRun& run) {
        return QStringList{what, end, QString::fromStdString(run.ringFolder().parent_path().string())};
      };
      const Outcome expected = plain.run(arguments(plain));
      if (expected.status == kNotPermitted) QSKIP(expected.errors);
      const Outcome actual = traced.run(arguments(traced));
      COMPARE_OUTCOMES(actual, expected);

      const bool faults = std::string_view(end) == "fault";
      const auto made = recovered(traced);
      if (!records || !faults) {
        // Whatever could not be removed by the process goes without a snap.
        QVERIFY(made.empty() && traced.snaps().empty());
        QVERIFY(traced.processFolders().empty());
        continue;
      }
      QCOMPARE(traced.snaps().size(), 1u);
      const auto snap = dumpSnap(traced.snaps()[0]);
      QVERIFY(snap && snap->faulting() != nullptr);
      QCOMPARE(snap->reason.signal, static_cast<std::uint32_t>(SIGSEGV));
      const RingDump& ring = snap->rings.at(snap->faulting()->ringIndex);
      QVERIFY(std::ranges::contains(ring.segments[0].dagCodes(), kStore));
      QCOMPARE(ring.header.segments[0].subBufferCount < 16, what == "filling-rings");
    }
  }

  void threadsThatBeginAfterwardsAreRecorded_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<int>("atOnce");
    QTest::addColumn<int>("recorded");
    QTest::newRow("in another root folder") << "chroot" << 24 << 24;
    QTest::newRow("as another user") << "user" << 24 << 24;
    QTest::newRow("with a ring folder that became read-only") << "read-only" << 24 << 24;
    QTest::newRow("with all descriptors closed") << "descriptors" << 24 << 24;
    QTest::newRow("where few system calls are allowed") << "filter" << 8 << 8;
    QTest::newRow("where few system calls are allowed, and too many") << "filter" << 12 << 8;
  }
  void threadsThatBeginAfterwardsAreRecorded() {
    QFETCH(QString, what);
    QFETCH(int, atOnce);
    QFETCH(int, recorded);
    TracedRun plain("confined"), traced("confined");
    plain.setTraced(false);
    const auto arguments = [&](const TracedRun& run) {
      return QStringList{what, "fault", QString::fromStdString(run.ringFolder().parent_path().string()),
                         QString::number(atOnce)};
    };
    const Outcome expected = plain.run(arguments(plain));
    if (expected.status == kNotPermitted) QSKIP(expected.errors);
    const Outcome actual = traced.run(arguments(traced));
    COMPARE_OUTCOMES(actual, expected);

    recovered(traced);
    QCOMPARE(traced.snaps().size(), 1u);
    const auto snap = dumpSnap(traced.snaps()[0]);
    QVERIFY(snap);
    constexpr std::uint32_t kInTurn = 20;
    QCOMPARE(snap->process.ringsFailed, static_cast<std::uint32_t>(atOnce - recorded));
    QCOMPARE(snap->process.ringCount, 1 + kInTurn + static_cast<std::uint32_t>(recorded));
    std::set<std::uint32_t> whole;
    for (const RingDump& ring : snap->rings) {
      for (const Segment& segment : ring.segments) QCOMPARE(segment.damaged, 0u);
      const auto& records = ring.segments[0].records;
      if (std::ranges::count(records, RecordType::ThreadEnd, &Record::type) != 1) continue;
      QCOMPARE(std::ranges::count(records, RecordType::ThreadStart, &Record::type), 1);
      QVERIFY(ring.segments[0].dagCodes().size() >= 20);
      whole.insert(ring.header.tid);
    }
    QVERIFY2(static_cast<int>(whole.size()) >= recorded, qPrintable(QString::number(whole.size())));
  }

  void whatIsStartedBehindAFilterIsFollowedWhereItSeesTheRuntime_data() {
    QTest::addColumn<bool>("sees");
    QTest::newRow("it does") << true;
    QTest::newRow("it does not") << false;
  }
  void whatIsStartedBehindAFilterIsFollowedWhereItSeesTheRuntime() {
    QFETCH(bool, sees);
    const std::filesystem::path runtime = TracedRun::runtimePath().toStdString();
    const QString hidden = sees ? QString() : QString::fromStdString(runtime.parent_path().string());
    TracedRun plain("confined"), traced("confined");
    plain.setTraced(false);
    std::filesystem::create_directories(traced.snapFolder());
    traced.setVariable("TRACEBACK_CACHE", QString::fromStdString(traced.snapFolder().string()));
    const Outcome expected = plain.run({"filtered-child", "return", hidden});
    if (expected.status == kNotPermitted) QSKIP(expected.errors);
    QCOMPARE(expected.output, QByteArray("0\n"));
    const Outcome actual = traced.run({"filtered-child", "return", hidden});
    if (sees) {
      QCOMPARE(actual.output, QByteArray("1\n"));
    } else {
      COMPARE_OUTCOMES(actual, expected);
      QCOMPARE(actual.errors, expected.errors);
    }
  }

  // By which it would be that of another user, or nobody's.
  void aChildWithoutAUsersNumberHasItsRingsBesideItsParents() {
    TracedRun plain("confined"), traced("confined");
    plain.setTraced(false);
    traced.setVariable("XDG_RUNTIME_DIR", "/nowhere");
    const std::filesystem::path nobodys = "/dev/shm/traceback-65534";
    const auto changed = [&nobodys] {
      std::error_code none;
      return std::filesystem::last_write_time(nobodys, none);
    };
    const auto before = changed();
    const Outcome expected = plain.run({"users", "fault"});
    if (expected.status == kNotPermitted) QSKIP(expected.errors);
    const Outcome actual = traced.run({"users", "fault"});
    QVERIFY(expected.output.contains("ended "));
    COMPARE_OUTCOMES(actual, expected);
    QCOMPARE(traced.snaps().size(), 1u);
    QVERIFY(changed() == before);
  }

  // Whoever looks for it by its number finds another process there.
  void aChildWithNumbersOfItsOwnAndAnothersProcIsNotRecorded() {
    TracedRun plain("confined"), traced("confined");
    plain.setTraced(false);
    const Outcome expected = plain.run({"numbers", "fault"});
    if (expected.status == kNotPermitted) QSKIP(expected.errors);
    const Outcome actual = traced.run({"numbers", "fault"});
    QVERIFY(expected.output.startsWith("number 1\n"));
    QCOMPARE(actual.output, expected.output);
    QVERIFY(recovered(traced).empty() && traced.snaps().empty());
    QVERIFY(traced.processFolders().empty());
  }

  void aProcessWithNumbersOfItsOwnIsNotTakenForAnEndedOne() {
    TracedRun plain("confined"), traced("confined");
    plain.setTraced(false);
    if (plain.run({"numbers", "return"}).status == kNotPermitted) QSKIP("it may not have numbers of its own");
    traced.setVariable("PRELOADED", TracedRun::runtimePath());
    auto process = traced.start({"numbers-and-proc", "fault"});
    QByteArray said;
    QVERIFY(QTest::qWaitFor(
        [&] { return process->waitForReadyRead(10), (said += process->readAll()).contains("ready"); },
        60'000));
    QVERIFY(said.startsWith("number 1\n"));
    const auto folders = traced.processFolders();
    QVERIFY(std::ranges::any_of(folders,
                                [](const auto& path) { return path.filename().string().starts_with("1-"); }));
    QVERIFY(recovered(traced).empty());
    QCOMPARE(traced.processFolders(), folders);
    process->write("\n");
    QCOMPARE(TracedRun::finish(*process).status, 0);
    QCOMPARE(traced.snaps().size(), 1u);
    const auto snap = dumpSnap(traced.snaps()[0]);
    QVERIFY(snap && snap->faulting() != nullptr);
  }

  void withoutARuntimeFolderRingsAreInSharedMemory() {
    if (!std::filesystem::is_directory("/dev/shm")) QSKIP("there is no /dev/shm");
    TracedRun traced;
    traced.setVariable("XDG_RUNTIME_DIR", "/nowhere");
    const auto shared = std::filesystem::path("/dev/shm/traceback-" + std::to_string(::geteuid()));
    auto process = traced.start({"pause"});
    QVERIFY(process->waitForReadyRead(30'000));
    const std::string prefix = std::to_string(process->processId()) + "-";
    const auto own = [&] {
      std::vector<std::filesystem::path> found;
      for (const auto& entry : std::filesystem::directory_iterator(shared))
        if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
      return found;
    };
    QCOMPARE(own().size(), 1u);
    QVERIFY(!TracedRun::rings(own()[0]).empty());
    struct stat status{};
    QCOMPARE(::lstat(shared.c_str(), &status), 0);
    QVERIFY(S_ISDIR(status.st_mode) && status.st_uid == ::geteuid());
    QCOMPARE(status.st_mode & 0777, 0700u);
    process->write("\n");
    QCOMPARE(TracedRun::finish(*process).status, 4);
    QVERIFY(own().empty());
    QVERIFY(traced.run({"fault", "null"}).killed);
    QCOMPARE(traced.snaps().size(), 1u);
  }

  void noTwoThreadsWriteToOneRing_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<std::uint64_t>("most");  // records
    QTest::newRow("of a thread that libc does not know") << "clone" << std::uint64_t{200};
    // It is found out at the end of a sub-buffer.
    QTest::newRow("of one that libc did not make") << "clone-alone" << std::uint64_t{16384 + 200};
  }
  void noTwoThreadsWriteToOneRing() {
    QFETCH(QString, what);
    QFETCH(std::uint64_t, most);
    TracedRun traced("confined");
    QVERIFY(traced.run({what, "fault"}).killed);
    recovered(traced);
    QCOMPARE(traced.snaps().size(), 1u);
    const auto snap = dumpSnap(traced.snaps()[0]);
    QVERIFY(snap && snap->faulting() != nullptr);
    const Segment& segment = snap->rings.at(snap->faulting()->ringIndex).segments[0];
    QCOMPARE(segment.damaged, 0u);
    QVERIFY2(segment.dagRecordsEver < most, qPrintable(QString::number(segment.dagRecordsEver)));
    const auto gap = std::ranges::find(segment.records, RecordType::Gap, &Record::type);
    QVERIFY(gap != segment.records.end());
    QCOMPARE(gap->detail, static_cast<std::uint16_t>(format::GapReason::Shared));
    // It goes on once it is alone.
    QVERIFY(std::any_of(gap, segment.records.end(),
                        [](const Record& record) { return record.isDag && record.code == kStore; }));
    QCOMPARE(snap->process.ringsFailed, 1u);
  }

  void aDaemonIsSnappedAsAnyOther() {
    TracedRun traced("confined");
    const Outcome outcome = traced.run({"daemon", "fault"});
    QVERIFY(!outcome.killed && outcome.status == 0);
    QVERIFY(QTest::qWaitFor([&traced] { return !traced.snaps().empty() && traced.processFolders().empty(); },
                            60'000));
    const auto snap = dumpSnap(traced.snaps()[0]);
    QVERIFY(snap);
    QCOMPARE(snap->reason.signal, static_cast<std::uint32_t>(SIGSEGV));
    QCOMPARE(snap->rings.size(), 2u);  // with that of the thread that ended
  }

  void aRuntimeThatComesLateDoesNoHarm_data() {
    QTest::addColumn<QString>("tunables");
    QTest::newRow("without room for it") << "";
    QTest::newRow("with room for it") << "glibc.rtld.optional_static_tls=16384";
  }
  void aRuntimeThatComesLateDoesNoHarm() {
    QFETCH(QString, tunables);
    TracedRun traced("confined");
    traced.setTraced(false);
    traced.setVariable("GLIBC_TUNABLES", tunables);
    const Outcome outcome = traced.run({"late", "return", TracedRun::runtimePath()});
    // Two times ten, four threads' twenty and then a thousand times that, and the new one's.
    QCOMPARE(outcome.output, QByteArray("80120\n"));
    QVERIFY(!outcome.killed);
    QCOMPARE(outcome.status, 4);
    QVERIFY(traced.processFolders().empty());
  }
};

QTEST_GUILESS_MAIN(ConfinementTest)
#include "confinement_test.moc"
