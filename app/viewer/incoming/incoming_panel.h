// The list of incoming snaps: a click or Enter opens one, Delete moves it to the trash.
#pragma once

#include <QWidget>

class QAction;
class QLabel;
class QStackedWidget;
class QTreeView;

namespace traceback::views {
class ElidedLabel;
}

namespace traceback::app {

class IncomingSnaps;

class IncomingPanel : public QWidget {
  Q_OBJECT

 public:
  // The list outlives the panel.
  explicit IncomingPanel(IncomingSnaps& snaps, QWidget* parent = nullptr);

  QTreeView* list() const { return m_list; }
  QAction* trashAction() const { return m_trash; }
  // Without asking. False, with a message, if it could not be.
  bool moveToTrash(const QString& file);

 signals:
  void openRequested(const QString& file);
  void folderRequested();
  void message(const QString& text);

 private:
  void showState();
  void open(const class QModelIndex& index);
  void askToTrash();

  IncomingSnaps* m_snaps;
  QTreeView* m_list;
  QStackedWidget* m_stack;
  QLabel* m_empty;
  views::ElidedLabel* m_folder;
  QAction* m_open;
  QAction* m_trash;
};

}  // namespace traceback::app
