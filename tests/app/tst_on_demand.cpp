// `traceback run` instruments libraries and children as they come, and what they see of it is as before.
#include <signal.h>
#include <unistd.h>

#include <QDeadlineTimer>
#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QRegularExpression>
#include <QTest>

#include "tests/app/command_line.h"
#include "tests/builders/module_codes.h"

using namespace traceback::test;

class OnDemandTest : public QObject {
  Q_OBJECT

  std::unique_ptr<CommandLine> m_line;
  const QString m_program = QStringLiteral(ON_DEMAND_PROGRAM);
  const QString m_library = QStringLiteral(ON_DEMAND_LIBRARY);
  const QString m_plugin = QStringLiteral(ON_DEMAND_PLUGIN);

  Ran runIt(const QStringList& words, const QStringList& options = {}) const {
    return m_line->traceback(QStringList{"run"} + options + QStringList{"--"} + words);
  }
  Ran plain(const QStringList& words) const {
    return run(words.first(), words.mid(1), m_line->environment());
  }
  QString cache() const { return m_line->path("cache/traceback/instrumented"); }
  // Whether a listing of mappings has the copy of a file with this path.
  static bool hasCopy(const QByteArray& maps, const QString& path) {
    return maps.contains("/objects/") &&
           QRegularExpression("/objects/[0-9a-f]{32}" + QRegularExpression::escape(path) + "\n")
               .match(QString::fromUtf8(maps))
               .hasMatch();
  }
  static bool hasOriginal(const QByteArray& maps, const QString& path) {
    return maps.contains(" " + path.toUtf8() + "\n");
  }
  QString copied(const QString& file, const QString& to) const {
    const QString path = m_line->path(to);
    return QDir().mkpath(QFileInfo(path).path()) && QFile::copy(file, path) ? path : QString();
  }
  QByteArray lastLineOfSnap() const {
    const QStringList snaps = m_line->snaps();
    if (snaps.size() != 1) return "no snap";
    return m_line->traceback({"print", "--last", "3", snaps[0]}).out;
  }

 private slots:
  void init() {
    m_line = std::make_unique<CommandLine>();
    QVERIFY(m_line->isReady());
  }

  void theProgramAndItsLibrariesAreCopies() {
    const Ran ran = runIt({m_program});
    QCOMPARE(ran.err, QByteArray());
    QVERIFY2(hasCopy(ran.out, m_program) && hasCopy(ran.out, m_library), ran.out.constData());
    QVERIFY(!hasOriginal(ran.out, m_library));
  }

  void theCLibraryAndTheLoaderAreNot() {
    const Ran ran = runIt({m_program});
    QVERIFY(!QRegularExpression("objects/[^\n]*/(libc\\.so|ld-linux)").match(ran.out).hasMatch());
    QVERIFY(ran.out.contains("/libc.so.6"));
  }

