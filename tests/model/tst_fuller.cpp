// The same place in a trace that shows more.
#include <QTest>

#include "model/fuller.h"
#include "tests/builders/trace_text.h"

using namespace traceback;

namespace {

model::EntryIndex inFuller(const model::Trace& part, model::EntryIndex at, const model::Trace& whole) {
  return model::sameEntry(*part.threads[0], at, *whole.threads[0]);
}

}  // namespace

class FullerTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void placesAreCountedFromTheEnd() {
    const auto whole = tests::traceOf("call main main.c\n  1\n  2 x5\n  3\n  2 x5\n  4\n");
    const auto part = tests::traceOf("gap not-read\nin main main.c\n  2 x3\n  4\n");
    const auto& from = *part->threads[0];
    const auto& to = *whole->threads[0];
    QCOMPARE(inFuller(*part, from.entryCount() - 1, *whole), to.entryCount() - 1);
    QCOMPARE(inFuller(*part, tests::lineAt(from, 2, 1), *whole), tests::lineAt(to, 2, 8));
    QCOMPARE(inFuller(*part, tests::lineAt(from, 2, 3), *whole), tests::lineAt(to, 2, 10));
  }

  void whereTheyDisagreeTheNearestThatReadsAlikeIsTaken() {
    const auto whole = tests::traceOf("call main main.c\n  1\n  call f f.c\n    7\n    8\n  2\n  3\n");
    // The part does not know that there was a call, so it has one entry less behind line 8.
    const auto part = tests::traceOf("call main main.c\n  call f f.c\n    8\n  3\n");
    const auto at = tests::lineAt(*part->threads[0], 8);
    QCOMPARE(inFuller(*part, at, *whole), tests::lineAt(*whole->threads[0], 8));
  }

  void whatIsNowhereGivesAPlaceAllTheSame() {
    const auto whole = tests::traceOf("call main main.c\n  1\n");
    const auto part = tests::traceOf("call main main.c\n  9\n  9\n  9\n  9\n");
    QVERIFY(inFuller(*part, 1, *whole) < whole->threads[0]->entryCount());
    const auto empty = tests::traceOf("thread 1 main\n");
    QCOMPARE(inFuller(*part, 1, *empty), model::EntryIndex{0});
  }
};

QTEST_APPLESS_MAIN(FullerTest)
#include "tst_fuller.moc"
