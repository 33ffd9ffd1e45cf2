// Beside the lines of code: their numbers or addresses, how often they ran, and marks.
#pragma once

#include <QWidget>

namespace traceback::views {

class CodeView;

class CodeMargin : public QWidget {
 public:
  explicit CodeMargin(CodeView* view);
  // What it needs for what the view shows now.
  int layOut();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  bool event(QEvent* event) override;

 private:
  CodeView* m_view;
  int m_labelWidth = 0, m_hitsWidth = 0;
};

}  // namespace traceback::views
