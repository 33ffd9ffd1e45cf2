// The lists beside the code: the threads, and the active calls of the current one. Their rows jump.
#pragma once

#include <QTreeView>

#include "views/moving/navigator.h"

namespace traceback::views {

class CallsModel;
class NotesModel;
class ThreadsModel;

class ThreadsPanel : public QTreeView {
  Q_OBJECT

 public:
  explicit ThreadsPanel(Navigator& navigator, QWidget* parent = nullptr);
  QSize sizeHint() const override;

 private:
  void showThread();
  void jump(const QModelIndex& index);

  Navigator* m_navigator;
  ThreadsModel* m_model;
};

// Shows the calls around the position. A jump by one of its own rows leaves the list as it is, so that one
// can look at one call after the other and come back.
class CallsPanel : public QTreeView {
  Q_OBJECT

 public:
  explicit CallsPanel(Navigator& navigator, QWidget* parent = nullptr);
  CallsModel* calls() const { return m_model; }
  QSize sizeHint() const override;

 private:
  void showPosition();
  void jump(const QModelIndex& index);

  Navigator* m_navigator;
  CallsModel* m_model;
  bool m_jumping = false;
};

class NotesPanel : public QTreeView {
  Q_OBJECT

 public:
  explicit NotesPanel(Navigator& navigator, QWidget* parent = nullptr);
  QSize sizeHint() const override;

 private:
  NotesModel* m_model;
};

}  // namespace traceback::views
