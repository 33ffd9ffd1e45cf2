// The wizard's first page: which program is to be recorded, by its command or as a process that runs.
#pragma once

#include <QWizardPage>

#include "app/viewer/wizard/processes_model.h"

class QLineEdit;
class QRadioButton;
class QSortFilterProxyModel;
class QTreeView;

namespace traceback::app {

struct RecordState;

class TargetPage : public QWizardPage {
  Q_OBJECT

 public:
  explicit TargetPage(RecordState& state, QWidget* parent = nullptr);

  QLineEdit* command() const { return m_command; }
  QRadioButton* program() const { return m_program; }
  QRadioButton* process() const { return m_process; }
  QLineEdit* filter() const { return m_filter; }
  QTreeView* list() const { return m_list; }
  ProcessesModel& processes() { return m_processes; }

  void initializePage() override;
  bool isComplete() const override;
  bool validatePage() override;

 private:
  const RunningProcess* chosen() const;
  void showChosen();
  void browse();

  RecordState* m_state;
  ProcessesModel m_processes;
  QSortFilterProxyModel* m_sorted;
  QRadioButton* m_program;
  QRadioButton* m_process;
  QLineEdit* m_filter;
  QTreeView* m_list;
  QLineEdit* m_command;
};

}  // namespace traceback::app
