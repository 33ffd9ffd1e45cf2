// Tries the recording out: starts the program, shows what it prints, snaps it, and opens what snap came.
#pragma once

#include <QProcess>
#include <QWizardPage>

class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace traceback::app {

struct RecordState;

class TryPage : public QWizardPage {
  Q_OBJECT

 public:
  explicit TryPage(RecordState& state, QWidget* parent = nullptr);
  ~TryPage() override;

  QPushButton* startButton() const { return m_start; }
  QPushButton* stopButton() const { return m_stop; }
  QPushButton* snapButton() const { return m_snap; }
  QPushButton* openButton() const { return m_open; }
  QPlainTextEdit* output() const { return m_output; }
  QString state() const;
  QString snap() const { return m_snapFile; }  // the newest of this run; empty if none came

  void initializePage() override;
  void cleanupPage() override;

 signals:
  void openRequested(const QString& file);

 private:
  void start();
  void stop();
  void snapNow();
  void ended();
  void showButtons();
  void say(const QString& text);

  RecordState* m_state;
  QProcess* m_process = nullptr;
  QProcess* m_snapping = nullptr;
  QString m_snapFile;
  QPushButton* m_start;
  QPushButton* m_stop;
  QPushButton* m_snap;
  QPushButton* m_open;
  QPlainTextEdit* m_output;
  QLabel* m_what;
  QLabel* m_came;
};

}  // namespace traceback::app
