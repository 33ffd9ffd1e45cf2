// A program that was recorded, profiled, and recorded by its profile: it does the same, and so does its
// trace.
#include <signal.h>

#include <QDir>
#include <QProcess>
#include <QTest>

#include "tests/app/command_line.h"

using namespace traceback::test;

class ProfileTest : public QObject {
  Q_OBJECT

  CommandLine m_line;

  Ran crash(const QStringList& options, const char* folder) const {
    return m_line.throughShell(
        "ulimit -c 0; exec \"$@\"",
        QStringList{"run"} + options + QStringList{"--snap-dir", m_line.path(folder), "--", CRASH_PROGRAM});
  }
  QString snapIn(const char* folder) const {
    const auto snaps = QDir(m_line.path(folder)).entryList({"*.tbsnap"}, QDir::Files);
    return snaps.size() == 1 ? QDir(m_line.path(folder)).filePath(snaps.front()) : QString();
  }
  // Without what names the process.
  QList<QByteArray> linesOf(const QString& snap) const {
    auto lines = m_line.traceback({"print", snap}).out.split('\n');
    lines.removeIf([](const QByteArray& line) { return line.contains("pid ") || line.contains("tid "); });
    return lines;
  }
  int copies() const {
    return int(listing(m_line.path("cache/traceback/instrumented")).filter("/crash").size());
  }

  QString kept() const { return m_line.path("data/traceback/profiles"); }
  QStringList keptFiles() const { return QDir(kept()).entryList({"*.tbprofile"}, QDir::Files); }
  // What recording says of itself while it makes copies is for terminals: so whether one was made is looked
  // up.
  bool makesACopy(const QStringList& options, const QStringList& words = {CRASH_PROGRAM}) const {
    const int before = copies();
    [&] {
      QVERIFY(m_line.traceback(QStringList{"run"} + options + QStringList{"--"} + words).status >= 0);
    }();
    return copies() > before;
  }

  // One that waits until it is killed.
  bool startRecorded(QProcess& process) const {
    process.setProcessEnvironment(m_line.environment());
    process.start(CommandLine::program(), {"run", "--", CRASH_PROGRAM, "wait"});
    return process.waitForReadyRead();
  }

 private slots:
  void initTestCase() {
    QVERIFY(m_line.isReady() && QDir().mkpath(m_line.path("tmp")));
    m_line.environment().insert("TMPDIR", m_line.path("tmp"));
  }
  void cleanup() {
    QCOMPARE(listing(m_line.path("tmp")), QStringList());
    QCOMPARE(m_line.traceback({"profile", "--forget"}).status, 0);
  }

  void theSameIsRecordedByAProfile() {
    const Ran plain = crash({}, "before");
    QCOMPARE(plain.status, 128 + 11);
    const QString snap = snapIn("before"), profile = m_line.path("with blank.tbprofile");
    const Ran made = m_line.traceback({"profile", snap, "-o", profile});
    QCOMPARE(made.status, 0);
    QVERIFY2(made.out.contains(" records of 1 modules"), made.out.constData());
    QVERIFY(readFile(profile).startsWith("traceback-profile 3\nmodule "));
    const int before = copies();
    QVERIFY(before >= 1);

    const Ran profiled = crash({"--profile", profile}, "after");
    QCOMPARE(profiled.status, plain.status);
    QCOMPARE(profiled.out, plain.out);
    QVERIFY2(copies() > before, "instrumented by the profile");
    QCOMPARE(linesOf(snapIn("after")), linesOf(snap));
    QVERIFY(linesOf(snap).size() > 10);
  }

  void countsAreAdded() {
    const QString snap = snapIn("before"), profile = m_line.path("twice.tbprofile");
    QCOMPARE(m_line.traceback({"profile", snap, "-o", profile}).status, 0);
    const QByteArray once = readFile(profile);
    QCOMPARE(m_line.traceback({"profile", snap, "-o", profile, "--add"}).status, 0);
    QVERIFY(readFile(profile) != once);
    QCOMPARE(m_line.traceback({"profile", snap, "-o", profile}).status, 0);
    QCOMPARE(readFile(profile), once);
  }

