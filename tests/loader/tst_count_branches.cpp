// Which ways branches went, counted in a snap's records.
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "loader/profile/count_branches.h"
#include "tests/loader/reconstruction.h"

using namespace traceback;
using model::BlockCounts;

namespace {

// A loop that a bit ends, and a branch in it whose taken edge sets one; behind it, one that leaves either
// way.
constexpr std::string_view kBranches = R"(
  version 3
  function main 1000
  dag
  a 4 fall l pass0
  dag 2
  l 8 branch x m bit=1 taken loop
  m 4 fall t
  x 4 fall t
  t 4 branch l e bit=0
  dag
  e 4 branch a l
)";

}  // namespace

class CountBranchesTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;

  QString snapOf(std::string_view ringText, bool withMap = true) const {
    const tests::MapText map(kBranches);
    const tests::RingText ring(ringText, map, {});
    tests::ProcessText process{.map = &map, .ring = &ring, .options = {}};
    process.withMap = withMap;
    const auto bytes = process.snap().bytes();
    QFile file(m_folder.filePath("a.tbsnap"));
    if (!file.open(QFile::WriteOnly)) return {};
    file.write(reinterpret_cast<const char*>(bytes.data()), qint64(bytes.size()));
    return file.fileName();
  }

 private Q_SLOTS:
  void eachRecordCountsButTheNewest() {
    model::BranchProfile profile;
    const auto counted = loader::countBranches(snapOf(R"(
      start
      main.l main.l
      main.l
      main.l main.t
      main.e
      main.l
    )")
                                                   .toStdString(),
                                               profile);
    QVERIFY(counted.has_value());
    QCOMPARE(counted->records, std::uint64_t(4));
    QCOMPARE(profile.modules().size(), 1UL);
    const model::ModuleProfile* main = profile.find("abababab");
    if (main == nullptr) QFAIL("nothing of the module");
    QVERIFY(main->at(0x1004) == (BlockCounts{.ran = 3, .branched = 3, .taken = 1, .begun = 3}));
    QVERIFY(main->at(0x1014) == (BlockCounts{.ran = 3, .branched = 3, .taken = 2, .begun = 0}));
    QVERIFY(main->at(0x1018) == (BlockCounts{.ran = 1, .branched = 0, .taken = 0, .begun = 1}));
    QVERIFY(main->at(0x100c) == (BlockCounts{.ran = 2, .branched = 0, .taken = 0, .begun = 0}));
    QVERIFY(main->at(0x1010) == (BlockCounts{.ran = 1, .branched = 0, .taken = 0, .begun = 0}));
    QCOMPARE(main->size(), 5UL);
    // And again, for both.
    QVERIFY(loader::countBranches(m_folder.filePath("a.tbsnap").toStdString(), profile).has_value());
    QVERIFY(main->at(0x1004) == (BlockCounts{.ran = 6, .branched = 6, .taken = 2, .begun = 6}));
  }

  void recordsWithoutAMapAreCountedAsSuch() {
    model::BranchProfile profile;
    const auto counted =
        loader::countBranches(snapOf("start\nmain.l\nmain.l\nmain.l\n", false).toStdString(), profile);
    QVERIFY(counted.has_value());
    QCOMPARE(counted->records, std::uint64_t(0));
    QVERIFY(profile.modules().empty());
  }

  void whatIsNoSnapIsNamed() {
    model::BranchProfile profile;
    const auto counted = loader::countBranches("/etc/passwd", profile);
    QVERIFY(!counted.has_value() && counted.error().text().starts_with("/etc/passwd"));
  }
};

QTEST_GUILESS_MAIN(CountBranchesTest)
#include "tst_count_branches.moc"
