// Draws the window in each of its states, in light and dark. With TRACEBACK_PICTURES=FOLDER in the
// environment the pictures are kept there to be looked at; QT_SCALE_FACTOR makes them larger.

#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QFile>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>
#include <QTreeWidget>

#include "app/viewer/color_scheme.h"
#include "app/viewer/export_dialog.h"
#include "app/viewer/panels.h"
#include "app/viewer/shortcuts_dialog.h"
#include "app/viewer/source_folders_dialog.h"
#include "picture.h"
#include "sample.h"
#include "tests/builders/trace_text.h"
#include "views/notes/annotations_panel.h"
#include "views/search/answers_panel.h"
#include "views/source/code_pane.h"
#include "views/source/code_view.h"
#include "views/source/executions_popup.h"
#include "views/source/find_bar.h"
#include "views/source/source_note.h"
#include "views/trace/filter_bar.h"
#include "views/trace/side_panels.h"
#include "views/trace/trace_pane.h"
#include "views/values/values_model.h"
#include "views/values/values_panel.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback;

using tests::keep;
using tests::lightness;

namespace {

// As real ones are, and two that are none.
model::Result<model::Trace::Summary> madeUpSummary(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  model::Trace::Summary summary;
  summary.when = {1'763'800'000'000'000'000};
  if (name.starts_with("notes")) return model::fail("not a snap: its first bytes are others", file.string());
  if (name.starts_with("cut")) return model::fail("the section table is cut", file.string());
  summary.program = "/usr/bin/" + name.substr(0, name.find('-'));
  summary.reason = name.starts_with("nginx") ? model::TraceReason::UserRequest : model::TraceReason::Fault;
  summary.signal = name.starts_with("nginx") ? 0 : 11;
  summary.signalCode = 1;  // SEGV_MAPERR
  summary.faultAddress = {0x18};
  summary.when.value -= name.size() * 61'000'000'000;
  return summary;
}

}  // namespace

class Pictures : public QObject {
  Q_OBJECT

 private slots:
  void everyStateIsDrawn_data() {
    QTest::addColumn<app::ColorScheme>("colors");
    QTest::newRow("light") << app::ColorScheme::Light;
    QTest::newRow("dark") << app::ColorScheme::Dark;
  }

