// What the viewer remembers from one time to the next, in the places that the XDG base directory
// specification names: choices in the configuration folder, what just happened to be so in the state folder.
#pragma once

#include <QByteArray>
#include <QKeySequence>
#include <QList>
#include <QSettings>
#include <QString>
#include <QStringList>
#include <QVariantMap>
#include <optional>

namespace traceback::app {

// Source compiled in `from` is to be found in `to`.
struct SourceMapping {
  QString from, to;
  friend bool operator==(const SourceMapping&, const SourceMapping&) = default;
};
// "FROM=TO"; nothing if it is not of that form.
std::optional<SourceMapping> parseMapping(const QString& text);
// What turns `compiled` into `chosen` and holds for as many other files as possible: their common end is left
// out. Nothing if the file names differ.
std::optional<SourceMapping> mappingBetween(const QString& compiled, const QString& chosen);

class Settings {
 public:
  Settings();

  QList<SourceMapping> sourceMappings() const;
  void setSourceMappings(const QList<SourceMapping>& mappings);
  // As the first.
  void addSourceMapping(const SourceMapping& mapping);

  // The keys that the user chose for a command; nothing if the user did not choose.
  std::optional<QList<QKeySequence>> keys(const QString& command) const;
  void setKeys(const QString& command, const QList<QKeySequence>& keys);
  void forgetKeys(const QString& command);

  // A choice by name, in the configuration folder.
  QString choice(const QString& name) const;
  void setChoice(const QString& name, const QString& value);

  QStringList recentFiles() const;
  void addRecentFile(const QString& file);
  void clearRecentFiles();

  // What was so when a snap was closed, by its path: of the fifty latest.
  QVariantMap session(const QString& file) const;
  void setSession(const QString& file, const QVariantMap& session);

  QByteArray state(const QString& name) const;
  void setState(const QString& name, const QByteArray& value);
  void clearState();

 private:
  QSettings m_config;
  QSettings m_state;
};

}  // namespace traceback::app
