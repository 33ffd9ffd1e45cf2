// What is recorded is for its user's eyes alone, and nobody leads the recorder astray in folders that others
// write to.
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include <QFile>
#include <QTest>

#include "runtime/collect/recover.h"
#include "snap_dump.h"
#include "traced_run.h"

using namespace traceback;
using namespace traceback::testing;

namespace fs = std::filesystem;

class PrivacyTest : public QObject {
  Q_OBJECT
 private:
  static unsigned modeOf(const fs::path& path) {
    struct stat status{};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }

 private slots:
  void ringsAndSnapsAreTheUsersAlone() {
    const mode_t before = ::umask(0);
    TracedRun traced;
    auto process = traced.start({"pause"});
    QVERIFY(process->waitForReadyRead(30'000));
    const auto snap = collect::snapProcess(static_cast<pid_t>(process->processId()), {});
    const auto folder = traced.processFolders().at(0);
    QCOMPARE(modeOf(traced.ringFolder()), 0700u);
    QCOMPARE(modeOf(folder), 0700u);
    unsigned files = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
      QCOMPARE(modeOf(entry.path()), 0600u);
      ++files;
    }
    QVERIFY(files >= 2);
    process->write("\n");
    TracedRun::finish(*process);
    QVERIFY(traced.run({"fault", "null"}).killed);
    ::umask(before);
    QVERIFY(snap);
    QCOMPARE(traced.snaps().size(), 2u);
    for (const auto& path : traced.snaps()) QCOMPARE(modeOf(path), 0600u);
  }

  void aRingFolderThatIsNotPrivateIsNotUsed_data() {
    QTest::addColumn<bool>("link");
    QTest::newRow("others may look into it") << false;
    QTest::newRow("it is a link") << true;
  }
  void aRingFolderThatIsNotPrivateIsNotUsed() {
    QFETCH(bool, link);
    TracedRun traced;
    const fs::path elsewhere = traced.ringFolder().parent_path() / "elsewhere";
    QCOMPARE(::mkdir(elsewhere.c_str(), 0700), 0);
    if (link)
      fs::create_symlink(elsewhere, traced.ringFolder());
    else
      QCOMPARE(::mkdir(traced.ringFolder().c_str(), 0755), 0);
    auto process = traced.start({"pause"});
    QVERIFY(process->waitForReadyRead(30'000));
    QVERIFY(fs::is_empty(elsewhere));
    QVERIFY(fs::is_empty(traced.ringFolder()));
    process->write("\n");
    QCOMPARE(TracedRun::finish(*process).status, 4);  // it runs as without the recorder
  }

  void aLinkInASnapsPlaceIsNotFollowed() {
    TracedRun traced;
    traced.run({"threads", "2"});
    const auto folder = traced.processFolders().at(0);
    const std::string pid = std::to_string(traced.process(folder).pid);
    const fs::path victim = traced.ringFolder().parent_path() / "victim";
    QFile file(QString::fromStdString(victim.string()));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("precious") > 0);
    file.close();
    // Under each name that the snap may get in the next minutes.
    fs::create_directories(traced.snapFolder());
    const time_t now = ::time(nullptr);
    for (time_t at = now - 1; at < now + 180; ++at) {
      struct tm local{};
      char text[32] = {};
      ::localtime_r(&at, &local);
      ::strftime(text, sizeof text, "%Y%m%dT%H%M%S", &local);
      fs::create_symlink(victim, traced.snapFolder() / ("traced-" + pid + "-" + text + ".tbsnap"));
    }
    const auto snaps =
        collect::recover({.folder = traced.ringFolder(), .snapFolder = traced.snapFolder(), .onProblem = {}});
    QVERIFY(snaps && snaps->size() == 1);
    QVERIFY2(snaps->front().filename().string().ends_with("-2.tbsnap"), snaps->front().c_str());
    QVERIFY(dumpSnap(snaps->front()));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), QByteArray("precious"));
  }

  void linksInAProcesssFolderAreNotFollowed() {
    TracedRun traced;
    traced.run({"threads", "2"});
    const auto folder = traced.processFolders().at(0);
    const fs::path elsewhere = traced.ringFolder().parent_path() / "elsewhere";
    fs::rename(folder / "process", elsewhere);
    fs::create_symlink(elsewhere, folder / "process");
    std::vector<std::string> problems;
    const auto snaps =
        collect::recover({.folder = traced.ringFolder(),
                          .snapFolder = traced.snapFolder(),
                          .onProblem = [&](const model::Error& error) { problems.push_back(error.text()); }});
    QVERIFY(!snaps || snaps->empty());
    QCOMPARE(problems.size(), 1u);
    QVERIFY(traced.snaps().empty());
  }
};

QTEST_GUILESS_MAIN(PrivacyTest)
#include "privacy_test.moc"
