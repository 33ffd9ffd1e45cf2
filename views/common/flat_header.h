// The header of a trace view: a calm line of titles, not a row of buttons.
#pragma once

#include <QHeaderView>

namespace traceback::views {

class FlatHeader : public QHeaderView {
  Q_OBJECT

 public:
  explicit FlatHeader(QWidget* parent = nullptr);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void paintSection(QPainter* painter, const QRect& rect, int section) const override;
  QSize sectionSizeFromContents(int section) const override;
};

}  // namespace traceback::views
