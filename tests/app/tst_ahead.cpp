// The libraries of a program that `run` does not know yet are instrumented before it starts, several at once.
#include <QTest>

#include "app/traceback/instrumented_cache.h"
#include "app/traceback/loaded_files.h"
#include "tests/app/command_line.h"

using namespace traceback;
using namespace traceback::test;
using app::InstrumentedCache;

class AheadTest : public QObject {
  Q_OBJECT

  CommandLine m_line;
  int m_parts = 0;

  QString newPart() { return m_line.path(QString("parts/%1").arg(++m_parts, 16, 16, QChar(u'0'))); }

  Ran prepare(const QString& part, const QStringList& options) {
    return m_line.traceback(QStringList{"prepare", "--cache", part} + options +
                            QStringList{"--", GIVES_UP_PROGRAM});
  }

  // What is known of a library of the program, by its name.
  QMap<QByteArray, std::optional<InstrumentedCache::Known>> librariesIn(const QString& part) {
    QMap<QByteArray, std::optional<InstrumentedCache::Known>> found;
    const auto cache = InstrumentedCache::at(part.toStdString());
    const auto loaded = app::filesOfProgram(GIVES_UP_PROGRAM);
    if (!cache || !loaded) return found;
    for (std::size_t i = 1; i < loaded->files.size(); ++i) {
      const std::filesystem::path path = loaded->files[i].path;
      found[QByteArray::fromStdString(path.filename().string())] =
          cache->lookUp(path, InstrumentedCache::Use::Load);
    }
    return found;
  }
  static bool isCLibrary(const QByteArray& name) {
    return name.startsWith("libc.") || name.startsWith("ld-");
  }

 private slots:
  void initTestCase() {
    QVERIFY(m_line.isReady());
    QVERIFY(QDir().mkpath(m_line.path("parts")));
  }

  void allThatAnUnknownProgramLoadsIsThereButTheCLibrary() {
    const QString part = newPart();
    QCOMPARE(prepare(part, {"--program", "--ahead"}).status, 0);
    const auto libraries = librariesIn(part);
    QVERIFY(libraries.size() > 3);  // of a C++ program
    for (const auto& [name, known] : libraries.asKeyValueRange()) {
      QCOMPARE(known.has_value(), !isCLibrary(name));
      if (known) QVERIFY2(std::filesystem::is_regular_file(known->copy), known->reason.c_str());
    }
  }

  void ofAProgramThatIsKnownEachIsMadeAsItIsLoaded() {
    const QString part = newPart();
    QCOMPARE(prepare(part, {"--program"}).status, 0);
    QCOMPARE(prepare(part, {"--program", "--ahead"}).status, 0);
    for (const auto& known : librariesIn(part)) QVERIFY(!known);
  }

  void ofALibraryNothingElseIsMade() {
    const QString part = newPart();
    QCOMPARE(prepare(part, {"--ahead"}).status, 0);
    for (const auto& known : librariesIn(part)) QVERIFY(!known);
  }
};

QTEST_GUILESS_MAIN(AheadTest)
#include "tst_ahead.moc"
