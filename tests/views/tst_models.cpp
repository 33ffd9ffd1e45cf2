// The item models: that they keep Qt's rules, show what the trace says, and make only what is looked at.

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

#include "large_trace.h"
#include "model/query/answer.h"
#include "sample.h"
#include "tests/builders/trace_text.h"
#include "views/common/formatting.h"
#include "views/common/icons.h"
#include "views/search/answers_model.h"
#include "views/search/answers_panel.h"
#include "views/search/search_box.h"
#include "views/search/search_model.h"
#include "views/summary/notes_model.h"
#include "views/threads/threads_model.h"
#include "views/trace/calls_model.h"
#include "views/trace/flat_model.h"
#include "views/trace/tree_model.h"

using namespace traceback;
using views::FlatModel;
using views::SourceCache;
using views::TreeModel;

namespace {

// Fails the test where a model breaks Qt's rules. It does not fetch: it would do so while rows come and go.
class Rules {
 public:
  explicit Rules(QAbstractItemModel& model)
      : m_tester(std::make_unique<QAbstractItemModelTester>(
            &model, QAbstractItemModelTester::FailureReportingMode::QtTest)) {
    m_tester->setUseFetchMore(false);
  }

 private:
  std::unique_ptr<QAbstractItemModelTester> m_tester;
};

// The tree under a node as text, calls by name and lines by number, a batch at a time.
QString shape(TreeModel& model, const QModelIndex& node = {}) {
  while (model.canFetchMore(node)) model.fetchMore(node);
  QStringList parts;
  for (int row = 0; row < model.rowCount(node); ++row) {
    const QModelIndex child = model.index(row, 0, node);
    const QString place = child.siblingAtColumn(views::kPlaceColumn).data().toString();
    const bool isCall = child.data(views::kStyleRole).toInt() == static_cast<int>(views::RowStyle::Call);
    if (model.isMore(child))
      parts.append(QStringLiteral("..."));
    else if (isCall)
      parts.append(QStringLiteral("%1(%2)").arg(child.data().toString(), shape(model, child)));
    else
      parts.append(place.isEmpty() ? child.data().toString() : place.section(u':', 1));
  }
  return parts.join(u' ');
}

QString badges(const QAbstractItemModel& model, const QModelIndex& row) {
  return model.index(row.row(), views::kNoteColumn, row.parent()).data().toString();
}

}  // namespace

class Models : public QObject {
  Q_OBJECT

 private slots:
  void everyModelKeepsTheRules() {
    const auto trace = tests::sampleTrace();
    SourceCache sources;
    sources.setTrace(trace);
    FlatModel flat(sources);
    TreeModel tree(sources);
    views::ThreadsModel threads;
    views::CallsModel calls;
    views::NotesModel notes;
    views::AnswersModel answers(sources);
    views::SearchModel search;
    const Rules rules[] = {Rules(flat),  Rules(tree),    Rules(threads), Rules(calls),
                           Rules(notes), Rules(answers), Rules(search)};
    QCOMPARE(std::size(rules), std::size_t(7));
    search.set({{views::SearchOffer::Kind::Function, "visit"}, {views::SearchOffer::Kind::View, "Threads"}});
    QCOMPARE(search.rowCount(), 2);
    for (std::uint32_t thread = 0; thread < 3; ++thread) {
      flat.setThread(trace, {thread});
      tree.setThread(trace, {thread});
      for (model::EntryIndex at = 0; at < trace->threads[thread]->entryCount(); ++at) {
        QVERIFY(flat.reveal(at).isValid());
        QVERIFY(tree.reveal(at).isValid());
        calls.show(trace, {thread}, at);
      }
    }
    threads.setTrace(trace);
    notes.setTrace(trace);
    answers.set(trace, model::answer(*trace, {}, *model::parseQuestion("calls(visit)"), 100).rows);
    QVERIFY(answers.rowCount() > 0);
    flat.setThread(nullptr, {});
    tree.setThread(nullptr, {});
    threads.setTrace(nullptr);
    notes.setTrace(nullptr);
    calls.show(nullptr, {}, std::nullopt);
    search.set({});
    QCOMPARE(search.rowCount(), 0);
    QCOMPARE(flat.rowCount() + tree.rowCount() + threads.rowCount() + notes.rowCount() + calls.rowCount(), 0);
  }

