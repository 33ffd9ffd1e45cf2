// A program that was recorded, profiled, and recorded by its profile: it does the same, and so does its
// trace.
#include <QDir>
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

 private slots:
  void initTestCase() { QVERIFY(m_line.isReady()); }

  void theSameIsRecordedByAProfile() {
    const Ran plain = crash({}, "before");
    QCOMPARE(plain.status, 128 + 11);
    const QString snap = snapIn("before"), profile = m_line.path("with blank.tbprofile");
    const Ran made = m_line.traceback({"profile", snap, "-o", profile});
    QCOMPARE(made.status, 0);
    QVERIFY2(made.out.contains(" records of 1 modules"), made.out.constData());
    QVERIFY(readFile(profile).startsWith("traceback-profile 2\nmodule "));
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
