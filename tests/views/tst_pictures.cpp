// Draws the window in each of its states, in light and dark. With TRACEBACK_PICTURES=FOLDER in the
// environment the pictures are kept there to be looked at; QT_SCALE_FACTOR makes them larger.

#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QImage>
#include <QLineEdit>
#include <QListWidget>
#include <QScopeGuard>
#include <QTest>
#include <QTreeWidget>

#include "app/viewer/color_scheme.h"
#include "app/viewer/export_dialog.h"
#include "app/viewer/shortcuts_dialog.h"
#include "sample.h"
#include "tests/builders/trace_text.h"
#include "views/annotations_panel.h"
#include "views/answers_panel.h"
#include "views/code_pane.h"
#include "views/code_view.h"
#include "views/executions_popup.h"
#include "views/filter_bar.h"
#include "views/find_bar.h"
#include "views/side_panels.h"
#include "views/trace_pane.h"

using namespace traceback;

namespace {

void keep(QWidget& window, const QString& name) {
  QTest::qWait(150);  // colours of the source come in slices
  const QImage image = window.grab().toImage();
  QVERIFY(!image.isNull());
  const QString folder = qEnvironmentVariable("TRACEBACK_PICTURES");
  if (!folder.isEmpty()) QVERIFY(image.save(QStringLiteral("%1/%2.png").arg(folder, name)));
}

double lightness(const QWidget& window, QWidget* part) {
  const QImage image =
      const_cast<QWidget&>(window).grab(QRect(part->mapTo(&window, QPoint(0, 0)), part->size())).toImage();
  double sum = 0;
  int samples = 0;
  for (int y = 0; y < image.height(); y += 7)
    for (int x = 0; x < image.width(); x += 7, ++samples) sum += image.pixelColor(x, y).lightnessF();
  return sum / samples;
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
  }
};

QTEST_MAIN(Pictures)
#include "tst_pictures.moc"
