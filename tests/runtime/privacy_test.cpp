// What is recorded is for its user's eyes alone, and nobody leads the recorder astray in folders that others
// write to.
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include <QFile>
#include <QTest>

#include "runtime/collect/files/default_folders.h"
#include "runtime/collect/files/process_folder.h"
#include "runtime/collect/keeping/ended.h"
#include "runtime/collect/snap/recover.h"
#include "runtime/collect/snap/snap_assembly.h"
#include "snap_dump.h"
#include "traced_run.h"

using namespace traceback;
using namespace traceback::testing;

namespace fs = std::filesystem;

namespace {

constexpr uid_t kStranger = 12345;

void writeFile(const fs::path& path, const QByteArray& bytes) {
  QFile file(QString::fromStdString(path.string()));
  if (file.open(QIODevice::WriteOnly)) file.write(bytes);
}

// A killed process whose folder is another user's, and what it says.
struct StrangersRun : TracedRun {
  StrangersRun() {
    run({"threads", "2"});
    folder = processFolders().at(0);
    const fs::path top = ringFolder().parent_path().parent_path();
    // All but what the test is about may be gone through by everybody.
    for (const fs::path& each : {top, ringFolder().parent_path(), ringFolder()}) ::chmod(each.c_str(), 0755);
    for (const auto& entry : fs::directory_iterator(folder))
      ok = ok && ::lchown(entry.path().c_str(), kStranger, kStranger) == 0;
    for (const fs::path& each : {folder, ringFolder()})
      ok = ok && ::chown(each.c_str(), kStranger, kStranger) == 0;
    place = top / "place";
    fs::create_directory(place);
  }
  void say(std::size_t offset, const std::string& text) const {
    QFile file(QString::fromStdString((folder / "process").string()));
    if (file.open(QIODevice::ReadWrite) && file.seek(static_cast<qint64>(offset)))
      file.write(text.c_str(), static_cast<qint64>(text.size()) + 1);
  }
  void saySnapFolder(const fs::path& to) const {
    say(offsetof(format::ProcessHeader, snapFolder), to.string());
  }
  void sayModule(const fs::path& file) const {
    say(sizeof(format::ProcessHeader) + offsetof(format::ProcessModule, path), file.string());
  }
  model::Result<std::vector<fs::path>> recover(const fs::path& to = {}) const {
    return collect::recover({.folder = ringFolder(), .snapFolder = to, .onProblem = {}});
  }
  fs::path folder, place;
  bool ok = true;
};

uid_t ownerOf(const fs::path& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_uid : ~uid_t{0};
}

}  // namespace

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
      if (entry.is_symlink()) continue;
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

  void aPipeInAProcesssFolderIsNotWaitedFor() {
    TracedRun traced;
    traced.run({"threads", "2"});
    const auto folder = traced.processFolders().at(0);
    QCOMPARE(::mkfifo((folder / "0-99.ring").c_str(), 0600), 0);
    const auto snaps =
        collect::recover({.folder = traced.ringFolder(), .snapFolder = traced.snapFolder(), .onProblem = {}});
    QVERIFY(snaps && snaps->size() == 1);
    QCOMPARE(::mkdir(folder.c_str(), 0700), 0);
    QCOMPARE(::mkfifo((folder / "process").c_str(), 0600), 0);
    const auto none =
        collect::recover({.folder = traced.ringFolder(), .snapFolder = traced.snapFolder(), .onProblem = {}});
    QVERIFY(!none && none.error().text().contains("is no regular file"));
  }

  void aFolderThatIsALinkIsNotEmptied() {
    TracedRun traced;
    const fs::path victim = traced.ringFolder().parent_path() / "victim", link = traced.ringFolder();
    fs::create_directory(victim);
    writeFile(victim / "precious", "precious");
    fs::create_symlink(victim, link);
    collect::removeFolder(link);
    QVERIFY(fs::exists(victim / "precious"));
    collect::removeFolder(victim);
    QVERIFY(!fs::exists(victim));
  }

  void rootGoesNoFurtherThanTheUserWhoseFolderItIs_data() {
    QTest::addColumn<uid_t>("owner");
    QTest::addColumn<unsigned>("mode");
    QTest::addColumn<bool>("written");
    QTest::newRow("where snaps are to go, only root may write") << uid_t{0} << 0755u << false;
    QTest::newRow("where snaps are to go, only root may look") << uid_t{0} << 0700u << false;
    QTest::newRow("where snaps are to go, the user may write") << kStranger << 0700u << true;
  }
  void rootGoesNoFurtherThanTheUserWhoseFolderItIs() {
    if (::geteuid() != 0) QSKIP("only root has more rights than another user");
    QFETCH(uid_t, owner);
    QFETCH(unsigned, mode);
    QFETCH(bool, written);
    const StrangersRun run;
    QVERIFY(run.ok && ::chown(run.place.c_str(), owner, owner) == 0);
    QVERIFY(::chmod(run.place.c_str(), mode) == 0);
    run.saySnapFolder(run.place / "snaps");
    const auto snaps = run.recover();
    QCOMPARE(snaps.has_value(), written);
    QCOMPARE(fs::is_empty(run.place), !written);
    QCOMPARE(fs::exists(run.folder), !written);
    if (written) {
      QCOMPARE(snaps->size(), 1u);
      QCOMPARE(ownerOf(snaps->front()), kStranger);
      QVERIFY(dumpSnap(snaps->front()));
      return;
    }
    QVERIFY2(snaps.error().text().contains("the rights of user 12345"), snaps.error().text().c_str());
    // Where root itself says, it writes as root.
    const auto asked = run.recover(run.place / "asked");
    QVERIFY(asked && asked->size() == 1);
    QCOMPARE(ownerOf(asked->front()), uid_t{0});
    QVERIFY(!fs::exists(run.folder));
    QCOMPARE(::geteuid(), uid_t{0});
    writeFile(run.place / "again", "as root");
    QCOMPARE(ownerOf(run.place / "again"), uid_t{0});
  }

  void rootReadsForAUserWhatTheUserMayRead_data() {
    QTest::addColumn<unsigned>("mode");
    QTest::newRow("everybody may read the program") << 0644u;
    QTest::newRow("root alone may read it") << 0600u;
  }
  void rootReadsForAUserWhatTheUserMayRead() {
    if (::geteuid() != 0) QSKIP("only root has more rights than another user");
    QFETCH(unsigned, mode);
    const StrangersRun run;
    QVERIFY(run.ok && ::chmod(run.place.c_str(), 0755) == 0);
    const fs::path program = run.place / "program";
    fs::copy_file(TracedRun::programPath("traced").toStdString(), program);
    QCOMPARE(::chmod(program.c_str(), mode), 0);
    run.sayModule(program);
    const auto snaps = run.recover(run.place);
    QVERIFY(snaps && snaps->size() == 1);
    const auto snap = dumpSnap(snaps->front());
    QVERIFY(snap);
    QCOMPARE(snap->host.contains("Permission denied"), mode == 0600);
  }

  void whatAProcessThatWasRootsSaysNowDoesNotLeadRoot() {
    if (::geteuid() != 0) QSKIP("only root can give up rights");
    TracedRun traced;
    traced.run({"threads", "2"});
    const auto folder = traced.processFolders().at(0);
    const fs::path elsewhere = traced.ringFolder().parent_path() / "elsewhere";
    QFile file(QString::fromStdString((folder / "process").string()));
    QVERIFY(file.open(QIODevice::ReadWrite) && file.seek(offsetof(format::ProcessHeader, snapFolder)));
    file.write(elsewhere.c_str(), static_cast<qint64>(elsewhere.string().size()) + 1);
    file.close();
    const auto snaps = collect::recover({.folder = traced.ringFolder(), .snapFolder = {}, .onProblem = {}});
    QVERIFY(snaps && snaps->size() == 1);
    QCOMPARE(snaps->front().parent_path(), traced.snapFolder());
    QVERIFY(!fs::exists(elsewhere));
  }

  void whereRootsSnapsGoIsStillKnownWhenTheProcessHasEnded() {
    if (::geteuid() != 0) QSKIP("only root has snaps of its own");
    TracedRun traced;
    auto process = traced.start({"pause"});
    QVERIFY(process->waitForReadyRead(30'000));
    const auto opened = collect::openProcessFolder(traced.processFolders().at(0));
    QVERIFY(opened);
    const auto folder = collect::readProcessFolder(*opened);
    QVERIFY(folder);
    process->write("\n");
    QCOMPARE(TracedRun::finish(*process).status, 4);
    collect::removeFolder(folder->path);
    QVERIFY(!fs::exists(folder->path));
    const auto place = collect::snapPlaceFor({}, folder->rootsSnaps, folder->owner, folder->header);
    QCOMPARE(place.folder, traced.snapFolder());
  }

  void aFolderThatIsNotOfTheProcesssUsersIsNotReadForIt() {
    if (::geteuid() != 0) QSKIP("only root has more rights than another user");
    TracedRun traced;
    auto process = traced.start({"pause"});
    QVERIFY(process->waitForReadyRead(30'000));
    QCOMPARE(::chown(traced.processFolders().at(0).c_str(), kStranger, kStranger), 0);
    const auto snap = collect::snapProcess(static_cast<pid_t>(process->processId()), {});
    QVERIFY(!snap && snap.error().text().contains("belongs to another user"));
    process->write("\n");
    QCOMPARE(TracedRun::finish(*process).status, 4);
  }

  void theUsualRingFolderIsLeftAloneIfSomebodyElseMadeIt() {
    if (::geteuid() != 0) QSKIP("only root can make folders of others");
    const StrangersRun run;
    QVERIFY(run.ok);
    const QByteArray before = qgetenv("XDG_RUNTIME_DIR");
    qputenv("XDG_RUNTIME_DIR", run.ringFolder().parent_path().c_str());
    const auto snaps = collect::recover({.folder = {}, .snapFolder = run.place, .onProblem = {}});
    collect::removeEnded(collect::defaultRingFolder(), {});
    if (before.isNull())
      qunsetenv("XDG_RUNTIME_DIR");
    else
      qputenv("XDG_RUNTIME_DIR", before);
    QVERIFY(!snaps && snaps.error().text().contains("belongs to another user"));
    QVERIFY(fs::exists(run.folder));
  }
};

QTEST_GUILESS_MAIN(PrivacyTest)
#include "privacy_test.moc"
