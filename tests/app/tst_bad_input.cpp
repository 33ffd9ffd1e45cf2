// Bad input gives one clear line that names the file and the reason, exit status 1, and leaves nothing
// behind.
#include <elf.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QRandomGenerator>
#include <QTest>

#include "tests/app/command_line.h"

using namespace traceback::test;

namespace {

const QString kProgram = QStringLiteral("/usr/bin/gzip");
constexpr qsizetype kStride = 1024;

quint32 seed() { return qEnvironmentVariable("TRACEBACK_SEED", "1").toUInt(); }

}  // namespace

class BadInputTest : public QObject {
  Q_OBJECT

  std::unique_ptr<CommandLine> m_line;
  QByteArray m_elf;

  QString input() const { return m_line->path("input"); }
  QStringList left() const { return listing(m_line->path("out")); }
  Ran instrument() const {
    return m_line->traceback({"instrument", input(), "-o", m_line->path("out/prog")});
  }

  // Whatever the damage: done, or one line and nothing left behind; never a crash.
  void survivesInstrumenting(const QByteArray& bytes, const QString& what) {
    QVERIFY(writeFile(input(), bytes));
    const Ran ran = instrument();
    if (ran.status == 0) {
      QVERIFY2(QFile::remove(m_line->path("out/prog")), qPrintable(what));
    } else {
      QVERIFY2(ran.status == 1 && ran.complainsInOneLine() && ran.err.contains(input().toUtf8()),
               qPrintable(what + ": " + ran.err));
    }
    QVERIFY2(left().isEmpty(), qPrintable(what));
    const Ran info = m_line->traceback({"info", input()});
    QVERIFY2(info.status == 0 || (info.status == 1 && info.complainsInOneLine()),
             qPrintable(what + ": " + info.err));
  }

