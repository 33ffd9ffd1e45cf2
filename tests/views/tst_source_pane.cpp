// What the source pane says about lines beyond where one stands, and the ways from a line to its executions.

#include <QApplication>
#include <QHelpEvent>
#include <QListWidget>
#include <QSet>
#include <QStatusBar>
#include <QTest>
#include <QTextBlock>

#include "app/viewer/color_scheme.h"
#include "app/viewer/main_window.h"
#include "model/md5.h"
#include "sample.h"
#include "tests/builders/trace_text.h"
#include "views/common/theme.h"
#include "views/source/code_pane.h"
#include "views/source/code_view.h"
#include "views/source/executions_popup.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback;

namespace {

// Doubts everything.
class DoubtfulSources : public tests::MemorySources {
 public:
  using MemorySources::MemorySources;
  QString doubt(const views::SourceText&, const model::Module& module) override {
    return QStringLiteral("not what %1 has").arg(QString::fromStdString(module.name));
  }
};

// Files that all have one checksum.
class SummedSources : public tests::MemorySources {
 public:
  SummedSources(QHash<QString, QString> files, const model::Md5& sum)
      : MemorySources(std::move(files)), m_sum(sum) {}
  std::optional<views::SourceText> source(const model::SourceFile& file) override {
    auto text = MemorySources::source(file);
    if (text) text->md5 = m_sum;
    return text;
  }

 private:
  model::Md5 m_sum;
};

}  // namespace

class SourcePane : public QObject {
  Q_OBJECT

 private:
  std::shared_ptr<model::Trace> m_trace = tests::sampleTrace();
  const model::ThreadTrace& thread() const { return *m_trace->threads[0]; }

