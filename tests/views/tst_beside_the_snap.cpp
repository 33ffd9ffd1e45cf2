// What the window keeps beside a snap and makes of it: bookmarks and notes, where one was, exports; and the
// ways in.

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QDropEvent>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <QMimeData>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>
#include <QTreeView>
#include <utility>

#include "app/viewer/export_dialog.h"
#include "app/viewer/loader_services.h"
#include "app/viewer/main_window.h"
#include "tests/app/recorded_runs.h"
#include "views/notes/annotations_model.h"
#include "views/notes/annotations_panel.h"
#include "views/source/code_pane.h"
#include "views/source/code_view.h"
#include "views/trace/filter_bar.h"
#include "views/trace/trace_pane.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback;
using test::CommandLine;

class BesideTheSnap : public QObject {
  Q_OBJECT

  CommandLine m_line;
  QString m_snap;

  std::unique_ptr<app::MainWindow> opened(bool remember = false, const app::Options& options = {}) {
    auto window = std::make_unique<app::MainWindow>(app::loaderServices(), options, remember);
    QSignalSpy finished(window.get(), &app::MainWindow::finishedLoading);
    window->show();
    window->openFile(m_snap);
    if (!finished.wait(30'000) || !finished.first().first().toString().isEmpty()) qWarning("not opened");
    return window;
  }

  QString notesFile() const { return views::Annotations::fileFor(m_snap); }
  QJsonObject notes() const { return QJsonDocument::fromJson(test::readFile(notesFile())).object(); }

  QStringList textsInTheFile() const {
    QStringList texts;
    for (const auto& note : notes()["notes"].toArray()) texts << note.toObject()["text"].toString();
    texts.sort();
    return texts;
  }

 private slots:
  void initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QVERIFY(m_line.isReady());
    m_snap = test::recordRun(m_line, "rounds", {"rounds", "50", "20"});
    QVERIFY(!m_snap.isEmpty());
  }

  void init() {
    QFile::remove(notesFile());
    QFile::remove(QStandardPaths::writableLocation(QStandardPaths::GenericStateLocation) +
                  QStringLiteral("/traceback/viewer-state.ini"));
  }

  void bookmarksAndNotesAreKeptBesideTheSnap() {
    {
      const auto window = opened();
      QVERIFY(QTest::qWaitForWindowActive(window.get()));
      QVERIFY(window->navigator().goTo({0}, 40, views::Navigator::Remember::No));
      QTest::keyClick(window.get(), Qt::Key_B, Qt::ControlModifier);
      QVERIFY(window->annotations().at({0}, *window->navigator().entryIndex()) != nullptr);
      QVERIFY(window->navigator().goTo({0}, 60, views::Navigator::Remember::No));
      QTest::keyClick(window.get(), Qt::Key_B, Qt::ControlModifier | Qt::ShiftModifier);
      auto* editor = window->annotationsPanel()->findChild<QLineEdit*>();
      QVERIFY(editor != nullptr);
      QTest::keyClicks(editor, "here it goes wrong");
      QTest::keyClick(editor, Qt::Key_Return);
      QTRY_COMPARE(window->annotations().all().size(), 2);
      QTRY_COMPARE(window->annotations().all()[1].text, QStringLiteral("here it goes wrong"));
    }
    QCOMPARE(notes()["traceback_notes"].toInt(), 1);
    QCOMPARE(notes()["notes"].toArray().size(), 2);
    QVERIFY(!notes()["notes"].toArray()[1].toObject()["place"].toString().isEmpty());
    // Somebody else opens the snap that was sent with its notes.
    const auto window = opened();
    views::AnnotationsPanel* panel = window->annotationsPanel();
    QCOMPARE(panel->annotations()->rowCount(), 2);
    const QModelIndex text = panel->annotations()->index(1, views::AnnotationsModel::kText);
    QCOMPARE(text.data().toString(), QStringLiteral("here it goes wrong"));
    emit panel->clicked(text);
    QCOMPARE(window->navigator().entryIndex(),
             std::optional<model::EntryIndex>(window->annotations().all()[1].entry));
    // A bookmark that is set twice is gone; one with a text stays, and it is said how it goes.
    QSignalSpy message(panel, &views::AnnotationsPanel::message);
    panel->toggleHere();
    QCOMPARE(panel->annotations()->rowCount(), 2);
    QCOMPARE(message.size(), 1);
    emit panel->clicked(panel->annotations()->index(0, 0));
    panel->toggleHere();
    QCOMPARE(panel->annotations()->rowCount(), 1);
    QCOMPARE(notes()["notes"].toArray()[0].toObject()["text"].toString(),
             QStringLiteral("here it goes wrong"));
    QCOMPARE(notes()["notes"].toArray().size(), 1);
    panel->setCurrentIndex(panel->annotations()->index(0, 0));
    QTest::keyClick(panel, Qt::Key_Delete);
    QCOMPARE(notes()["notes"].toArray().size(), 0);
  }

  void notedLinesAreMarkedInTheSource() {
    app::Options options;
    const QStringList where = test::whereTheSourceIs(m_line, m_snap);
    QCOMPARE(where.size(), 2);
    const auto ways = app::parseMapping(where[1]);
    options.sourceMappings.append(*app::mappingBetween(ways->from, ways->to));
    const auto window = opened(false, options);
    const auto spot = [&] { return window->codePane()->sourceView()->currentLine(); };
    QVERIFY(window->navigator().goTo({0}, 40, views::Navigator::Remember::No));
    QVERIFY(window->codePane()->showsSource());
    const int line = spot();
    QVERIFY(window->codePane()->sourceView()->mark(line).note.isNull());
    window->annotations().set({0}, *window->navigator().entryIndex(), "look");
    QCOMPARE(window->codePane()->sourceView()->mark(line).note, QStringLiteral("look"));
    QVERIFY(window->codePane()->sourceView()->markText(line).contains("look"));
  }

  void whatOthersWroteIsKept() {
    QVERIFY(test::writeFile(notesFile(), R"({"traceback_notes":1,"team":"blue","notes":[
      {"tid":1,"entry":3,"place":"nowhere.c:1","text":"lost"},{"entry":"x"},7]})"));
    const auto window = opened();
    QCOMPARE(window->annotations().all().size(), 3);
    for (const auto& note : window->annotations().all()) QVERIFY(!note.reachable());
    QVERIFY(window->annotations().problem().contains("another snap"));
    window->annotations().set({0}, 10, "mine");
    QCOMPARE(notes()["team"].toString(), QStringLiteral("blue"));
    QCOMPARE(notes()["notes"].toArray().size(), 4);
  }

