// Groups that the service has snapped together, and threads that stall.
#include <signal.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QTest>
#include <algorithm>

#include "running_service.h"
#include "snap_dump.h"

using namespace traceback;
using namespace traceback::testing;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

// A home with a site file.
struct Site {
  explicit Site(const QByteArray& rules) {
    QDir(home.path()).mkpath(".config/traceback");
    QFile file(home.filePath(".config/traceback/site"));
    if (file.open(QIODevice::WriteOnly)) file.write(rules);
  }
  QTemporaryDir home;
};

// With its rings where another one has them.
struct SiteRun : TracedRun {
  SiteRun(const Site& site, const QString& program, const TracedRun* with = nullptr) : TracedRun(program) {
    setVariable("HOME", site.home.path());
    if (with != nullptr)
      setVariable("XDG_RUNTIME_DIR", QString::fromStdString(with->ringFolder().parent_path().string()));
  }
};

// Those that are whole.
std::vector<fs::path> snapsOf(const TracedRun& traced) {
  auto snaps = traced.snaps();
  std::erase_if(snaps, [](const fs::path& each) { return each.filename().string().starts_with('.'); });
  return snaps;
}

QStringList linesOf(const SnapDump& snap, const QString& key) {
  QStringList values;
  for (const QString& line : QString::fromStdString(snap.group).split(u'\n'))
    if (line.startsWith(key + u'=')) values.append(line.mid(key.size() + 1));
  return values;
}

}  // namespace