  void aProgramIsRunForItWithAllThatItStarts() {
    const QString profile = m_line.path("run.tbprofile");
    const QStringList words{"/bin/sh", "-c", "ulimit -c 0; \"$0\"; exit 3", CRASH_PROGRAM};
    const QStringList before = m_line.snaps();
    const Ran ran = m_line.traceback(QStringList{"profile", "-o", profile, "--"} + words);
    QCOMPARE(ran.status, 0);
    QCOMPARE(ran.out, QByteArray("6\n"));
    QVERIFY2(ran.err.contains("/bin/sh ended with status 3\n") && ran.err.contains(" records of 2 modules"),
             ran.err.constData());
    QCOMPARE(readFile(profile).count("\nmodule "), 2);
    QCOMPARE(m_line.snaps(), before);
    const Ran used = m_line.traceback(QStringList{"run", "--profile", profile, "--"} + words);
    QCOMPARE(used.status, 3);
  }

  // Far more than a ring holds; also of one that is killed, and leaves no snap.
  void everyRecordOfARunCounts() {
    for (const char* how : {"killed", "aborts"}) {
      const QString profile = m_line.path("all.tbprofile");
      const Ran ran = m_line.traceback({"profile", "-o", profile, "--", PHASES_PROGRAM, how, "300000"});
      QVERIFY2(ran.status == 0, ran.err.constData());
      int blocks = 0;
      for (const QByteArray& line : readFile(profile).split('\n'))
        if (const auto words = line.split(' '); words.size() == 5 && words[1] == "300000") ++blocks;
      QVERIFY2(blocks >= 3, "the first block of each phase's function");
    }
  }

  void aRunningProcessIsLookedAt() {
    const QString profile = m_line.path("process.tbprofile");
    QProcess process;
    QVERIFY(startRecorded(process));
    const QString pid = QString::number(process.processId());
    const Ran ran =
        m_line.traceback({"profile", "-o", profile, "--pid", pid, "--for", "1", "--every", "0.2"});
    QVERIFY2(ran.status == 0 && ran.out.contains(" of 1 modules"), (ran.out + ran.err).constData());
    QVERIFY(readFile(profile).contains("\nmodule "));

    QProcess untilTheEnd;
    untilTheEnd.setProcessEnvironment(m_line.environment());
    untilTheEnd.start(CommandLine::program(), {"profile", "-o", profile, "--add", "--pid", pid});
    QVERIFY(QTest::qWaitFor([&] { return !listing(m_line.path("tmp")).isEmpty(); }, 10000));
    ::kill(pid_t(process.processId()), SIGKILL);
    QVERIFY(process.waitForFinished() && untilTheEnd.waitForFinished());
    QCOMPARE(untilTheEnd.exitStatus(), QProcess::NormalExit);
    QVERIFY2(untilTheEnd.exitCode() <= 1, "nothing to go by, if it was too late");

    const Ran late = m_line.traceback({"profile", "-o", profile, "--pid", pid});
    QCOMPARE(late.status, 1);
    QVERIFY2(late.complainsInOneLine(), late.err.constData());
  }

  void anInterruptEndsTheLookingNotTheCounts() {
    const QString profile = m_line.path("interrupted.tbprofile");
    QProcess process;
    QVERIFY(startRecorded(process));
    QProcess looking;
    looking.setProcessEnvironment(m_line.environment());
    looking.start(CommandLine::program(),
                  {"profile", "-o", profile, "--pid", QString::number(process.processId())});
    QVERIFY(QTest::qWaitFor([&] { return !listing(m_line.path("tmp")).isEmpty(); }, 10000));
    ::kill(pid_t(looking.processId()), SIGINT);
    QVERIFY(looking.waitForFinished());
    QVERIFY2(looking.exitStatus() == QProcess::NormalExit && looking.exitCode() == 0,
             looking.readAllStandardError().constData());
    QVERIFY(readFile(profile).contains("\nmodule "));
    ::kill(pid_t(process.processId()), SIGKILL);
    QVERIFY(process.waitForFinished());
  }

