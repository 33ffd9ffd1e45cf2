// Snaps too large to be read at once: sections in blocks, and previews that show the newest first.
#include <QTest>

#include "tests/loader/reconstruction.h"

using namespace traceback;
using tests::MapText;
using tests::notesOf;
using tests::RingText;

namespace {

// A call of f in each round, some 200,000 words in all, of which the ring keeps `kept`.
struct Large {
  MapText map{tests::kLoop};
  RingText::Options options{.subBufferWords = 1 << 14, .subBufferCount = 8};
  RingText ring{text(), map, options};

  static std::string text() {
    std::string all = "start\n";
    for (int i = 0; i < 66'000; ++i) {
      all += "main.h c\nf.a ";
      all += i % 3 == 0 ? "x\n" : "y\n";
      all += "main.d\n";
    }
    return all;
  }
  tests::ProcessText process(bool inBlocks) const {
    return {.map = &map, .ring = &ring, .options = options, .ringInBlocks = inBlocks};
  }
};

const Large& large() {
  static const Large made;
  return made;
}

model::Result<loader::LoadedSnap> load(std::vector<std::byte> bytes, loader::LoadOptions options = {}) {
  options.useLocalMaps = false;
  options.useDebugInformation = false;
  return loader::loadSnapBytes(std::move(bytes), "large.tbsnap", options);
}

// What two traces must have in common of an entry: all but its depth, which counts from what each one knows.
std::string textOf(const model::Trace& trace, const model::Entry& entry) {
  auto flat = entry;
  flat.depth = 0;
  return tests::entryText(trace, flat);
}

}  // namespace

class LargeSnapsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void blocksSayTheSameAsTheWhole() {
    const auto whole = load(large().process(false).snap().bytes()).value();
    const auto blocks = load(large().process(true).snap().bytes()).value();
    const auto& a = *whole.trace->threads[0];
    const auto& b = *blocks.trace->threads[0];
    QVERIFY(a.entryCount() > 200'000);
    QCOMPARE(a.entryCount(), b.entryCount());
    for (model::EntryIndex at = 0; at < a.entryCount(); at += 997)
      QCOMPARE(tests::entryText(*blocks.trace, b.entry(at)), tests::entryText(*whole.trace, a.entry(at)));
    QCOMPARE(notesOf(*blocks.trace), notesOf(*whole.trace));
  }

  void aDamagedBlockCostsOnlyItselfAndIsSaid() {
    auto snap = large().process(true).snap();
    auto bytes = snap.bytes();
    const auto ring = std::ranges::find(snap.entries(), static_cast<std::uint32_t>(format::SectionType::Ring),
                                        &format::SectionEntry::type);
    bytes[ring->offset + ring->storedSize / 2] ^= std::byte{1};
    const auto whole = load(large().process(true).snap().bytes()).value();
    const auto damaged = load(bytes).value();
    QVERIFY2(notesOf(*damaged.trace).find("thread 7: damaged parts of its ring") != std::string::npos,
             notesOf(*damaged.trace).c_str());
    const auto& thread = *damaged.trace->threads[0];
    const auto& good = *whole.trace->threads[0];
    QVERIFY(thread.entryCount() > good.entryCount() / 4);
    QVERIFY(thread.entryCount() < good.entryCount());
    int gaps = 0;
    for (const auto& entry : thread.entries(0, thread.entryCount())) {
      gaps += entry.kind == model::EntryKind::Gap &&
              entry.detail == static_cast<std::uint32_t>(model::GapCause::Damaged);
    }
    QVERIFY(gaps > 0);
  }

  void aBlockTableThatLiesMakesTheSectionMissing_data() {
    QTest::addColumn<int>("change");
    QTest::newRow("its checksum") << 0;
    QTest::newRow("its size") << 1;
    QTest::newRow("its place") << 2;
  }
  void aBlockTableThatLiesMakesTheSectionMissing() {
    QFETCH(int, change);
    auto snap = large().process(true).snap();
    for (auto& entry : snap.entries()) {
      if (entry.type != static_cast<std::uint32_t>(format::SectionType::Ring)) continue;
      if (change == 0) entry.crc ^= 1;
      if (change == 1) entry.storedSize = 20;
      if (change == 2) entry.offset = ~std::uint64_t{0} - 3;
    }
    const auto loaded = load(snap.bytes()).value();
    QVERIFY2(notesOf(*loaded.trace).find("ring 0: ") != std::string::npos, notesOf(*loaded.trace).c_str());
    QCOMPARE(loaded.trace->threads[0]->entryCount(), model::EntryIndex{0});
  }