  void everyStateIsDrawn() {
    QFETCH(app::ColorScheme, colors);
    app::useColorScheme(colors);
    const QString suffix = QString::fromLatin1(QTest::currentDataTag());
    const auto trace = tests::sampleTrace();
    {
      const auto window = tests::sampleWindow(trace);
      keep(*window, QStringLiteral("fault-tree-") + suffix);
      const double light = lightness(*window, window->codePane());
      QVERIFY2(colors == app::ColorScheme::Dark ? light < 0.4 : light > 0.6,
               qPrintable(QString::number(light)));
      window->notesDock()->show();
      window->navigator().goToThread({1});
      keep(*window, QStringLiteral("notes-") + suffix);
      window->notesDock()->hide();
      window->navigator().goToThread({0});
      window->annotations().set({0}, *window->navigator().entryIndex(),
                                QStringLiteral("the list was never linked"));
      window->annotations().set({0}, 30, {});
      window->annotations().set({1}, 1, QStringLiteral("what did this one wait for?"));
      window->panels().dockOf(window->annotationsPanel())->show();
      keep(*window, QStringLiteral("bookmarks-") + suffix);
      window->panels().dockOf(window->annotationsPanel())->hide();
      for (int i = 3; i > 0; --i) window->annotations().remove(i - 1);
      auto values = std::make_shared<tests::MemoryValues>();
      values->answer();
      window->values().setProvider(values);
      auto* panel = window->panels().find<views::ValuesPanel>();
      window->panels().dockOf(panel)->show();
      window->panels().dockOf(panel)->raise();
      QVERIFY(QTest::qWaitFor([&] { return panel->values()->rowCount() > 0; }));
      panel->frames()->setCurrentIndex(1);
      panel->list()->expandAll();
      keep(*window, QStringLiteral("values-") + suffix);
      window->navigator().step(model::Step::Back);
      keep(*window, QStringLiteral("values-before-") + suffix);
      window->navigator().goToFault();
      window->panels().dockOf(window->callsPanel())->raise();
      app::ExportDialog asking({{QStringLiteral("This thread"), {}}});
      asking.formats()->setCurrentIndex(3);
      asking.show();
      keep(asking, QStringLiteral("export-") + suffix);
      window->answersPanel()->ask(*model::parseQuestion("calls(visit)"), QStringLiteral("calls(visit)"));
      QVERIFY(QTest::qWaitFor([&] { return window->answersDock()->isVisible(); }));
      keep(*window, QStringLiteral("answers-") + suffix);
      window->answersDock()->hide();
      window->tracePane()->setMode(views::TracePane::Mode::Flat);
      for (int i = 0; i < 30; ++i) window->navigator().step(model::Step::Back);
      window->tracePane()->filterBar()->open();
      window->tracePane()->filterBar()->function()->setText(QStringLiteral("make"));
      QVERIFY(
          QTest::qWaitFor([&] { return !window->tracePane()->filterBar()->filter().function.isEmpty(); }));
      QTest::qWait(250);
      keep(*window, QStringLiteral("filter-") + suffix);
      window->tracePane()->filterBar()->close();
      window->codePane()->findBar()->open();
      keep(*window, QStringLiteral("flat-back-") + suffix);
      window->codePane()->findBar()->close();
      window->codePane()->listExecutions();
      QVERIFY(QTest::qWaitFor([&] { return window->codePane()->executions()->list()->count() > 1; }));
      keep(*window, QStringLiteral("executions-") + suffix);
      window->codePane()->executions()->hide();
      window->codePane()->disassemblyAction()->setChecked(true);
      keep(*window, QStringLiteral("disassembly-") + suffix);
      window->codePane()->disassemblyAction()->setChecked(false);
      window->showShortcuts();
      auto* dialog = window->findChild<app::ShortcutsDialog*>();
      dialog->list()->setCurrentItem(dialog->list()->topLevelItem(4));
      keep(*dialog, QStringLiteral("shortcuts-") + suffix);
      dialog->close();
      auto* strip = window->codePane()->findChild<views::SourceNote*>();
      strip->tell(
          views::SourceNote::Kind::Warning, QStringLiteral("This is not the source that was compiled."),
          QStringLiteral("Its checksum is not the one in the debug information of shelf. Lines may not be "
                         "where the trace says that they ran."));
      keep(*window, QStringLiteral("other-source-") + suffix);
      strip->tell(views::SourceNote::Kind::Progress, QStringLiteral("Fetching this source from debuginfod."),
                  QStringLiteral("3 of 12 KB"));
      keep(*window, QStringLiteral("fetching-") + suffix);
      strip->clear();
      app::SourceFoldersDialog folders(
          {{QStringLiteral("/src"), QStringLiteral("/srv/shelf")},
           {QStringLiteral("/build/glibc-2.41/malloc"), QStringLiteral("/usr/src/glibc/malloc")},
           {QStringLiteral("/src/old"), QStringLiteral("/srv/gone")},
           {QStringLiteral("/src"), QString()}},
          1, trace, [](const QList<app::SourceMapping>&, const model::Trace&, const std::stop_token&) {
            return app::SourceReach{{{true, 14, 12, 12, {QStringLiteral("/src/parser.c")}},
                                     {true, 3, 3, 2, {}},
                                     {false, 2, 0, 0, {}},
                                     {}},
                                    18,
                                    15};
          });
      folders.list()->setCurrentItem(folders.list()->topLevelItem(1));
      folders.show();
      QVERIFY(QTest::qWaitFor([&] { return folders.summary()->text().contains(QStringLiteral("15 of")); }));
      keep(folders, QStringLiteral("source-folders-") + suffix);
      folders.close();
      window->codePane()->disassemblyAction()->setChecked(true);
      window->resize(760, 560);
      keep(*window, QStringLiteral("small-") + suffix);
    }
    {
      std::string rounds = "call main main.c\n  27\n";
      for (int i = 0; i < 40; ++i)
        rounds += "  31\n  call visit parser.c\n    60\n    61 x12\n    66\n  33\n";
      const auto window = tests::sampleWindow(tests::traceOf(rounds + "  34 x3\n  35 fault\n"));
      keep(*window, QStringLiteral("loops-tree-") + suffix);
      window->tracePane()->setMode(views::TracePane::Mode::Flat);
      keep(*window, QStringLiteral("loops-flat-") + suffix);
    }
    {
      const auto window = tests::sampleWindow(trace, tests::Code::Nothing);
      keep(*window, QStringLiteral("nothing-") + suffix);
    }
    {
      app::MainWindow window(tests::sampleServices(trace), app::Options(), false);
      window.show();
      keep(window, QStringLiteral("welcome-") + suffix);
    }
    {
      const QTemporaryDir folder;
      for (const char* name : {"lua5.4-4711-1.tbsnap", "nginx-12-2.tbsnap",
                               "a-program-with-a-long-name-3.tbsnap", "notes.tbsnap", "cut.tbsnap"}) {
        QFile file(folder.filePath(QString::fromLatin1(name)));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(QByteArray(123'456, 'x')) > 0);
      }
      app::Services services = tests::sampleServices(trace);
      services.summary = madeUpSummary;
      app::MainWindow window(services, app::Options(), false);
      window.show();
      window.incoming().setFolder(folder.path());
      QTRY_COMPARE(window.incoming().rowCount(), 5);
      keep(window, QStringLiteral("welcome-incoming-") + suffix);
      window.setTrace(trace);
      QTest::qWait(50);  // the panels have their places
      window.panels().dock(QStringLiteral("incomingDock"))->show();
      keep(window, QStringLiteral("incoming-") + suffix);
    }
  }
};

QTEST_MAIN(Pictures)
#include "tst_pictures.moc"
