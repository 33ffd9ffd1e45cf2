// What is lost: wrapped rings, missing maps, paths that nothing explains. And chunks: they lose nothing.
#include <QTest>

#include "tests/loader/reconstruction.h"

using namespace traceback;
using tests::compare;
using tests::kLoop;
using tests::reconstruct;

class DamageTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void windowThatBeginsInTheMiddleOfAStack() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      f.a y
      main.d
      main.h c
      f.a y
      thread-end
    )"});
    // f's caller shows up when f returns: so f is at depth 1.
    compare(got.text, R"(
      call f
      f 2000-2007
      f 2010-2013
      return f
    main 1014-1017
    main 1008-100b
    main 100c-100f
      call f
      f 2000-2007
      f 2010-2013
      return f
    sync 2
    return main interrupted
    )");
  }

  void wrappedRingBeginsWithAGap() {
    std::string ring;
    for (int i = 0; i < 50; ++i) ring += "main.h c\nf.a y\nmain.d\n";
    RingTextOptions options;
    options.subBufferWords = 16;
    const auto got = reconstruct({.map = kLoop, .ring = ring + "main.h r\nthread-end\n", .options = options});
    QVERIFY(got.text.starts_with("gap overwritten\n") || got.text.starts_with("  gap overwritten\n"));
    QVERIFY(got.text.find("damaged") == std::string::npos);
    // Three sub-buffers of 15 words, and what is in the fourth.
    QVERIFY(got.thread().info().recordCount >= 45);
    QVERIFY(got.text.ends_with("main 1010-1013\nreturn main\nsync 2\n"));
  }

  void chunksGiveWhatTheWholeGives() {
    const tests::MapText map(kLoop);
    std::string script = "start\nmain.a\n";
    for (int i = 0; i < 30; ++i) {
      script += i % 3 == 0 ? "main.h c\nf.a x\nsignal 14 at f.x+2\nf.a y\nreturn\n+ y\nmain.d\n"
                           : "main.h c\nmain.d\n";
    }
    const tests::RingText ring(script, map);
    const auto whole = build(map, ring, 1000000);
    QCOMPARE(whole.size(), std::size_t{1});
    for (const std::size_t size : {1, 2, 3, 7, 64}) {
      std::vector<model::Entry> joined;
      for (const auto& chunk : build(map, ring, size))
        joined.insert(joined.end(), chunk.begin(), chunk.end());
      QCOMPARE(joined.size(), whole[0].size());
      for (std::size_t i = 0; i < joined.size(); ++i) {
        QCOMPARE(joined[i].address.value, whole[0][i].address.value);
        QCOMPARE(joined[i].depth, whole[0][i].depth);
        QCOMPARE(joined[i].flags, whole[0][i].flags);
        QCOMPARE(static_cast<int>(joined[i].kind), static_cast<int>(whole[0][i].kind));
      }
    }
  }

  void unexplainedPathIsAGap() {
    // Bit 2 belongs to no block that follows from the head without bit 0.
    constexpr std::string_view map = R"(
      function f 1000
      dag
      a 4 branch c b
      b 4 fall d bit=0
      c 4 return bit=1
      d 4 return bit=2
    )";
    const auto got = reconstruct({.map = map, .ring = R"(
      f.a b d
      f.a c d
      f.a c
      thread-end
    )"});
    compare(got.text, R"(
    call f
    f 1000-1003
    f 1004-1007
    f 100c-100f
    return f
    gap damaged
    call f
    f 1000-1003
    f 1008-100b
    return f
    sync 2
    )");
    QVERIFY(got.notes().find("whose path no block explains x1") != std::string::npos);
  }

  void aRecordThatCannotFollowIsAGap() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      main.a
      main.d
      main.h r
      thread-end
    )"});
    compare(got.text, R"(
    call main
    main 1000-1007
    gap damaged
    main 1014-1017
    main 1008-100b
    main 1010-1013
    return main
    sync 2
    )");
    QVERIFY(got.notes().find("cannot follow") != std::string::npos);
  }

  void damagedWordsAreAGap() {
    const auto got = reconstruct({.map = kLoop, .ring = R"(
      main.a
      word 20000001
      word 00000005
      main.h r
      thread-end
    )"});
    compare(got.text, R"(
    call main
    main 1000-1007
    gap damaged
    main 1008-100b
    main 1010-1013
    return main
    sync 2
    )");
  }

  void missingMapCostsOnlyItsRecords() {
    const auto got =
        reconstruct({.map = kLoop, .ring = "start\nmain.a\nmain.h r\nthread-end\n", .withMap = false});
    compare(got.text, R"(
    sync 1
    gap missing-map
    sync 2
    )");
    QVERIFY(got.notes().find("map of prog: not in the snap; its records are shown as gaps x2") !=
            std::string::npos);
    QVERIFY(!got.trace().modules[0].hasMap);
  }

  void overwrittenHandlersAreCounted() {
    // The handlers' ring is short: of ten signals only the last are left, but the main ring has all.
    std::string ring = "start\nmain.a\n";
    for (int i = 0; i < 10; ++i) ring += "main.h c\nsignal 14 at 0x7f0000000010\nf.a y\nreturn\nmain.d\n";
    RingTextOptions options;
    options.subBufferWords = 64;
    const auto got = reconstruct({.map = kLoop, .ring = ring + "main.h r\nthread-end\n", .options = options});
    QVERIFY(got.text.find("damaged") == std::string::npos);
    QVERIFY(got.text.ends_with("return main\nsync 2\n"));
  }

  void unknownCodesAreDamage() {
    RingTextOptions options;
    const auto got = reconstruct(
        {.map = kLoop, .ring = "main.a\nword 80f00000\nbad-dag\nmain.h r\nthread-end\n", .options = options});
    QVERIFY(got.text.find("gap damaged") != std::string::npos);
    QVERIFY(got.text.find("gap missing-map") != std::string::npos);
    QVERIFY(got.notes().find("no known module x1") != std::string::npos);
  }

  // As a process leaves it that is killed there.
  void aRecordThatWasBeingWrittenIsNoDamage_data() {
    QTest::addColumn<QString>("words");
    QTest::newRow("its header") << "word 43030000\n";
    QTest::newRow("the first of three words") << "word 43030000\nword 20000001\n";
    QTest::newRow("the first and the third") << "word 43030000\nword 20000001\nword 0\nword 20000003\n";
    QTest::newRow("the third") << "word 43030000\nword 0\nword 0\nword 20000003\n";
    QTest::newRow("the second") << "word 43030000\nword 0\nword 20000002\n";
  }
  void aRecordThatWasBeingWrittenIsNoDamage() {
    QFETCH(QString, words);
    RingTextOptions options;
    options.version = 1;  // later ones claim a record when it is whole
    const std::string front = "main.a\nmain.h c\nf.a y\nmain.d\n";
    const auto whole = reconstruct({.map = kLoop, .ring = front, .options = options});
    const auto got = reconstruct({.map = kLoop, .ring = front + words.toStdString(), .options = options});
    QCOMPARE(got.notes(), whole.notes());
    QCOMPARE(got.text, whole.text);
    // With one behind it, it is one that nobody finished.
    const auto torn =
        reconstruct({.map = kLoop, .ring = front + words.toStdString() + "main.h c\n", .options = options});
    QVERIFY2(torn.notes().find("words that belong to no record") != std::string::npos, torn.notes().c_str());
  }

  void aModuleThatTheRuntimeDidNotTakeIsSaidToHaveRunUntraced() {
    using enum format::BindState;
    for (const auto& [state, why] :
         {std::pair(CodesTaken, "no codes left"), std::pair(NoThreadSlot, "thread-local"),
          std::pair(VersionMismatch, "another version"), std::pair(TableFull, "more modules"),
          std::pair(format::BindState(77), "did not take it")}) {
      const auto got = reconstruct({.map = kLoop, .ring = "thread-end\n", .bindState = state});
      QVERIFY2(got.notes().find("prog: ran untraced: ") != std::string::npos, got.notes().c_str());
      QVERIFY2(got.notes().find(why) != std::string::npos, got.notes().c_str());
    }
    QVERIFY(reconstruct({.map = kLoop, .ring = "thread-end\n"}).notes().find("untraced") ==
            std::string::npos);
  }

 private:
  using RingTextOptions = tests::RingText::Options;

  static std::vector<std::vector<model::Entry>> build(const tests::MapText& map, const tests::RingText& ring,
                                                      std::size_t size) {
    tests::RingText::Options options;
    loader::LoadedModule module;
    module.bias = {options.bias};
    module.start = {options.bias};
    module.end = {options.bias + 0x1000000};
    module.codeBase = options.codeBase;
    module.codeSpan = map.codeSpan();
    module.map = loader::mapFromBytes(map.bytes(), "map").value();
    std::vector<loader::LoadedModule> modules{module};
    auto context =
        std::make_shared<loader::TraceContext>(std::make_shared<const loader::ModuleTable>(modules),
                                               std::vector<std::shared_ptr<const loader::LineSource>>{});
    const auto view =
        loader::RingView::parse(std::make_shared<const loader::MemoryBytes>(ring.bytes()), "ring").value();
    model::LoadReport report;
    loader::WalkNotes notes;
    const auto source = loader::ThreadSource::build(
        context, view.segments(), loader::buildTimeline(view, {}, "thread", report), notes, {}, size);
    std::vector<std::vector<model::Entry>> chunks;
    for (std::size_t i = source->chunkCount(); i-- > 0;)
      chunks.insert(chunks.begin(), source->expand(i).entries);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (chunks[i].size() != source->chunks()[i].entryCount) qFatal("a chunk contradicts its summary");
    }
    return chunks;
  }
};

QTEST_APPLESS_MAIN(DamageTest)
#include "tst_reconstruct_damage.moc"
