// What is taken away: the command line, and a drop-in for a service.
#pragma once

#include <QWizardPage>

class QLabel;
class QLineEdit;
class QPlainTextEdit;

namespace traceback::app {

struct RecordState;

class FinishPage : public QWizardPage {
  Q_OBJECT

 public:
  explicit FinishPage(RecordState& state, QWidget* parent = nullptr);

  QPlainTextEdit* command() const { return m_command; }
  QPlainTextEdit* dropIn() const { return m_dropIn; }
  QLineEdit* service() const { return m_service; }
  // What snaps hold, and who may read them.
  QLabel* contents() const { return m_contents; }
  // False, with the reason beside the button, if it could not be.
  bool saveDropIn(const QString& file);

  void initializePage() override;

 private:
  void showTexts();
  void askToSave();

  RecordState* m_state;
  QPlainTextEdit* m_command;
  QPlainTextEdit* m_dropIn;
  QLineEdit* m_service;
  QLabel* m_contents;
  QLabel* m_outcome;
};

}  // namespace traceback::app
