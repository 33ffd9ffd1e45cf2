#include "app/viewer/options.h"

#include <QCommandLineParser>
#include <QCoreApplication>

namespace traceback::app {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(traceback::app::Options)
};

std::unexpected<QString> wrong(const QString& option, const QString& why) {
  return std::unexpected(QStringLiteral("--%1: %2").arg(option, why));
}

std::optional<QSize> parseSize(const QString& text) {
  const QStringList parts = text.split(u'x');
  if (parts.size() != 2) return std::nullopt;
  bool width = false, height = false;
  const QSize size(parts[0].toInt(&width), parts[1].toInt(&height));
  if (!width || !height || size.width() < 200 || size.height() < 150 || size.width() > 16384 ||
      size.height() > 16384)
    return std::nullopt;
  return size;
}

}  // namespace

std::expected<Options, QString> parseOptions(const QStringList& arguments) {
  QCommandLineParser parser;
  parser.setApplicationDescription(
      Words::tr("Shows how a program got where it is: opens a snap and steps back from its fault."));
  const QCommandLineOption help({QStringLiteral("h"), QStringLiteral("help")}, Words::tr("Show this help."));
  const QCommandLineOption version({QStringLiteral("v"), QStringLiteral("version")},
                                   Words::tr("Show the version."));
  const QCommandLineOption thread(QStringLiteral("thread"),
                                  Words::tr("Open at thread N, counted from 1 as in the list."),
                                  QStringLiteral("N"));
  const QCommandLineOption go(
      QStringLiteral("goto"),
      Words::tr("Go to entry N of the thread, as 'traceback print --format json' counts them."),
      QStringLiteral("N"));
  const QCommandLineOption compare(
      QStringLiteral("compare"),
      Words::tr("Show SNAP, of a bad run, beside GOOD, of a good one, where their paths part."),
      QStringLiteral("GOOD"));
  const QCommandLineOption paths(
      QStringLiteral("source-path"),
      Words::tr("Look in TO for source that was compiled in FROM. May be given more than once."),
      QStringLiteral("FROM=TO"));
  const QCommandLineOption flat(QStringLiteral("flat"), Words::tr("Show the trace line by line."));
  const QCommandLineOption tree(QStringLiteral("tree"), Words::tr("Show the trace as a tree of calls."));
  const QCommandLineOption disassembly(QStringLiteral("disassembly"),
                                       Words::tr("Show instructions instead of source."));
  const QCommandLineOption layout(
      QStringLiteral("layout"),
      Words::tr("Arrange the panels as for: fault, hang, request or killed. Otherwise as the snap is of."),
      QStringLiteral("KIND"));
  const QCommandLineOption size(QStringLiteral("size"), Words::tr("Size of the window in pixels."),
                                QStringLiteral("WIDTHxHEIGHT"));
  const QCommandLineOption colors(QStringLiteral("colors"), Words::tr("Colours: system, light or dark."),
                                  QStringLiteral("SCHEME"));
  const QCommandLineOption screenshot(QStringLiteral("screenshot"),
                                      Words::tr("Draw the window into FILE, without a display, and end."),
                                      QStringLiteral("FILE"));
  const QCommandLineOption time(
      QStringLiteral("time-to-paint"),
      Words::tr(
          "Print how many milliseconds passed from the start of the program until the trace was painted."));
  parser.addOptions({help, version, thread, go, compare, paths, flat, tree, disassembly, layout, size, colors,
                     screenshot, time});
  parser.addPositionalArgument(QStringLiteral("SNAP"), Words::tr("The file to open (.tbsnap)."),
                               QStringLiteral("[SNAP]"));
  if (!parser.parse(arguments)) return std::unexpected(parser.errorText());

  Options options;
  if (parser.isSet(help)) {
    options.what = Options::Do::Help;
    options.help =
        parser.helpText() + u'\n' +
        Words::tr("Exit status: 0 done, 1 the file could not be opened or written, 2 the call is wrong.") +
        u'\n';
    return options;
  }
  if (parser.isSet(version)) {
    options.what = Options::Do::Version;
    return options;
  }
  const QStringList files = parser.positionalArguments();
  if (files.size() > 1)
    return std::unexpected(Words::tr("more than one file is given: %1").arg(files.join(u' ')));
  if (!files.isEmpty()) options.file = files.first();
  options.screenshot = parser.value(screenshot);
  if (parser.isSet(screenshot) && options.screenshot.isEmpty())
    return wrong(QStringLiteral("screenshot"), Words::tr("needs a file"));
  if (parser.isSet(screenshot) && options.file.isEmpty())
    return wrong(QStringLiteral("screenshot"), Words::tr("needs a snap to show"));
  options.compareWith = parser.value(compare);
  if (parser.isSet(compare) && (options.compareWith.isEmpty() || options.file.isEmpty()))
    return wrong(QStringLiteral("compare"), Words::tr("needs two snaps: --compare GOOD BAD"));
  options.timeToPaint = parser.isSet(time);
  options.disassembly = parser.isSet(disassembly);
  if (parser.isSet(flat) && parser.isSet(tree))
    return wrong(QStringLiteral("flat"), Words::tr("contradicts --tree"));
  if (parser.isSet(flat)) options.flat = true;
  if (parser.isSet(tree)) options.flat = false;
  bool good = true;
  if (parser.isSet(thread)) {
    options.thread = parser.value(thread).toUInt(&good);
    if (!good || *options.thread == 0)
      return wrong(QStringLiteral("thread"),
                   Words::tr("'%1' is not a number from 1 on").arg(parser.value(thread)));
  }
  if (parser.isSet(go)) {
    options.entry = parser.value(go).toULongLong(&good);
    if (!good) return wrong(QStringLiteral("goto"), Words::tr("'%1' is not a number").arg(parser.value(go)));
  }
  if (parser.isSet(layout)) {
    for (const Layouts::Kind kind : Layouts::kKinds)
      if (Layouts::word(kind) == parser.value(layout)) options.layout = kind;
    if (!options.layout)
      return wrong(QStringLiteral("layout"),
                   Words::tr("'%1' is none of fault, hang, request and killed").arg(parser.value(layout)));
  }
  if (parser.isSet(size)) {
    options.size = parseSize(parser.value(size));
    if (!options.size)
      return wrong(QStringLiteral("size"), Words::tr("'%1' is not like 1200x800").arg(parser.value(size)));
  }
  for (const QString& text : parser.values(paths)) {
    const auto mapping = parseMapping(text);
    if (!mapping)
      return wrong(QStringLiteral("source-path"), Words::tr("'%1' is not like FROM=TO").arg(text));
    options.sourceMappings.append(*mapping);
  }
  if (parser.isSet(colors)) {
    const QString scheme = parser.value(colors);
    if (scheme == QLatin1String("light"))
      options.colors = ColorScheme::Light;
    else if (scheme == QLatin1String("dark"))
      options.colors = ColorScheme::Dark;
    else if (scheme != QLatin1String("system"))
      return wrong(QStringLiteral("colors"), Words::tr("'%1' is none of system, light and dark").arg(scheme));
  }
  return options;
}

}  // namespace traceback::app
