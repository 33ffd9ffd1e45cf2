// The threads over time, a lane each. A click goes to that place in that thread; the wheel with Ctrl, + and -
// zoom, 0 shows all, dragging, Left and Right move in time, Up and Down choose a lane, Enter goes to its
// thread, Ctrl+Left and Ctrl+Right go from event to event in the lane.
#pragma once

#include <QHeaderView>
#include <QTreeView>
#include <QWidget>

#include "views/moving/navigator.h"
#include "views/threads/lanes_model.h"
#include "views/threads/time_axis.h"

namespace traceback::views {

// Shows the axis above the lanes.
class LanesHeader : public QHeaderView {
  Q_OBJECT

 public:
  LanesHeader(const LanesModel& model, const TimeAxis& axis, QWidget* parent);
  QSize sizeHint() const override;

 protected:
  void paintSection(QPainter* painter, const QRect& rect, int section) const override;

 private:
  const LanesModel* m_model;
  const TimeAxis* m_axis;
};

class LanesView : public QTreeView {
  Q_OBJECT

 public:
  explicit LanesView(Navigator& navigator, QWidget* parent = nullptr);

  LanesModel* lanes() const { return m_model; }
  const TimeAxis& axis() const { return m_axis; }
  // The cell in which a lane is drawn.
  QRect laneRect(int row) const;
  // To what the lane has at that place.
  void go(int row, double x);
  void zoom(double factor, double x);
  void showAll();
  // In the current lane, to the event before or behind the one where its thread stands.
  void goToEvent(bool forward);

 signals:
  void message(const QString& text);

 protected:
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void showPosition();
  void refresh();
  double middle() const;  // of what a zoom by key is around
  const model::TimedEvent* eventAt(int row, double x) const;

  Navigator* m_navigator;
  LanesModel* m_model;
  TimeAxis m_axis;
  QPoint m_pressed;
  int m_draggedTo = 0;
  bool m_dragging = false;
};

class LanesPanel : public QWidget {
  Q_OBJECT

 public:
  explicit LanesPanel(Navigator& navigator, QWidget* parent = nullptr);
  LanesView* view() const { return m_view; }
  QSize sizeHint() const override;

 signals:
  void message(const QString& text);

 private:
  Navigator* m_navigator;
  LanesView* m_view;
};

}  // namespace traceback::views
