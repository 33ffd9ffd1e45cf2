// The way back: `traceback instrument --restore`; and writing in place, which needs one.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTest>
#include <random>

#include "tests/app/command_line.h"

using namespace traceback::test;

class RestoreTest : public QObject {
  Q_OBJECT

  std::unique_ptr<CommandLine> m_line;

  QString path(const char* name) const { return m_line->path(name); }
  Ran instrument(const QStringList& arguments) const {
    return m_line->traceback(QStringList{"instrument"} + arguments);
  }
  QString copyOf(const QString& file, const char* name) const {
    return QFile::copy(file, path(name)) ? path(name) : QString();
  }

 private slots:
  void init() {
    m_line = std::make_unique<CommandLine>();
    QVERIFY(m_line->isReady());
  }

  void theOriginalComesBack_data() {
    QTest::addColumn<QString>("file");
    for (const char* file : {CRASH_PROGRAM, LIBRARY, "/usr/bin/gzip", "/usr/bin/python3.13",
                             "/lib/x86_64-linux-gnu/libstdc++.so.6", "/lib/x86_64-linux-gnu/libz.so.1"})
      QTest::newRow(file) << QFileInfo(file).canonicalFilePath();
  }
  void theOriginalComesBack() {
    QFETCH(QString, file);
    QCOMPARE(instrument({file, "-o", path("new")}).status, 0);
    QVERIFY(readFile(path("new")) != readFile(file));
    const Ran ran = instrument({"--restore", path("new"), "-o", path("old")});
    QVERIFY2(ran.status == 0, ran.err.constData());
    QVERIFY(readFile(path("old")) == readFile(file));
    QVERIFY(instrument({path("new"), "-o", path("again")}).status == 1);  // and the instrumented one stays
  }

  void inPlaceTooAndAsOftenAsOneLikes() {
    const QString program = copyOf(CRASH_PROGRAM, "program");
    for (int i = 0; i < 2; ++i) {
      QCOMPARE(instrument({"--in-place", program}).status, 0);
      QVERIFY(readFile(program) != readFile(CRASH_PROGRAM));
      QCOMPARE(instrument({"--restore", program}).status, 0);
      QVERIFY(readFile(program) == readFile(CRASH_PROGRAM));
    }
    QCOMPARE(QDir(m_line->folder()).entryList({"program*"}, QDir::Files), QStringList{"program"});
  }