  void aSignalToEndIsPassedOnToTheProgram() {
    const QString profile = m_line.path("ended.tbprofile");
    for (const int signal : {SIGTERM, SIGHUP}) {
      QProcess run;
      run.setProcessEnvironment(m_line.environment());
      run.start(CommandLine::program(), {"profile", "-o", profile, "--", CRASH_PROGRAM, "wait"});
      QVERIFY(run.waitForReadyRead());
      ::kill(pid_t(run.processId()), signal);
      QVERIFY(run.waitForFinished());
      const QByteArray said = run.readAllStandardError();
      QVERIFY2(run.exitStatus() == QProcess::NormalExit && run.exitCode() == 0, said.constData());
      QVERIFY2(said.contains("was ended by signal " + QByteArray::number(signal)), said.constData());
      QVERIFY(readFile(profile).contains("\nmodule "));
    }
  }

  // Before it has made anything of what it was to count.
  void endedAtOnceItLeavesNothing() {
    QProcess run;
    run.setProcessEnvironment(m_line.environment());
    run.start(CommandLine::program(),
              {"profile", "-o", m_line.path("none.tbprofile"), "--", "/bin/sleep", "100"});
    QVERIFY(QTest::qWaitFor([&] { return !listing(m_line.path("tmp")).isEmpty(); }, 10000));
    ::kill(pid_t(run.processId()), SIGTERM);
    QVERIFY(run.waitForFinished());
    QCOMPARE(run.exitStatus(), QProcess::NormalExit);
  }

  void whatIsIgnoredIsIgnoredByTheProgram() {
    const Ran ran = m_line.throughShell(
        "trap '' INT TERM HUP; exec \"$@\"",
        {"profile", "-o", m_line.path("on.tbprofile"), "--", "/bin/sh", "-c",
         "for s in INT TERM HUP; do kill -$s $$; kill -$s $PPID; done; sleep 0.3; echo goes on"});
    QVERIFY2(ran.status == 0 && ran.out.startsWith("goes on\n"), (ran.out + ran.err).constData());
  }

  void whatIsNotRecordedHasNoCounts() {
    const QString profile = m_line.path("nothing.tbprofile");
    const Ran missing = m_line.traceback({"profile", "-o", profile, "--", "/nowhere/at-all"});
    QCOMPARE(missing.status, 1);
    QVERIFY2(missing.complainsInOneLine(), missing.err.constData());
    const Ran own = m_line.traceback(
        {"profile", "-o", profile, "--pid", QString::number(QCoreApplication::applicationPid())});
    QCOMPARE(own.status, 1);
    QVERIFY2(own.complainsInOneLine(), own.err.constData());
    QVERIFY(!QFile::exists(profile));
  }

  void whatIsKeptIsGoneByUntilItIsForgotten() {
    const QString snap = snapIn("before");
    makesACopy({});
    QVERIFY2(!makesACopy({}), "it has one");
    const int before = copies();
    const Ran made = m_line.traceback({"profile", snap});
    QCOMPARE(made.status, 0);
    QCOMPARE(copies(), before + 1);
    QVERIFY2(made.out.startsWith(kept().toUtf8() + ": ") && made.out.contains(" records of 1 modules"),
             made.out.constData());
    QCOMPARE(keptFiles().size(), 1);
    QVERIFY(m_line.traceback({"doctor"}).out.contains("of 1 modules"));
    QVERIFY2(!makesACopy({"--no-profile"}) || !makesACopy({"--no-profile"}), "not by the profile");
    QVERIFY2(!makesACopy({}), "there is one by the profile");
    const int byProfile = copies();
    const Ran profiled = crash({}, "by what is kept");
    QCOMPARE(linesOf(snapIn("by what is kept")), linesOf(snap));

    const QByteArray once = readFile(kept() + '/' + keptFiles().front());
    const QString file = m_line.path("same.tbprofile");
    QCOMPARE(m_line.traceback({"profile", snap, "-o", file}).status, 0);
    QCOMPARE(readFile(file), once);
    QCOMPARE(m_line.traceback({"profile", snap}).status, 0);
    QVERIFY2(readFile(kept() + '/' + keptFiles().front()) != once, "counts add up");
    QCOMPARE(copies(), byProfile + 1);
    QVERIFY(!makesACopy({}));

    QCOMPARE(m_line.traceback({"profile", "--forget"}).out, kept().toUtf8() + ": 1 modules forgotten\n");
    QCOMPARE(keptFiles(), QStringList());
    QVERIFY2(!makesACopy({}), "the first copy is there still");
    QCOMPARE(m_line.traceback({"profile", "--forget"}).out, kept().toUtf8() + ": 0 modules forgotten\n");
  }

