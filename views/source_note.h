// A strip above the source that tells what must not be overlooked about it.
#pragma once

#include <QWidget>

class QLabel;

namespace traceback::views {

class SourceNote : public QWidget {
  Q_OBJECT

 public:
  explicit SourceNote(QWidget* parent = nullptr);

  // Empty: there is nothing to tell, and the strip is gone.
  void setText(const QString& headline, const QString& text);
  QString text() const;

 signals:
  void locateRequested();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void paintIcon();

  QLabel* m_icon;
  QLabel* m_text;
  QString m_plain;
};

}  // namespace traceback::views
