// The files that the program loads: what would be traced of each, and why not the rest.
#pragma once

#include <QWizardPage>

class QLabel;
class QProgressBar;
class QPushButton;
class QTreeView;

namespace traceback::app {

class FilesModel;
struct RecordState;

// A table of the files, as this page and the next have it.
QTreeView* filesTable(FilesModel& files, QWidget* parent);
// "3 of 7 files and 2,345 functions are traced; 12 MB of copies are made."
QString choiceText(const FilesModel& files);

class FilesPage : public QWizardPage {
  Q_OBJECT

 public:
  explicit FilesPage(RecordState& state, QWidget* parent = nullptr);

  QTreeView* table() const { return m_table; }
  QLabel* summary() const { return m_summary; }
  QLabel* details() const { return m_details; }
  QPushButton* stopButton() const { return m_stop; }

  void initializePage() override;
  void cleanupPage() override;
  bool isComplete() const override;

 private:
  void showProgress();
  void showDetails();

  RecordState* m_state;
  QString m_planned;  // the subject that the files are of
  QString m_problem;
  QTreeView* m_table;
  QLabel* m_summary;
  QLabel* m_details;
  QProgressBar* m_bar;
  QPushButton* m_stop;
};

}  // namespace traceback::app
