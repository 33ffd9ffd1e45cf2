// The slim strip on top of a pane: a title at the left, buttons at the right.
#pragma once

#include <QWidget>

class QAction;
class QHBoxLayout;
class QToolButton;

namespace traceback::views {

class PaneHeader : public QWidget {
  Q_OBJECT

 public:
  explicit PaneHeader(QWidget* parent = nullptr);

  void addTitle(QWidget* widget, int stretch = 1);  // in the order of the calls
  void addWidget(QWidget* widget);                  // at the right
  QToolButton* addAction(QAction* action);          // at the right, as a button with icon and text

  // The same for all headers, so that they line up.
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QHBoxLayout* m_titles;
  QHBoxLayout* m_buttons;
};

}  // namespace traceback::views
