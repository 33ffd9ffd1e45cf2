#include "app/viewer/shortcuts.h"

#include <QAction>
#include <QCoreApplication>

#include "app/viewer/settings.h"

namespace traceback::app {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(traceback::app::Shortcuts)
};

}  // namespace

void showKeysInToolTip(QAction& action) {
  if (action.statusTip().isEmpty()) return;
  QStringList keys;
  for (const QKeySequence& key : action.shortcuts()) keys.append(key.toString(QKeySequence::NativeText));
  action.setToolTip(keys.isEmpty()
                        ? action.statusTip()
                        : QStringLiteral("%1 (%2)").arg(action.statusTip(), keys.join(QStringLiteral(", "))));
}

QString commandName(const QAction& action) {
  QString text = action.text();
  text.remove(u'&');
  if (text.endsWith(u'\u2026')) text.chop(1);
  return text;
}

void Shortcuts::add(QAction* action) {
  Q_ASSERT(!action->objectName().isEmpty());
  m_actions.append(action);
  m_defaults[action] = action->shortcuts();
  showKeysInToolTip(*action);
  if (m_settings == nullptr) return;
  if (const auto keys = m_settings->keys(action->objectName())) apply(action, *keys);
}

void Shortcuts::apply(QAction* action, const QList<QKeySequence>& keys) {
  action->setShortcuts(keys);
  showKeysInToolTip(*action);
}

void Shortcuts::setKeys(QAction* action, const QList<QKeySequence>& keys) {
  apply(action, keys);
  if (m_settings == nullptr) return;
  if (isDefault(action))
    m_settings->forgetKeys(action->objectName());
  else
    m_settings->setKeys(action->objectName(), keys);
}

void Shortcuts::reset(QAction* action) {
  // Who has one of these keys by now gives it back.
  const QList<QKeySequence> keys = m_defaults.value(action);
  for (const QKeySequence& key : keys) {
    QAction* other = holder(key, action);
    if (other == nullptr) continue;
    QList<QKeySequence> left = other->shortcuts();
    left.removeAll(key);
    setKeys(other, left);
  }
  setKeys(action, keys);
}

void Shortcuts::resetAll() {
  for (QAction* action : m_actions) setKeys(action, m_defaults.value(action));
}

bool Shortcuts::isDefault(const QAction* action) const {
  return action->shortcuts() == m_defaults.value(action);
}

QAction* Shortcuts::holder(const QKeySequence& key, const QAction* except) const {
  if (key.isEmpty()) return nullptr;
  for (QAction* action : m_actions)
    if (action != except && action->shortcuts().contains(key)) return action;
  return nullptr;
}

QString Shortcuts::refusal(const QKeySequence& sequence) {
  if (sequence.isEmpty()) return {};
  const QKeyCombination combination = sequence[0];
  const Qt::KeyboardModifiers modifiers = combination.keyboardModifiers();
  const Qt::Key key = combination.key();
  const QString name = sequence.toString(QKeySequence::NativeText);
  const bool functionKey = key >= Qt::Key_F1 && key <= Qt::Key_F35;
  const bool alt = (modifiers & Qt::AltModifier) != 0, control = (modifiers & Qt::ControlModifier) != 0;
  if ((modifiers & Qt::MetaModifier) != 0 || (alt && functionKey) || (alt && control) ||
      (control && functionKey && key <= Qt::Key_F12 && (modifiers & Qt::ShiftModifier) == 0) ||
      (alt && (key == Qt::Key_Tab || key == Qt::Key_Space || key == Qt::Key_Escape)))
    return Words::tr("%1 is one of the keys that desktops keep for themselves.").arg(name);
  // What moves and types within lists and text.
  switch (key) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Tab:
    case Qt::Key_Backtab:
    case Qt::Key_Escape:
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Left:
    case Qt::Key_Right:
      if (modifiers == Qt::NoModifier || modifiers == Qt::ShiftModifier)
        return Words::tr("%1 moves within lists and text.").arg(name);
      break;
    default:
      break;
  }
  return {};
}

}  // namespace traceback::app