  void whatIsLoadedLaterIsInstrumented_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("by name") << QFileInfo(m_plugin).fileName();
    QTest::newRow("by its path") << m_plugin;
    QTest::newRow("by a path with detours") << QFileInfo(m_plugin).path() + "/../" +
                                                   QFileInfo(QFileInfo(m_plugin).path()).fileName() + "/" +
                                                   QFileInfo(m_plugin).fileName();
  }
  void whatIsLoadedLaterIsInstrumented() {
    QFETCH(QString, name);
    m_line->environment().insert("LD_LIBRARY_PATH", QFileInfo(m_plugin).path());
    const Ran ran = runIt({m_program, "dlopen", name});
    QVERIFY2(hasCopy(ran.out, m_plugin), ran.out.constData());
    const Ran before = plain({m_program, "dlopen", name});
    QCOMPARE(ran.out.left(ran.out.indexOf('\n')), before.out.left(before.out.indexOf('\n')));
  }

  void aLinkToALoadedLibraryIsThatLibrary() {
    QVERIFY(QFile::link(m_plugin, m_line->path("link.so")));
    const Ran ran = runIt({m_program, "dlopen", m_plugin, m_line->path("link.so")});
    const Ran before = plain({m_program, "dlopen", m_plugin, m_line->path("link.so")});
    const auto firstLines = [](const QByteArray& text) { return text.split('\n').mid(0, 2); };
    QCOMPARE(firstLines(ran.out), firstLines(before.out));
    QCOMPARE(firstLines(ran.out)[0], firstLines(ran.out)[1]);
  }

  void theyAreMadeOnce() {
    runIt({m_program});
    const QStringList first = listing(cache());
    QCOMPARE(runIt({m_program}).status, 0);
    QCOMPARE(listing(cache()), first);
  }

  // It is stopped meanwhile, for what it waits for is done in no time.
  void whoIsStillPreparedIsSaidNotToRunYet_data() {
    QTest::addColumn<bool>("itself");
    QTest::newRow("the program") << true;
    QTest::newRow("a library, by a child's child") << false;
  }
  void whoIsStillPreparedIsSaidNotToRunYet() {
    QFETCH(bool, itself);
    QProcess process;
    process.setProcessEnvironment(m_line->environment());
    if (!itself) {  // of a program that is known, while its libraries are not
      QCOMPARE(runIt({m_program}).status, 0);
      for (const QString& name : listing(cache()).filter(QRegularExpression("/(index|objects)/"))) {
        const QString file = cache() + '/' + name;
        if (!file.endsWith(m_program) && !readFile(file).trimmed().endsWith(m_program.toUtf8()))
          QFile::remove(file);
      }
    }
    process.start(CommandLine::program(), {"run", "--", m_program});
    QVERIFY(process.waitForStarted());
    const auto pid = static_cast<pid_t>(process.processId());
    const QString tool = QFileInfo(CommandLine::program()).canonicalFilePath();
    const auto isTool = [&](pid_t one) {
      return QFile::symLinkTarget(QStringLiteral("/proc/%1/exe").arg(one)) == tool;
    };
    const auto childOf = [](pid_t parent) {
      const QByteArray children = readFile(QStringLiteral("/proc/%1/task/%1/children").arg(parent));
      return children.simplified().split(' ')[0].toInt();
    };
    const QDeadlineTimer patience(30'000);
    pid_t stopped = 0;
    while (!(stopped != 0 && isTool(stopped) && isTool(pid) == itself) && !patience.hasExpired())
      stopped = itself ? pid : childOf(childOf(pid));
    QVERIFY(!patience.hasExpired());
    kill(stopped, SIGSTOP);
    const Ran snapped = m_line->traceback({"snap", QString::number(pid)});
    kill(stopped, SIGCONT);
    QCOMPARE(snapped.status, 1);
    QVERIFY2(snapped.complainsInOneLine() && snapped.err.contains("does not run yet"),
             snapped.err.constData());
    QVERIFY(process.waitForFinished());
    QCOMPARE(process.exitCode(), 0);
  }

  void aChangedLibraryIsMadeAnew() {
    const QString library = copied(m_plugin, "plugin.so");
    QVERIFY(hasCopy(runIt({m_program, "dlopen", library}).out, library));
    const QStringList first = listing(cache());
    QVERIFY(QFile::remove(library));
    QVERIFY(QFile::copy(m_library, library));
    QVERIFY(hasCopy(runIt({m_program, "dlopen", library}).out, library));
    QVERIFY(listing(cache()).size() > first.size());
  }

  void manyAtOnceGetWhatOneGets() {
    std::vector<std::unique_ptr<QProcess>> processes;
    for (int i = 0; i < 4; ++i) {
      auto& process = processes.emplace_back(std::make_unique<QProcess>());
      process->setProcessEnvironment(m_line->environment());
      process->start(CommandLine::program(), {"run", "--", m_program, "dlopen", m_plugin});
    }
    for (auto& process : processes) {
      QVERIFY(process->waitForFinished(120'000));
      const QByteArray out = process->readAllStandardOutput();
      QVERIFY2(hasCopy(out, m_program) && hasCopy(out, m_library) && hasCopy(out, m_plugin), out.constData());
      QCOMPARE(process->readAllStandardError(), QByteArray());
    }
  }

  void patternsChoose() {
    const Ran only = runIt({m_program, "dlopen", m_plugin}, {"--only", "*" + QFileInfo(m_plugin).fileName()});
    QVERIFY2(hasCopy(only.out, m_plugin), only.out.constData());
    QVERIFY(hasOriginal(only.out, m_program) && hasOriginal(only.out, m_library));
    const Ran excluded =
        runIt({m_program, "dlopen", m_plugin},
              {"--exclude", QFileInfo(m_program).path() + "/on_dem*d", "--exclude", "libon_demand_[!l]*"});
    QVERIFY2(!hasCopy(excluded.out, m_program) && !hasCopy(excluded.out, m_plugin), excluded.out.constData());
    QVERIFY(hasCopy(excluded.out, m_library));
    QCOMPARE(excluded.err, QByteArray());
  }

  void childrenAreFollowed_data() {
    QTest::addColumn<QString>("how");
    QTest::addColumn<bool>("followed");
    for (const char* how : {"execve", "execvp", "execl", "empty", "system", "popen", "spawn", "spawnp",
                            "vfork", "fork", "raw", "rawat"})
      QTest::newRow(how) << how << true;
    // A program that makes the system call itself says which environment is meant.
    QTest::newRow("bare") << "bare" << false;
  }
  void childrenAreFollowed() {
    QFETCH(QString, how);
    QFETCH(bool, followed);
    const Ran ran = runIt({m_program, "child", how, m_program, "maps"});
    QCOMPARE(ran.status, 0);
    QCOMPARE(ran.err, QByteArray());
    QCOMPARE(hasCopy(ran.out, m_program), followed);
    QCOMPARE(hasCopy(ran.out, m_library), followed);
  }

  void scriptsAreFollowed() {
    const QString script = m_line->path("script");
    QVERIFY(writeFile(
        script,
        "#!/bin/sh\n'" + m_program.toUtf8() + "' maps | cat\nread name </proc/$$/comm; echo $name $0\n",
        true));
    const Ran ran = runIt({script});
    QCOMPARE(ran.err, QByteArray());
    QVERIFY2(hasCopy(ran.out, m_program), ran.out.constData());
    QVERIFY2(ran.out.endsWith("script " + script.toUtf8() + "\n"), ran.out.constData());
  }

  void childrenEndAsTheyDo() {
    QCOMPARE(runIt({m_program, "child", "spawn", m_program, "exit", "7"}).status, 7);
    QCOMPARE(runIt({m_program, "child", "system", m_program, "exit", "9"}).status, 9);
    QCOMPARE(runIt({m_program, "child", "fork", m_program, "kill", QString::number(SIGKILL)}).status,
             128 + SIGKILL);
    QCOMPARE(runIt({m_program, "child", "execve", m_program, "kill", QString::number(SIGTERM)}).status,
             128 + SIGTERM);
  }

  void environmentsAreAsTheyWere_data() {
    QTest::addColumn<QStringList>("words");
    QTest::newRow("of a child") << QStringList{m_program, "child", "execve", "/usr/bin/env"};
    QTest::newRow("of a shell's child") << QStringList{m_program, "child", "system", "/usr/bin/env"};
    QTest::newRow("none") << QStringList{m_program, "child", "empty", "/usr/bin/env"};
    QTest::newRow("env -i") << QStringList{"/usr/bin/env", "-i", "A=b", "/usr/bin/env"};
    QTest::newRow("lists") << QStringList{"/usr/bin/env", "LD_PRELOAD=libm.so.6",
                                          "GLIBC_TUNABLES=glibc.malloc.arena_max=1", "/usr/bin/env"};
  }
  void environmentsAreAsTheyWere() {
    QFETCH(QStringList, words);
    const auto sorted = [](const Ran& ran) {
      auto lines = ran.out.split('\n');
      std::ranges::sort(lines);
      return lines;
    };
    const Ran ran = runIt(words);
    QCOMPARE(sorted(ran), sorted(plain(words)));
    QCOMPARE(ran.err, QByteArray());
  }

  // It finds the runtime where it would find libc: what it reads there is what the program set.
  void aPreloadedLibraryIsStillInFrontOfLibc_data() {
    QTest::addColumn<QStringList>("words");
    QTest::newRow("of the program") << QStringList{m_program, "handle"};
    QTest::newRow("of a child") << QStringList{m_program, "child", "execve", m_program, "handle"};
    QTest::newRow("of a shell's child") << QStringList{m_program, "child", "system", m_program, "handle"};
    QTest::newRow("of a pipe's child") << QStringList{m_program, "child", "popen", m_program, "handle"};
  }
  void aPreloadedLibraryIsStillInFrontOfLibc() {
    QFETCH(QStringList, words);
    m_line->environment().insert("LD_PRELOAD", IN_FRONT_LIBRARY);
    const Ran expected = plain(words), ran = runIt(words);
    QVERIFY2(expected.out.contains("handler, in front\nhandler of 10, from this process: 1\n"),
             expected.out.constData());
    QCOMPARE(ran.out, expected.out);
    QCOMPARE(ran.status, expected.status);
  }

  // Who looks for their names and lines reads the original.
  void unwindersTellOfTheOriginalsFrames() {
    const Ran expected = plain({m_program, "unwind"}), ran = runIt({m_program, "unwind"});
    QVERIFY2(expected.out.count("frame at ") >= 6, expected.out.constData());
    QCOMPARE(QString(ran.out).split('\n'), QString(expected.out).split('\n'));
    QCOMPARE(ran.status, expected.status);
  }

  // Else the one that is loaded later is moved to others each time, which takes time and memory. Where a
  // file's codes are is decided by its bytes.
  void librariesOfEqualBytesHaveOtherCodes() {
    const QString one = copied(IN_FRONT_LIBRARY, "one.so"), other = copied(IN_FRONT_LIBRARY, "other.so");
    m_line->environment().insert("LD_PRELOAD", one + ' ' + other);
    QCOMPARE(runIt({REPORT_PROGRAM, "exit0"}).status, 0);
    const auto codesOfCopy = [this](const QString& file) {
      const QStringList copies = listing(cache()).filter(QRegularExpression("/objects/.*" + file + "$"));
      return copies.size() == 1 ? codesOf(cache() + '/' + copies[0]) : ModuleCodes();
    };
    const ModuleCodes codes = codesOfCopy(one), others = codesOfCopy(other);
    QVERIFY(codes.span != 0 && codes.span == others.span);
    QVERIFY(!meet(codes, others));
  }

  void namesAreTheOriginals_data() {
    QTest::addColumn<QString>("program");
    QTest::newRow("as built") << m_program;
    QTest::newRow("a link") << "link";
    QTest::newRow("beside its library") << "beside/bin/on_demand";
    QTest::newRow("through a linked folder") << "linked/bin/on_demand";
  }
  void namesAreTheOriginals() {
    QFETCH(QString, program);
    QVERIFY(QFile::link(m_program, m_line->path("link")));
    QVERIFY(!copied(QStringLiteral(ON_DEMAND_ORIGIN_PROGRAM), "beside/bin/on_demand").isEmpty());
    QVERIFY(!copied(m_library, "beside/lib/" + QFileInfo(m_library).fileName()).isEmpty());
    QVERIFY(QFile::link(m_line->path("beside"), m_line->path("linked")));
    if (!program.startsWith('/')) program = m_line->path(program);
    const Ran ran = runIt({program, "names"});
    const Ran before = plain({program, "names"});
    QCOMPARE(QString(ran.out).split('\n'), QString(before.out).split('\n'));
    QCOMPARE(ran.err, QByteArray());
    QCOMPARE(ran.status, 0);
    // And as a child.
    QCOMPARE(runIt({m_program, "child", "execve", program, "names"}).out, before.out);
  }

  void aProgramFindsItsFilesInTheListOfItsMappings() {
    const Ran before = plain({m_program, "mapped files"});
    QVERIFY2(before.out.contains("mapped=" + m_library.toUtf8() + "\n"), before.out.constData());
    QCOMPARE(runIt({m_program, "mapped files"}).out, before.out);
  }

  void librariesBesideAProgramAreInstrumented() {
    const QString program = copied(QStringLiteral(ON_DEMAND_ORIGIN_PROGRAM), "beside/bin/on_demand");
    const QString library = copied(m_library, "beside/lib/" + QFileInfo(m_library).fileName());
    const Ran ran = runIt({program, "maps"});
    QVERIFY2(hasCopy(ran.out, program) && hasCopy(ran.out, library), ran.out.constData());
    const Ran later = runIt({program, "dlopen", "$ORIGIN/../lib/" + QFileInfo(m_library).fileName()});
    QCOMPARE(later.status, 0);
  }

  void aThreadHasRoomOnTheSmallestStack() {
    const Ran ran = runIt({m_program, "stack"});
    QCOMPARE(ran.out, plain({m_program, "stack"}).out);
    QCOMPARE(ran.status, 0);
  }

  void aProgramWhoseLibraryHasThreadStorageOfFixedPlaceRuns_data() {
    QTest::addColumn<QString>("program");
    QTest::addColumn<bool>("recorded");
    QTest::newRow("that fits") << m_program + "_fitting" << true;
    QTest::newRow("aligned to more than the linker foresees") << m_program + "_aligned" << true;
    QTest::newRow("and the program has some, too") << m_program + "_aligned_zero" << true;
    QTest::newRow("larger than there is room") << m_program + "_large" << false;
  }
  void aProgramWhoseLibraryHasThreadStorageOfFixedPlaceRuns() {
    QFETCH(QString, program);
    QFETCH(bool, recorded);
    QVERIFY(QFile::link(program, m_line->path("link")));
    for (const QStringList& words :
         {QStringList{program, "names"}, QStringList{m_line->path("link"), "names"},
          QStringList{m_program, "child", "execve", program, "names"}}) {
      const Ran ran = runIt(words), before = plain(words);
      QCOMPARE(ran.out, before.out);
      const bool says = !recorded && words.first() != m_program;
      QVERIFY2(says ? ran.err.contains("thread-local storage of ") : ran.err == before.err,
               ran.err.constData());
      QCOMPARE(ran.status, before.status);
    }
    const Ran maps = runIt({program});
    QCOMPARE(hasCopy(maps.out, program), recorded);
    QCOMPARE(hasOriginal(maps.out, program), !recorded);
  }

  // Whether it is recorded is a matter of where the linker laid its storage's initial image.
  void aProgramWhoseOwnStorageHasAValueRunsBesideSuchALibrary() {
    const QString program = m_program + "_aligned_set";
    const Ran ran = runIt({program, "names"}), before = plain({program, "names"});
    QVERIFY2(before.out.contains("second: 7 of "), before.out.constData());
    QCOMPARE(ran.out, before.out);
    QCOMPARE(ran.status, before.status);
  }

  void aProgramWhoseLibraryIsAlignedSoIsLeftAloneWhereItsOwnFileIs() {
    const QString program = m_program + "_aligned";
    const Ran ran = runIt({program, "names"}, {"--exclude", "*/on_demand_aligned"});
    const Ran before = plain({program, "names"});
    QCOMPARE(ran.out, before.out);
    QCOMPARE(ran.status, before.status);
  }

  void aProgramWithThreadStorageWhereTheSlotIsHasItElsewhere_data() {
    QTest::addColumn<QString>("program");
    QTest::newRow("some") << m_program + "_own";
    QTest::newRow("much") << m_program + "_much";
  }
  void aProgramWithThreadStorageWhereTheSlotIsHasItElsewhere() {
    QFETCH(QString, program);
    for (const QStringList& words : {QStringList{program, "names"}, QStringList{program, "handle"},
                                     QStringList{program, "child", "execve", m_program, "names"},
                                     QStringList{program, "child", "spawn", program, "names"},
                                     QStringList{m_program, "child", "execve", program, "names"}}) {
      const Ran ran = runIt(words), before = plain(words);
      QCOMPARE(ran.out, before.out);
      QCOMPARE(ran.err, before.err);
      QCOMPARE(ran.status, before.status);
    }
    const Ran maps = runIt({program, "dlopen", m_plugin});
    for (const QString& file : {program, m_library, m_plugin})
      QVERIFY2(hasCopy(maps.out, file), maps.out.constData());
    // The same library, for both kinds of processes.
    QVERIFY(hasCopy(runIt({program, "child", "execve", m_program}).out, m_library));
    const Ran crash = m_line->throughShell("ulimit -c 0; exec \"$@\"", {"run", "--", program, "fault"});
    QCOMPARE(crash.status, 128 + SIGSEGV);
    const QByteArray last = lastLineOfSnap();
    QVERIFY2(last.contains("on_demand_library.c:13") && last.contains("<-- fault"), last.constData());
    const Ran all = m_line->traceback({"print", m_line->snaps()[0]});
    QVERIFY2(all.out.contains("on_demand.c") && all.out.contains("printStorage"), all.out.constData());
  }

  void aProgramWithMoreThanThatRunsAsItIs() {
    const QString program = m_program + "_too_much";
    const Ran ran = runIt({program, "names"}), before = plain({program, "names"});
    QCOMPARE(ran.out, before.out);
    QCOMPARE(ran.status, before.status);
    QVERIFY2(ran.err.contains("thread-local storage"), ran.err.constData());
    const QStringList asChild{m_program, "child", "execve", program, "names"};
    QCOMPARE(runIt(asChild).out, plain(asChild).out);
    const Ran maps = runIt({m_program, "child", "execve", program});
    QVERIFY(hasOriginal(maps.out, program));
    QVERIFY(!maps.out.contains("libtraceback.so"));
  }

  void aSandboxedProgramLoadsWhatIsThere() {
    const Ran ran = runIt({m_program, "sandbox", m_plugin});
    QCOMPARE(ran.status, 0);
    QVERIFY2(hasOriginal(ran.out, m_plugin), ran.out.constData());  // none could be made
    QVERIFY(hasCopy(runIt({m_program, "dlopen", m_plugin}).out, m_plugin));
    const Ran later = runIt({m_program, "sandbox", m_plugin});
    QCOMPARE(later.status, 0);
    QVERIFY2(hasCopy(later.out, m_plugin), later.out.constData());
  }

  void aProgramMayWriteOverItsArgumentsAndEnvironment() {
    const Ran ran = runIt({m_program, "title", m_plugin});
    QVERIFY2(hasCopy(ran.out, m_plugin), ran.out.constData());
    QVERIFY2(QRegularExpression("/objects/[0-9a-f]{32}/usr/bin/cat\n").match(ran.out).hasMatch(),
             ran.out.constData());
  }

  void aSanitizedProgramRunsAsIfNothingWereThere() {
    const QString program = QStringLiteral(SANITIZED_PROGRAM);
    const Ran alone = runIt({program, "exit3"});
    QCOMPARE(alone.err, QByteArray());  // it insists on being the first library
    QCOMPARE(alone.status, 3);
    m_line->environment().insert("LD_PRELOAD", "libm.so.6:libdl.so.2");
    m_line->environment().insert("ASAN_OPTIONS", "verify_asan_link_order=0");
    for (const QStringList& words :
         {QStringList{program, "exit3"}, QStringList{m_program, "child", "spawn", program, "exit3"}}) {
      const Ran ran = runIt(words);
      QCOMPARE(ran.err, plain(words).err);
      QCOMPARE(ran.status, plain(words).status);
      QVERIFY2(ran.out.contains("name=sanitized preload=libm.so.6:libdl.so.2\n"), ran.out.constData());
    }
  }

  void soDoesOneThatHasTheSanitizerLinkedIn_data() {
    QTest::addColumn<QString>("program");
    QTest::addColumn<QByteArray>("said");
    QTest::newRow("that hides it") << SANITIZED_INSIDE_PROGRAM << QByteArray();
    QTest::newRow("that shows it") << SANITIZED_SHOWN_PROGRAM << QByteArray("a sanitizer is linked in");
  }
  void soDoesOneThatHasTheSanitizerLinkedIn() {
    QFETCH(QString, program);
    QFETCH(QByteArray, said);
    for (const QStringList& words :
         {QStringList{program, "exit3"}, QStringList{m_program, "child", "spawn", program, "exit3"}}) {
      const Ran expected = plain(words), ran = runIt(words);
      QCOMPARE(ran.status, expected.status);
      QVERIFY2(ran.out.contains(" preload=none\n"), ran.out.constData());
      if (words.size() > 2 || said.isEmpty())
        QCOMPARE(ran.err, expected.err);
      else
        QVERIFY2(ran.err.contains(said), ran.err.constData());
    }
  }

  // A debugger counts how often what it starts is executed, the shell included.
  void whatADebuggerStartsIsExecutedAsItIs() {
    const QStringList words{"gdb", "-nx", "-q", "-batch", "-ex", "break main", "-ex", "run", REPORT_PROGRAM};
    m_line->environment().insert("SHELL", "/bin/sh");
    const Ran expected = plain(words);
    if (!expected.out.contains("Breakpoint 1, main")) QSKIP("gdb cannot start programs here");
    const Ran ran = runIt(words, {"--only", "dash", "--only", "report"});
    QVERIFY2(ran.out.contains("Breakpoint 1, main"), (ran.out + ran.err).constData());
    QCOMPARE(ran.status, expected.status);
    // Nor is a copy made of it, which would be by a process that the debugger meets.
    QCOMPARE(listing(cache()).filter(QRegularExpression("/report$")), QStringList());
  }

  void aSanitizedProgramIsRecordedIfItsReportsAreToBeSnapped() {
    const QString program = QStringLiteral(MISUSE_PROGRAM), policy = m_line->path("policy");
    QVERIFY(writeFile(policy, "snap report\n"));
    for (const QStringList& words : {QStringList{program}, QStringList{program, "misuse"}}) {
      const Ran expected = plain(words), ran = runIt(words, {"--policy", policy});
      QCOMPARE(ran.out, expected.out);
      QCOMPARE(ran.status, expected.status);
      QCOMPARE(ran.err.contains("heap-buffer-overflow"), words.size() == 2);
      if (words.size() == 1) QCOMPARE(ran.err, QByteArray());
    }
    QCOMPARE(m_line->snaps().size(), 1);
    const Ran info = m_line->traceback({"info", m_line->snaps()[0]});
    QVERIFY2(info.out.contains("heap-buffer-overflow"), info.out.constData());
    const QByteArray last = lastLineOfSnap();
    QVERIFY2(last.contains("misuse.cpp") && last.contains("readPast"), last.constData());
    // Nothing is left that looks like a killed process.
    QVERIFY(m_line->traceback({"recover"}).out.isEmpty());
    QCOMPARE(m_line->snaps().size(), 1);
  }

  void offIsForChildrenToo() {
    const Ran ran = runIt({"/usr/bin/env", "TRACEBACK=off", m_program, "maps"});
    QVERIFY2(hasOriginal(ran.out, m_program), ran.out.constData());
    QVERIFY(!ran.out.contains("libtraceback"));
  }

  void theFaultOfALibraryHasItsLines() {
    const Ran ran = m_line->throughShell("ulimit -c 0; exec \"$@\"", {"run", "--", m_program, "fault"});
    QCOMPARE(ran.status, 128 + SIGSEGV);
    const QByteArray last = lastLineOfSnap();
    QVERIFY2(last.contains("on_demand_library.c:13") && last.contains("<-- fault"), last.constData());
  }

  void aLateLibraryRecordsFromItsFirstInstructionOn() {
    m_line->environment().insert("ON_DEMAND_FAULT", "1");
    const Ran ran =
        m_line->throughShell("ulimit -c 0; exec \"$@\"",
                             {"run", "--exclude", QFileInfo(m_library).fileName(), "--", "/usr/bin/env",
                              "python3", "-S", "-c", "import ctypes; ctypes.CDLL('" + m_plugin + "')"});
    QCOMPARE(ran.status, 128 + SIGSEGV);
    const QByteArray last = lastLineOfSnap();
    QVERIFY2(last.contains("on_demand_library.c:8") && last.contains("<-- fault"), last.constData());
  }

  void aLibraryThatCannotBeInstrumentedIsUsedAsItIs() {
    const QString library = m_line->path("plugin.so");
    QCOMPARE(m_line->traceback({"instrument", "--null", m_plugin, "-o", library}).status, 0);
    const Ran ran = runIt({m_program, "dlopen", library});
    QCOMPARE(ran.status, 0);
    QCOMPARE(ran.err, QByteArray());
    QVERIFY2(hasOriginal(ran.out, library), ran.out.constData());
    const Ran doctor = m_line->traceback({"doctor"});
    QVERIFY2(doctor.out.contains("left as it is") && doctor.out.contains(library.toUtf8()),
             doctor.out.constData());
  }
};

QTEST_GUILESS_MAIN(OnDemandTest)
#include "tst_on_demand.moc"
