// In the status bar while the newest of a large snap is shown already: how far the reading of the rest is.
#pragma once

#include <QWidget>

class QLabel;
class QProgressBar;

namespace traceback::app {

class LoadingNote : public QWidget {
  Q_OBJECT

 public:
  explicit LoadingNote(QWidget* parent = nullptr);
  void setProgress(double done, const QString& stage);

 signals:
  void cancelRequested();

 private:
  QProgressBar* m_bar;
};

}  // namespace traceback::app
