// The snaps that come in, and the recordings that make them.

#include <QFileDialog>
#include <algorithm>

#include "app/viewer/incoming/incoming_panel.h"
#include "app/viewer/main_window.h"
#include "app/viewer/wizard/record_wizard.h"

namespace traceback::app {
namespace {

const QString kSnapFolder = QStringLiteral("incoming/folder");

}  // namespace

void MainWindow::watchIncoming() {
  for (IncomingPanel* panel : findChildren<IncomingPanel*>()) {
    connect(panel, &IncomingPanel::openRequested, this, &MainWindow::openFile);
    connect(panel, &IncomingPanel::folderRequested, this, &MainWindow::chooseSnapFolder);
    connect(panel, &IncomingPanel::message, this, &MainWindow::say);
  }
  connect(&m_incoming, &IncomingSnaps::arrived, this, [this](const QString& file) {
    const auto& snaps = m_incoming.snaps();
    const auto snap = std::ranges::find(snaps, file, &IncomingSnap::file);
    if (snap == snaps.end()) return;
    const QModelIndex row = m_incoming.index(static_cast<int>(snap - snaps.begin()), 0);
    say(tr("A snap has come in: %1, %2")
            .arg(row.data().toString(), row.siblingAtColumn(IncomingSnaps::kReason).data().toString()));
  });
  if (!m_remember) return;
  const QString chosen = m_settings.choice(kSnapFolder);
  m_incoming.setFolder(chosen.isEmpty() ? IncomingSnaps::defaultFolder() : chosen);
}

void MainWindow::chooseSnapFolder() {
  const QString folder =
      QFileDialog::getExistingDirectory(this, tr("Watch This Folder for Snaps"), m_incoming.folder());
  if (folder.isEmpty()) return;
  if (m_remember)
    m_settings.setChoice(kSnapFolder, folder == IncomingSnaps::defaultFolder() ? QString() : folder);
  m_incoming.setFolder(folder);
}

void MainWindow::openNewest() {
  const QString file = m_incoming.newest();
  if (file.isEmpty()) return say(tr("There is no snap in %1.").arg(m_incoming.folder()));
  openFile(file);
}

RecordWizard* MainWindow::recordProgram() {
  if (m_services.traceback.isEmpty()) {
    say(tr("The program traceback, which records, is neither beside this one nor in PATH."));
    return nullptr;
  }
  auto* wizard = findChild<RecordWizard*>();
  if (wizard == nullptr) {
    wizard = new RecordWizard(m_services.traceback, m_services.summary, this);
    wizard->setAttribute(Qt::WA_DeleteOnClose);
    connect(wizard, &RecordWizard::openRequested, this, &MainWindow::openFile);
  }
  wizard->show();
  wizard->raise();
  wizard->activateWindow();
  return wizard;
}

}  // namespace traceback::app
