// traceback-viewer: opens a snap in a window, or draws that window into a file.
//
// Exit status: 0 done, 1 the file could not be opened or the picture not written, 2 the call is wrong.

#include <unistd.h>

#include <QApplication>
#include <QFile>
#include <QTextStream>
#include <QTimer>
#include <cstdio>

#include "app/viewer/color_scheme.h"
#include "app/viewer/compare_window.h"
#include "app/viewer/loader_services.h"
#include "app/viewer/main_window.h"
#include "app/viewer/options.h"
#include "app/viewer/paint_clock.h"
#include "app/viewer/translation.h"
#include "views/common/icons.h"

namespace traceback::app {
namespace {

constexpr int kGood = 0, kBadInput = 1, kBadCall = 2;
// A picture is drawn this long after the window was painted for the first time: sizes have settled then.
constexpr int kSettleMs = 50;
// The colours of the sources come in slices.
constexpr int kComparisonSettlesMs = 300;

void describe() {
  QCoreApplication::setApplicationName(QStringLiteral("traceback-viewer"));
  QCoreApplication::setApplicationVersion(QStringLiteral(TRACEBACK_VERSION));
  QCoreApplication::setOrganizationDomain(QStringLiteral("traceback.github.io"));
}

void print(std::FILE* where, const QString& text) {
  const QByteArray bytes = text.toLocal8Bit();
  std::fwrite(bytes.constData(), 1, static_cast<std::size_t>(bytes.size()), where);
  std::fflush(where);
}

void complain(const QString& text) { print(stderr, QStringLiteral("traceback-viewer: %1\n").arg(text)); }

// Without a display there is nobody to tell how large a window may be, and Qt complains about it.
void dropComplaint(QtMsgType type, const QMessageLogContext& context, const QString& message) {
  if (message.contains(QLatin1String("propagateSizeHints"))) return;
  print(stderr, qFormatLogMessage(type, context, message) + u'\n');
}

// A picture of the window: 0, or the exit status.
int savePicture(QWidget& window, const QString& file) {
  const QPixmap picture = window.grab();
  if (picture.save(file, "PNG")) return kGood;
  QFile::remove(file);
  complain(QStringLiteral("%1: the picture could not be written").arg(file));
  return kBadInput;
}

// Two snaps side by side, until the window is closed or the picture drawn.
int showComparison(const Options& options) {
  CompareWindow window(loaderServices(), options.sourceMappings, options.screenshot.isEmpty());
  if (options.size) window.resize(*options.size);
  if (!options.screenshot.isEmpty())
    QObject::connect(&window, &CompareWindow::compared, &window, [&](const QString& error) {
      if (!error.isEmpty()) {
        complain(error);
        return QCoreApplication::exit(kBadInput);
      }
      QTimer::singleShot(kComparisonSettlesMs, &window,
                         [&] { QCoreApplication::exit(savePicture(window, options.screenshot)); });
    });
  window.show();
  window.open(options.compareWith, options.file);
  return QApplication::exec();
}

int show(int argc, char** argv, const Options& options) {
  const bool picture = !options.screenshot.isEmpty();
  if (picture && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  if (picture) qInstallMessageHandler(dropComplaint);
  QApplication app(argc, argv);
  const Translation translation;
  QApplication::setApplicationDisplayName(QString());
  QGuiApplication::setDesktopFileName(QStringLiteral("io.github.traceback.Viewer"));
  QApplication::setWindowIcon(views::programIcon());
  useColorScheme(picture && options.colors == ColorScheme::System ? ColorScheme::Light : options.colors);

  if (!options.compareWith.isEmpty()) return showComparison(options);
  MainWindow window(loaderServices(), options, !picture);
  if (options.timeToPaint)
    QObject::connect(&window, &MainWindow::tracePainted, &window, [] {
      print(stdout, QStringLiteral("time to paint: %1 ms\n").arg(millisecondsSinceStart()));
    });
  if (picture) {
    QObject::connect(&window, &MainWindow::finishedLoading, &app, [](const QString& error) {
      if (error.isEmpty()) return;
      complain(error);
      QCoreApplication::exit(kBadInput);
    });
    QObject::connect(&window, &MainWindow::tracePainted, &app, [&] {
      QTimer::singleShot(kSettleMs, &window,
                         [&] { QCoreApplication::exit(savePicture(window, options.screenshot)); });
    });
  }
  window.show();
  if (!options.file.isEmpty()) window.openFile(options.file);
  return QApplication::exec();
}

int run(int argc, char** argv) {
  describe();
  Options options;
  {
    // Enough for reading the call; needs no display.
    QCoreApplication core(argc, argv);
    const Translation translation;
    const auto parsed = parseOptions(QCoreApplication::arguments());
    if (!parsed) {
      complain(parsed.error() + QStringLiteral(" (see --help)"));
      return kBadCall;
    }
    options = *parsed;
  }
  if (options.what == Options::Do::Help) return print(stdout, options.help), kGood;
  if (options.what == Options::Do::Version)
    return print(stdout, QStringLiteral("traceback-viewer %1\n").arg(QCoreApplication::applicationVersion())),
           kGood;
  return show(argc, argv, options);
}

}  // namespace
}  // namespace traceback::app

int main(int argc, char** argv) { return traceback::app::run(argc, argv); }
