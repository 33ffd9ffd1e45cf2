// How it is recorded: how much of the past is kept, where snaps go, what else the program is told.
#pragma once

#include <QWizardPage>

class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;

namespace traceback::app {

class PolicyField;
class ProfileField;
struct RecordState;

class SettingsPage : public QWizardPage {
  Q_OBJECT

 public:
  explicit SettingsPage(RecordState& state, QWidget* parent = nullptr);

  QComboBox* buffer() const { return m_buffer; }
  QComboBox* memory() const { return m_memory; }
  PolicyField* policy() const { return m_policy; }
  ProfileField* profile() const { return m_profile; }
  QLineEdit* folder() const { return m_folder; }
  QPlainTextEdit* environment() const { return m_environment; }
  // What snaps hold, and who may read them.
  QLabel* contents() const { return m_contents; }
  QLabel* problem() const { return m_problem; }

  void initializePage() override;
  bool isComplete() const override;
  bool validatePage() override;

 private:
  QString problemWithFields() const;
  void showContents();
  QString bufferSize() const;  // as `traceback run` takes it; empty for the default

  RecordState* m_state;
  QComboBox* m_buffer;
  QComboBox* m_memory;
  PolicyField* m_policy;
  ProfileField* m_profile;
  QLineEdit* m_folder;
  QPlainTextEdit* m_environment;
  QLabel* m_contents;
  QLabel* m_problem;
};

}  // namespace traceback::app
