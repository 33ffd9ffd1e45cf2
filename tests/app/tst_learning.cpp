// Recording costs less once a program has run, for that has left what ran in it.
#include <sys/file.h>
#include <sys/stat.h>

#include <QDir>
#include <QRegularExpression>
#include <QTest>
#include <algorithm>

#include "model/branch_profile.h"
#include "tests/app/command_line.h"

using namespace traceback::test;

class LearningTest : public QObject {
  Q_OBJECT

  // Some tenths of a second, of which each look takes its part.
  static constexpr const char* kLong = "40000000";
  static constexpr const char* kShort = "10";
  static constexpr int kPatience = 60'000;  // ms

  CommandLine m_line;

  QString rings() const { return m_line.environment().value("XDG_RUNTIME_DIR") + "/traceback"; }
  QStringList left() const { return QDir(rings()).entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name); }
  QString kept() const { return m_line.path("data/traceback/profiles"); }
  QStringList keptFiles() const { return QDir(kept()).entryList({"*.tbprofile"}, QDir::Files); }
  int copies() const {
    return int(listing(m_line.path("cache/traceback/instrumented")).filter("/phases").size());
  }
  // Of the index, by a word of the original's path.
  QString entryOf(const QString& word) const {
    const QString folder = m_line.path("cache/traceback/instrumented");
    for (const QString& name : listing(folder).filter("/index/"))
      if (readFile(folder + '/' + name).contains(word.toUtf8())) return name;
    return {};
  }
  QStringList cached(const char* pattern) const {
    return listing(m_line.path("cache/traceback/instrumented")).filter(QRegularExpression(pattern));
  }
  // Held until its end by what a run has left in the background, of which only one runs at a time.
  bool isLockHeld() const {
    return std::ranges::any_of(cached("/making/renewal$"), [this](const QString& name) {
      QFile lock(m_line.path("cache/traceback/instrumented/") + name);
      return lock.open(QFile::ReadWrite) && flock(lock.handle(), LOCK_SH | LOCK_NB) != 0;
    });
  }
  bool isBusy() const {
    return !listing(m_line.path("tmp")).isEmpty() || !cached("/renewal/.").isEmpty() || isLockHeld();
  }
  // By what the last run has left in the background, from all that was left before.
  bool isLearned() const {
    return QTest::qWaitFor([this] { return left().isEmpty() && !isBusy(); }, kPatience);
  }
  Ran runFor(const char* rounds, const QStringList& options = {}) const {
    return m_line.traceback(QStringList{"run"} + options + QStringList{"--", PHASES_PROGRAM, "ends", rounds});
  }
  Ran runInShell(const QString& script) const {
    return m_line.traceback({"run", "--", "/bin/sh", "-c", script, PHASES_PROGRAM, kLong});
  }
  // In memory, which is less than their size.
  static qint64 bytesIn(const QString& folder) {
    qint64 bytes = 0;
    for (const QString& name : QDir(folder).entryList(QDir::Files)) {
      struct stat status{};
      if (::stat(qPrintable(folder + '/' + name), &status) == 0) bytes += status.st_blocks * 512;
    }
    return bytes;
  }

 private slots:
  void init() {
    QVERIFY(m_line.isReady() && QDir().mkpath(m_line.path("tmp")));
    m_line.environment().insert("TMPDIR", m_line.path("tmp"));
    QDir(rings()).removeRecursively();
    QCOMPARE(m_line.traceback({"profile", "--forget"}).status, 0);
  }
  void cleanup() {
    QVERIFY(QTest::qWaitFor([this] { return !isBusy(); }, kPatience));
  }

  void theSecondRunLearnsFromTheFirst() {
    QCOMPARE(runFor(kLong).status, 0);
    QCOMPARE(left(), QStringList("learned-0"));
    QVERIFY2(bytesIn(rings() + "/learned-0") < 600'000, "what it counted, not its records");
    QCOMPARE(keptFiles(), QStringList());
    const int before = copies();

    const Ran second = runFor(kShort);
    QCOMPARE(second.status, 0);
    QCOMPARE(second.err, QByteArray());
    QVERIFY(isLearned());
    QCOMPARE(keptFiles().size(), 1);
    QVERIFY2(copies() == before + 1, "it was instrumented by that");
    const auto profile = traceback::model::BranchProfile::parse(
        readFile(kept() + '/' + keptFiles().front()).toStdString(), "kept");
    QVERIFY(profile.has_value());
    const std::string buildId = profile->modules().begin()->first;
    QVERIFY(profile->programRecordsOf(buildId) >= 1 << 18);
    QVERIFY(profile->recordsOf(buildId) <= profile->programRecordsOf(buildId));

    QVERIFY(runFor(kShort).status == 0 && copies() == before + 1);
  }

  // As when whoever made it anew was ended.
  void aCopyThatStillWaitsIsMadeAnewByTheNextRun() {
    QCOMPARE(runFor(kLong).status, 0);
    const QString entry = m_line.path("cache/traceback/instrumented/") + entryOf("phases");
    const QByteArray before = readFile(entry);
    QVERIFY(before.startsWith('+'));
    QCOMPARE(runFor(kShort).status, 0);
    QVERIFY(isLearned() && readFile(entry) != before);
    QVERIFY(writeFile(entry, before) && writeFile(QString(entry).replace("/index/", "/renewal/"), ""));

    const Ran ran = runFor(kShort);
    QCOMPARE(ran.status, 0);
    QCOMPARE(ran.err, QByteArray());
    QVERIFY(isLearned() && readFile(entry) != before);
    QVERIFY(readFile(entry).startsWith('+'));
    QCOMPARE(runFor(kShort).status, 0);
  }

  // Nobody waits for it: not the next run, nor a server that executes itself anew meanwhile.
  void untilItIsMadeAnewACopyIsTakenAsItIs() {
    QCOMPARE(runFor(kLong).status, 0);
    const QString entry = m_line.path("cache/traceback/instrumented/") + entryOf("phases");
    const QByteArray before = readFile(entry);
    {
      // As if another process were at it already.
      QFile lock(QString(entry).section("/index/", 0, 0) + "/making/renewal");
      QVERIFY(lock.open(QFile::ReadWrite) && flock(lock.handle(), LOCK_EX) == 0);
      const Ran ran = runFor(kShort);
      QCOMPARE(ran.status, 0);
      QCOMPARE(ran.err, QByteArray());
      QCOMPARE(left(), QStringList("learned-0"));
      QCOMPARE(readFile(entry), before);
    }
    QCOMPARE(runFor(kShort).status, 0);
    QVERIFY(isLearned() && readFile(entry) != before);
    QCOMPARE(keptFiles().size(), 1);
    QCOMPARE(runFor(kShort).status, 0);
  }

  // The function of each phase ran as often as the others'.
  void whatIsCountedIsAFairPart() {
    QCOMPARE(runFor(kLong).status, 0);
    QCOMPARE(runFor(kShort).status, 0);
    QVERIFY(isLearned());
    QCOMPARE(keptFiles().size(), 1);
    const auto profile = traceback::model::BranchProfile::parse(
        readFile(kept() + '/' + keptFiles().front()).toStdString(), "kept");
    QVERIFY(profile.has_value());
    std::vector<std::uint64_t> begun;
    for (const auto& [address, block] : profile->modules().begin()->second)
      if (block.begun > profile->records() / 20) begun.push_back(block.begun);
    std::ranges::sort(begun);
    QCOMPARE(begun.size(), std::size_t{4});  // the functions, and the loop that calls them
    QVERIFY(begun[2] < 2 * begun[0]);
    const double all = double(begun[0] + begun[1] + begun[2]);
    QVERIFY(double(begun[3]) > 0.9 * all && double(begun[3]) < 1.1 * all);
  }

  void whoRanButShortlyLeavesNothing() {
    QCOMPARE(runFor("1000000").status, 0);
    QCOMPARE(left(), QStringList());
  }

  void whoIsToldNotToLeavesNothing() {
    QCOMPARE(runFor(kLong, {"--no-profile"}).status, 0);
    QCOMPARE(left(), QStringList());
    const QString policy = m_line.path("policy");
    QVERIFY(writeFile(policy, "history off\n"));
    QCOMPARE(runFor(kLong, {"--policy", policy}).status, 0);
    QCOMPARE(left(), QStringList());
    const QString profile = m_line.path("given.tbprofile");
    QVERIFY(writeFile(profile, "traceback-profile 3\nmodule ab\n10 1 1 1 1\n"));
    QCOMPARE(runFor(kLong, {"--profile", profile}).status, 0);
    QCOMPARE(left(), QStringList());
  }

  void whatIsKnownWellIsNotLearnedAgain() {
    QCOMPARE(runFor(kLong).status, 0);
    QCOMPARE(runFor(kShort).status, 0);
    QVERIFY(isLearned());
    QCOMPARE(keptFiles().size(), 1);
    QCOMPARE(runFor(kLong).status, 0);
    QCOMPARE(left(), QStringList("learned-0"));
    const QString file = kept() + '/' + keptFiles().front();
    const QByteArray much = QByteArray::number(qulonglong(traceback::model::kKnownRecords));
    QVERIFY(writeFile(file, readFile(file).replace("\nprogram ", "\nprogram " + much + "\nprogram ")));
    QCOMPARE(m_line.traceback({"run", "--null", "--", "/bin/true"}).status, 0);
    QCOMPARE(left(), QStringList("learned-0"));
    QVERIFY(QDir(rings()).removeRecursively());
    QVERIFY(QDir(m_line.path("cache/traceback/instrumented")).removeRecursively());  // as when it has grown
    QCOMPARE(runFor(kLong).status, 0);
    QCOMPARE(left(), QStringList());
  }

  void childrenAreLearnedFromToo() {
    QCOMPARE(runInShell("\"$0\" ends $1 & \"$0\" ends $1; wait").status, 0);
    QCOMPARE(left(), (QStringList{"learned-0", "learned-1"}));
    QCOMPARE(runFor(kShort).status, 0);
    QVERIFY(isLearned());
    QCOMPARE(keptFiles().size(), 1);
  }

  void aForkedChildHasNothingOfItsParents() {
    QCOMPARE(m_line.traceback({"run", "--", PHASES_PROGRAM, "forks", kLong}).status, 0);
    QCOMPARE(left(), QStringList("learned-0"));
  }

  // A server's workers cannot give their folders another name, nor remove them.
  void whoCannotLeaveItsFolderElsewhereIsLearnedFromToo() {
    QCOMPARE(m_line.traceback({"run", "--", PHASES_PROGRAM, "filters", kLong}).status, 0);
    QCOMPARE(left().size(), 1);
    QVERIFY(!left().front().startsWith("learned"));
    QCOMPARE(runFor(kShort).status, 0);
    QVERIFY(isLearned());
    QCOMPARE(keptFiles().size(), 1);

    QCOMPARE(m_line.traceback({"profile", "--forget"}).status, 0);
    QCOMPARE(m_line.traceback({"run", "--", PHASES_PROGRAM, "filters", kShort}).status, 0);
    QCOMPARE(left().size(), 1);
    QCOMPARE(runFor(kShort).status, 0);
    QVERIFY(isLearned());
    QCOMPARE(keptFiles(), QStringList());
  }

  // As a server's that has one for each connection.
  void whoCannotRemoveItsFolderRemovesThoseOfFormerOnes() {
    QCOMPARE(runInShell("for i in 1 2 3 4 5 6 7 8 9; do \"$0\" filters 10; done").status, 0);
    QVERIFY2(left().size() <= 3, "two, and the last one's");
  }

  void noMoreThanEightAreLeft() {
    QCOMPARE(runInShell("for i in 1 2 3 4 5 6 7 8 9; do \"$0\" ends $1; done").status, 0);
    QCOMPARE(left().size(), 8);
  }

  void whatIsDamagedIsDropped() {
    QVERIFY(QDir().mkpath(rings()));
    ::chmod(qPrintable(rings()), 0700);
    QCOMPARE(runInShell("for i in 1 2; do \"$0\" ends $1; done").status, 0);
    QCOMPARE(left().size(), 2);
    QVERIFY(QFile::resize(rings() + "/learned-0/process", 100));
    const Ran ran = runFor(kShort);
    QCOMPARE(ran.status, 0);
    QCOMPARE(ran.err, QByteArray());
    QVERIFY(isLearned());
    QCOMPARE(keptFiles().size(), 1);
  }

  // Where it learns, too, the newest is there, what was before is sampled, and a snap has counts for a
  // profile.
  void whatIsKilledIsRecoveredAsEver() {
    QCOMPARE(m_line.traceback({"run", "--", PHASES_PROGRAM, "killed", kLong}).status, 128 + 9);
    QCOMPARE(m_line.traceback({"recover"}).status, 0);
    QCOMPARE(left(), QStringList());
    QCOMPARE(m_line.snaps().size(), 1);
    const QString snap = m_line.snaps().front();
    QVERIFY(m_line.traceback({"print", snap, "--last", "5"}).out.contains("phases.c"));
    const QByteArray history = m_line.traceback({"print", snap, "--history"}).out;
    for (const char* function : {"load_table", "sort_table", "write_table"})
      QVERIFY(history.contains(function));
    const Ran counted = m_line.traceback({"profile", snap, "-o", m_line.path("of snap.tbprofile")});
    QVERIFY(counted.status == 0);
    QVERIFY(readFile(m_line.path("of snap.tbprofile")).contains("\nprogram "));
  }
};

QTEST_GUILESS_MAIN(LearningTest)
#include "tst_learning.moc"
