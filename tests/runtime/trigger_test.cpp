// Snaps that the program or the policy asks for, of a process that goes on.
#include <signal.h>

#include <QFile>
#include <QTest>
#include <algorithm>

#include "snap_dump.h"
#include "traced_run.h"

using namespace traceback;
using namespace traceback::testing;
using format::RecordType;
using format::SnapReason;

namespace {

struct PolicyRun : TracedRun {
  explicit PolicyRun(const QByteArray& rules, const QString& program = QStringLiteral("triggers"))
      : TracedRun(program), file(folder.filePath("policy")) {
    setVariable("TRACEBACK_POLICY", file.fileName());
    write(rules);
  }
  void write(const QByteArray& rules) {
    if (file.open(QIODevice::WriteOnly | QIODevice::Truncate)) file.write(rules);
    file.close();
  }
  // The occasions that the snaps tell, sorted.
  QStringList occasions() const {
    QStringList all;
    for (const auto& path : snaps()) {
      const auto snap = dumpSnap(path);
      const QString host = snap ? QString::fromStdString(snap->host) : QString();
      const auto at = host.indexOf("\noccasion=");
      all.append(at < 0 ? QString() : host.mid(at + 10).section(u'\n', 0, 0));
    }
    all.sort();
    return all;
  }
  QTemporaryDir folder;
  QFile file;
};

std::vector<Record> recordsOf(const SnapDump& snap, RecordType type) {
  std::vector<Record> found;
  for (const RingDump& ring : snap.rings)
    for (const Segment& segment : ring.segments)
      for (const Record& record : segment.records)
        if (!record.isDag && record.type == type) found.push_back(record);
  return found;
}

// What it says of the type of an exception.
QString typeOf(const Record& record) {
  QByteArray name;
  for (std::size_t i = 3; i < record.values.size(); ++i)
    name.append(reinterpret_cast<const char*>(&record.values[i]), sizeof record.values[i]);
  return QString::fromLatin1(name.constData());
}

// What was kept of what exceptions said, in the order of these; "-" where nothing was.
QStringList saidBy(const std::vector<Record>& exceptions, const SnapDump& snap) {
  QStringList said;
  for (const Record& each : exceptions) {
    const auto kept = std::ranges::find(snap.thrown, each.values[0], &format::ThrownText::time);
    said += kept == snap.thrown.end() ? QString("-")
                                      : QString::fromUtf8(reinterpret_cast<const char*>(kept->text));
  }
  return said;
}

}  // namespace

class TriggerTest : public QObject {
  Q_OBJECT
 private slots:
  void withoutTheRecorderACallDoesNothing() {
    TracedRun plain("triggers");
    plain.setTraced(false);
    const Outcome outcome = plain.run({"calls"});
    QVERIFY(!outcome.killed && outcome.status == 0);
    QCOMPARE(outcome.output.count(" -1\n"), 8);
    QVERIFY(outcome.output.contains("errno 55\n"));
  }

  void aCallSnapsTheProcessWhichGoesOn() {
    PolicyRun traced("");
    const Outcome outcome = traced.run({"calls"});
    QVERIFY(!outcome.killed && outcome.status == 0);
    QCOMPARE(
        outcome.output,
        QByteArray("c 0\nc++ 0\nnone 0\nagain 0\nagain 1\nagain 1\nerrno 55\nthread 0\nhandler 0\n13\n"));
    QCOMPARE(traced.occasions(),
             QStringList({"asked for a snap", "asked for a snap: again", "asked for a snap: from C",
                          "asked for a snap: from C++, \"quoted\" --x", "asked for a snap: from a handler",
                          "asked for a snap: from a thread"}));
    for (const auto& path : traced.snaps()) {
      const auto snap = dumpSnap(path);
      QVERIFY(snap);
      QCOMPARE(snap->reason.reason, static_cast<std::uint32_t>(SnapReason::Api));
      QVERIFY(snap->reason.tid != 0 && snap->reason.signal == 0);
      QVERIFY(!recordsOf(*snap, RecordType::Snap).empty());
      for (const auto& thread : snap->threads)
        QVERIFY((thread.flags & (format::kThreadHasRegisters | format::kThreadEnded)) != 0);
      for (const RingDump& ring : snap->rings)
        for (const Segment& segment : ring.segments) QCOMPARE(segment.damaged, 0u);
    }
    QVERIFY(traced.processFolders().empty());
  }

