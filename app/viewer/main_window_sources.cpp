// Where the window has its sources from, and the editor that opens them.

#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>

#include "app/viewer/editor.h"
#include "app/viewer/main_window.h"
#include "app/viewer/source_folders_dialog.h"
#include "views/source/code_pane.h"
#include "views/trace/trace_pane.h"

namespace traceback::app {
namespace {

const QString kEditor = QStringLiteral("source/editor");

}  // namespace

QList<SourceMapping> MainWindow::sourceMappings() const {
  QList<SourceMapping> mappings = m_options.sourceMappings;
  if (m_remember) mappings += m_settings.sourceMappings();
  return mappings;
}

void MainWindow::useSourceMappings() {
  if (m_services.sources) m_sources.setProvider(m_services.sources(sourceMappings()));
}

void MainWindow::locateSource(const QString& compiled) {
  const QString name = QFileInfo(compiled).fileName();
  const QString chosen = QFileDialog::getOpenFileName(this, tr("Where is %1?").arg(compiled), name,
                                                      tr("%1 (%1);;All files (*)").arg(name));
  if (chosen.isEmpty()) return;
  const auto mapping = mappingBetween(compiled, chosen);
  if (!mapping) {
    say(tr("%1 is not called %2.").arg(QFileInfo(chosen).fileName(), name));
    return;
  }
  if (m_remember)
    m_settings.addSourceMapping(*mapping);
  else
    m_options.sourceMappings.prepend(*mapping);
  sourcesChanged();
}

void MainWindow::sourcesChanged() {
  useSourceMappings();
  m_code->refresh();
  m_traces->refreshSources();
}

void MainWindow::showSourceFolders() {
  const qsizetype fixed = m_remember ? m_options.sourceMappings.size() : 0;
  auto* dialog =
      new SourceFoldersDialog(sourceMappings(), fixed, m_navigator.trace(), m_services.reach, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &SourceFoldersDialog::changed, this, [this](const QList<SourceMapping>& mappings) {
    if (m_remember)
      m_settings.setSourceMappings(mappings);
    else
      m_options.sourceMappings = mappings;
    sourcesChanged();
  });
  dialog->open();
}

void MainWindow::openEditor() {
  const auto spot = m_code->spot();
  if (!spot) return say(tr("No source is shown."));
  QString command = m_settings.choice(kEditor);
  if (command.isEmpty()) command = defaultEditor();
  const auto opened = openInEditor(command, spot->path, spot->line);
  say(opened ? tr("Opened in the editor: %1").arg(spot->path) : opened.error());
}

void MainWindow::chooseEditor() {
  const QString chosen = m_settings.choice(kEditor);
  bool good = false;
  const QString command = QInputDialog::getText(
      this, tr("Editor"),
      tr("Command that opens a file. %f stands for the file, %l for the line.\nEmpty for the default: %1")
          .arg(defaultEditor()),
      QLineEdit::Normal, chosen, &good);
  if (good) m_settings.setChoice(kEditor, command.trimmed());
}

}  // namespace traceback::app