  void twoWindowsOnOneSnapKeepEachOthersNotes() {
    const auto one = opened(), other = opened();
    one->annotations().set({0}, 10, "a");
    other->annotations().set({0}, 20, "b");
    QCOMPARE(textsInTheFile(), (QStringList{"a", "b"}));
    QVERIFY(other->annotations().at({0}, 10) != nullptr);
    // The first does not know of b yet, and changes its own.
    one->annotations().setText(0, "c");
    QCOMPARE(textsInTheFile(), (QStringList{"b", "c"}));
    // What one takes away stays away, though the other still shows it.
    one->annotations().remove(0);
    QVERIFY(other->annotations().at({0}, 10) != nullptr);
    other->annotations().set({0}, 30, "d");
    QCOMPARE(textsInTheFile(), (QStringList{"b", "d"}));
    QVERIFY(other->annotations().at({0}, 10) == nullptr);
    // Of a note that both changed the last change holds.
    one->annotations().set({0}, 20, "e");
    other->annotations().set({0}, 20, "f");
    QCOMPARE(textsInTheFile(), (QStringList{"d", "f"}));
  }

  void aBookmarkDoesNotTakeATextThatWasNotInSight() {
    const auto one = opened(), other = opened();
    one->annotations().set({0}, 10, "a");
    other->annotations().set({0}, 10, {});
    QCOMPARE(textsInTheFile(), QStringList{"a"});
    QCOMPARE(other->annotations().at({0}, 10)->text, QStringLiteral("a"));
    one->annotations().set({0}, 20, {});
    other->annotations().set({0}, 30, {});
    other->annotations().set({0}, 20, "b");
    const auto* bare = one->annotations().at({0}, 20);
    QVERIFY(bare != nullptr && bare->text.isEmpty());
    one->annotations().remove(static_cast<int>(bare - one->annotations().all().constData()));
    QCOMPARE(textsInTheFile(), (QStringList{"", "a", "b"}));
  }

  void aFileThatIsNoLongerNotesIsNotWrittenOver() {
    const auto window = opened();
    window->annotations().set({0}, 10, "a");
    QVERIFY(test::writeFile(notesFile(), "hello"));
    window->annotations().set({0}, 20, "b");
    QVERIFY(window->annotations().isReadOnly());
    QCOMPARE(test::readFile(notesFile()), QByteArray("hello"));
  }