  void whatWasChangedSinceIsRefused_data() {
    QTest::addColumn<QStringList>("command");
    QTest::newRow("strip") << QStringList{"strip", "FILE"};
    QTest::newRow("objcopy") << QStringList{"objcopy", "--strip-debug", "FILE"};
    QTest::newRow("patchelf") << QStringList{"patchelf", "--set-rpath", "/opt/lib", "FILE"};
    QTest::newRow("one byte") << QStringList{"sh", "-c",
                                             "printf x | dd of=FILE bs=1 seek=4200 conv=notrunc status=none"};
    QTest::newRow("cut short") << QStringList{"truncate", "-s", "-1", "FILE"};
  }
  void whatWasChangedSinceIsRefused() {
    QFETCH(QStringList, command);
    const QString program = copyOf(CRASH_PROGRAM, "program");
    QCOMPARE(instrument({"--in-place", program}).status, 0);
    command.replaceInStrings("FILE", program);
    const Ran change = run(command.takeFirst(), command, m_line->environment());
    QVERIFY2(change.status == 0, change.err.constData());
    const QByteArray before = readFile(program);
    const Ran ran = instrument({"--restore", program});
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("program"), ran.err.constData());
    QVERIFY(readFile(program) == before);
  }

  void infoTellsWhatItWasMadeFrom() {
    const QString program = copyOf(CRASH_PROGRAM, "program");
    const QString runtime = path("no blanks/libtraceback.so").replace(' ', '-');
    QCOMPARE(instrument({"--in-place", "--exclude", "sum", "--runtime", runtime, program}).status, 0);
    const QByteArray info = m_line->traceback({"info", program}).out;
    QVERIFY2(info.contains(runtime.toUtf8() + "  (is not there: runs untraced)\n"), info.constData());
    QVERIFY2(info.contains("written by    TraceBack ") && info.contains("exclude=sum"), info.constData());
    QVERIFY2(info.contains("original      ") && info.contains(", hash "), info.constData());
    QVERIFY2(info.contains("left alone:      1  excluded"), info.constData());
    QVERIFY(!info.contains("changed since"));
    QCOMPARE(run("strip", {program}, m_line->environment()).status, 0);
    QVERIFY(m_line->traceback({"info", program}).out.contains("changed since"));
  }

  // Whatever a file says of its original, what is given back is the original or nothing.
  void damagedFilesGiveTheOriginalOrNothing() {
    const QString program = copyOf(CRASH_PROGRAM, "program");
    const QByteArray original = readFile(program);
    QCOMPARE(instrument({"--in-place", program}).status, 0);
    const QByteArray whole = readFile(program);
    std::mt19937 random(7);
    int restored = 0;
    for (int i = 0; i < 150; ++i) {
      QByteArray bytes = whole;
      // Half of them in what comes last: the record of the original and the section headers.
      const auto from = i % 2 == 0 ? 0 : bytes.size() - 6000;
      const auto at = from + qsizetype(random() % std::size_t(bytes.size() - from));
      bytes[at] = char(bytes[at] ^ char(1 << random() % 8));
      QVERIFY(writeFile(path("damaged"), bytes));
      QFile::remove(path("back"));
      const Ran ran = instrument({"--restore", path("damaged"), "-o", path("back")});
      if (ran.status == 0) {
        QVERIFY2(readFile(path("back")) == original, qPrintable(QString::number(at)));
        ++restored;
      } else {
        QCOMPARE(ran.status, 1);
        QVERIFY2(ran.complainsInOneLine(), ran.err.constData());
        QVERIFY(!QFile::exists(path("back")));
      }
    }
    QVERIFY(restored > 0 && restored < 150);
  }

  void whatIsNotInstrumentedIsRefused() {
    const QString program = copyOf(CRASH_PROGRAM, "program");
    const Ran ran = instrument({"--restore", program});
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("not instrumented"), ran.err.constData());
  }

  void inPlaceKeepsModeOwnerAndAttributes() {
    const QString program = copyOf(CRASH_PROGRAM, "program");
    const bool attributes = ::setxattr(qPrintable(program), "user.origin", "here", 4, 0) == 0;
    const uid_t owner = ::geteuid() == 0 ? 12345 : ::geteuid();
    QCOMPARE(::chown(qPrintable(program), owner, gid_t(-1)), 0);
    QCOMPARE(::chmod(qPrintable(program), 06751), 0);
    for (const char* option : {"--in-place", "--restore"}) {
      const Ran ran = instrument({option, program});
      QVERIFY2(ran.status == 0, ran.err.constData());
      struct stat status{};
      QCOMPARE(::stat(qPrintable(program), &status), 0);
      QCOMPARE(status.st_mode & 07777, 06751u);
      QCOMPARE(status.st_uid, owner);
      char value[8] = {};
      if (attributes) QCOMPARE(::getxattr(qPrintable(program), "user.origin", value, sizeof value), 4);
    }
  }

  void aLinkLeadsToWhatIsChanged() {
    const QString program = copyOf(CRASH_PROGRAM, "program");
    QVERIFY(QFile::link(program, path("link")));
    QCOMPARE(instrument({"--in-place", path("link")}).status, 0);
    QCOMPARE(QFileInfo(path("link")).symLinkTarget(), program);
    QVERIFY(readFile(program) != readFile(CRASH_PROGRAM));
    QCOMPARE(instrument({"--restore", path("link")}).status, 0);
    QVERIFY(readFile(program) == readFile(CRASH_PROGRAM));
  }

  void aFileOfSeveralNamesIsRefused() {
    const QString program = copyOf(CRASH_PROGRAM, "program");
    QCOMPARE(::link(qPrintable(program), qPrintable(path("other"))), 0);
    const Ran ran = instrument({"--in-place", program});
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("hard links"), ran.err.constData());
    QVERIFY(readFile(program) == readFile(CRASH_PROGRAM));
  }

  void aRunningProgramRunsOn() {
    const QString program = copyOf(CRASH_PROGRAM, "program");
    QProcess process;
    process.start(program, {"wait"});
    QVERIFY(process.waitForReadyRead(30'000));
    QCOMPARE(instrument({"--in-place", program}).status, 0);
    QCOMPARE(process.state(), QProcess::Running);
    QCOMPARE(instrument({"--restore", program}).status, 0);
    QVERIFY(!process.waitForFinished(100));
    process.kill();
    process.waitForFinished();
  }

  void oneBadFileDoesNotKeepTheOthersFromBeingDone() {
    const QString program = copyOf(CRASH_PROGRAM, "program");
    const Ran ran = instrument(
        {"/nowhere/a", program, "/etc/passwd", LIBRARY, "--output-dir", path("out"), "--report", "json"});
    QCOMPARE(ran.status, 1);
    const auto lines = ran.out.trimmed().split('\n');
    QCOMPARE(lines.size(), 4);  // one object a file, whatever came of it
    const auto object = [&](int i) { return QJsonDocument::fromJson(lines[i]).object(); };
    QCOMPARE(object(0)["file"].toString(), "/nowhere/a");
    QVERIFY(!object(0)["error"].toString().isEmpty());
    QVERIFY(object(1)["instrumented"].toInt() > 0 && object(1)["runtime"].toString().startsWith('/'));
    QVERIFY(!object(2)["error"].toString().isEmpty());
    QVERIFY(object(3)["instrumented"].toInt() > 0);
    QCOMPARE(ran.err.count('\n'), 2);
    QCOMPARE(QDir(path("out")).entryList(QDir::Files).size(), 2);
    const Ran back = instrument({"--restore", path("out/program"), "--output-dir", path("back")});
    QCOMPARE(back.status, 0);
    QVERIFY(readFile(path("back/program")) == readFile(program));
  }

  void filesOfOneNameDoNotOverwriteEachOther() {
    QVERIFY(QDir().mkpath(path("other")));
    const QString first = copyOf(CRASH_PROGRAM, "program"), second = copyOf("/usr/bin/gzip", "other/program");
    const Ran ran = instrument({first, second, "--output-dir", path("out")});
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("other/program"), ran.err.constData());
    QCOMPARE(instrument({"--restore", path("out/program")}).status, 0);
    QVERIFY(readFile(path("out/program")) == readFile(first));
  }
};

QTEST_GUILESS_MAIN(RestoreTest)
#include "tst_restore.moc"