  void treeNestsLinesInTheirCalls() {
    const auto trace = tests::traceOf(R"(
call main main.c
  10
  call f f.c
    20 x2
    call g f.c
      30
    21
  11
)");
    SourceCache sources;
    TreeModel tree(sources);
    const Rules tester(tree);
    tree.setThread(trace, {0});
    QCOMPARE(shape(tree), QStringLiteral("main(10 f(20 20 g(30) 21) 11)"));
  }

  void aSignalThatWasSentIsNotTakenForAFault() {
    const auto trace = tests::traceOf("call main main.c\n  10\n  signal 11\n");
    trace->summary.reason = model::TraceReason::Fault;
    trace->summary.signal = 11;
    SourceCache sources;
    FlatModel flat(sources);
    const auto row = [&](std::uint32_t code) {
      trace->summary.signalCode = code;
      flat.setThread(nullptr, {});
      flat.setThread(trace, {0});
      const QModelIndex signal = flat.reveal(2);
      return signal.siblingAtColumn(views::kWhatColumn).data().toString();
    };
    QCOMPARE(row(1), QStringLiteral("SIGSEGV arrived: invalid memory reference"));  // SEGV_MAPERR
    QCOMPARE(row(0), QStringLiteral("SIGSEGV arrived"));  // SI_USER
    QCOMPARE(row(static_cast<std::uint32_t>(-6)), QStringLiteral("SIGSEGV arrived"));  // SI_TKILL
  }

  void callsThatBeganBeforeTheTraceAreShownAsSuch() {
    const auto trace = tests::traceOf(R"(
in main main.c
  in f f.c
    20
  11
)");
    SourceCache sources;
    TreeModel tree(sources);
    tree.setThread(trace, {0});
    const QModelIndex row = tree.reveal(tests::lineAt(*trace->threads[0], 20));
    QCOMPARE(row.parent().data().toString(), QStringLiteral("f"));
    QVERIFY(badges(tree, row.parent()).contains(QStringLiteral("began earlier")));
    QCOMPARE(shape(tree), QStringLiteral("main(f(20) 11)"));
  }

