// Children forked in signal handlers that interrupted recorded code, at any of its instructions, go on with
// it as if nothing was recorded; and what is recorded of them is true.
#include <x86intrin.h>

#include <QtTest>
#include <algorithm>

#include "tests/truth/product_run.h"
#include "tests/truth/traced_path.h"
#include "tests/truth/verify_outcome.h"

using namespace traceback::truth;

class TestForking : public QObject {
  Q_OBJECT

 private slots:
  void childrenGoOn_data();
  void childrenGoOn();
  void whatTheyDidIsKnown_data();
  void whatTheyDidIsKnown();
};

namespace {

// With rings so small that signals come while they wrap.
Attempt<std::unique_ptr<ProductRun>> run(const QString& build, const QStringList& arguments, Ended& ended) {
  auto product = ProductRun::prepare(TRUTH_PROGRAM_DIR "/forking-" + build);
  if (!product) return product;
  QProcessEnvironment environment = (*product)->environment();
  environment.insert("TRACEBACK_BUFFER_SIZE", "65536");
  const auto outcome = runInPlace((*product)->program(), arguments, environment, 240000);
  if (!outcome) return std::unexpected(outcome.error());
  ended = *outcome;
  return product;
}

struct Tail {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces;  // from the gap on
  bool endsLike(const Tail& longer) const {
    return std::equal(pieces.rbegin(), pieces.rend(), longer.pieces.rbegin());
  }
};

}  // namespace

void TestForking::childrenGoOn_data() {
  QTest::addColumn<QString>("build");
  QTest::addColumn<QString>("arguments");
  const unsigned factor = qEnvironmentVariableIsSet("TRACEBACK_SOAK") ? 50 : 1;
  const auto timer = [factor](const char* how) { return QString("%1 %2").arg(how).arg(60 * factor); };
  for (const char* build : {"O0", "O2"}) {
    for (const QString& arguments :
         {QString("fork step plain 2"), QString("raw step nested 2"), QString("asm step again 1"),
          timer("fork timer plain"), timer("_Fork timer nested"), timer("clone timer again"),
          timer("asm timer nested")})
      QTest::addRow("%s: %s", build, qPrintable(arguments)) << build << arguments;
  }
}

void TestForking::childrenGoOn() {
  QFETCH(QString, build);
  QFETCH(QString, arguments);
  Ended ended;
  const auto product = run(build, arguments.split(' '), ended);
  VERIFY_OUTCOME(product);
  QVERIFY2(ended.exitCode == 0 && ended.signal == 0, ended.output + ended.complaints);
  QVERIFY2(ended.output.endsWith(" children, 0 failures\n"), ended.output);
  QVERIFY2(ended.output.toULong() != 1 && !ended.output.startsWith("0 "), ended.output);
}

void TestForking::whatTheyDidIsKnown_data() {
  QTest::addColumn<QString>("build");
  QTest::addColumn<QString>("way");
  for (const char* build : {"O0", "O2"})
    for (const char* way : {"fork", "asm"}) QTest::addRow("%s, %s", build, way) << build << way;
}

// Behind the gap all of them do the same, but from where they were interrupted on.
void TestForking::whatTheyDidIsKnown() {
  QFETCH(QString, build);
  QFETCH(QString, way);
  Ended ended;
  const auto product = run(build, {way, "step", "plain", "1", "16"}, ended);
  VERIFY_OUTCOME(product);
  QVERIFY2(ended.exitCode == 0 && ended.signal == 0, ended.output + ended.complaints);
  const auto snaps = (*product)->allSnaps();
  VERIFY_OUTCOME(snaps);
  QVERIFY(snaps->size() > 10);

  const std::uint64_t now = __rdtsc();
  std::vector<Tail> tails;
  for (const QString& snap : *snaps) {
    const auto trace = readTrace(snap);
    VERIFY_OUTCOME(trace);
    QCOMPARE(trace->threads.size(), 1UL);
    QVERIFY2(trace->damage.size() == 1 && trace->damage[0].contains("a gap before"),
             qPrintable(trace->damage.join("; ")));
    const auto& all = trace->threads[0].pieces;
    Tail& tail = tails.emplace_back();
    for (auto piece = std::find_if(all.begin() + 1, all.end(), [](const auto& p) { return p.afterGap; });
         piece != all.end(); ++piece)
      tail.pieces.emplace_back(piece->start, piece->end);
    QVERIFY(!tail.pieces.empty());
    // No path bit of the interrupted code's went into what the handler wrote last.
    const auto latest = latestReading(snap);
    VERIFY_OUTCOME(latest);
    QVERIFY(*latest < now);
  }
  std::ranges::sort(tails, {}, [](const Tail& tail) { return tail.pieces.size(); });
  QVERIFY(tails.front().pieces.size() < tails.back().pieces.size());
  for (const Tail& tail : tails) QVERIFY(tail.endsLike(tails.back()));
}

QTEST_GUILESS_MAIN(TestForking)
#include "tst_forking.moc"