  void foreignAndNewerFilesAreNotWrittenOver_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("no JSON") << QByteArray("hello");
    QTest::newRow("other JSON") << QByteArray("{\"notes\":[]}");
    QTest::newRow("newer") << QByteArray("{\"traceback_notes\":2,\"notes\":[{\"text\":\"t\"}]}");
    QTest::newRow("an array") << QByteArray("[1,2]");
    QTest::newRow("empty") << QByteArray();
  }
  void foreignAndNewerFilesAreNotWrittenOver() {
    QFETCH(QByteArray, bytes);
    QVERIFY(test::writeFile(notesFile(), bytes));
    const auto window = opened();
    QVERIFY(!window->annotations().problem().isEmpty());
    window->annotations().set({0}, 10, "mine");
    QCOMPARE(test::readFile(notesFile()), bytes);
  }

  void theModelKeepsItsPromises() {
    const auto window = opened();
    views::AnnotationsModel* model = window->annotationsPanel()->annotations();
    const QAbstractItemModelTester tester(model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    window->annotations().set({0}, 30, "b");
    window->annotations().set({0}, 20, "a");
    QCOMPARE(model->index(0, views::AnnotationsModel::kText).data().toString(), QStringLiteral("a"));
    window->annotations().set({0}, 1'000'000'000, "nowhere");
    window->annotations().set({9}, 1, "nobody");
    QCOMPARE(model->rowCount(), 2);
    QVERIFY(model->setData(model->index(0, views::AnnotationsModel::kText), "c", Qt::EditRole));
    QCOMPARE(window->annotations().all()[0].text, QStringLiteral("c"));
    window->annotations().remove(0);
    QCOMPARE(model->rowCount(), 1);
  }

  void aSnapIsOpenedWhereItWasLeft() {
    model::EntryIndex left = 0;
    {
      const auto window = opened(true);
      QVERIFY(window->navigator().goTo({0}, 44, views::Navigator::Remember::No));
      left = *window->navigator().entryIndex();
      window->tracePane()->setMode(views::TracePane::Mode::Flat);
      window->tracePane()->filterBar()->open();
      window->tracePane()->filterBar()->function()->setText("usual");
      window->close();
    }
    {
      const auto window = opened(true);
      QCOMPARE(window->navigator().entryIndex(), std::optional(left));
      QCOMPARE(window->tracePane()->mode(), views::TracePane::Mode::Flat);
      QCOMPARE(window->tracePane()->filterBar()->filter().function, QStringLiteral("usual"));
      QVERIFY(window->navigator().canGoBack());
      window->close();
    }
    // Who says where to go goes there.
    app::Options options;
    options.entry = 12;
    const auto window = opened(true, options);
    QVERIFY(*window->navigator().entryIndex() != left);
  }

  void whatIsRememberedOfOneSnapIsNotOfAnother() {
    {
      const auto window = opened(true);
      QVERIFY(window->navigator().goTo({0}, 44, views::Navigator::Remember::No));
      window->close();
    }
    const QString other = m_line.path("other.tbsnap");
    QVERIFY(QFile::exists(other) || QFile::copy(m_snap, other));
    const QString first = std::exchange(m_snap, other);
    const auto window = opened(true);
    m_snap = first;
    QCOMPARE(window->navigator().entryIndex(), model::initialPosition(*window->navigator().thread()));
  }

  void aDroppedSnapIsOpened() {
    app::MainWindow window(app::loaderServices(), app::Options(), false);
    window.show();
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(m_snap)});
    QDragEnterEvent enter(QPoint(9, 9), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &enter);
    QVERIFY(enter.isAccepted());
    QSignalSpy finished(&window, &app::MainWindow::finishedLoading);
    QDropEvent drop(QPointF(9, 9), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &drop);
    QVERIFY(finished.wait(30'000));
    QCOMPARE(window.showing(), app::MainWindow::Showing::Trace);
  }

  void theTraceIsExported_data() {
    QTest::addColumn<int>("format");
    QTest::addColumn<QByteArray>("holds");
    QTest::newRow("text") << int(model::ExportFormat::Text) << QByteArray("unusual");
    QTest::newRow("json") << int(model::ExportFormat::Json) << QByteArray("\"kind\":\"call\"");
    QTest::newRow("html") << int(model::ExportFormat::Html) << QByteArray("<summary>");
    QTest::newRow("perfetto") << int(model::ExportFormat::Perfetto) << QByteArray("\"traceEvents\"");
  }
  void theTraceIsExported() {
    QFETCH(int, format);
    QFETCH(QByteArray, holds);
    const auto window = opened();
    QSignalSpy exported(window.get(), &app::MainWindow::exported);
    const QString file = m_line.path("exported");
    window->exportTo(file, static_cast<model::ExportFormat>(format),
                     {model::wholeThread(*window->navigator().trace(), {0})});
    QVERIFY(exported.wait(30'000));
    QCOMPARE(exported.first().first().toString(), QString());
    QVERIFY2(test::readFile(file).contains(holds), test::readFile(file).first(200).constData());
    window->exportTo(m_line.path("no/such/folder"), static_cast<model::ExportFormat>(format), {});
    QVERIFY(exported.wait(30'000));
    QVERIFY(!exported.last().first().toString().isEmpty());
  }

  void selectedRowsAreOffered() {
    const auto window = opened();
    window->tracePane()->setMode(views::TracePane::Mode::Flat);
    app::ExportDialog dialog({{"one", {{{0}, 1, 2}}}, {"two", {{{0}, 3, 9}}}});
    dialog.scopes()->setCurrentIndex(1);
    QCOMPARE(dialog.ranges().front().end, model::EntryIndex{9});
    dialog.formats()->setCurrentIndex(3);
    QCOMPARE(dialog.format(), model::ExportFormat::Perfetto);
    QCOMPARE(dialog.suffix(), QStringLiteral(".json"));
    QAbstractItemView* view = window->tracePane()->currentView();
    view->selectAll();
    const auto range = window->selectedRange();
    QVERIFY(range.has_value());
    QVERIFY(range->end - range->first > 10);
  }
};

QTEST_MAIN(BesideTheSnap)
#include "tst_beside_the_snap.moc"
