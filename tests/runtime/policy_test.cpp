// The policy file's text.
#include <QTest>
#include <array>
#include <string_view>

#include "runtime/format/history.h"
#include "runtime/inject/snaps/policy.h"

using namespace traceback::inject;

namespace {

struct Parsed {
  Policy policy;
  std::array<PolicyProblem, 8> problems{};
  unsigned wrong = 0;
};

Parsed parse(std::string_view text) {
  Parsed result;
  result.wrong = parsePolicy(text.data(), text.size(), result.policy, result.problems.data(), 8);
  return result;
}

}  // namespace

class PolicyTest : public QObject {
  Q_OBJECT
 private slots:
  void anEmptyPolicyIsTheDefault() {
    const Parsed parsed = parse("\n  \t\n# only words\n");
    QCOMPARE(parsed.wrong, 0u);
    QVERIFY(parsed.policy.record && parsed.policy.snapCalls);
    QCOMPARE(parsed.policy.repeats, 1u);
    QCOMPARE(parsed.policy.snapSignals, 0u);
  }

  void eachRuleIsRead() {
    const Parsed parsed = parse(
        "record off\nbuffer 2M\nhistory 256K\nrings 12\ntotal 64M\nsnap signal TERM SIGINT 64\nignore signal "
        "QUIT\nsnap "
        "exit 1-3 255\n"
        "ignore exit 2\nsnap exception std::exception my::*\nignore exception my::Expected # as they say\n"
        "ignore call\nrepeat 7\nrate 5/10m\nsnap hang 90s\nsnap stall 2m\nsnap wait 45s db-worker\nsnap "
        "report\nmemory writable\ndisk 1G\nkeep 30d");
    QCOMPARE(parsed.wrong, 0u);
    const Policy& policy = parsed.policy;
    QVERIFY(!policy.record && !policy.snapCalls);
    QCOMPARE(policy.bufferSize, 2u << 20);
    QVERIFY(policy.historySaid);
    QCOMPARE(policy.historySize, 256u << 10);
    QCOMPARE(policy.hangSeconds, 90u);
    QCOMPARE(policy.stallSeconds, 120u);
    QCOMPARE(std::string_view(policy.stallThread), std::string_view());
    QCOMPARE(policy.waitSeconds, 45u);
    QCOMPARE(std::string_view(policy.waitThread), std::string_view("db-worker"));
    QVERIFY(policy.snapReports);
    QCOMPARE(policy.mostRings, 12u);
    QCOMPARE(policy.mostBytes, 64u << 20);
    QCOMPARE(policy.snapSignals, 1u << 14 | 1u << 1 | 1ull << 63);
    QCOMPARE(policy.ignoreSignals, 1u << 2);
    for (const unsigned status : {1u, 3u, 255u}) QVERIFY(snapsExit(policy, status));
    for (const unsigned status : {0u, 2u, 4u, 254u}) QVERIFY(!snapsExit(policy, status));
    QCOMPARE(policy.exceptionRules, 3u);
    QVERIFY(policy.exceptions[1].snap && !policy.exceptions[2].snap);
    QCOMPARE(std::string_view(policy.exceptions[2].name), std::string_view("my::Expected"));
    QCOMPARE(policy.repeats, 7u);
    QCOMPARE(policy.rateCount, 5u);
    QCOMPARE(policy.rateSeconds, 600u);
    QVERIFY(policy.memorySaid && policy.memory == traceback::format::KeptMemory::Writable);
    QCOMPARE(policy.diskLimit, 1ull << 30);
    QCOMPARE(policy.keepSeconds, 30ull * 86400);
  }

  void historyIsKeptUnlessSomebodySaysOtherwise() {
    QVERIFY(!parse("record on").policy.historySaid);
    const Parsed off = parse("history 1M\nhistory off\nhistory 1K");
    QCOMPARE(off.wrong, 1u);
    QVERIFY(off.policy.historySaid);
    QCOMPARE(off.policy.historySize, 0u);
    const Parsed counts = parse("history off\nhistory counts");
    QCOMPARE(counts.wrong, 0u);
    QVERIFY(counts.policy.historySaid && counts.policy.historyCounts);
    QCOMPARE(counts.policy.historySize, traceback::format::kCountingHistorySize);
    QVERIFY(!parse("history counts\nhistory 1M").policy.historyCounts);
  }

  void aWrongLineIsNamedAndTheRestHolds_data() {
    QTest::addColumn<QString>("line");
    for (const char* line : {"snap",
                             "snap nothing",
                             "snap signal",
                             "snap signal NONE",
                             "snap signal KILL",
                             "snap signal 65",
                             "snap exit",
                             "snap exit 256",
                             "snap exit 7-3",
                             "snap exit x",
                             "snap exit 1-",
                             "snap exception",
                             "record",
                             "record maybe",
                             "record on off",
                             "buffer",
                             "buffer 1K",
                             "buffer 2T",
                             "buffer 99999999999999999999",
                             "history",
                             "history 1K",
                             "history 1G",
                             "history none",
                             "history off 64K",
                             "snap hang",
                             "snap hang 0s",
                             "snap hang soon",
                             "rings",
                             "rings 0",
                             "rings 2000",
                             "total",
                             "total 1K",
                             "repeat",
                             "repeat x",
                             "rate 5",
                             "rate 5/",
                             "rate 5/0s",
                             "rate /1h",
                             "rate 5/1y",
                             "memory",
                             "memory some",
                             "disk",
                             "disk 1125899906842624G",
                             "disk 1GB",
                             "keep",
                             "keep 1w",
                             "Snap call",
                             "snap call now",
                             "\x01"})
      QTest::newRow(line) << line;
  }
  void aWrongLineIsNamedAndTheRestHolds() {
    QFETCH(QString, line);
    const Parsed parsed = parse(("repeat 3\n" + line + "\nsnap exit 4\n").toStdString());
    QCOMPARE(parsed.wrong, 1u);
    QCOMPARE(parsed.problems[0].line, 2u);
    QVERIFY(parsed.problems[0].reason != nullptr);
    QCOMPARE(parsed.policy.repeats, 3u);
    QVERIFY(snapsExit(parsed.policy, 4) && !snapsExit(parsed.policy, 7));
    QVERIFY(parsed.policy.record && parsed.policy.exceptionRules == 0 && parsed.policy.bufferSize == 0);
  }

  void aStarStandsForTheRestOfAName() {
    QVERIFY(namesClass("*", "int") && namesClass("my::*", "my::Error") && namesClass("int", "int"));
    QVERIFY(!namesClass("my::*", "your::Error") && !namesClass("in", "int") && !namesClass("int", "in"));
  }

  void tooManyClassesAreTooMany() {
    std::string text;
    for (int i = 0; i < 33; ++i) text += "snap exception c" + std::to_string(i) + "\n";
    const Parsed parsed = parse(text);
    QCOMPARE(parsed.wrong, 1u);
    QCOMPARE(parsed.problems[0].line, 33u);
    QCOMPARE(parsed.policy.exceptionRules, kMostExceptionRules);
  }
};

QTEST_GUILESS_MAIN(PolicyTest)
#include "policy_test.moc"