  void theProgramMeetsNoChildOfOurs() {
    PolicyRun traced("");
    QCOMPARE(traced.run({"childless"}).output, QByteArray("snap 0\nchild -1 1, ended 0\nsnap 0\n10\n"));
    QCOMPARE(traced.snaps().size(), 2u);
  }

  void thePolicyLimitsHowOften() {
    PolicyRun often("repeat 0\nrate 4/1h\n");
    QCOMPARE(
        often.run({"calls"}).output,
        QByteArray("c 0\nc++ 0\nnone 0\nagain 0\nagain 1\nagain 1\nerrno 55\nthread 1\nhandler 1\n13\n"));
    QCOMPARE(often.snaps().size(), 4u);
    PolicyRun never("ignore call\n");
    QVERIFY(never.run({"calls"}).output.startsWith("c 1\nc++ 1\nnone 1\n"));
    QVERIFY(never.snaps().empty());
  }

  void anExceptionOfAChosenClassIsSnappedWhereItIsThrown_data() {
    QTest::addColumn<QByteArray>("rules");
    QTest::addColumn<QStringList>("occasions");
    const QString both = "threw shop::Both", of = "threw shop::Of", range = "threw std::out_of_range";
    QTest::newRow("none") << QByteArray("# nothing\n") << QStringList();
    QTest::newRow("by name") << QByteArray("snap exception shop::Both") << QStringList(both);
    QTest::newRow("by a base") << QByteArray("snap exception std::runtime_error") << QStringList({both, of});
    QTest::newRow("by a second base") << QByteArray("snap exception shop::Tagged") << QStringList(both);
    QTest::newRow("by the beginning of its name")
        << QByteArray("snap exception shop::*") << QStringList({both, of});
    QTest::newRow("that is no class") << QByteArray("snap exception int") << QStringList("threw int");
    QTest::newRow("of the C++ library, from two places")
        << QByteArray("snap exception std::logic_error") << QStringList({range, range});
    QTest::newRow("all but some") << QByteArray("snap exception *\nignore exception std::exception")
                                  << QStringList({"threw int", "threw std::string"});
  }
  void anExceptionOfAChosenClassIsSnappedWhereItIsThrown() {
    QFETCH(QByteArray, rules);
    QFETCH(QStringList, occasions);
    PolicyRun traced(rules);
    const Outcome outcome = traced.run({"throws"});
    QCOMPARE(outcome.output, QByteArray("41\n"));
    QVERIFY(!outcome.killed && outcome.status == 0);
    QCOMPARE(traced.occasions(), occasions);
    for (const auto& path : traced.snaps()) {
      const auto snap = dumpSnap(path);
      QVERIFY(snap);
      QCOMPARE(snap->reason.reason, static_cast<std::uint32_t>(SnapReason::Policy));
      QVERIFY(!recordsOf(*snap, RecordType::Exception).empty());
    }
  }

  void everyExceptionIsRecorded() {
    PolicyRun traced("");
    QVERIFY(traced.run({"throws"}).status == 0);
    PolicyRun ended("snap exit 0\n");
    QVERIFY(ended.run({"throws"}).status == 0);
    QCOMPARE(ended.snaps().size(), 1u);
    const auto snap = dumpSnap(ended.snaps()[0]);
    QVERIFY(snap);
    QStringList types;
    for (const Record& record : recordsOf(*snap, RecordType::Exception)) types += typeOf(record);
    // Mangled, for it has arguments.
    const QString of = "_ZN12_GLOBAL__N_14shop2OfIiEE";
    const QStringList round{"std::out_of_range", "std::string", "int", "shop::Both", of};
    QCOMPARE(types, round + round + round + QStringList("std::out_of_range"));
    const QStringList said = saidBy(recordsOf(*snap, RecordType::Exception), *snap);
    const QStringList saidEach{"far", "text", "-", "both", "of"};
    QCOMPARE(said.first(15), saidEach + saidEach + saidEach);
    QVERIFY(said.last().startsWith("basic_string"));
  }