  static QPoint middleOf(const views::CodeView& view, int line) { return view.whereIs(line - 1).center(); }
  // In the margin, beside a line.
  static void clickMargin(views::CodeView& view, int line, Qt::KeyboardModifiers modifiers) {
    auto* margin = view.findChild<QWidget*>(QString(), Qt::FindDirectChildrenOnly);
    for (QWidget* child : view.findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly))
      if (child->accessibleName().contains(QStringLiteral("Line numbers"))) margin = child;
    QTest::mouseClick(margin, Qt::LeftButton, modifiers, QPoint(10, middleOf(view, line).y()));
  }

 private slots:
  void theFrameOfTheCurrentLineIsNotWhereUnderscoresAre() {
    views::CodeView view;
    view.resize(400, 200);
    view.setLines({QStringLiteral("____"), QStringLiteral("____"), QStringLiteral("____")});
    view.show();
    const QRect line = view.whereIs(0);
    const auto pictureWithCurrent = [&](int current) {
      view.setCurrentLine(current);
      return view.viewport()->grab().toImage();
    };
    const QImage elsewhere = pictureWithCurrent(2), here = pictureWithCurrent(0);
    const int beyond = here.width() - 20;
    const QRgb background = here.pixel(beyond, line.center().y());
    int underscores = 0;
    for (int row = line.top(); row <= line.bottom(); ++row) {
      bool written = false;
      for (int x = 4; x < 20; ++x) written |= elsewhere.pixel(x, row) != elsewhere.pixel(beyond, row);
      if (!written) continue;
      ++underscores;
      QVERIFY2(here.pixel(beyond, row) == background, qPrintable(QString::number(row - line.top())));
    }
    QVERIFY(underscores > 0);
  }

  void everyColourCanBeReadOnEveryBackground_data() {
    QTest::addColumn<app::ColorScheme>("colors");
    QTest::newRow("light") << app::ColorScheme::Light;
    QTest::newRow("dark") << app::ColorScheme::Dark;
  }
  void everyColourCanBeReadOnEveryBackground() {
    QFETCH(app::ColorScheme, colors);
    app::useColorScheme(colors);
    const auto window = tests::sampleWindow(m_trace);
    const views::CodeView* source = window->codePane()->sourceView();
    const views::Theme theme(source->palette());
    QTest::qWait(100);  // colours come in slices
    QSet<QRgb> seen;
    for (QTextBlock block = source->document()->begin(); block.isValid(); block = block.next())
      for (const QTextLayout::FormatRange& range : block.layout()->formats()) {
        const QColor color = range.format.foreground().color();
        if (!range.format.hasProperty(QTextFormat::ForegroundBrush)) continue;
        seen.insert(color.rgb());
        for (const QColor& behind : {theme.base, theme.executed, theme.current, theme.fault})
          QVERIFY2(views::contrast(color, behind) >= views::kLeastContrast,
                   qPrintable(QStringLiteral("%1 on %2").arg(color.name(), behind.name())));
      }
    QVERIFY(seen.size() > 3);
  }

  void linesOfOtherRoundsOfTheLoopAreLighter() {
    const auto window = tests::sampleWindow(m_trace);
    // The second round: a book. The first was a list, the third and fourth are ends of one.
    QVERIFY(window->navigator().goTo({0}, tests::lineAt(thread(), 42, 2), views::Navigator::Remember::No));
    const views::CodeView* source = window->codePane()->sourceView();
    for (const int line : {39, 40, 42, 46, 49, 50, 51}) {
      QVERIFY(source->mark(line - 1).hits > 0);
      QVERIFY2(!source->mark(line - 1).otherRound, qPrintable(QString::number(line)));
    }
    for (const int line : {43, 44, 45, 47, 36}) {
      QVERIFY(source->mark(line - 1).hits > 0);
      QVERIFY2(source->mark(line - 1).otherRound, qPrintable(QString::number(line)));
    }
    // In the next round they change places.
    QVERIFY(window->navigator().goTo({0}, tests::lineAt(thread(), 47, 1), views::Navigator::Remember::No));
    QVERIFY(!source->mark(47 - 1).otherRound);
    QVERIFY(source->mark(49 - 1).otherRound);
    // Outside of a loop all are alike.
    QVERIFY(window->navigator().goTo({0}, tests::lineAt(thread(), 12), views::Navigator::Remember::No));
    for (const int line : {11, 12, 13}) QVERIFY(!source->mark(line - 1).otherRound);
  }

  void linesWithCodeThatNeverRanAreGreyed() {
    const auto window = tests::sampleWindow(m_trace);
    const views::CodeView* source = window->codePane()->sourceView();
    QTRY_VERIFY(source->mark(41 - 1).unreached);  // break
    QVERIFY(!source->mark(42 - 1).unreached);     // ran, in another call than the one shown
    QVERIFY(!source->mark(8 - 1).unreached);      // blank: has no code
    QVERIFY(source->markText(41 - 1).contains(QStringLiteral("what the trace holds")));
  }

  void withoutDebugInformationNothingIsGreyed() {
    app::Services services = tests::sampleServices(m_trace);
    services.codeLines = {};
    app::MainWindow window(services, app::Options(), false);
    window.show();
    window.setTrace(m_trace);
    QTest::qWait(100);
    for (int line = 0; line < 70; ++line) QVERIFY(!window.codePane()->sourceView()->mark(line).unreached);
  }

  void clicksGoToTheExecutionBeforeAndAfter() {
    const auto window = tests::sampleWindow(m_trace);
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    views::CodeView* source = window->codePane()->sourceView();
    views::Navigator& navigator = window->navigator();
    const auto at = [&navigator] { return navigator.entryIndex(); };
    const auto line = [this](std::uint32_t number, int nth) {
      return std::optional(tests::lineAt(thread(), number, nth));
    };
    QVERIFY(navigator.goTo({0}, *line(46, 2), views::Navigator::Remember::No));
    clickMargin(*source, 42, Qt::NoModifier);
    QTRY_COMPARE(at(), line(42, 3));
    clickMargin(*source, 42, Qt::NoModifier);
    QTRY_COMPARE(at(), line(42, 2));
    clickMargin(*source, 42, Qt::ShiftModifier);
    QTRY_COMPARE(at(), line(42, 3));
    QTest::mouseClick(source->viewport(), Qt::LeftButton, Qt::ControlModifier, middleOf(*source, 46));
    QTRY_COMPARE(at(), line(46, 1));
    QTest::mouseClick(source->viewport(), Qt::LeftButton, Qt::ControlModifier | Qt::ShiftModifier,
                      middleOf(*source, 46));
    QTRY_COMPARE(at(), line(46, 2));
    // Not only in this call: the line is of another function.
    clickMargin(*source, 38, Qt::NoModifier);
    QTRY_COMPARE(at(), line(38, 1));
    clickMargin(*source, 41, Qt::NoModifier);
    QTRY_VERIFY(window->statusBar()->currentMessage().contains(QStringLiteral("Not before this")));
    QCOMPARE(at(), line(38, 1));
  }

  void hoveringListsExecutionsWhoseRowsJump() {
    const auto window = tests::sampleWindow(m_trace);
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    views::CodeView* source = window->codePane()->sourceView();
    views::Navigator& navigator = window->navigator();
    QVERIFY(navigator.goTo({0}, tests::lineAt(thread(), 46, 2), views::Navigator::Remember::No));
    views::ExecutionsPopup* popup = window->codePane()->executions();
    QVERIFY(!popup->isVisible());
    QTRY_VERIFY(source->mark(41 - 1).unreached);  // all has been counted
    const QPoint where = middleOf(*source, 42);
    QCursor::setPos(source->viewport()->mapToGlobal(where));
    QHelpEvent event(QEvent::ToolTip, where, source->viewport()->mapToGlobal(where));
    QApplication::sendEvent(source->viewport(), &event);
    QVERIFY(popup->isVisible());
    QTRY_COMPARE(popup->list()->count(), 4);
    QVERIFY2(popup->heading().contains(QStringLiteral("In all the trace: 4 times.")),
             qPrintable(popup->heading()));
    for (int row = 0; row < 4; ++row)
      QVERIFY(popup->list()->item(row)->text().contains(QStringLiteral("parse \u2190 load \u2190 main")));
    QTest::mouseClick(popup->list()->viewport(), Qt::LeftButton, {},
                      popup->list()->visualItemRect(popup->list()->item(0)).center());
    QCOMPARE(navigator.entryIndex(), std::optional(tests::lineAt(thread(), 42, 1)));
    QVERIFY(!popup->isVisible());
    QVERIFY(window->navigator().canGoBack());
  }

  void theListCanBeUsedFromTheKeyboard() {
    const auto window = tests::sampleWindow(m_trace);
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    views::Navigator& navigator = window->navigator();
    QVERIFY(navigator.goTo({0}, tests::lineAt(thread(), 42, 2), views::Navigator::Remember::No));
    QTest::keyClick(window.get(), Qt::Key_W);
    views::ExecutionsPopup* popup = window->codePane()->executions();
    QTRY_COMPARE(popup->list()->count(), 4);
    QVERIFY(popup->list()->hasFocus());
    QCOMPARE(popup->list()->currentRow(), 1);
    QTest::keyClick(popup->list(), Qt::Key_Down);
    QTest::keyClick(popup->list(), Qt::Key_Down);
    QTest::keyClick(popup->list(), Qt::Key_Return);
    QCOMPARE(navigator.entryIndex(), std::optional(tests::lineAt(thread(), 42, 4)));
    QTest::keyClick(window.get(), Qt::Key_W);
    QTRY_COMPARE(popup->list()->count(), 4);
    QTest::keyClick(popup->list(), Qt::Key_Escape);
    QVERIFY(!popup->isVisible());
  }

  void ofManyExecutionsTheNearestAreListed() {
    const auto trace = tests::traceOf("call main main.c\n 26\n 27 x30\n 28\n 27 x30\n", 8);
    const auto window = tests::sampleWindow(trace);
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    QVERIFY(
        window->navigator().goTo({0}, tests::lineAt(*trace->threads[0], 28), views::Navigator::Remember::No));
    views::CodeView* source = window->codePane()->sourceView();
    source->setTextCursor(QTextCursor(source->document()->findBlockByNumber(27 - 1)));
    QTest::keyClick(window.get(), Qt::Key_W);
    const views::ExecutionsPopup* popup = window->codePane()->executions();
    QTRY_COMPARE(popup->list()->count(), 2 * views::ExecutionsPopup::kEachWay + 2);
    QVERIFY(popup->list()->item(0)->text().contains(QStringLiteral("earlier")));
    QVERIFY(popup->list()->item(13)->text().contains(QStringLiteral("later")));
    QVERIFY(popup->list()->currentItem()->text().contains(QStringLiteral("1 entry before")));
  }

  // What was called and had returned by then is not where the thread stood.
  void ofASignalTheCodeIsThatOfTheFunctionThatItInterrupted() {
    const auto trace =
        tests::traceOf("call main main.c\n  26\n  27\n  call visit parser.c\n    60\n    67\n  signal 11\n");
    const auto window = tests::sampleWindow(trace);
    const model::EntryIndex last = trace->threads[0]->entryCount() - 1;
    QCOMPARE(trace->threads[0]->entry(last).kind, model::EntryKind::Signal);
    QVERIFY(window->navigator().goTo({0}, last, views::Navigator::Remember::No));
    QCOMPARE(window->codePane()->sourceView()->currentLine(), 27 - 1);
    QVERIFY(window->codePane()->sourceView()->document()->findBlockByNumber(26).text().contains(
        QStringLiteral("argc")));
  }

  void aDoubtfulSourceIsToldOf() {
    app::Services services = tests::sampleServices(m_trace);
    services.sources = [](const QList<app::SourceMapping>&) {
      return std::make_shared<DoubtfulSources>(tests::sampleSources());
    };
    app::MainWindow window(services, app::Options(), false);
    window.show();
    window.setTrace(m_trace);
    QVERIFY(window.codePane()->check().contains(QStringLiteral("not what prog has")));
    const auto good = tests::sampleWindow(m_trace);
    QVERIFY(good->codePane()->check().isEmpty());
  }

  void aSourceIsCalledTheCompiledOneOnlyIfItsChecksumIsRight() {
    const auto trace = tests::sampleTrace();
    const auto sumOf = [](const char* text) { return model::md5(std::as_bytes(std::span(text, 1))); };
    const auto said = [&](const std::vector<model::SourceFile::Checksum>& checksums) {
      for (model::SourceFile& file : trace->files) file.checksums = checksums;
      app::Services services = tests::sampleServices(trace);
      services.sources = [&](const QList<app::SourceMapping>&) {
        return std::make_shared<SummedSources>(tests::sampleSources(), sumOf("a"));
      };
      app::MainWindow window(services, app::Options(), false);
      window.show();
      window.setTrace(trace);
      return window.codePane()->check();
    };
    const model::ModuleId prog{0}, other{1};
    QCOMPARE(said({}), QString());
    QVERIFY(said({{prog, sumOf("a")}}).contains(QStringLiteral("as compiled")));
    QVERIFY(said({{prog, sumOf("b")}}).contains(QStringLiteral("This is not the source that was compiled.")));
    // What another module was built from says nothing about this one.
    QCOMPARE(said({{other, sumOf("b")}}), QString());
    QVERIFY(
        said({{prog, sumOf("a")}, {prog, sumOf("b")}}).contains(QStringLiteral("one of several versions")));
  }
};

QTEST_MAIN(SourcePane)
#include "tst_source_pane.moc"
