#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "loader/symbols/source_finder.h"

using traceback::loader::SourceFinder;

class SourceFinderTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_dir;
  std::string path(const char* name) const { return m_dir.filePath(name).toStdString(); }
  void touch(const char* name) const {
    QVERIFY(QDir().mkpath(QFileInfo(m_dir.filePath(name)).path()));
    QFile file(m_dir.filePath(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
  }

 private slots:
  void initTestCase() {
    touch("here/a.c");
    touch("new/lib/b.c");
    touch("new/deep/lib/b.c");
    touch("tree/src/lib/c.c");
    touch("tree/c.c");
  }

  void aFileThatIsWhereItWasIsFound() {
    QCOMPARE(SourceFinder().find(path("here/a.c")), std::optional(path("here/a.c")));
    QCOMPARE(SourceFinder().find(path("here/none.c")), std::nullopt);
    QCOMPARE(SourceFinder().find(path("here")), std::nullopt);  // a folder
    QCOMPARE(SourceFinder().find(""), std::nullopt);
    QCOMPARE(SourceFinder().find("a.c"), std::nullopt);  // relative to nothing in particular
  }

  void theFirstMappingThatLeadsToAFileCounts() {
    const SourceFinder finder({{"/build/x/", path("new/deep")}, {"/build", path("new")}}, {});
    QCOMPARE(finder.find("/build/lib/b.c"), std::optional(path("new/lib/b.c")));
    QCOMPARE(finder.find("/build/x/lib/b.c"), std::optional(path("new/deep/lib/b.c")));
    const SourceFinder other({{"/build", path("new")}, {"/build/lib", path("new/deep/lib")}}, {});
    QCOMPARE(other.find("/build/lib/b.c"), std::optional(path("new/lib/b.c")));
    QCOMPARE(other.findAll("/build/lib/b.c"),
             (std::vector<std::string>{path("new/lib/b.c"), path("new/deep/lib/b.c")}));
    QCOMPARE(finder.find("/builder/lib/b.c"), std::nullopt);  // not that folder
    QCOMPARE(finder.find("/build"), std::nullopt);
  }

  void searchFoldersAreTriedWithTheLongestEndOfThePath() {
    const SourceFinder finder({}, {path("here"), path("tree")});
    QCOMPARE(finder.find("/gone/src/lib/c.c"), std::optional(path("tree/src/lib/c.c")));
    QCOMPARE(finder.find("/gone/other/c.c"), std::optional(path("tree/c.c")));
    QCOMPARE(finder.find("src/lib/c.c"), std::optional(path("tree/src/lib/c.c")));
    QCOMPARE(finder.find("/gone/d.c"), std::nullopt);
  }

  void pathsDoNotLeadOutOfASearchFolder() {
    const SourceFinder finder({}, {path("tree")});
    QCOMPARE(finder.find("../here/a.c"), std::nullopt);
    QCOMPARE(finder.find("x/../../here/a.c"), std::nullopt);
  }
};

QTEST_APPLESS_MAIN(SourceFinderTest)
#include "tst_source_finder.moc"
