// Shows the keys of all commands, and changes them: what is typed holds at once.
#pragma once

#include <QDialog>
#include <array>

#include "app/viewer/shortcuts.h"

class QKeySequenceEdit;
class QLabel;
class QPushButton;
class QTreeWidget;

namespace traceback::app {

class ShortcutsDialog : public QDialog {
  Q_OBJECT

 public:
  explicit ShortcutsDialog(Shortcuts& shortcuts, QWidget* parent = nullptr);

  // For tests, which use them as a user would.
  QTreeWidget* list() const { return m_list; }
  QKeySequenceEdit* edit(int number) const { return m_edits[static_cast<std::size_t>(number)]; }
  QLabel* note() const { return m_note; }
  QPushButton* takeButton() const { return m_take; }
  QPushButton* resetButton() const { return m_reset; }
  QPushButton* resetAllButton() const { return m_resetAll; }

 private:
  QAction* current() const;
  void fill();
  void showCurrent();
  void typed(std::size_t number);
  void assign(std::size_t number, const QKeySequence& key);
  void take();

  Shortcuts* m_shortcuts;
  QTreeWidget* m_list;
  std::array<QKeySequenceEdit*, 2> m_edits;
  QLabel* m_note;
  QPushButton* m_take;
  QPushButton* m_reset;
  QPushButton* m_resetAll;
  std::size_t m_conflicting = 0;  // the edit whose key another command has
};

}  // namespace traceback::app
