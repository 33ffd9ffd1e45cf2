#include "app/viewer/wizard/recording.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

#include "app/viewer/wizard/snap_contents.h"

namespace traceback::app {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(traceback::app::Recording)
};

constexpr QLatin1String kPlain("_-./:=,+@%^~");
constexpr QLatin1String kPlainInUnits("_-./:=,+@~");

bool isPlain(const QString& word, QLatin1String others) {
  for (const QChar c : word)
    if (!(c.unicode() < 128 && c.isLetterOrNumber()) && !others.contains(c)) return false;
  return !word.isEmpty();
}

// The options of `run` between its name and the command.
QStringList options(const Recording& recording, const QString& snapFolder) {
  QStringList words;
  if (!snapFolder.isEmpty()) words << QStringLiteral("--snap-dir") << snapFolder;
  if (!recording.bufferSize.isEmpty()) words << QStringLiteral("--buffer-size") << recording.bufferSize;
  if (!recording.policy.isEmpty()) words << QStringLiteral("--policy") << recording.policy;
  if (!recording.profile.isEmpty()) words << QStringLiteral("--profile") << recording.profile;
  if (!recording.memory.isEmpty()) words << QStringLiteral("--memory") << recording.memory;
  for (const QString& pattern : recording.only) words << QStringLiteral("--only") << pattern;
  for (const QString& pattern : recording.exclude) words << QStringLiteral("--exclude") << pattern;
  return words;
}

// What folders of the service are called by.
QString folderName(const Recording& recording) {
  QString name = recording.service;
  if (const auto at = name.lastIndexOf(u'.'); at > 0) name.truncate(at);
  for (QChar& c : name)
    if (!(c.unicode() < 128 && c.isLetterOrNumber()) && c != u'-' && c != u'_') c = u'_';
  return QStringLiteral("traceback-") + name;
}

// Lines of a unit's comment.
QStringList comment(const QString& text) {
  constexpr qsizetype kWidth = 78;
  QStringList lines;
  for (const QString& word : text.split(u' ')) {
    if (lines.isEmpty() || lines.last().size() + word.size() >= kWidth)
      lines << u'#' + QStringLiteral(" ") + word;
    else
      lines.last() += u' ' + word;
  }
  return lines;
}

}  // namespace

QStringList runArguments(const Recording& recording) {
  return QStringList{QStringLiteral("run")} + options(recording, recording.snapFolder) +
         QStringList{QStringLiteral("--")} + recording.command;
}

QString shellWord(const QString& word) {
  if (isPlain(word, kPlain) && !word.startsWith(u'~')) return word;
  QString quoted = word;
  return u'\'' + quoted.replace(u'\'', QStringLiteral("'\\''")) + u'\'';
}

QString shellCommand(const QString& traceback, const Recording& recording) {
  QStringList words;
  for (const QString& entry : recording.environment) {
    const auto equals = entry.indexOf(u'=');
    words << entry.first(equals + 1) +
                 (equals + 1 == entry.size() ? QString() : shellWord(entry.sliced(equals + 1)));
  }
  words << shellWord(traceback);
  for (const QString& word : runArguments(recording)) words << shellWord(word);
  return words.join(u' ');
}

QStringList wordsOf(const QString& line) {
  QStringList words;
  QString word;
  bool within = false;  // a word, though it may be empty
  for (qsizetype i = 0; i < line.size(); ++i) {
    const QChar c = line[i];
    if (c == u'\'') {
      within = true;
      for (++i; i < line.size() && line[i] != u'\''; ++i) word += line[i];
    } else if (c == u'"') {
      within = true;
      for (++i; i < line.size() && line[i] != u'"'; ++i) {
        if (line[i] == u'\\' && i + 1 < line.size() && QStringLiteral("\"\\$`").contains(line[i + 1])) ++i;
        word += line[i];
      }
    } else if (c == u'\\' && i + 1 < line.size()) {
      within = true;
      word += line[++i];
    } else if (c.isSpace()) {
      if (within) words << word;
      word.clear();
      within = false;
    } else {
      within = true;
      word += c;
    }
  }
  if (within) words << word;
  return words;
}

QString unitWord(const QString& word, UnitLine where) {
  QString out;
  for (const QChar c : word) {
    if (c == u'\\' || c == u'"')
      out += QLatin1Char('\\') + c;
    else if (c == u'%')
      out += QStringLiteral("%%");
    else if (c == u'$' && where == UnitLine::Command)
      out += QStringLiteral("$$");
    else if (c == u'\n')
      out += QStringLiteral("\\n");
    else if (c == u'\t')
      out += QStringLiteral("\\t");
    else
      out += c;
  }
  return isPlain(word, kPlainInUnits) ? out : u'"' + out + u'"';
}

QString dropIn(const QString& traceback, const Recording& recording) {
  const QString folder = folderName(recording);
  const bool ownFolder = recording.snapFolder.isEmpty();
  QStringList lines = comment(Words::tr("Records %1 with TraceBack. Belongs into %2; then: systemctl "
                                        "%3daemon-reload, and restart the service. Without this file all is "
                                        "as before.")
                                  .arg(recording.service, dropInFile(recording),
                                       recording.ofUser ? QStringLiteral("--user ") : QString()));
  lines += comment(snapContents(recording) + u' ' + snapReaders());
  lines << QStringLiteral("[Service]") << QStringLiteral("ExecStart=");
  QString command =
      QStringLiteral("ExecStart=") + unitWord(traceback, UnitLine::Command) + QStringLiteral(" run");
  // Specifiers of systemd: where it makes the folders below.
  if (ownFolder) command += QStringLiteral(" --snap-dir %S/") + folder;
  for (const QString& word :
       options(recording, recording.snapFolder) + QStringList{QStringLiteral("--")} + recording.command)
    command += u' ' + unitWord(word, UnitLine::Command);
  lines << command;
  lines << QStringLiteral("Environment=TRACEBACK_CACHE_DIR=%C/") + folder;
  for (const QString& entry : recording.environment)
    lines << QStringLiteral("Environment=") + unitWord(entry, UnitLine::Environment);
  if (ownFolder)
    lines << QStringLiteral("StateDirectory=") + folder << QStringLiteral("StateDirectoryMode=0700");
  lines << QStringLiteral("CacheDirectory=") + folder;
  lines += comment(Words::tr("The first start makes the copies of its files."));
  lines << QStringLiteral("TimeoutStartSec=15min");
  return lines.join(u'\n') + u'\n';
}

QString dropInFile(const Recording& recording) {
  const QString folder = recording.ofUser ? QDir::homePath() + QStringLiteral("/.config/systemd/user/")
                                          : QStringLiteral("/etc/systemd/system/");
  return folder + recording.service + QStringLiteral(".d/traceback.conf");
}

}  // namespace traceback::app
