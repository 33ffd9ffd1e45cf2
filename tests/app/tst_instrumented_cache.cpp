#include <sys/stat.h>

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include "app/traceback/instrumented_cache.h"
#include "runtime/format/cache.h"
#include "tests/app/command_line.h"

using namespace traceback;
using namespace traceback::test;
using app::InstrumentedCache;
using Use = InstrumentedCache::Use;
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
  static InstrumentedCache::Make refuser(const fs::path& culprit) {
    return [culprit](const fs::path&, const fs::path& output) -> model::Result<void> {
      std::ofstream(output) << "half";
      return model::fail("no good", culprit.string());
    };
  }
  InstrumentedCache cache(std::uint64_t flavour = 1,
                          std::uint64_t limit = InstrumentedCache::kDefaultLimit) const {
    return InstrumentedCache(path("cache"), flavour, limit);
  }
  fs::path copyOf(const InstrumentedCache& from, const fs::path& file, Use use = Use::Load) {
    const auto known = from.get(file, use, maker());
    return known ? known->copy : fs::path();
  }
  static QByteArray content(const fs::path& file) { return readFile(QString::fromStdString(file.string())); }
  QStringList files(const char* what) const {
    return listing(m_folder->filePath("cache")).filter(QRegularExpression(QString("^[^/]+/%1/.").arg(what)));
  }
  static void age(const fs::path& file, int hours) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  }

 private slots:
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
    m_made = 0;
  }

  void theSameContentIsMadeOnce() {
    const fs::path file = program("prog", "abc");
    const fs::path first = copyOf(cache(), file);
    QCOMPARE(content(first), "made from abc");
    QCOMPARE(copyOf(cache(), file), first);
    QVERIFY(writeFile(m_folder->filePath("prog"), "abc", true));  // written again: another time
    QCOMPARE(copyOf(cache(), file), first);
    QCOMPARE(m_made.load(), 1);
  }

  void whatFollowsTheKeyIsTheOriginalsPath() {
    const fs::path file = program("prog", "abc");
    const fs::path copy = copyOf(cache(), file, Use::Execute);
    const fs::path folder = cache().folder();
    QVERIFY(copy.string().starts_with(folder.string()));
    QCOMPARE(std::string(format::originalOf(copy.c_str(), folder.c_str())), file.string());
    QCOMPARE(format::originalOf(file.c_str(), folder.c_str()), nullptr);
    QCOMPARE(format::originalOf((folder / "index/x").c_str(), folder.c_str()), nullptr);
  }

  void whatElseDecidesTellsCopiesApart() {
    const fs::path file = program("prog", "abc"), other = program("other", "xyz");
    const auto get = [&](const fs::path& of, std::uint64_t variant) {
      const auto known = cache().get(of, Use::Load, maker(), [variant] { return variant; });
      return known ? known->copy : fs::path();
    };
    const fs::path first = get(file, 0);
    get(other, 0);
    QVERIFY2(get(file, 7) == first, "until that is forgotten");
    InstrumentedCache::forget(path("cache"), [&](const fs::path& original) { return original == file; });
    QVERIFY(!cache().lookUp(file, Use::Load));
    QVERIFY(cache().lookUp(other, Use::Load).has_value());
    const fs::path second = get(file, 7);
    QVERIFY(second != first && fs::exists(first) && fs::exists(second));
    QCOMPARE(m_made.load(), 3);
    InstrumentedCache::forget(path("cache"), [&](const fs::path&) { return true; });
    QCOMPARE(get(file, 0), first);
    QCOMPARE(m_made.load(), 3);
  }

  void whatIsOutdatedIsTakenUntilItIsMadeAnew() {
    const fs::path file = program("prog", "abc"), other = program("other", "xyz");
    const InstrumentedCache far = cache().forThreadSlot(format::kThreadSlot - 4096);
    const auto variant = [] { return std::uint64_t{7}; };
    QVERIFY(far.prepareForRenewal());
    copyOf(far, other, Use::Execute);
    const fs::path before = copyOf(far, file, Use::Execute);
    copyOf(cache(2), file, Use::Execute);
    InstrumentedCache::outdate(path("cache"), [&](const fs::path& original) { return original == file; });
    QVERIFY(far.lookUp(file, Use::Execute)->copy == before);
    QCOMPARE(copyOf(far, file, Use::Execute), before);

    const auto waiting = cache().outdated();
    QCOMPARE(waiting.size(), std::size_t{1});
    QCOMPARE(waiting[0].file, file);
    QVERIFY(waiting[0].use == Use::Execute);
    QCOMPARE(waiting[0].threadSlot, format::kThreadSlot - 4096);
    const auto renewed = far.renew(file, Use::Execute, maker(), variant);
    QVERIFY(renewed && renewed->copy != before && fs::exists(before));
    QCOMPARE(copyOf(far, file, Use::Execute), renewed->copy);
    QVERIFY(cache().outdated().empty());
    QVERIFY2(cache(2).outdated().empty(), "there it goes by nothing that changes");
  }

  void whatCannotBeMadeAnewStaysAsItIs() {
    const fs::path file = program("prog", "abc");
    QVERIFY(cache().prepareForRenewal());
    const fs::path copy = copyOf(cache(), file);
    InstrumentedCache::outdate(path("cache"), [](const fs::path&) { return true; });
    QVERIFY(!cache().renew(file, Use::Load, refuser(file), [] { return std::uint64_t{7}; }));
    QCOMPARE(copyOf(cache(), file), copy);
    QVERIFY2(cache().outdated().empty(), "it is not tried for ever");
  }

  void whatHasChangedWaitsNoMore() {
    const fs::path file = program("prog", "abc");
    QVERIFY(cache().prepareForRenewal());
    copyOf(cache(), file);
    InstrumentedCache::outdate(path("cache"), [](const fs::path&) { return true; });
    program("prog", "another");
    QVERIFY(cache().outdated().empty());
    QCOMPARE(files("renewal"), QStringList());
  }

  void programsHaveACopyForEachPlace() {
    const fs::path one = program("one", "abc"), two = path("two");
    fs::create_hard_link(one, two);
    QVERIFY(copyOf(cache(), one, Use::Execute) != copyOf(cache(), two, Use::Execute));
    QCOMPARE(copyOf(cache(), one, Use::Load), copyOf(cache(), two, Use::Load));
  }

  void aLinkLeadsToTheSameCopy() {
    const fs::path file = program("prog", "abc");
    fs::create_symlink(file, path("link"));
    QCOMPARE(copyOf(cache(), path("link")), copyOf(cache(), file));
    QCOMPARE(m_made.load(), 1);
  }

  void otherContentAndAnotherFlavourHaveCopiesOfTheirOwn() {
    const fs::path file = program("prog", "abc");
    const fs::path first = copyOf(cache(1), file), flavoured = copyOf(cache(2), file);
    program("prog", "abd");
    const fs::path changed = copyOf(cache(1), file);
    QVERIFY(first != flavoured);
    QVERIFY(first != changed);
    QCOMPARE(m_made.load(), 3);
    QCOMPARE(content(changed), "made from abd");
  }

  void whatIsAtFaultForGoodIsNotTriedAgain() {
    const fs::path file = program("prog", "abc");
    const auto failed = cache().get(file, Use::Load, refuser(file));
    QVERIFY(!failed);
    QCOMPARE(failed.error().message, std::string("no good"));
    QCOMPARE(files("objects"), QStringList());
    QCOMPARE(files("making"), QStringList());
    const auto known = cache().lookUp(file, Use::Load);
    QVERIFY(known && known->copy.empty());
    QCOMPARE(known->reason, file.string() + ": no good");
    QCOMPARE(copyOf(cache(), file), fs::path());
    QCOMPARE(m_made.load(), 0);
    QCOMPARE(cache().leftAlone().size(), std::size_t{1});
  }

  void whatMayPassIsTriedAgainInTime() {
    const fs::path file = program("prog", "abc");
    QVERIFY(!cache().get(file, Use::Load, refuser("/another/file")));
    QCOMPARE(copyOf(cache(), file), fs::path());
    age(m_folder->filePath("cache/" + files("index").first()).toStdString(), 1);
    QCOMPARE(content(copyOf(cache(), file)), "made from abc");
  }

  void aMissingFileIsAnError() {
    const auto failed = cache().get(path("nowhere"), Use::Load, maker());
    QVERIFY(!failed);
    QVERIFY(failed.error().text().contains("nowhere"));
  }

  void manyAtOnceGetOneWholeFile() {
    const fs::path file = program("prog", QByteArray(1 << 20, 'x'));
    std::vector<std::thread> threads;
    std::atomic<int> whole = 0;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        const auto known = cache().get(file, Use::Load, maker());
        if (known && content(known->copy).size() == 10 + (1 << 20)) ++whole;
      });
    }
    for (auto& thread : threads) thread.join();
    QCOMPARE(whole.load(), 8);
    QCOMPARE(m_made.load(), 1);
  }

  void theLeastRecentlyUsedGoesFirst() {
    const InstrumentedCache small = cache(1, 2500);
    const auto get = [&](const char* name, char fill) {
      return copyOf(small, program(name, QByteArray(990, fill)));
    };
    const fs::path a = get("a", 'a'), b = get("b", 'b');
    age(a, 3);
    age(b, 2);
    QCOMPARE(copyOf(small, path("a")), a);  // used again: b is the older one now
    get("c", 'c');
    QVERIFY(fs::exists(a));
    QVERIFY(!fs::exists(b));
    QCOMPARE(copyOf(small, path("b")), b);  // and is made again
    QVERIFY(fs::exists(b));
  }

  void whatIsInUseStaysBeyondTheLimit() {
    const InstrumentedCache small = cache(1, 100);
    const fs::path a = copyOf(small, program("a", QByteArray(990, 'a')));
    const fs::path b = copyOf(small, program("b", QByteArray(990, 'b')));
    QVERIFY(fs::exists(a) && fs::exists(b));
  }

  void theLimitHoldsForAllFlavours() {
    const fs::path a = copyOf(cache(1, 1500), program("a", QByteArray(990, 'a')));
    age(a, 1);
    const fs::path b = copyOf(cache(2, 1500), program("b", QByteArray(990, 'b')));
    QVERIFY(!fs::exists(a));
    QVERIFY(fs::exists(b));
  }

  void whatAnInterruptedOneLeftIsRemovedInTime() {
    QVERIFY(!copyOf(cache(), program("prog", "abc")).empty());
    const fs::path making = cache().folder() / "making";
    std::ofstream(making / "old") << "x";
    std::ofstream(making / "new") << "x";
    age(making / "old", 48);
    QVERIFY(!copyOf(cache(), program("prog", "abd")).empty());
    QVERIFY(!fs::exists(making / "old"));
    QVERIFY(fs::exists(making / "new"));
  }

  void partsOfOtherBuildsGoOnceTheyAreEmpty() {
    QVERIFY(!copyOf(cache(1), program("a", "abc")).empty());
    QVERIFY(!copyOf(cache(2), program("a", "abc")).empty());
    const fs::path old = cache(1).folder();
    age(old / "index", 48);
    QVERIFY(!copyOf(cache(2), program("b", "abd")).empty());
    QVERIFY(fs::exists(old));
    fs::remove_all(old / "objects");
    fs::create_directory(old / "objects");
    QVERIFY(!copyOf(cache(2), program("c", "abe")).empty());
    QVERIFY(!fs::exists(old));
  }

  void aFolderThatOthersCanWriteToIsRefused() {
    fs::create_directory(path("cache"));
    QCOMPARE(chmod(path("cache").c_str(), 0777), 0);
    const auto refused = cache().get(program("prog", "abc"), Use::Load, maker());
    QVERIFY(!refused);
    QVERIFY(refused.error().text().contains("somebody else"));
    QCOMPARE(m_made.load(), 0);
  }

  void aNewFolderIsPrivate() {
    QVERIFY(!copyOf(cache(), program("prog", "abc")).empty());
    struct stat status{};
    QCOMPARE(stat(path("cache").c_str(), &status), 0);
    QCOMPARE(status.st_mode & 0777, 0700U);
  }
};

QTEST_GUILESS_MAIN(InstrumentedCacheTest)
#include "tst_instrumented_cache.moc"