  void previewsShowTheNewestFirstAndAgreeWithTheWhole() {
    std::vector<std::shared_ptr<const model::Trace>> previews;
    loader::LoadOptions options;
    options.largeFrom = 1;
    options.preview = [&](std::shared_ptr<const model::Trace> trace) {
      previews.push_back(std::move(trace));
    };
    const auto loaded = load(large().process(true).snap().bytes(), options).value();
    const auto& trace = *loaded.trace;
    const auto& whole = *trace.threads[0];
    QCOMPARE(previews.size(), std::size_t{1});  // the second would show all
    const auto& preview = *previews[0];
    const auto& newest = *preview.threads[0];
    QVERIFY(newest.entryCount() > 10'000);
    QVERIFY(newest.entryCount() < whole.entryCount() / 4);
    QCOMPARE(tests::entryText(preview, newest.entry(0)), std::string("gap not-read"));
    const auto shift = whole.entryCount() - newest.entryCount();
    // Its first few entries may know less: in whose call they are.
    for (model::EntryIndex at = 100; at < newest.entryCount(); ++at)
      QCOMPARE(textOf(preview, newest.entry(at)), textOf(trace, whole.entry(at + shift)));
    QVERIFY(preview.functions.size() <= trace.functions.size());
    for (std::size_t i = 0; i < preview.functions.size(); ++i)
      QCOMPARE(preview.functions[i].name, trace.functions[i].name);
  }

  void aSmallSnapNeedsNoPreview() {
    const MapText map(tests::kLoop);
    const RingText ring("start\nmain.a\n", map);
    int previews = 0;
    loader::LoadOptions options;
    options.preview = [&](const auto&) { ++previews; };
    QVERIFY(load(tests::ProcessText{.map = &map, .ring = &ring}.snap().bytes(), options).has_value());
    QCOMPARE(previews, 0);
  }

  void aPreviewIsWholeWhereThereIsNoMore() {
    const MapText map(tests::kLoop);
    const RingText ring("start\nmain.a\nmain.h c\nf.a y\n", map);
    std::vector<std::string> texts;
    loader::LoadOptions options;
    options.largeFrom = 1;
    options.preview = [&](const auto& trace) {
      texts.push_back(tests::threadText(*trace, *trace->threads[0]));
    };
    const auto loaded = load(tests::ProcessText{.map = &map, .ring = &ring}.snap().bytes(), options).value();
    QCOMPARE(texts.size(), std::size_t{1});
    QCOMPARE(texts[0], tests::threadText(*loaded.trace, *loaded.trace->threads[0]));
  }

  void aThreadThatAPreviewShowsWholeIsReadAsCarefullyAsAnyOther() {
    const MapText map(tests::kLoop);
    const RingText::Options options{.version = 1, .subBufferWords = 8};
    std::string text;
    for (int i = 0; i < 13; ++i) text += "main.h c\nf.a y\nmain.d\n";
    RingText ring(text, map, options);
    // The oldest sub-buffer ended early, and was just being overwritten.
    ring.zero(2 * 8, 3);
    ring.zero(2 * 8 + 6, 1);
    const auto bytes = tests::ProcessText{.map = &map, .ring = &ring, .options = options}.snap().bytes();
    const auto plain = load(bytes).value();
    loader::LoadOptions withPreviews;
    withPreviews.largeFrom = 1;
    withPreviews.preview = [](const auto&) {};
    const auto previewed = load(bytes, withPreviews).value();
    QCOMPARE(tests::threadText(*previewed.trace, *previewed.trace->threads[0]),
             tests::threadText(*plain.trace, *plain.trace->threads[0]));
    QCOMPARE(notesOf(*previewed.trace), notesOf(*plain.trace));
  }
};

QTEST_APPLESS_MAIN(LargeSnapsTest)
#include "tst_large_snaps.moc"