 private slots:
  void initTestCase() {
    m_elf = readFile(kProgram);
    QVERIFY(m_elf.size() > 50'000);
  }
  void init() {
    m_line = std::make_unique<CommandLine>();
    QVERIFY(m_line->isReady() && QDir().mkpath(m_line->path("out")));
  }

  void whatIsNoProgramIsRefused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("reason");
    const QByteArray elf = readFile(kProgram);
    const auto with = [&](qsizetype offset, char value) {
      QByteArray changed = elf;
      changed[offset] = value;
      return changed;
    };
    QTest::newRow("empty") << QByteArray() << QByteArray("ELF");
    QTest::newRow("text") << QByteArray("#!/bin/sh\n") << QByteArray("not an ELF file");
    QTest::newRow("32-bit") << with(EI_CLASS, ELFCLASS32) << QByteArray("64-bit");
    QTest::newRow("big-endian") << with(EI_DATA, ELFDATA2MSB) << QByteArray("little-endian");
    QTest::newRow("another processor") << with(18, char(EM_AARCH64)) << QByteArray("x86-64");
    QTest::newRow("an object file") << with(16, ET_REL) << QByteArray("");
    QTest::newRow("only its header") << elf.first(64) << QByteArray("offset");
    QTest::newRow("half of it") << elf.first(elf.size() / 2) << QByteArray("offset");
  }
  void whatIsNoProgramIsRefused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, reason);
    QVERIFY(writeFile(input(), bytes));
    const Ran ran = instrument();
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine(), ran.err.constData());
    QVERIFY2(ran.err.contains(input().toUtf8()) && ran.err.contains(reason), ran.err.constData());
    QCOMPARE(ran.out, QByteArray());
    QCOMPARE(left(), QStringList());
  }

  void whatIsInstrumentedAlreadyIsRefused() {
    QCOMPARE(m_line->traceback({"instrument", kProgram, "-o", input()}).status, 0);
    const Ran ran = instrument();
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("instrumented already"), ran.err.constData());
    QCOMPARE(left(), QStringList());
  }

  void missingFilesAndFoldersAreNamed_data() {
    QTest::addColumn<QStringList>("arguments");
    const QString out = "OUT";
    QTest::newRow("instrument a missing file") << QStringList{"instrument", "/nowhere/at-all", "-o", out};
    QTest::newRow("instrument into a missing folder")
        << QStringList{"instrument", kProgram, "-o", "/nowhere/at-all"};
    QTest::newRow("instrument below a file")
        << QStringList{"instrument", kProgram, "--output-dir", "/etc/passwd/at-all"};
    QTest::newRow("print a missing file") << QStringList{"print", "/nowhere/at-all"};
    QTest::newRow("info on a missing file") << QStringList{"info", "/nowhere/at-all"};
    QTest::newRow("view a missing file") << QStringList{"view", "/nowhere/at-all"};
    QTest::newRow("profile of a missing file") << QStringList{"profile", "/nowhere/at-all", "-o", out};
    QTest::newRow("instrument by a missing profile")
        << QStringList{"instrument", kProgram, "-o", out, "--profile", "/nowhere/at-all"};
    QTest::newRow("run by a missing profile")
        << QStringList{"run", "--profile", "/nowhere/at-all", "--", kProgram};
    QTest::newRow("recover from a missing folder") << QStringList{"recover", "/nowhere/at-all"};
  }
  void missingFilesAndFoldersAreNamed() {
    QFETCH(QStringList, arguments);
    arguments.replaceInStrings("OUT", m_line->path("out/prog"));
    const Ran ran = m_line->traceback(arguments);
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("at-all"), ran.err.constData());
    QCOMPARE(ran.out, QByteArray());
    QCOMPARE(left(), QStringList());
  }

  void aDeviceIsNotReplaced() {
    QCOMPARE(::symlink("/dev/null", qPrintable(m_line->path("null"))), 0);
    const Ran ran = m_line->traceback({"instrument", kProgram, "-o", m_line->path("null")});
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("not a regular file"), ran.err.constData());
    QCOMPARE(QFile::symLinkTarget(m_line->path("null")), QStringLiteral("/dev/null"));
  }

  void aFolderIsNoProgram() {
    const Ran ran = m_line->traceback({"instrument", "/usr", "-o", m_line->path("out/prog")});
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("/usr"), ran.err.constData());
  }

  void theInputIsNeverOverwritten() {
    QVERIFY(writeFile(input(), m_elf));
    const Ran ran = m_line->traceback({"instrument", input(), "--output-dir", m_line->folder()});
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("overwritten"), ran.err.constData());
    QVERIFY(readFile(input()) == m_elf);
  }

  void oneBadFileDoesNotKeepTheOthers() {
    QVERIFY(writeFile(input(), "no program"));
    const Ran ran = m_line->traceback({"instrument", input(), kProgram, "--output-dir", m_line->path("out")});
    QCOMPARE(ran.status, 1);
    QVERIFY(ran.complainsInOneLine());
    QCOMPARE(left(), QStringList{"gzip"});
  }

  void aFullDiskLeavesNothing() {
    QVERIFY(writeFile(input(), m_elf));
    // A limit on the size of files fails as a full disk does, in the middle of writing, and needs no rights.
    const Ran ran = m_line->throughShell("ulimit -f 40; exec \"$@\"",
                                         {"instrument", input(), "-o", m_line->path("out/prog")});
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("out/prog"), ran.err.constData());
    QCOMPARE(left(), QStringList());
  }

  void aFullFileSystemLeavesNothing() {
    // On a small file system of its own.
    const QByteArray out = m_line->path("out").toUtf8();
    const auto mountOne = [&] {
      if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          mount("none", out.constData(), "tmpfs", 0, "size=64k") != 0) {
        _exit(99);
      }
    };
    const QString script = QStringLiteral("\"$@\"; echo status=$?; ls -A '%1'").arg(m_line->path("out"));
    const Ran full = run(
        "/bin/sh",
        {"-c", script, "sh", CommandLine::program(), "instrument", kProgram, "-o", m_line->path("out/prog")},
        m_line->environment(), mountOne);
    if (full.status == 99) QSKIP("no file system may be mounted here");
    QCOMPARE(full.out, "status=1\n");
    QVERIFY2(full.complainsInOneLine() && full.err.contains("No space left"), full.err.constData());
  }

  void aFolderThatMayNotBeWrittenToIsNamed() {
    QVERIFY(QFile::setPermissions(m_line->path("out"),
                                  QFile::ReadOwner | QFile::ExeOwner | QFile::ReadOther | QFile::ExeOther));
    QVERIFY(QFile::setPermissions(m_line->folder(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner |
                                                        QFile::ReadOther | QFile::ExeOther));
    QStringList words{CommandLine::program(), "instrument", kProgram, "-o", m_line->path("out/prog")};
    // Root may write anywhere.
    if (geteuid() == 0)
      words = QStringList{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"} + words;
    // Files that it names in the checkout need not be the other user's to read.
    words = QStringList{"--unset=TSAN_OPTIONS"} + words;
    const Ran ran = run("/usr/bin/env", words, m_line->environment());
    QCOMPARE(ran.status, 1);
    QVERIFY2(
        ran.complainsInOneLine() && ran.err.contains("out/prog") && ran.err.contains("Permission denied"),
        ran.err.constData());
    QCOMPARE(left(), QStringList());
  }

  void truncatedProgramsDoNoHarm() {
    for (qsizetype size = 0; size < m_elf.size(); size += 4 * kStride) {
      survivesInstrumenting(m_elf.first(size), QString("first %1 bytes").arg(size));
    }
  }

  void programsWithAChangedByteEveryKilobyteDoNoHarm() {
    for (qsizetype offset = 0; offset < m_elf.size(); offset += kStride) {
      QByteArray bytes = m_elf;
      bytes[offset] = char(~bytes[offset]);
      survivesInstrumenting(bytes, QString("byte %1").arg(offset));
    }
  }

  void programsWithRandomChangesDoNoHarm() {
    QRandomGenerator random(seed());
    // Half of them where the structure is: in the headers at both ends.
    for (int i = 0; i < 100; ++i) {
      QByteArray bytes = m_elf;
      QStringList changes;
      for (int n = random.bounded(1, 5); n > 0; --n) {
        const qsizetype end = i % 2 == 0 ? qsizetype{1024} : bytes.size();
        const qsizetype offset = random.bounded(int(end));
        bytes[offset] = char(random.bounded(256));
        changes << QString::number(offset);
      }
      survivesInstrumenting(bytes,
                            QString("seed %1, round %2: bytes %3").arg(seed()).arg(i).arg(changes.join(' ')));
    }
  }
};

QTEST_GUILESS_MAIN(BadInputTest)
#include "tst_bad_input.moc"