  // All that a run starts, each file by what is known of it.
  void eachFileGoesByItsOwn() {
    const QStringList words{"/bin/sh", "-c", "ulimit -c 0; \"$0\"; exit 3", CRASH_PROGRAM};
    QCOMPARE(m_line.traceback(QStringList{"run", "--"} + words).status, 3);
    QVERIFY(!makesACopy({}, words));
    const QString snap = snapIn("before");
    const auto all = [this] {
      return listing(m_line.path("cache/traceback/instrumented")).filter("/objects/");
    };
    const QStringList before = all();
    QCOMPARE(m_line.traceback({"profile", snap, snap, snap}).status, 0);
    QStringList made = all();
    made.removeIf([&](const QString& name) {
      return before.contains(name) || QFileInfo(m_line.path("cache/traceback/instrumented/" + name)).isDir();
    });
    QCOMPARE(made.size(), 1);
    QVERIFY2(made.front().endsWith("/crash"), qPrintable(made.front()));
    QVERIFY(!makesACopy({}, words));
  }

  void aDamagedOneSaysNothing() {
    QCOMPARE(m_line.traceback({"profile", snapIn("before")}).status, 0);
    const QString file = kept() + '/' + keptFiles().front();
    const QByteArray good = readFile(file);
    QVERIFY(writeFile(file, good.left(good.size() / 2) + "\nnonsense"));
    const Ran ran = crash({}, "damaged");
    QCOMPARE(ran.status, 128 + 11);
    QCOMPARE(linesOf(snapIn("damaged")), linesOf(snapIn("before")));
    QVERIFY(m_line.traceback({"doctor"}).out.contains("cannot be read"));
    QCOMPARE(m_line.traceback({"profile", snapIn("before")}).status, 0);
    QCOMPARE(readFile(file), good);
  }

  void whereNothingCanBeKeptItSaysSo() {
    const QString data = m_line.environment().value("XDG_DATA_HOME");
    m_line.environment().insert("XDG_DATA_HOME", "/proc/self/nowhere");
    const Ran ran = m_line.traceback({"profile", snapIn("before")});
    m_line.environment().insert("XDG_DATA_HOME", data);
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("/proc/self/nowhere"), ran.err.constData());
  }

  void whatCannotBeReadIsLeftAsItIs() {
    const QString snap = snapIn("before"), other = m_line.path("notes.txt");
    QVERIFY(writeFile(other, "mine\n"));
    const Ran ran = m_line.traceback({"profile", snap, "-o", other, "--add"});
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("no profile"), ran.err.constData());
    QCOMPARE(readFile(other), QByteArray("mine\n"));
    const Ran used =
        m_line.traceback({"instrument", CRASH_PROGRAM, "-o", m_line.path("out"), "--profile", other});
    QCOMPARE(used.status, 1);
    QVERIFY2(used.complainsInOneLine() && used.err.contains("no profile"), used.err.constData());
    QVERIFY(!QFile::exists(m_line.path("out")));
  }
};

QTEST_GUILESS_MAIN(ProfileTest)
#include "tst_profile.moc"
