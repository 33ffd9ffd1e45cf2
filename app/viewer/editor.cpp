#include "app/viewer/editor.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QProcess>

namespace traceback::app {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(traceback::app::Editor)
};

}  // namespace

QStringList editorCommand(const QString& command, const QString& file, int line) {
  QStringList parts = QProcess::splitCommand(command);
  if (parts.isEmpty()) return {};
  bool named = false;
  for (QString& part : parts) {
    named = named || part.contains(QLatin1String("%f"));
    // In one pass: the file's name may have such marks in it.
    QString filled;
    for (qsizetype i = 0; i < part.size(); ++i) {
      const QStringView mark = QStringView(part).mid(i, 2);
      if (mark == QLatin1String("%f"))
        filled += file;
      else if (mark == QLatin1String("%l"))
        filled += QString::number(line);
      else if (mark == QLatin1String("%%"))
        filled += u'%';
      else {
        filled += part[i];
        continue;
      }
      ++i;
    }
    part = filled;
  }
  if (!named) parts.append(file);
  return parts;
}

QString defaultEditor() {
  for (const char* variable : {"VISUAL", "EDITOR"}) {
    const QString command = qEnvironmentVariable(variable).trimmed();
    const QString program = QFileInfo(QProcess::splitCommand(command).value(0)).fileName();
    if (program == QLatin1String("kate") || program == QLatin1String("kwrite"))
      return command + QStringLiteral(" --line %l %f");
    if (program == QLatin1String("code") || program == QLatin1String("codium"))
      return command + QStringLiteral(" --goto %f:%l");
    if (program == QLatin1String("subl") || program == QLatin1String("zed") ||
        program == QLatin1String("qtcreator"))
      return command + QStringLiteral(" %f:%l");
    if (program == QLatin1String("gvim") || program == QLatin1String("emacs") ||
        program == QLatin1String("emacsclient") || program == QLatin1String("gedit"))
      return command + QStringLiteral(" +%l %f");
  }
  return QStringLiteral("xdg-open %f");
}

std::expected<void, QString> openInEditor(const QString& command, const QString& file, int line) {
  QStringList parts = editorCommand(command, file, line);
  if (parts.isEmpty()) return std::unexpected(Words::tr("There is no command for the editor."));
  const QString program = parts.takeFirst();
  if (QProcess::startDetached(program, parts)) return {};
  return std::unexpected(Words::tr("%1 could not be started.").arg(program));
}

}  // namespace traceback::app