  void whatIsSpecialIsSaidInWords_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("entry");
    QTest::addColumn<QString>("badge");
    const auto row = [](const char* name, const char* text, int entry, const char* badge) {
      QTest::newRow(name) << QString::fromLatin1(text) << entry << QString::fromLatin1(badge);
    };
    row("fault", "call main main.c\n  10 fault\n", 1, "fault");
    row("signal", "call main main.c\n  10\n  signal 10\n", 2, "signal");
    row("exception", "call main main.c\n  10\n  exception\n", 2, "exception");
    row("gap", "call main main.c\n  10\n  gap damaged\n", 2, "gap");
    row("untraced call", "call main main.c\n  10 untraced\n", 1, "untraced call");
    row("inlined", "call main main.c\n  10\n  call f f.c inlined\n    20\n", 2, "inlined");
    row("tail call", "call main main.c\n  10\n  call f f.c tail\n    20\n", 2, "tail call");
    row("cut short", "call main main.c\n  10 partial\n", 1, "cut short");
    row("landing pad", "call main main.c\n  10 catch\n", 1, "landing pad");
    row("handler", "call main main.c\n  10\n  call f f.c handler\n    20\n", 2, "in handler");
  }

  void whatIsSpecialIsSaidInWords() {
    QFETCH(QString, text);
    QFETCH(int, entry);
    QFETCH(QString, badge);
    const auto trace = tests::traceOf(text.toStdString());
    SourceCache sources;
    TreeModel tree(sources);
    FlatModel flat(sources);
    tree.setThread(trace, {0});
    flat.setThread(trace, {0});
    for (const QModelIndex& row : {tree.reveal(static_cast<model::EntryIndex>(entry)),
                                   flat.reveal(static_cast<model::EntryIndex>(entry))}) {
      const QString notes = badges(*row.model(), row);
      QVERIFY2(notes.contains(badge), qPrintable(notes));
      QVERIFY(row.data(Qt::AccessibleTextRole).toString().contains(badge));
    }
  }

  void aCallThatLeftNoRecordsTellsInItsRowOfWhatAndWhy() {
    const auto trace = tests::traceOf("call main main.c\n  10 untraced\n  11\n");
    model::Function puts;
    puts.name = "puts";
    puts.untraced = "it is in another file, which left no records of it";
    trace->functions.push_back(puts);
    std::vector<model::Entry> entries = trace->threads[0]->entries(0, 3);
    entries[1].detail = 2 + static_cast<std::uint32_t>(trace->functions.size() - 1);
    trace->threads[0] = tests::threadOf(entries, 4, trace->threads[0]->info());
    SourceCache sources;
    TreeModel tree(sources);
    FlatModel flat(sources);
    tree.setThread(trace, {0});
    flat.setThread(trace, {0});
    const QString wanted = QStringLiteral("untraced: puts (in another file)");
    for (const QModelIndex& row : {tree.reveal(1), flat.reveal(1)}) {
      QVERIFY2(badges(*row.model(), row).contains(wanted), qPrintable(badges(*row.model(), row)));
      QVERIFY(row.data(Qt::AccessibleTextRole).toString().contains(wanted));
    }
  }

  void gapSaysWhy() {
    const auto trace = tests::traceOf("call main main.c\n  10\n  gap overwritten\n  11\n");
    SourceCache sources;
    FlatModel flat(sources);
    flat.setThread(trace, {0});
    QVERIFY(flat.reveal(2).data().toString().contains(QStringLiteral("overwritten")));
  }

  void threadAtFaultIsFirstAndMarkedWithItsSignal() {
    auto trace = tests::sampleTrace();
    model::ThreadTrace::Info info = trace->threads[0]->info();
    info.atFault = true;
    std::vector<model::Entry> entries = trace->threads[0]->entries(0, 1000);
    trace->threads[0] = tests::threadOf(std::move(entries), 16, info);
    views::ThreadsModel threads;
    threads.setTrace(trace);
    QCOMPARE(threads.index(0, views::ThreadsModel::kName).data().toString(), QStringLiteral("1 main"));
    QCOMPARE(threads.index(0, views::ThreadsModel::kState).data().toString(), QStringLiteral("SIGSEGV"));
    QCOMPARE(threads.index(1, views::ThreadsModel::kState).data().toString(), QString());
    QCOMPARE(threads.index(1, views::ThreadsModel::kWhere).data().toString(), QStringLiteral("writer_loop"));
  }

  void callsStandWhereTheyCalled() {
    const auto trace = tests::sampleTrace();
    views::CallsModel calls;
    const Rules tester(calls);
    calls.show(trace, {0}, tests::lineAt(*trace->threads[0], 66));
    QCOMPARE(calls.rowCount(), 3);
    QCOMPARE(calls.index(0, 1).data().toString(), QStringLiteral("parser.c:66"));
    QCOMPARE(calls.index(1, 1).data().toString(), QStringLiteral("parser.c:63"));
    QCOMPARE(calls.index(2, 1).data().toString(), QStringLiteral("main.c:33"));
  }

  void anInlinedCallStandsWhereItWasMadeThoughThatLineHasNoCode() {
    const auto trace = tests::traceOf(
        "call main main.c\n  10\n  call small small.c from 12 inlined\n    5\n    call less less.c\n      "
        "7\n");
    views::CallsModel calls;
    const Rules tester(calls);
    calls.show(trace, {0}, tests::lineAt(*trace->threads[0], 7));
    QCOMPARE(calls.index(1, 1).data().toString(), QStringLiteral("small.c:5"));
    QCOMPARE(calls.index(2, 1).data().toString(), QStringLiteral("main.c:12"));
    QCOMPARE(calls.position(2), tests::lineAt(*trace->threads[0], 10));
  }

  void longCallBringsItsLinesABatchAtATime() {
    const int lines = static_cast<int>(TreeModel::kBatch) * 6;
    const auto trace = tests::traceOf("call main main.c\n  10 x" + std::to_string(lines) + "\n", 64);
    SourceCache sources;
    TreeModel tree(sources);
    const Rules tester(tree);
    tree.setThread(trace, {0});
    const QModelIndex middle = tree.reveal(static_cast<model::EntryIndex>(lines / 2));
    QVERIFY(middle.isValid());
    const QPersistentModelIndex main = middle.parent();
    QVERIFY(tree.rowCount(main) < lines / 2 + 2);
    // From both ends, until all is there, once and in order.
    for (int tries = 0; tries < 20 && tree.isMore(tree.index(0, 0, main)); ++tries)
      QVERIFY(!tree.isMore(tree.showMore(tree.index(0, 0, main))));
    for (int tries = 0; tries < 20 && tree.isMore(tree.index(tree.rowCount(main) - 1, 0, main)); ++tries)
      QVERIFY(!tree.isMore(tree.showMore(tree.index(tree.rowCount(main) - 1, 0, main))));
    QCOMPARE(tree.rowCount(main), lines);
    for (int row = 0; row < lines; ++row)
      QCOMPARE(tree.index(row, 0, main).data(views::kEntryRole).toULongLong(),
               static_cast<qulonglong>(row + 1));
  }

  void manyCallsInARowBringTheirBatchesToo() {
    std::string text;
    const int callCount = static_cast<int>(TreeModel::kBatch) * 5;
    for (int i = 0; i < callCount; ++i) text += "call f f.c\n  20\n";
    const auto trace = tests::traceOf(text, 64);
    SourceCache sources;
    TreeModel tree(sources);
    const Rules tester(tree);
    tree.setThread(trace, {0});
    QVERIFY(tree.reveal(trace->threads[0]->entryCount() - 2).isValid());
    for (int tries = 0; tries < 50 && tree.isMore(tree.index(0, 0)); ++tries) tree.showMore(tree.index(0, 0));
    QCOMPARE(tree.rowCount(), callCount);
  }

  void deepStackIsShownFromWithinAndBringsItsOuterCalls() {
    const int depth = 500;
    const auto trace = tests::deepTrace(depth);
    SourceCache sources;
    TreeModel tree(sources);
    const Rules tester(tree);
    tree.setThread(trace, {0});
    const QModelIndex fault = tree.reveal(tests::lineAt(*trace->threads[0], 21));
    QCOMPARE(fault.siblingAtColumn(views::kPlaceColumn).data().toString(), QStringLiteral("main.c:21"));
    int levels = 0;
    for (QModelIndex up = fault.parent(); up.isValid(); up = up.parent()) ++levels;
    QVERIFY(levels <= static_cast<int>(TreeModel::kDeepest));
    QVERIFY(tree.isMore(tree.index(0, 0)));
    for (int tries = 0; tries < 100 && tree.isMore(tree.index(0, 0)); ++tries)
      tree.showMore(tree.index(0, 0));
    QCOMPARE(tree.index(0, 0).data().toString(), QStringLiteral("main"));
    // And outwards by itself.
    tree.setThread(trace, {0});
    tree.reveal(tests::lineAt(*trace->threads[0], 21));
    const QModelIndex outer = tree.reveal(tests::lineAt(*trace->threads[0], 10));
    QCOMPARE(outer.parent().data().toString(), QStringLiteral("main"));
    QVERIFY(!outer.parent().parent().isValid());
  }

  void millionsOfEntriesAreOpenedWithoutExpandingThem() {
    const auto large = tests::largeTrace(500'000);
    QVERIFY(large.source->entryCount() > 3'000'000);
    const auto chunks = static_cast<int>(large.source->chunkCount());
    SourceCache sources;
    TreeModel tree(sources);
    FlatModel flat(sources);
    const Rules treeTester(tree);
    const Rules flatTester(flat);
    tree.setThread(large.trace, {0});
    flat.setThread(large.trace, {0});
    const model::EntryIndex fault = *large.trace->threads[0]->info().fault;
    for (const model::EntryIndex at : {fault, fault / 2, model::EntryIndex{1}, fault}) {
      QVERIFY(tree.covers(tree.reveal(at), at));
      const QModelIndex row = flat.reveal(at);
      QCOMPARE(row.data(views::kEntryRole).toULongLong(), static_cast<qulonglong>(at));
    }
    QVERIFY(flat.rowCount() <= static_cast<int>(FlatModel::kWindow) + 2);
    QVERIFY2(large.source->expanded() < chunks / 4,
             qPrintable(QStringLiteral("%1 of %2").arg(large.source->expanded()).arg(chunks)));
  }

  void windowOfTheFlatModelMovesAtItsEnds() {
    const auto large = tests::largeTrace(500'000);
    SourceCache sources;
    FlatModel flat(sources);
    const Rules tester(flat);
    flat.setThread(large.trace, {0});
    QVERIFY(!flat.index(0, 0).data(views::kEntryRole).isValid());
    const auto beside = flat.showMore(flat.index(0, 0));
    QVERIFY(beside.has_value());
    QCOMPARE(flat.reveal(*beside).data(views::kEntryRole).toULongLong(), static_cast<qulonglong>(*beside));
    QVERIFY(flat.reveal(*beside).row() > 1);
    QVERIFY(!flat.showMore(flat.reveal(*beside)).has_value());
  }

  void searchBoxKnowsFunctionsAndLines_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("what");
    QTest::newRow("function") << QStringLiteral("parse") << QStringLiteral("parse");
    QTest::newRow("part of one") << QStringLiteral("blank") << QStringLiteral("skip_blanks");
    QTest::newRow("file and line") << QStringLiteral("parser.c:47") << QStringLiteral("parser.c:47");
    QTest::newRow("path and line") << QStringLiteral("/src/main.c:9") << QStringLiteral("main.c:9");
    QTest::newRow("end of another name") << QStringLiteral("arser.c:47") << QString();
    QTest::newRow("nothing") << QStringLiteral("no such thing") << QString();
    QTest::newRow("line 0") << QStringLiteral("parser.c:0") << QString();
  }

  void searchBoxKnowsFunctionsAndLines() {
    QFETCH(QString, text);
    QFETCH(QString, what);
    const auto trace = tests::sampleTrace();
    const auto target = views::SearchBox::parse(*trace, text);
    QCOMPARE(target ? target->what : QString(), what);
  }

  void escapeGivesUpTheQuestionAndSaysSo() {
    views::Navigator navigator;
    SourceCache sources;
    views::SearchBox box(navigator);
    views::AnswersPanel panel(navigator, sources);
    connect(&box, &views::SearchBox::asked, &panel, &views::AnswersPanel::ask);
    connect(&box, &views::SearchBox::cancelled, &panel, &views::AnswersPanel::cancel);
    QSignalSpy said(&panel, &views::AnswersPanel::message), listed(&panel, &views::AnswersPanel::listed);
    navigator.setTrace(tests::sampleTrace());
    box.setText(QStringLiteral("calls(parse)"));
    QTest::keyClick(&box, Qt::Key_Return);
    QVERIFY(panel.asking());
    QTest::keyClick(&box, Qt::Key_Escape);
    QVERIFY(!panel.asking());
    QCOMPARE(said.last().first().toString(), QStringLiteral("The question was given up."));
    QCOMPARE(listed.count(), 0);
    // Without one there is nothing to say.
    const qsizetype before = said.count();
    QTest::keyClick(&box, Qt::Key_Escape);
    QCOMPARE(said.count(), before);
  }

  void iconsAreAsSharpAsTheScreen() {
    for (const double scale : {1.0, 1.5, 2.0}) {
      const QPixmap pixmap = views::icon(QStringLiteral("fault")).pixmap(QSize(16, 16), scale);
      QCOMPARE(pixmap.size(), (QSizeF(16, 16) * scale).toSize());
      QCOMPARE(pixmap.deviceIndependentSize(), QSizeF(16, 16));
    }
  }

  void shortNamesLeaveOutParametersAndTypes_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* name, const char* expected) {
      QTest::newRow(name) << QString::fromLatin1(name) << QString::fromLatin1(expected);
    };
    row("main", "main");
    row("visit(Node const*)", "visit");
    row("a::b::c(int, std::vector<int> const&)", "a::b::c");
    row("void swap<int>(int&, int&)", "swap<int>");
    row("std::function<void (int)>::operator()(int) const", "std::function<void (int)>::operator()");
    row("(anonymous namespace)::helper(int)", "(anonymous namespace)::helper");
    row("A::operator<(A const&) const", "A::operator<");
    row("cooperator(int)", "cooperator");
    row("0x46840", "0x46840");
  }

  void shortNamesLeaveOutParametersAndTypes() {
    QFETCH(QString, name);
    QFETCH(QString, expected);
    QCOMPARE(views::shortFunctionName(name), expected);
  }
};

QTEST_MAIN(Models)
#include "tst_models.moc"
