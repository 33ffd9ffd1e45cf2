// The keys of all commands: what they are by default, what the user made of them, and that no key has two.
#pragma once

#include <QHash>
#include <QKeySequence>
#include <QList>
#include <QString>

class QAction;

namespace traceback::app {

class Settings;

// The tool tip is the action's status tip and its keys.
void showKeysInToolTip(QAction& action);
// Its text without the mark of its letter.
QString commandName(const QAction& action);

class Shortcuts {
 public:
  // Without settings nothing is remembered.
  explicit Shortcuts(Settings* settings) : m_settings(settings) {}

  // The keys that the action has are its default; it gets those that the user chose. It needs an object name
  // of its own and outlives this.
  void add(QAction* action);
  const QList<QAction*>& actions() const { return m_actions; }

  void setKeys(QAction* action, const QList<QKeySequence>& keys);
  void reset(QAction* action);
  void resetAll();
  bool isDefault(const QAction* action) const;

  // The other command that has the key; null if none.
  QAction* holder(const QKeySequence& key, const QAction* except) const;
  // Why a key cannot be had by any command, as one that desktops keep for themselves; empty if it can.
  static QString refusal(const QKeySequence& key);

 private:
  void apply(QAction* action, const QList<QKeySequence>& keys);

  Settings* m_settings;
  QList<QAction*> m_actions;
  QHash<const QAction*, QList<QKeySequence>> m_defaults;
};

}  // namespace traceback::app