  void whatIsThrownAgainHasTheTimeOfItsThrow() {
    PolicyRun traced("snap exit 0\n");
    QCOMPARE(traced.run({"throws again"}).output, QByteArray("kept\nkept\nmade\n13\n"));
    QCOMPARE(traced.snaps().size(), 1u);
    const auto snap = dumpSnap(traced.snaps()[0]);
    QVERIFY(snap);
    const auto exceptions = recordsOf(*snap, RecordType::Exception);
    QCOMPARE(exceptions.size(), 4u);
    for (const Record& each : exceptions) QCOMPARE(typeOf(each), QString("std::out_of_range"));
    QCOMPARE(saidBy(exceptions, *snap), QStringList({"kept", "kept", "kept", "made"}));
    QCOMPARE(exceptions[0].detail, static_cast<std::uint16_t>(format::ExceptionDetail::Thrown));
    for (unsigned i = 1; i < 4; ++i)
      QCOMPARE(exceptions[i].detail, static_cast<std::uint16_t>(format::ExceptionDetail::Again));
    QCOMPARE(exceptions[1].values[2], exceptions[0].values[0]);
    QCOMPARE(exceptions[2].values[2], exceptions[0].values[0]);
    QCOMPARE(exceptions[3].values[2], 0u);
  }

  void whatIsThrownAgainIsNotAskedThePolicyFor() {
    PolicyRun traced("repeat 0\nsnap exception std::out_of_range\n");
    QCOMPARE(traced.run({"throws again"}).output, QByteArray("kept\nkept\nmade\n13\n"));
    QCOMPARE(traced.occasions(), QStringList("threw std::out_of_range"));
  }

  void aReportOfASanitizerIsSnappedIfThePolicySaysSo_data() {
    QTest::addColumn<QString>("program");
    QTest::addColumn<QString>("what");
    QTest::addColumn<QStringList>("occasions");
    const QString shift = "reported invalid-shift-exponent at ",
                  overflow = "reported signed-integer-overflow at ";
    QTest::newRow("of undefined behaviour, and the program goes on")
        << "reports_undefined" << "undefined" << QStringList({shift, overflow});  // each place once
    QTest::newRow("of undefined behaviour, and the program ends")
        << "reports_undefined_ends" << "undefined" << QStringList(overflow);
    QTest::newRow("of a misuse of memory")
        << "reports_memory" << "memory" << QStringList("reported heap-buffer-overflow");
    const QString leak = "Sanitizer: 123 byte(s) leaked in 1 allocation(s)";
    QTest::newRow("of a leak, by AddressSanitizer")
        << "reports_memory" << "leak" << QStringList("reported Address" + leak);
    QTest::newRow("of a leak, by LeakSanitizer")
        << "reports_leak" << "leak" << QStringList("reported Leak" + leak);
    QTest::newRow("of one that is linked in, whose names are seen: a misuse of memory")
        << "reports_memory_shown" << "memory" << QStringList("reported heap-buffer-overflow");
    QTest::newRow("of one that is linked in, whose names are seen: it ends the program")
        << "reports_undefined_shown" << "undefined"
        << QStringList("reported something, and ends the process");
    QTest::newRow("of one that is linked in, whose names are not seen")
        << "reports_undefined_inside" << "undefined" << QStringList();
  }
  void aReportOfASanitizerIsSnappedIfThePolicySaysSo() {
    QFETCH(QString, program);
    QFETCH(QString, what);
    QFETCH(QStringList, occasions);
    // AddressSanitizer's library would be the first.
    const auto prepare = [](TracedRun& run) { run.setVariable("ASAN_OPTIONS", "verify_asan_link_order=0"); };
    PolicyRun plain("", program), traced("snap report\n", program), silent("", program);
    plain.setTraced(false);
    for (TracedRun* run : {&plain, &traced, &silent}) prepare(*run);
    const Outcome expected = plain.run({what}), actual = traced.run({what}), without = silent.run({what});
    for (const Outcome& outcome : {actual, without}) {
      QCOMPARE(outcome.output, expected.output);
      QCOMPARE(outcome.killed, expected.killed);
      QCOMPARE(outcome.status, expected.status);
      const qsizetype first = expected.errors.indexOf("ERROR: "), line = expected.errors.indexOf('\n', first);
      QVERIFY(first < 0 || outcome.errors.contains(expected.errors.mid(first, 40)));
      QVERIFY(line < 0 ||
              outcome.errors.count("runtime error: ") == expected.errors.count("runtime error: "));
    }
    const QStringList told = traced.occasions();
    QCOMPARE(told.size(), occasions.size());
    for (qsizetype i = 0; i < told.size(); ++i)
      QVERIFY2(told[i].startsWith(occasions[i]), qPrintable(told[i]));
    for (const auto& path : traced.snaps()) {
      const auto snap = dumpSnap(path);
      QVERIFY(snap);
      QCOMPARE(snap->reason.reason, static_cast<std::uint32_t>(SnapReason::Policy));
      QVERIFY(!recordsOf(*snap, RecordType::Snap).empty());
    }
    QVERIFY(silent.snaps().empty());
    // It was not killed, however the sanitizer ends it.
    QVERIFY(traced.processFolders().empty() && silent.processFolders().empty());
  }

