// What the window shows while it has no trace: a welcome, a file being loaded, or why one was not opened.
#pragma once

#include <QWidget>

class QLabel;
class QProgressBar;
class QPushButton;
class QVBoxLayout;

namespace traceback::app {

class IncomingPanel;
class IncomingSnaps;

class WelcomePage : public QWidget {
  Q_OBJECT

 public:
  explicit WelcomePage(IncomingSnaps& incoming, QWidget* parent = nullptr);
  void setRecent(const QStringList& files);

 signals:
  void openRequested();
  void recordRequested();
  void fileRequested(const QString& file);

 private:
  QVBoxLayout* m_recent;
  QLabel* m_recentTitle;
  QWidget* m_incoming;
};

class LoadingPage : public QWidget {
  Q_OBJECT

 public:
  explicit LoadingPage(QWidget* parent = nullptr);
  void start(const QString& file);
  void setProgress(double done, const QString& stage);

 signals:
  void cancelRequested();

 private:
  QLabel* m_title;
  QLabel* m_stage;
  QProgressBar* m_bar;
};

class ErrorPage : public QWidget {
  Q_OBJECT

 public:
  explicit ErrorPage(QWidget* parent = nullptr);
  void show(const QString& file, const QString& message);
  QString message() const;
  // In a box before a window that goes on showing what it does.
  static void showBefore(QWidget* window, const QString& file, const QString& message);

 signals:
  void openRequested();

 private:
  static QString headingOf(const QString& file);

  QLabel* m_title;
  QLabel* m_message;
};

}  // namespace traceback::app
