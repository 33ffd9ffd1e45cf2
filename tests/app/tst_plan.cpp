// `traceback plan`: what it says beforehand is what `traceback run` then does.
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QScopeGuard>
#include <QTest>
#include <cstdlib>

#include "tests/app/command_line.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback::test;

namespace {

struct Plan {
  Ran ran;
  QJsonObject head;
  QList<QJsonObject> files;

  QJsonObject of(const QString& name) const {
    for (const QJsonObject& file : files)
      if (QFileInfo(file["file"].toString()).fileName() == name) return file;
    return {};
  }
  QStringList names() const {
    QStringList all;
    for (const QJsonObject& file : files) all << file["file"].toString();
    return all;
  }
};

// What a process has mapped to execute, without links.
QStringList mappedCode(qint64 pid) {
  QStringList files;
  const auto lines = readFile(QStringLiteral("/proc/%1/maps").arg(pid)).split('\n');
  for (const QByteArray& line : lines) {
    const QByteArrayList words = line.simplified().split(' ');
    if (words.size() > 5 && words[1].contains('x') && words[5].startsWith('/') &&
        !files.contains(QString::fromUtf8(words[5])))
      files << QString::fromUtf8(words[5]);
  }
  files.sort();
  return files;
}

QStringList withoutLinks(const QStringList& paths) {
  QStringList all;
  for (const QString& path : paths) all << QFileInfo(path).canonicalFilePath();
  all.sort();
  return all;
}

}  // namespace

class PlanTest : public QObject {
  Q_OBJECT

  CommandLine m_line;

  Plan plan(const QStringList& arguments) const {
    Plan plan{.ran = m_line.traceback(QStringList{"plan", "--format", "json"} + arguments),
              .head = {},
              .files = {}};
    for (const QByteArray& line : plan.ran.out.split('\n')) {
      if (line.isEmpty()) continue;
      const QJsonObject object = QJsonDocument::fromJson(line).object();
      if (plan.head.isEmpty())
        plan.head = object;
      else
        plan.files << object;
    }
    return plan;
  }

 private slots:
  void initTestCase() { QVERIFY(m_line.isReady()); }

  void whatItForetellsIsWhatRunDoes() {
    const QString program = QFileInfo(ON_DEMAND_PROGRAM).fileName();
    const Plan before = plan({ON_DEMAND_PROGRAM});
    QCOMPARE(before.ran.status, 0);
    QCOMPARE(before.ran.err, QByteArray());
    QCOMPARE(before.of(program)["state"].toString(), QStringLiteral("new"));
    QCOMPARE(m_line.traceback({"run", "--", ON_DEMAND_PROGRAM, "names"}).status, 0);
    const Plan after = plan({ON_DEMAND_PROGRAM});
    QCOMPARE(after.names(), before.names());
    int copies = 0;
    for (qsizetype i = 0; i < after.files.size(); ++i) {
      QJsonObject foretold = before.files[i], made = after.files[i];
      if (!foretold["traced"].toBool()) {
        QCOMPARE(made["reason"].toString(), foretold["reason"].toString());
        QCOMPARE(made["state"], foretold["state"]);
        continue;
      }
      ++copies;
      QCOMPARE(made["state"].toString(), QStringLiteral("cached"));
      made.remove("state");
      foretold.remove("state");
      // Which codes a library has beside others decides over some bytes.
      const qint64 bytes = made.take("copy_bytes").toInteger();
      const qint64 error = bytes - foretold.take("copy_bytes").toInteger();
      QVERIFY2(std::abs(error) <= bytes / 1000, QByteArray::number(error).constData());
      QCOMPARE(made, foretold);
      QVERIFY(bytes > made["file_bytes"].toInteger());
    }
    QVERIFY(copies >= 2);  // the program and its library
  }

  void nothingIsWritten() {
    const QStringList before = listing(m_line.folder());
    QStringList times;
    for (const QString& name : before)
      times << QFileInfo(m_line.path(name)).lastModified().toString(Qt::ISODateWithMs);
    QCOMPARE(plan({ON_DEMAND_PROGRAM}).ran.status, 0);
    QCOMPARE(plan({"sleep"}).ran.status, 0);
    QCOMPARE(listing(m_line.folder()), before);
    for (qsizetype i = 0; i < before.size(); ++i)
      QCOMPARE(QFileInfo(m_line.path(before[i])).lastModified().toString(Qt::ISODateWithMs), times[i]);
  }

