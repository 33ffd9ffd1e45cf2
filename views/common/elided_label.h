// A label that gives up the middle of its text before it pushes others away; the whole is its tool tip.
#pragma once

#include <QLabel>

namespace traceback::views {

class ElidedLabel : public QLabel {
  Q_OBJECT

 public:
  using QLabel::QLabel;
  void setElideMode(Qt::TextElideMode mode) { m_mode = mode; }
  void setFullText(const QString& text);
  QSize minimumSizeHint() const override { return {40, QLabel::minimumSizeHint().height()}; }
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Qt::TextElideMode m_mode = Qt::ElideMiddle;
};

}  // namespace traceback::views