  void anExitWithAChosenStatusIsSnapped() {
    for (const QString& how : {QStringLiteral("exit"), QStringLiteral("_exit"), QStringLiteral("return")}) {
      PolicyRun traced("snap exit 3 5-9\nignore exit 6\n");
      for (const QString status : {"0", "3", "6", "9"}) {
        const Outcome outcome = traced.run({how, status});
        QVERIFY(!outcome.killed);
        QCOMPARE(outcome.status, status.toInt());
      }
      QCOMPARE(traced.occasions(), QStringList({"exits with status 3", "exits with status 9"}));
      QVERIFY(traced.processFolders().empty());
    }
  }

  void aSignalThatMeansNoFaultIsSnappedIfThePolicySaysSo() {
    PolicyRun traced("snap signal TERM\n");
    const Outcome outcome = traced.run({"terminate"});
    QVERIFY(outcome.killed && outcome.status == SIGTERM);
    QCOMPARE(traced.snaps().size(), 1u);
    const auto snap = dumpSnap(traced.snaps()[0]);
    QVERIFY(snap);
    QCOMPARE(snap->reason.signal, std::uint32_t{SIGTERM});
    PolicyRun ignoring("ignore signal SIGABRT\n");
    QVERIFY(ignoring.run({"abort"}).killed);
    QVERIFY(ignoring.snaps().empty());
  }

  void aChangedPolicyHoldsFromTheNextTriggerOn() {
    PolicyRun traced("ignore call\n");
    QCOMPARE(traced.run({"changes", traced.file.fileName()}).status, 0);
    QCOMPARE(traced.occasions(), QStringList({"asked for a snap: again", "threw int"}));
  }

  void aProgramThatIsNotToBeRecordedIsNot() {
    PolicyRun traced("record off\n");
    QVERIFY(traced.run({"calls"}).output.startsWith("c -1\n"));
    QVERIFY(traced.snaps().empty() && traced.processFolders().empty());
  }

  void oldSnapsMakeRoomForNewOnes() {
    PolicyRun traced("disk 1\nrepeat 0\n");
    QVERIFY(traced.run({"calls"}).output.startsWith("c 0\n"));
    QCOMPARE(traced.snaps().size(), 1u);
  }
};

QTEST_GUILESS_MAIN(TriggerTest)
#include "trigger_test.moc"
