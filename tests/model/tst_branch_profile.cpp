// Counts of branches, as they are written and read.
#include <QTest>

#include "model/branch_profile.h"

using namespace traceback::model;

class TestBranchProfile : public QObject {
  Q_OBJECT

  static std::string wrongIn(const char* text) {
    const auto parsed = BranchProfile::parse(text, "a.tbprofile");
    return parsed ? std::string() : parsed.error().text();
  }

 private slots:
  void whatIsWrittenIsRead() {
    BranchProfile profile;
    profile.add("c0ffee", 0x1230, {.ran = 10, .branched = 10, .taken = 3, .begun = 0});
    profile.add("c0ffee", 0x1230, {.ran = 7, .branched = 5, .taken = 5, .begun = 2});
    profile.add("c0ffee", 0x1250, {.ran = 7, .branched = 0, .taken = 0, .begun = 7});
    profile.add("beef", 0xffff'ffff, {.ran = 1, .branched = 1, .taken = 0, .begun = 0});
    QCOMPARE(profile.records(), std::uint64_t(9));
    QCOMPARE(profile.text(), std::string("traceback-profile 3\n"
                                         "module beef\nffffffff 1 1 0 0\n"
                                         "module c0ffee\n1230 17 15 8 2\n1250 7 0 0 7\n"));
    const auto read = BranchProfile::parse(profile.text(), "a.tbprofile");
    QVERIFY(read.has_value());
    QVERIFY(read->modules() == profile.modules());
    QVERIFY(read->find("c0ffee") != nullptr && read->find("c0ffe") == nullptr);
  }

  void modulesAndBlocksThatComeTwiceCountTwice() {
    const auto read = BranchProfile::parse(
        "traceback-profile 2\n# by hand\nmodule ab\n10 5 4 1 0\n\nmodule cd\n10 1 1 1 1\nmodule ab\n10 2 2 2 "
        "3",
        "a");
    QVERIFY(read.has_value());
    QVERIFY(read->find("ab")->at(0x10) == (BlockCounts{7, 6, 3, 3}));
    QVERIFY(read->find("cd")->at(0x10) == (BlockCounts{1, 1, 1, 1}));
  }

  void recordsAreAddedUpOfAModuleAndOfAProgram() {
    BranchProfile profile;
    profile.add("ab", 0x10, {.ran = 9, .branched = 0, .taken = 0, .begun = 4});
    profile.add("ab", 0x20, {.ran = 9, .branched = 0, .taken = 0, .begun = 3});
    profile.addProgram("ab", 100);
    profile.addProgram("ab", 11);
    profile.addProgram("cd", 5);
    profile.addProgram("no build id", 5);
    for (const auto& each : {profile, BranchProfile::parse(profile.text(), "a").value()}) {
      QCOMPARE(each.recordsOf("ab"), std::uint64_t(7));
      QCOMPARE(each.programRecordsOf("ab"), std::uint64_t(111));
      QCOMPARE(each.recordsOf("cd"), std::uint64_t(0));
      QCOMPARE(each.programRecordsOf("cd"), std::uint64_t(5));
      QCOMPARE(each.recordsOf("ef") + each.programRecordsOf("ef"), std::uint64_t(0));
      QCOMPARE(each.modules().size(), std::size_t(2));
    }
  }

  void whatWasWrittenByTheVersionBeforeIsRead() {
    const auto read = BranchProfile::parse("traceback-profile 2\nmodule ab\n10 5 4 1 2\n", "a");
    QVERIFY(read.has_value());
    QCOMPARE(read->recordsOf("ab"), std::uint64_t(2));
  }

  void countsDoNotRunOver() {
    const auto most = std::numeric_limits<std::uint64_t>::max();
    BranchProfile profile;
    for (int i = 0; i < 2; ++i)
      profile.add("ab", 1, {.ran = most, .branched = most - 1, .taken = most - 1, .begun = most});
    QVERIFY(profile.find("ab")->at(1) == (BlockCounts{most, most, most, most}));
    QVERIFY(BranchProfile::parse(profile.text(), "a").has_value());
  }

  void whatIsWrongIsNamed_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, const char* text, const char* says) {
      QTest::newRow(name) << QByteArray(text) << QByteArray(says);
    };
    row("nothing", "", "empty");
    row("something else", "#!/bin/sh\n", "no profile of traceback");
    row("a former version", "traceback-profile 1\nmodule ab\n10 1 1 1\n", "version");
    row("a later version", "traceback-profile 4\n", "version");
    row("no module", "traceback-profile 3\n", "empty");
    row("a program of no module", "traceback-profile 3\nprogram 3\n", "line 2: is of no module");
    row("a program without a number", "traceback-profile 3\nmodule ab\nprogram\n", "line 3: is not");
    row("a program with a name", "traceback-profile 3\nmodule ab\nprogram sh\n", "line 3: is not 'program");
    row("counts of no module", "traceback-profile 2\n10 1 1 1 1\n", "line 2: is of no module");
    row("no build id", "traceback-profile 2\nmodule GCC\n", "line 2: is not 'module BUILD-ID'");
    row("an empty build id", "traceback-profile 2\nmodule \n", "line 2: is not 'module BUILD-ID'");
    row("a number missing", "traceback-profile 2\nmodule ab\n10 1 1 1\n", "line 3: is not 'ADDRESS");
    row("a number too many", "traceback-profile 2\nmodule ab\n10 1 1 1 1 1\n", "line 3: is not 'ADDRESS");
    row("no number", "traceback-profile 2\nmodule ab\n\n10 1 1 x 1\n", "line 4: is not 'ADDRESS");
    row("a negative one", "traceback-profile 2\nmodule ab\n10 1 -1 1 1\n", "line 3: is not 'ADDRESS");
    row("too large an address", "traceback-profile 2\nmodule ab\n100000000 1 1 1 1\n",
        "line 3: is not 'ADDRESS");
    row("more taken than come to", "traceback-profile 2\nmodule ab\n10 2 1 2 1\n", "line 3: has a branch");
  }
  void whatIsWrongIsNamed() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, says);
    const std::string wrong = wrongIn(text.constData());
    QVERIFY2(wrong.starts_with("a.tbprofile: ") && wrong.contains(says.toStdString()), wrong.c_str());
  }
};

QTEST_GUILESS_MAIN(TestBranchProfile)
#include "tst_branch_profile.moc"
