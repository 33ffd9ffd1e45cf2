// Sets up the recording of a program or a service, step by step: what, which of its files, how; then it is
// tried, and had as a command line and a drop-in of systemd.
#pragma once

#include <QWizard>
#include <memory>

#include "app/viewer/wizard/record_state.h"

namespace traceback::app {

class FilesPage;
class FinishPage;
class LibrariesPage;
class SettingsPage;
class TargetPage;
class TryPage;

class RecordWizard : public QWizard {
  Q_OBJECT

 public:
  // `traceback`: the program of the command line; `read` tells what snaps are of.
  RecordWizard(const QString& traceback, ReadSummary read, QWidget* parent = nullptr);
  ~RecordWizard() override;

  const Recording& recording() const { return m_state->recording; }
  FilesModel& files() { return m_state->files; }
  TargetPage* target() const { return m_target; }
  FilesPage* filesPage() const { return m_filesPage; }
  LibrariesPage* libraries() const { return m_libraries; }
  SettingsPage* settings() const { return m_settings; }
  TryPage* tryPage() const { return m_try; }
  FinishPage* finish() const { return m_finish; }

 signals:
  void openRequested(const QString& file);

 private:
  std::unique_ptr<RecordState> m_state;
  TargetPage* m_target;
  FilesPage* m_filesPage;
  LibrariesPage* m_libraries;
  SettingsPage* m_settings;
  TryPage* m_try;
  FinishPage* m_finish;
};

}  // namespace traceback::app