  void filesAreThoseThatTheProgramLoads() {
    QProcess process;
    process.start("sleep", {"60"});
    QVERIFY(process.waitForStarted());
    const auto end = qScopeGuard([&] {
      process.kill();
      process.waitForFinished();
    });
    const QString pid = QString::number(process.processId());
    // It has its libraries once it sleeps.
    QTRY_VERIFY(mappedCode(process.processId()).size() >= 3);
    const QStringList really = mappedCode(process.processId());
    const Plan running = plan({pid});
    QCOMPARE(running.head["pid"].toInt(), pid.toInt());
    QCOMPARE(running.head["recorded"].toBool(), false);
    QCOMPARE(withoutLinks(running.names()), really);
    const Plan program = plan({"sleep"});
    QVERIFY(program.head["pid"].isNull());
    QCOMPARE(withoutLinks(program.names()), really);
    QCOMPARE(program.files.front()["kind"].toString(), QStringLiteral("program"));
    QCOMPARE(program.of("libc.so.6")["state"].toString(), QStringLiteral("excluded"));
    // By the names that patterns are compared with.
    QVERIFY(!running.of("libc.so.6").isEmpty());
  }

  void copiesOfARecordedProcessAreKnownByTheirOriginals() {
    QProcess process;
    process.setProcessEnvironment(m_line.environment());
    process.start(CommandLine::program(), {"run", "--", "sleep", "60"});
    QVERIFY(process.waitForStarted());
    const auto end = qScopeGuard([&] {
      process.kill();
      process.waitForFinished();
    });
    const QString pid = QString::number(process.processId());
    QTRY_VERIFY_WITH_TIMEOUT(
        QFileInfo(QFile::symLinkTarget(QStringLiteral("/proc/%1/exe").arg(pid))).fileName() == "sleep" &&
            mappedCode(process.processId()).size() > 3,
        60'000);
    const Plan found = plan({pid});
    QCOMPARE(found.ran.status, 0);
    QCOMPARE(found.head["recorded"].toBool(), true);
    QCOMPARE(found.files.front()["state"].toString(), QStringLiteral("cached"));
    QVERIFY(!found.files.front()["file"].toString().contains("/objects/"));
  }

  void patternsDecideAsForRun() {
    const Plan all = plan({ON_DEMAND_PROGRAM});
    const QString library = QFileInfo(ON_DEMAND_LIBRARY).fileName();
    QVERIFY(all.of(library)["traced"].toBool());
    const Plan without = plan({"--exclude", library, ON_DEMAND_PROGRAM});
    QCOMPARE(without.of(library)["state"].toString(), QStringLiteral("excluded"));
    QVERIFY(without.of(library)["reason"].toString().contains("--exclude"));
    QVERIFY(without.files.front()["traced"].toBool());
    const Plan only = plan({"--only", library, ON_DEMAND_PROGRAM});
    QVERIFY(only.of(library)["traced"].toBool());
    QVERIFY(!only.files.front()["traced"].toBool());
  }

  void aScriptsProgramIsItsInterpreter() {
    const QString shell = m_line.path("script.sh"), byEnv = m_line.path("by-env");
    QVERIFY(writeFile(shell, "#! /bin/sh -e\ntrue\n", true));
    QVERIFY(writeFile(byEnv, "#!/usr/bin/env sleep\n", true));
    QCOMPARE(plan({shell}).head["program"].toString(), QFileInfo("/bin/sh").canonicalFilePath());
    QCOMPARE(QFileInfo(plan({byEnv}).head["program"].toString()).fileName(), QStringLiteral("sleep"));
    QFile::remove(shell);
    QFile::remove(byEnv);
  }

  void whatCannotBeTracedSaysWhy() {
    const Plan of = plan({STATIC_PROGRAM});
    QCOMPARE(of.ran.status, 1);
    QVERIFY(of.head["untraced"].toString().contains("statically linked"));
    QCOMPARE(of.files.size(), 1);
    QVERIFY(of.files.front()["reason"].toString().contains("statically linked"));
    const Plan sanitized = plan({SANITIZED_PROGRAM});
    QCOMPARE(sanitized.ran.status, 1);
    QVERIFY(sanitized.head["untraced"].toString().contains("sanitizer"));
    const Plan much = plan({ON_DEMAND_PROGRAM "_too_much"});
    QCOMPARE(much.ran.status, 1);
    QVERIFY(much.head["untraced"].toString().contains("thread-local storage"));
    const Plan large = plan({ON_DEMAND_PROGRAM "_large"});
    QCOMPARE(large.ran.status, 1);
    QVERIFY(large.head["untraced"].toString().contains("thread-local storage of "));
    for (const char* fitting :
         {ON_DEMAND_PROGRAM "_fitting", ON_DEMAND_PROGRAM "_aligned", ON_DEMAND_PROGRAM "_own"}) {
      const Plan taken = plan({fitting});
      QCOMPARE(taken.head["untraced"].toString(), QString());
      QVERIFY2(taken.files.front()["traced"].toBool(), taken.ran.out.constData());
    }
    const Plan original = plan({"--exclude", "*/on_demand_aligned", ON_DEMAND_PROGRAM "_aligned"});
    QVERIFY(original.head["untraced"].toString().contains("thread-local storage of "));
  }

  // `traceback instrument` refuses it, `traceback run` does not.
  void functionsOfAProgramWithMuchThreadStorageOfItsOwnAreThoseThatRunTraces() {
    const Ran ran = m_line.traceback({"info", "--why", "main", ON_DEMAND_PROGRAM "_own"});
    QCOMPARE(ran.err, QByteArray());
    QVERIFY2(ran.out.contains("main, ") && ran.out.contains(": traced"), ran.out.constData());
  }

  void aLibraryThatIsNotFoundIsNamed() {
    const QString elsewhere = m_line.path("moved");
    QVERIFY(QFile::copy(ON_DEMAND_ORIGIN_PROGRAM, elsewhere));
    const Plan of = plan({elsewhere});
    QFile::remove(elsewhere);
    const QJsonObject library = of.of(QFileInfo(ON_DEMAND_LIBRARY).fileName());
    QVERIFY(!library["traced"].toBool());
    QVERIFY(library["reason"].toString().contains("does not find it"));
  }

  void whatIsInstrumentedForGoodIsTraced() {
    const QString instrumented = m_line.path("instrumented");
    QCOMPARE(m_line.traceback({"instrument", ON_DEMAND_PROGRAM, "-o", instrumented}).status, 0);
    const Plan of = plan({instrumented});
    QFile::remove(instrumented);
    QCOMPARE(of.files.front()["state"].toString(), QStringLiteral("instrumented"));
    QVERIFY(of.files.front()["instrumented"].toInt() > 0);
  }

  void peopleReadTheSame() {
    const Ran ran = m_line.traceback({"plan", ON_DEMAND_PROGRAM});
    QCOMPARE(ran.status, 0);
    const QJsonObject program = plan({ON_DEMAND_PROGRAM}).files.front();
    QVERIFY2(ran.out.contains(QStringLiteral("%1 of %2 functions traced")
                                  .arg(program["instrumented"].toInt())
                                  .arg(program["functions"].toInt())
                                  .toUtf8()),
             ran.out.constData());
    QVERIFY2(ran.out.contains("the C library is left as it is"), ran.out.constData());
  }

  void whatIsNotThereIsComplainedAboutInOneLine_data() {
    QTest::addColumn<QString>("subject");
    QTest::newRow("no program") << "no-such-program";
    QTest::newRow("no file") << "/no/such/file";
    QTest::newRow("no process") << "2147483647";
    QTest::newRow("a folder") << "/usr";
  }
  void whatIsNotThereIsComplainedAboutInOneLine() {
    QFETCH(QString, subject);
    const Ran ran = m_line.traceback({"plan", subject});
    QCOMPARE(ran.status, 1);
    QCOMPARE(ran.out, QByteArray());
    QVERIFY2(ran.complainsInOneLine(), ran.err.constData());
    QVERIFY(ran.err.contains(subject.toUtf8()));
  }

  void theCacheMayLieElsewhere() {
    m_line.environment().insert("TRACEBACK_CACHE_DIR", m_line.path("copies"));
    QCOMPARE(plan({ON_DEMAND_PROGRAM}).files.front()["state"].toString(), QStringLiteral("new"));
    QCOMPARE(m_line.traceback({"run", "--", ON_DEMAND_PROGRAM, "names"}).status, 0);
    QVERIFY(QFileInfo(m_line.path("copies/instrumented")).isDir());
    QCOMPARE(plan({ON_DEMAND_PROGRAM}).files.front()["state"].toString(), QStringLiteral("cached"));
    m_line.environment().remove("TRACEBACK_CACHE_DIR");
  }
};

QTEST_GUILESS_MAIN(PlanTest)
#include "tst_plan.moc"
