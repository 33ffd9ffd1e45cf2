#include <sys/stat.h>

#include <QDir>
#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include "app/traceback/instrumented_cache.h"
#include "tests/app/command_line.h"

using namespace traceback;
using namespace traceback::test;
using app::InstrumentedCache;
namespace fs = std::filesystem;

class InstrumentedCacheTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> m_folder;
  std::atomic<int> m_made = 0;

  fs::path path(const char* name) const { return m_folder->filePath(name).toStdString(); }
  fs::path program(const char* name, const QByteArray& content) const {
    [&] { QVERIFY(writeFile(m_folder->filePath(name), content, true)); }();
    return path(name);
  }
  // "Instruments" by putting a word before the content.
  InstrumentedCache::Make maker() {
    return [this](const fs::path& input, const fs::path& output) -> model::Result<void> {
      ++m_made;
      std::ofstream(output, std::ios::binary)
          << "made from " << std::ifstream(input, std::ios::binary).rdbuf();
      return {};
    };
  }
  static QByteArray content(const fs::path& file) { return readFile(QString::fromStdString(file.string())); }
  QStringList entries() const {
    return QDir(m_folder->filePath("cache"))
        .entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
  }

 private slots:
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
    m_made = 0;
  }

  void theSameContentIsMadeOnce() {
    InstrumentedCache cache(path("cache"), 1);
    const auto first = cache.get(program("prog", "abc"), maker());
    const auto again = cache.get(program("prog", "abc"), maker());
    QVERIFY(first && again);
    QCOMPARE(*first, *again);
    QCOMPARE(content(*first), "made from abc");
    QCOMPARE(m_made.load(), 1);
  }

  void aCopyKeepsTheProgramsName() {
    InstrumentedCache cache(path("cache"), 1);
    const auto one = cache.get(program("one", "abc"), maker());
    const auto two = cache.get(program("two", "abc"), maker());
    QVERIFY(one && two);
    QCOMPARE(one->filename().string(), std::string("one"));
    QCOMPARE(two->filename().string(), std::string("two"));
    QCOMPARE(content(*two), "made from abc");
    QCOMPARE(content(*one), "made from abc");
  }

  void otherContentAndOtherSaltAreOtherEntries() {
    const auto first = InstrumentedCache(path("cache"), 1).get(program("prog", "abc"), maker());
    const auto salted = InstrumentedCache(path("cache"), 2).get(program("prog", "abc"), maker());
    const auto changed = InstrumentedCache(path("cache"), 1).get(program("prog", "abd"), maker());
    QVERIFY(first && salted && changed);
    QVERIFY(*first != *salted);
    QVERIFY(*first != *changed);
    QCOMPARE(m_made.load(), 3);
    QCOMPARE(content(*changed), "made from abd");
  }

  void aFailureIsPassedOnAndLeavesNothing() {
    InstrumentedCache cache(path("cache"), 1);
    const auto failed = cache.get(program("prog", "abc"),
                                  [](const fs::path& input, const fs::path& output) -> model::Result<void> {
                                    std::ofstream(output) << "half";
                                    return model::fail("no good", input.string());
                                  });
    QVERIFY(!failed);
    QCOMPARE(failed.error().message, std::string("no good"));
    QCOMPARE(entries(), QStringList());
  }

  void aMissingProgramIsAnError() {
    const auto failed = InstrumentedCache(path("cache"), 1).get(path("nowhere"), maker());
    QVERIFY(!failed);
    QVERIFY(failed.error().text().contains("nowhere"));
  }

  void manyAtOnceAllGetAWholeFile() {
    const fs::path file = program("prog", QByteArray(1 << 20, 'x'));
    std::vector<std::thread> threads;
    std::atomic<int> whole = 0;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        const auto copy = InstrumentedCache(path("cache"), 1).get(file, maker());
        if (copy && content(*copy).size() == 10 + (1 << 20)) ++whole;
      });
    }
    for (auto& thread : threads) thread.join();
    QCOMPARE(whole.load(), 8);
    QCOMPARE(entries().size(), 1);
  }

  void theLeastRecentlyUsedGoesFirst() {
    InstrumentedCache cache(path("cache"), 1, 2500);
    const auto get = [&](const char* name, char fill) {
      return cache.get(program(name, QByteArray(990, fill)), maker()).value();
    };
    const auto age = [](const fs::path& file, int hours) {
      fs::last_write_time(file.parent_path(), fs::file_time_type::clock::now() - std::chrono::hours(hours));
    };
    const fs::path a = get("a", 'a'), b = get("b", 'b');
    age(a, 2);
    age(b, 1);
    QCOMPARE(get("a", 'a'), a);  // used again: b is the older one now
    get("c", 'c');
    QVERIFY(fs::exists(a));
    QVERIFY(!fs::exists(b));
  }

  void whatAnInterruptedOneLeftIsRemovedInTime() {
    InstrumentedCache cache(path("cache"), 1);
    QVERIFY(cache.get(program("prog", "abc"), maker()));
    fs::create_directory(path("cache/.making-old"));
    fs::create_directory(path("cache/.making-new"));
    fs::last_write_time(path("cache/.making-old"), fs::file_time_type::clock::now() - std::chrono::hours(48));
    QVERIFY(cache.get(program("prog", "abd"), maker()));
    QVERIFY(!fs::exists(path("cache/.making-old")));
    QVERIFY(fs::exists(path("cache/.making-new")));
  }

  void aFolderThatOthersCanWriteToIsRefused() {
    fs::create_directory(path("cache"));
    QCOMPARE(chmod(path("cache").c_str(), 0777), 0);
    const auto refused = InstrumentedCache(path("cache"), 1).get(program("prog", "abc"), maker());
    QVERIFY(!refused);
    QVERIFY(refused.error().text().contains("somebody else"));
    QCOMPARE(m_made.load(), 0);
  }

  void aNewFolderIsPrivate() {
    QVERIFY(InstrumentedCache(path("cache"), 1).get(program("prog", "abc"), maker()));
    struct stat status{};
    QCOMPARE(stat(path("cache").c_str(), &status), 0);
    QCOMPARE(status.st_mode & 0777, 0700U);
  }
};

QTEST_GUILESS_MAIN(InstrumentedCacheTest)
#include "tst_instrumented_cache.moc"