class ServiceGroupTest : public QObject {
  Q_OBJECT
 private slots:
  void aGroupIsSnappedTogetherWhenOneOfItFaults() {
    const Site site("group shop traced\n");
    SiteRun first(site, "traced"), other(site, "hangs", &first), faulting(site, "traced", &first);
    RunningService service(first, site.home.path());
    QVERIFY(service.answers());
    auto waiting = first.start({"pause"}), elsewhere = other.start({"stuck"});
    QVERIFY(waiting->waitForReadyRead(30'000) && elsewhere->waitForReadyRead(30'000));
    QVERIFY(service.knows(2));
    const Outcome outcome = faulting.run({"fault", "null"});
    QVERIFY(outcome.killed && outcome.status == SIGSEGV);
    QVERIFY(QTest::qWaitFor([&first] { return !snapsOf(first).empty(); }, 60'000));
    QCOMPARE(snapsOf(first).size(), 1u);
    QCOMPARE(snapsOf(faulting).size(), 1u);
    QVERIFY(snapsOf(other).empty());

    const auto broken = dumpSnap(snapsOf(faulting)[0]), with = dumpSnap(snapsOf(first)[0]);
    QVERIFY(broken && with);
    QCOMPARE(broken->reason.reason, static_cast<std::uint32_t>(format::SnapReason::Fault));
    QCOMPARE(with->reason.reason, static_cast<std::uint32_t>(format::SnapReason::Policy));
    QVERIFY2(with->host.contains("occasion=is of the group shop, whose process"), with->host.c_str());
    QCOMPARE(with->group, broken->group);
    QCOMPARE(linesOf(*with, "group"), QStringList("shop"));
    QCOMPARE(linesOf(*with, "cause"), QStringList(QString::number(broken->process.pid)));
    QCOMPARE(linesOf(*with, "member"),
             QStringList({QString::number(broken->process.pid), QString::number(with->process.pid)}));
    QCOMPARE(linesOf(*with, "snap"), QStringList({QString::fromStdString(snapsOf(faulting)[0].string()),
                                                  QString::fromStdString(snapsOf(first)[0].string())}));
    waiting->write("\n");
    QCOMPARE(TracedRun::finish(*waiting).status, 4);  // it went on
    elsewhere->kill();
    TracedRun::finish(*elsewhere);
    QVERIFY(service.knows(0));
    QCOMPARE(service.summary()->events, 1u);
  }

  void aGroupIsSnappedWhenSomebodyAsksButNotAgainAtOnce() {
    const Site site("group shop traced\n");
    SiteRun first(site, "traced");
    RunningService service(first, site.home.path());
    QVERIFY(service.answers());
    auto waiting = first.start({"pause"});
    QVERIFY(waiting->waitForReadyRead(30'000) && service.knows(1));
    const auto membersOf = [&service](const char* name) {
      format::ServiceGroup group{};
      collect::setField(group.group, name);
      const auto client = service.connect();
      const auto answer = client && client->send(group) ? client->receive(10s) : std::nullopt;
      const auto* event = answer ? std::get_if<collect::GroupEvent>(&*answer) : nullptr;
      return event != nullptr ? static_cast<int>(event->members.size()) : -1;
    };
    QCOMPARE(membersOf("nobody"), 0);
    QCOMPARE(membersOf("shop"), 1);
    QCOMPARE(membersOf("shop"), 0);
    QVERIFY(QTest::qWaitFor([&first] { return !snapsOf(first).empty(); }, 60'000));
    const auto asked = dumpSnap(snapsOf(first)[0]);
    QVERIFY(asked && asked->host.contains("which was snapped by hand"));
    QVERIFY(linesOf(*asked, "cause").isEmpty());
    QVERIFY(QTest::qWaitFor([&] { return service.states()[0].snaps == 1; }, 30'000));
    waiting->write("\n");
    QCOMPARE(TracedRun::finish(*waiting).status, 4);
  }

  void whoGaveUpItsRightsIsSnappedByTheServiceAndItsGroupWithIt() {
    if (::geteuid() != 0) QSKIP("only root can give up rights");
    const Site site("group shop traced confined\nfaults 1/1h\n");
    SiteRun first(site, "traced"), fallen(site, "confined", &first);
    RunningService service(first, site.home.path());
    QVERIFY(service.answers());
    auto waiting = first.start({"pause"});
    QVERIFY(waiting->waitForReadyRead(30'000) && service.knows(1));
    auto leaving = fallen.start({"user-after", "fault", "", "1"});
    QVERIFY(service.knows(2));
    leaving->write("\n");
    const Outcome outcome = TracedRun::finish(*leaving);
    QVERIFY(outcome.killed && outcome.status == SIGSEGV);
    QVERIFY(QTest::qWaitFor([&] { return !snapsOf(fallen).empty() && !snapsOf(first).empty(); }, 60'000));
    const auto broken = dumpSnap(snapsOf(fallen)[0]), with = dumpSnap(snapsOf(first)[0]);
    QVERIFY(broken && with && broken->faulting() != nullptr);
    QCOMPARE(broken->reason.signal, std::uint32_t{SIGSEGV});
    QCOMPARE(with->group, broken->group);
    QCOMPARE(linesOf(*with, "cause"), QStringList(QString::number(broken->process.pid)));
    QVERIFY(linesOf(*with, "snap").contains(QString::fromStdString(snapsOf(fallen)[0].string())));
    QVERIFY(service.knows(1));
    // The same fault again is no news.
    auto again = fallen.start({"user-after", "fault", "", "1"});
    QVERIFY(service.knows(2));
    again->write("\n");
    QVERIFY(TracedRun::finish(*again).killed);
    QVERIFY(service.knows(1));
    QTest::qWait(1000);
    QCOMPARE(
        std::ranges::count_if(snapsOf(fallen),
                              [](const fs::path& path) { return path.extension() == format::kSnapSuffix; }),
        1);
    waiting->write("\n");
    QCOMPARE(TracedRun::finish(*waiting).status, 4);
  }

  void whatStallsIsSnappedWithItsGroup() {
    const Site site("group shop traced hangs\nsnap stall 1s hangs\n");
    SiteRun first(site, "traced"), stalled(site, "hangs", &first);
    RunningService service(first, site.home.path());
    QVERIFY(service.answers());
    auto waiting = first.start({"pause"}), spinning = stalled.start({"spins"});
    QVERIFY(waiting->waitForReadyRead(30'000) && spinning->waitForReadyRead(30'000));
    QVERIFY(QTest::qWaitFor([&] { return !snapsOf(stalled).empty() && !snapsOf(first).empty(); }, 60'000));
    QVERIFY(QTest::qWaitFor(
        [&] {
          return std::ranges::any_of(service.states(),
                                     [](const auto& state) { return state.silentSeconds > 0; });
        },
        30'000));
    QTest::qWait(2000);  // it is snapped once
    QCOMPARE(snapsOf(stalled).size(), 1u);
    const auto broken = dumpSnap(snapsOf(stalled)[0]);
    QVERIFY(broken);
    QCOMPARE(broken->reason.reason, static_cast<std::uint32_t>(format::SnapReason::Hang));
    QVERIFY2(broken->host.contains("occasion=stalls: thread"), broken->host.c_str());
    QCOMPARE(linesOf(*broken, "member").size(), 2);
    QCOMPARE(spinning->state(), QProcess::Running);
    spinning->kill();
    TracedRun::finish(*spinning);
    waiting->write("\n");
    TracedRun::finish(*waiting);
  }

  void whatStallsIsEndedIfTheSiteSaysSoAndWhatWaitsForWorkIsNot() {
    const Site site("end stall 1s hangs\n");
    SiteRun stalled(site, "hangs");
    RunningService service(stalled, site.home.path());
    QVERIFY(service.answers());
    const Outcome idle = stalled.run({"idle"});
    QVERIFY(!idle.killed && idle.status == 0);
    QVERIFY(snapsOf(stalled).empty());
    const Outcome outcome = stalled.run({"spins"});
    QVERIFY(outcome.killed && outcome.status == SIGKILL);
    QCOMPARE(snapsOf(stalled).size(), 1u);
    const auto left = [&stalled] {  // of processes
      return std::ranges::any_of(stalled.processFolders(),
                                 [](const auto& each) { return fs::is_directory(each); });
    };
    QVERIFY(QTest::qWaitFor([&] { return !left(); }, 30'000));  // there is nothing to be recovered
  }

  void withoutTheServiceAMemberIsSnappedAlone() {
    const Site site("group shop traced\n");
    SiteRun alone(site, "traced");
    QVERIFY(alone.run({"fault", "null"}).killed);
    QCOMPARE(snapsOf(alone).size(), 1u);
    QVERIFY(dumpSnap(snapsOf(alone)[0])->group.empty());
  }
};

QTEST_GUILESS_MAIN(ServiceGroupTest)
#include "service_group_test.moc"
