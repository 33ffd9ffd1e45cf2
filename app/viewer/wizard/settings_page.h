// How it is recorded: how much of the past is kept, where snaps go, what else the program is told.
#pragma once

#include <QWizardPage>

class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;

namespace traceback::app {

struct RecordState;

class SettingsPage : public QWizardPage {
  Q_OBJECT

 public:
  explicit SettingsPage(RecordState& state, QWidget* parent = nullptr);

  QComboBox* buffer() const { return m_buffer; }
  QLineEdit* folder() const { return m_folder; }
  QPlainTextEdit* environment() const { return m_environment; }
  QLabel* problem() const { return m_problem; }

  bool isComplete() const override;
  bool validatePage() override;

 private:
  QString problemWithFields() const;
  QString bufferSize() const;  // as `traceback run` takes it; empty for the default

  RecordState* m_state;
  QComboBox* m_buffer;
  QLineEdit* m_folder;
  QPlainTextEdit* m_environment;
  QLabel* m_problem;
};

}  // namespace traceback::app
