#include "app/viewer/settings.h"

#include <QFileInfo>
#include <QStandardPaths>
#include <algorithm>

namespace traceback::app {
namespace {

const QString kSourceFolders = QStringLiteral("source/folders");
constexpr qsizetype kMostRecent = 10;
constexpr qsizetype kMostSessions = 50;

QString stateFolder() {
#if QT_VERSION >= QT_VERSION_CHECK(6, 7, 0)
  return QStandardPaths::writableLocation(QStandardPaths::GenericStateLocation);
#else
  return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation);
#endif
}

}  // namespace

std::optional<SourceMapping> parseMapping(const QString& text) {
  const qsizetype equals = text.indexOf(u'=');
  if (equals <= 0 || equals == text.size() - 1) return std::nullopt;
  return SourceMapping{text.first(equals), text.sliced(equals + 1)};
}

std::optional<SourceMapping> mappingBetween(const QString& compiled, const QString& chosen) {
  QStringList from = compiled.split(u'/'), to = chosen.split(u'/');
  if (from.isEmpty() || to.isEmpty() || from.last() != to.last()) return std::nullopt;
  while (from.size() > 1 && to.size() > 1 && from.last() == to.last()) {
    from.removeLast();
    to.removeLast();
  }
  const auto joined = [](const QStringList& parts) {
    const QString path = parts.join(u'/');
    return path.isEmpty() ? QStringLiteral("/") : path;
  };
  return SourceMapping{joined(from), joined(to)};
}

Settings::Settings()
    : m_config(QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) +
                   QStringLiteral("/traceback/viewer.ini"),
               QSettings::IniFormat),
      m_state(stateFolder() + QStringLiteral("/traceback/viewer-state.ini"), QSettings::IniFormat) {}

// One after the other, from and to: either may hold any character.
QList<SourceMapping> Settings::sourceMappings() const {
  QList<SourceMapping> result;
  const QStringList folders = m_config.value(kSourceFolders).toStringList();
  for (qsizetype i = 0; i + 1 < folders.size(); i += 2)
    if (!folders[i].isEmpty() && !folders[i + 1].isEmpty()) result.append({folders[i], folders[i + 1]});
  return result;
}

void Settings::setSourceMappings(const QList<SourceMapping>& mappings) {
  QStringList folders;
  for (const SourceMapping& each : mappings) folders << each.from << each.to;
  m_config.setValue(kSourceFolders, folders);
}

void Settings::addSourceMapping(const SourceMapping& mapping) {
  QList<SourceMapping> all = sourceMappings();
  all.removeAll(mapping);
  all.prepend(mapping);
  setSourceMappings(all);
}

std::optional<QList<QKeySequence>> Settings::keys(const QString& command) const {
  const QString name = QStringLiteral("shortcuts/") + command;
  if (!m_config.contains(name)) return std::nullopt;
  QList<QKeySequence> result;
  for (const QString& text : m_config.value(name).toStringList())
    if (const QKeySequence key(text, QKeySequence::PortableText); !key.isEmpty()) result.append(key);
  return result;
}

void Settings::setKeys(const QString& command, const QList<QKeySequence>& keys) {
  QStringList texts;
  for (const QKeySequence& key : keys) texts.append(key.toString(QKeySequence::PortableText));
  m_config.setValue(QStringLiteral("shortcuts/") + command, texts);
}

void Settings::forgetKeys(const QString& command) { m_config.remove(QStringLiteral("shortcuts/") + command); }

QString Settings::choice(const QString& name) const { return m_config.value(name).toString(); }

void Settings::setChoice(const QString& name, const QString& value) { m_config.setValue(name, value); }

QStringList Settings::recentFiles() const { return m_state.value(QStringLiteral("recent")).toStringList(); }

void Settings::addRecentFile(const QString& file) {
  const QString path = QFileInfo(file).absoluteFilePath();
  QStringList files = recentFiles();
  files.removeAll(path);
  files.prepend(path);
  files = files.first(std::min(files.size(), kMostRecent));
  m_state.setValue(QStringLiteral("recent"), files);
}

void Settings::clearRecentFiles() { m_state.remove(QStringLiteral("recent")); }

QVariantMap Settings::session(const QString& file) const {
  const QString path = QFileInfo(file).absoluteFilePath();
  for (const QVariant& each : m_state.value(QStringLiteral("sessions")).toList())
    if (each.toMap()[QStringLiteral("path")].toString() == path) return each.toMap();
  return {};
}

void Settings::setSession(const QString& file, const QVariantMap& session) {
  const QString path = QFileInfo(file).absoluteFilePath();
  QVariantList all = m_state.value(QStringLiteral("sessions")).toList();
  all.removeIf(
      [&path](const QVariant& each) { return each.toMap()[QStringLiteral("path")].toString() == path; });
  QVariantMap kept = session;
  kept[QStringLiteral("path")] = path;
  all.prepend(kept);
  m_state.setValue(QStringLiteral("sessions"), QVariantList(all.first(std::min(all.size(), kMostSessions))));
}

QByteArray Settings::state(const QString& name) const {
  return m_state.value(QStringLiteral("window/") + name).toByteArray();
}

void Settings::setState(const QString& name, const QByteArray& value) {
  m_state.setValue(QStringLiteral("window/") + name, value);
}

void Settings::clearState() { m_state.remove(QStringLiteral("window")); }

}  // namespace traceback::app
